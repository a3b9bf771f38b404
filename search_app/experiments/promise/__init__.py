"""The figures and claims of search by rows that keep equation 1 for every term."""
