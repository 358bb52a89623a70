"""README and the pages of docs/ name commands, options and Python names that exist."""

import importlib.util
import re
import shlex
from pathlib import Path

import click
import pytest

from autograde.cli import cli as autograde
from bertlab.cli import cli as bertlab

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
PROGRAMS = {"bertlab": bertlab, "autograde": autograde}
COMMANDS = re.findall(r"^(?:    )?((?:bertlab|autograde) .+?)(?:  +#.*)?$", TEXT, re.MULTILINE)
IMPORTS = re.findall(r"^from (\S+) import (.+)$", TEXT, re.MULTILINE)


def command_of(words: list[str]) -> click.Command:
    command = PROGRAMS[words[0]]
    context = click.Context(command)
    for word in words[1:]:
        if not isinstance(command, click.Group):
            return command
        command = command.get_command(context, word)
        assert command is not None, f"no command {word}"
    return command


@pytest.mark.parametrize("line", COMMANDS)
def test_every_option_of_a_how_to_exists(line):
    words = shlex.split(line)
    command = command_of(words)
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("module, names", IMPORTS)
def test_everything_a_how_to_imports_exists(module, names):
    place = importlib.import_module(module)
    for name in names.split(", "):
        assert hasattr(place, name) or importlib.util.find_spec(f"{module}.{name}")


def test_the_how_tos_name_something():
    assert len(COMMANDS) >= 25 and len(IMPORTS) >= 5
