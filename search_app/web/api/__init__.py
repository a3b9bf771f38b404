"""The JSON API, and what browsers and monitors read: OpenSearch and metrics."""
