"""Loops compiled by numba, for the anonymizer and the index; and where such code is kept."""
