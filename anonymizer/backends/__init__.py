"""Profiles in parts: dealt by a secret hash, worked on one after another or by many machines."""
