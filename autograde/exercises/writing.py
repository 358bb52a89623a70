# ruff: noqa: F401
"""All that a module of an exercise needs, in one place: `from autograde.exercises.writing import Case, Exercise, …`."""

from autograde.exercises.declared_draws import at_drawn_sizes, draws, sized
from autograde.exercises.draws import Random, normal, some_seen, whole_numbers, with_zeros
from autograde.exercises.spec import (
    Case,
    Exercise,
    Forbidden,
    Part,
    Trial,
    cases,
    composed,
    filling,
    layer,
    mistake,
    plain_function,
    random_function,
    repeated,
    result_of,
    stream,
    taking,
    training_step,
    values,
    with_model,
)
from autograde.judging.claims import *  # noqa: F403
from autograde.judging.compare import EXACT, Tolerance
