"""Run the command line: python -m search_app VERB."""

from .cli import main

if __name__ == "__main__":
    main()
