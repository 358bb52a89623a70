"""`bertlab` commands, as a user types them, in this process."""

from click.testing import CliRunner

from bertlab.cli import cli


def run(*words, code: int = 0) -> str:
    """The output of a command, which must end with this exit code."""
    result = CliRunner().invoke(cli, [*map(str, words)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output
