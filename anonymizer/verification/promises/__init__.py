"""What each method promises, recounted."""
