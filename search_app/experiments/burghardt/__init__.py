"""The figures, tables and claims of Burghardt et al."""
