"""Whether search is better for personalization: figures and claims by relevance of its own."""
