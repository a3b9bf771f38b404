"""Experiments: variants of an anonymizer, searched and judged; start with pipeline.py."""
