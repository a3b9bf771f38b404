"""Runs of experiments as the site shows them."""
