"""Parses Python text, in one thread at a time.

CPython before 3.11.9 and 3.12.3 keeps one count of the depth for all trees being built: two threads that parse at once
end with "AST constructor recursion depth mismatch" (python/cpython issue 106905), and the grader has several.
"""

import ast
import threading
import warnings

LARGEST = 200_000  # characters that are parsed
_ONE_AT_A_TIME = threading.Lock()


def parse(source: str) -> ast.Module:
    """`ast.parse`. Raises SyntaxError, ValueError, RecursionError or MemoryError for text that is not a program."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def parsed(source: str) -> ast.Module | None:
    """The syntax tree; None where there is none. (CPython's parser refuses what is nested too deep by itself.)"""
    if len(source) > LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence" is not ours to say
            return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
