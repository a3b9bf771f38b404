"""Serving a workspace: open it, follow and check it, run it by waitress or for an assistant."""
