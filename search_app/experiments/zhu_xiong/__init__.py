"""The figures, tables and claims of Zhu & Xiong."""
