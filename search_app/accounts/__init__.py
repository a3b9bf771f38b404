"""Who may search as which person: codes, choices, and what is kept of people."""
