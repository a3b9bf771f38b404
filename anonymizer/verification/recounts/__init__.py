"""Recounts that several promises share: groups, their rows, published shares, and pools."""
