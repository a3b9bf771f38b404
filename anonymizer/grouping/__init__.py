"""People to groups: algorithms and the bounds that each group must keep."""
