"""Profiles and releases on disk, checked when read; and the atomic writer of all files."""
