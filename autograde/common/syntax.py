"""Parses Python text of bounded size, in several threads at once.

CPython before 3.11.9 and 3.12.3 keeps one count of the depth for all trees being built (python/cpython issue 106905).
The garbage collector is the only thing that lets another thread go on while a tree is built, so there it pauses while
any thread parses; no thread waits for another one.
"""

import ast
import gc
import sys
import threading
import warnings
from contextlib import contextmanager

LARGEST = 100_000  # characters that are parsed: about 0.6 s where every character is a token
# CPython before 3.12 finds the place of each part of an f-string by counting from the start of the string.
_MAX_COUNTED = 500_000_000  # opening braces times characters: about 0.5 s
_COUNTS_TOGETHER = sys.version_info < (3, 11, 9) or (3, 12) <= sys.version_info < (3, 12, 3)
_counting = threading.Lock()  # held for a moment, never while anything is parsed
_parsing = 0
_was_enabled = True


def parse(source: str) -> ast.Module:
    """`ast.parse`. Raises SyntaxError, ValueError, RecursionError or MemoryError for text that is not a program."""
    if not _COUNTS_TOGETHER:
        return ast.parse(source)
    with _without_collection():
        return ast.parse(source)


@contextmanager
def _without_collection():
    """The garbage collector does not start while any thread is in here."""
    global _parsing, _was_enabled
    with _counting:
        if _parsing == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _parsing += 1
    try:
        yield
    finally:
        with _counting:
            _parsing -= 1
            if _parsing == 0 and _was_enabled:
                gc.enable()


def error_in(source: str) -> SyntaxError | None:
    """Why Python cannot read a text; None where it can, or gives no line."""
    try:
        parse(source)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        pass
    return None


def is_bounded(source: str) -> bool:
    """Whether a text is parsed at all: what would take long is not."""
    return len(source) <= LARGEST and source.count("{") * len(source) <= _MAX_COUNTED


def parsed(source: str) -> ast.Module | None:
    """The syntax tree; None where there is none. (CPython's parser refuses what is nested too deep by itself.)"""
    if not is_bounded(source):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence" is not ours to say
            return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
