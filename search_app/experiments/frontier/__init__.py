"""Search quality against what an attacker learns, for all methods on the same people."""
