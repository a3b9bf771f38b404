"""Text to terms: one analysis for queries, profiles and documents, and WordNet behind it."""
