"""The pages of a study: those of its participants, and those of its leader."""
