"""The measurements, mostly one file for each bar."""
