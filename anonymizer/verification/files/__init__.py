"""The judge's own reading and rewriting of files."""
