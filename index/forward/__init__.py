"""Documents as vectors over terms, and how their texts begin: written, read, multiplied."""
