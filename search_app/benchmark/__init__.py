"""Benchmarks: the bars of speed as ratios within one run; start with suite.py."""
