"""Run the command line: python -m search_app VERB."""

if __name__ == "__main__":
    # Ctrl-C may come while modules load, before `main` can catch it.
    try:
        from .cli import main
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    main()
