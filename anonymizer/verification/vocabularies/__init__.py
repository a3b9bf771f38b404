"""How the judge reads vocabularies: published occurrences, and how far apart terms are."""
