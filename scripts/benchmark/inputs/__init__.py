"""Invented logs and people for the measurements."""
