"""What is shown of a release: one Disclosure for each kind of row, and what stays withheld."""
