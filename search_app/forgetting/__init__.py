"""Remove a person, or some of their terms, from everything in a workspace."""
