"""The folder of a run: rows, provenance, figures and the page."""
