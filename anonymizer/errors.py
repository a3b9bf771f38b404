"""What the anonymizer refuses.

AnonymizerError
├── BadInput       a file or value from outside is broken; names place and remedy
├── BadParameter   a parameter's name or value is not allowed
└── Unsatisfiable  the promise can't be kept on this data; nothing weaker is returned
"""


class AnonymizerError(Exception):
    """Anything that the anonymizer refuses; its text is one plain line for the user."""


class BadInput(AnonymizerError):
    """A file or value from outside is broken."""


class BadParameter(AnonymizerError):
    """A parameter has a name or value that is not allowed."""


class Unsatisfiable(AnonymizerError):
    """No release of this data can keep the promise that the user chose."""

    def __init__(self, line: str, needs: int = 0):
        super().__init__(line)
        self.needs = needs  # users, at least; 0: their number is not what is wrong
