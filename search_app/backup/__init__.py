"""Backup and restore: a workspace as one file, consistent while it is served, checked by hashes."""
