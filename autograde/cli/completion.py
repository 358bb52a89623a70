"""`autograde completion`: completes commands with the Tab key."""

from bertlab.cli.completion import completion_of

completion = completion_of("autograde")
