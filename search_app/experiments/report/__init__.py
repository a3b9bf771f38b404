"""Reports of experiments: claims, summaries, figures and tables, as plain data."""
