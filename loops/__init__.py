"""Hot loops of the anonymizer and of the index, compiled by numba; their machine code is kept."""
