"""Lucene in a JVM: indexes are written and searched."""
