"""The judge of releases: reads files only, shares no code with what made them."""
