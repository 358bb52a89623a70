"""`python -m bertlab` is the `bertlab` command."""

from bertlab.cli import main

main()
