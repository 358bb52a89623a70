"""`python -m autograde`: the same as `autograde`."""

from autograde.cli import main

if __name__ == "__main__":
    main()
