"""Documents as vectors over terms: written, read, multiplied."""
