"""Caches of what depends on the folder of exercises in use; `folders.use` clears them all."""

import functools
from collections.abc import Callable

_CLEAR: list[Callable[[], None]] = []


def cached(function: Callable) -> Callable:
    """`functools.cache` for a function whose results are from the folder of exercises in use."""
    kept = functools.cache(function)
    _CLEAR.append(kept.cache_clear)
    return kept


def clear() -> None:
    """Forgets all results of functions that are `cached`."""
    for one in _CLEAR:
        one()
