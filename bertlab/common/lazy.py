"""Names of a package that are imported when they are first used."""

import importlib
from collections.abc import Callable, Iterable, Mapping


def imported_when_used(package: str, names: Mapping[str, Iterable[str]]) -> tuple[list[str], Callable]:
    """The `__all__` and the `__getattr__` of a package. names: module → what is imported from it."""
    homes = {name: module for module, those in names.items() for name in those}

    def get(name: str):
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return list(homes), get
