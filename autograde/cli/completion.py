"""`autograde completion`: the Tab key for a shell."""

from bertlab.cli.completion import completion_of

completion = completion_of("autograde")
