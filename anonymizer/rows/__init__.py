"""The rows that are released, of groups or of one person each, and which row serves which user."""
