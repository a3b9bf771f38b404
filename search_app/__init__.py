"""The application: puts the anonymizer and the index together behind commands and pages."""

__version__ = "0.1.0"
