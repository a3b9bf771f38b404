"""Corpora on disk to documents, in all known formats."""
