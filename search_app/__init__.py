"""The application: combines the anonymizer and the index behind commands and pages."""

__version__ = "0.12.0"
