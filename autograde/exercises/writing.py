# ruff: noqa: F401, F403
"""All that a module of an exercise needs, in one place: `from autograde.exercises.writing import Case, Exercise, …`."""

from autograde.exercises.declared_draws import Draws, at_drawn_sizes, draws, sized
from autograde.exercises.draws import Random, attention_weights, normal, some_seen, whole_numbers, with_zeros
from autograde.exercises.spec import *
from autograde.judging.claims import *
from autograde.judging.compare import EXACT, Tolerance
