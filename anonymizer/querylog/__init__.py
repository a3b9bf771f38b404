"""Query logs of any known format, line by line, to a QueryLog."""
