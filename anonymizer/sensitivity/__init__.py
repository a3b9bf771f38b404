"""How likely a query is sensitive: weak labels from word lists, a classifier, and its file."""
