"""The figures, tables and claims of Liu & Wang."""
