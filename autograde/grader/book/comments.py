"""Comments that can be reused: `comments.toml` in the course folder, one line per comment, chosen by its id.

    state-the-shape = "State the shape of every result at the end of its line: `# (B, T, d)`."

A comment by hand that contains #state-the-shape is shown with this text instead, on every page and in every export.
"""

import re
import tomllib
from collections.abc import Mapping

from autograde.grader.book.store import Table

FILE = "comments.toml"
_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_USED = re.compile(rf"(?<![\w#&/])#({_ID.pattern})(?![\w-])")
_LONGEST = 4_000


def _parsed(text: str) -> dict[str, str]:
    comments = tomllib.loads(text)
    for name, comment in comments.items():
        if not _ID.fullmatch(name) or not isinstance(comment, str) or not 0 < len(comment) <= _LONGEST:
            raise ValueError(
                f"{name}: expected an id of small letters, digits and hyphens, and a text of at most {_LONGEST} "
                "characters"
            )
    return comments


# The comments of a course by id.
COMMENTS = Table(FILE, 'lines such as state-the-shape = "…"', "correct it", parse=_parsed, empty=dict)


def filled_in(text: str, comments: Mapping[str, str]) -> str:
    """The text of a comment by hand with the reusable comments in place of their ids; unknown ids stay."""
    return _USED.sub(lambda found: comments.get(found[1], found[0]), text)


def used(text: str) -> list[str]:
    """The ids in the text of a comment by hand, known or not."""
    return _USED.findall(text)
