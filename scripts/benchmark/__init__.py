"""Benchmarks: speed as ratios within one run, compared with bars; start with suite.py."""
