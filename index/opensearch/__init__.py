"""OpenSearch, a cluster in the place of Lucene in this process: filled and searched."""
