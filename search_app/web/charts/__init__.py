"""Small SVG drawings, and the figures of the log that they show."""
