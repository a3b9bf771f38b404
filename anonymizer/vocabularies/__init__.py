"""Vocabularies (bags of terms) to clusters: matchings, centres, and local generalization."""
