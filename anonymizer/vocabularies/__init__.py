"""Vocabularies (bags of terms) to clusters: matchings, centres, and nodes above terms."""
