"""What verbs do: one function, one artefact."""
