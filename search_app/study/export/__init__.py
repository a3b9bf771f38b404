"""What leaves of a study: tables with a codebook, runs and grades, a notebook, the methods."""
