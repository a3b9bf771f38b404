"""Serving a workspace: open it, follow its updates, check it, and run it by waitress or for an assistant."""
