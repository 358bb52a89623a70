"""`python -m autograde` is the `autograde` command."""

from autograde.cli import main

main()
