"""Full-text search over a corpus, and document vectors over its terms; knows no users."""
