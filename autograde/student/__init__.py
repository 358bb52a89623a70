"""The imports of a notebook: `check`, `progress`, drawings, and saving a student's work. All of it works offline.

    from autograde.student import check, heat_maps, lines, load_backend, progress

    load_backend()

A name is loaded when it is first used: importing this package does nothing else. In the grader's sandbox no one reads
checks and drawings, so every name there is a `Quiet` object.
"""

import importlib
import os

IN_SANDBOX = "AUTOGRADE_IN_SANDBOX"  # environment variable, set there
_MODULES = {
    "checking": ("check",),
    "drawings_boxes": (
        "bars", "blocks", "course_map", "guess_bars", "shares", "steps_of_rows", "sum_of_rows", "tables", "token_boxes",
    ),
    "drawings_encoder": ("curves", "histograms", "stacked_boxes"),
    "drawings_finetuning": ("read_offs", "span_bars"),
    "drawings_objectives": ("distance_curves", "number_table", "seed_dots", "with_recorded"),
    "drawings_wordpiece": ("colour_pieces", "input_table", "merge_trees"),
    "pictures": ("heat_maps", "lines"),
    "progress_file": ("progress",),
    "questions": ("answer", "show_guess"),
    "saving": ("keep_in_drive", "load_state", "save_state"),
    "store": ("activate_mybert",),
    "unsolved": ("explain_unsolved", "load_backend"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_MODULE_OF)


class Quiet:
    """Can be called, entered, iterated over and asked for any attribute."""

    def __call__(self, *arguments, **keywords):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __iter__(self):
        return iter(())

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if os.environ.get(IN_SANDBOX):
        return Quiet()
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
