"""All that a module of an exercise needs, in one place: `from autograde.exercises.writing import Case, Exercise, …`."""

from autograde.exercises.declared_draws import at_drawn_sizes, draws, sized
from autograde.exercises.draws import Random, normal, some_seen, whole_numbers, with_zeros
from autograde.exercises.spec import (
    Alike,
    AnyCount,
    Case,
    Dropped,
    Exercise,
    Forbidden,
    HandsOn,
    Initial,
    Obeys,
    OwnLists,
    OwnWeights,
    Part,
    Raises,
    Rates,
    Reference,
    Same,
    Slopes,
    Sums,
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
from autograde.judging.compare import EXACT, Tolerance

__all__ = [
    "EXACT", "Alike", "AnyCount", "Case", "Dropped", "Exercise", "Forbidden", "HandsOn", "Initial", "Obeys", "OwnLists",
    "OwnWeights", "Part", "Raises", "Random", "Rates", "Reference", "Same", "Slopes", "Sums", "Tolerance", "Trial",
    "at_drawn_sizes", "cases", "composed", "draws", "filling", "layer", "mistake", "normal", "plain_function",
    "random_function", "repeated", "result_of", "sized", "some_seen", "stream", "taking", "training_step", "values",
    "whole_numbers", "with_model", "with_zeros",
]  # fmt: skip
