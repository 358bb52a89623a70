"""Comments that can be reused: `comments.toml` in the course folder, one line per comment, chosen by its id.

    state-the-shape = "State the shape of every result at the end of its line: `# (B, T, d)`."

A comment by hand that contains #state-the-shape is shown with this text instead, on every page and in every export.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from autograde.common.errors import AutogradeError

FILE = "comments.toml"
_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_USED = re.compile(rf"(?<![\w#&/])#({_ID.pattern})(?![\w-])")
_LONGEST = 4_000


class CommentsError(AutogradeError, ValueError):
    """A file of comments that cannot be used."""


def read_comments(course: str | Path) -> dict[str, str]:
    """The comments of a course by id; none if it has no such file. Raises CommentsError."""
    path = Path(course, FILE)
    if not path.is_file():
        return {}
    try:
        comments = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        raise CommentsError(f'{path}: expected lines such as state-the-shape = "…" ({reason}); correct it') from None
    for name, text in comments.items():
        if not _ID.fullmatch(name) or not isinstance(text, str) or not 0 < len(text) <= _LONGEST:
            raise CommentsError(
                f"{path}: {name}: expected an id of small letters, digits and hyphens, and a text of at most "
                f"{_LONGEST} characters; correct it"
            )
    return comments


def filled_in(text: str, comments: Mapping[str, str]) -> str:
    """The text of a comment by hand with the reusable comments in place of their ids; unknown ids stay."""
    return _USED.sub(lambda found: comments.get(found[1], found[0]), text)


def used(text: str) -> list[str]:
    """The ids in the text of a comment by hand, known or not."""
    return _USED.findall(text)
