"""Searches answered, and answers prepared for templates and files."""
