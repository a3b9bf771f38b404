"""User studies: one file is the study; people are assigned, answer blind, and may withdraw."""
