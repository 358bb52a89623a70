# ruff: noqa: F401, F403
"""All that a module of an exercise needs, in one place: `from autograde.exercises.writing import Case, Exercise, …`."""

from autograde.exercises.draws import *
from autograde.exercises.spec import *
from autograde.judging.claims import *
from autograde.judging.compare import EXACT, Tolerance
