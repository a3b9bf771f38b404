"""Pages for an audience: prepared searches, and what a class plays and turns."""
