"""`python -m autograde.cli`: the same as `autograde`."""

from autograde.cli import main

if __name__ == "__main__":
    main()
