"""What the application refuses.

UsageError   a wrong argument, setting or workspace; its text is one plain line with the remedy
"""


class UsageError(Exception):
    """The user asked for something that can't be done as asked."""
