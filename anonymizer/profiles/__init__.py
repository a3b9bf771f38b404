"""QueryLog to Profiles, where their terms came from, and people taken out again."""
