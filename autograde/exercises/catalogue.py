"""All exercises of the course, as data: find one by name, list them, count them."""

import difflib

from autograde.errors import AutogradeError
from autograde.exercises import (
    n00_welcome,
    n01_wordpiece,
    n02_embeddings,
    n03_attention,
    n04_encoder,
    n05_bert,
    n06_pretraining_data,
    n07_pretraining,
    n08_finetuning,
)
from autograde.exercises.spec import Exercise

# In the order of the notebooks.
EXERCISES: tuple[Exercise, ...] = (
    *n00_welcome.EXERCISES,
    *n01_wordpiece.EXERCISES,
    *n02_embeddings.EXERCISES,
    *n03_attention.EXERCISES,
    *n04_encoder.EXERCISES,
    *n05_bert.EXERCISES,
    *n06_pretraining_data.EXERCISES,
    *n07_pretraining.EXERCISES,
    *n08_finetuning.EXERCISES,
)


class UnknownExerciseError(AutogradeError, KeyError):
    """There is no exercise of that name."""

    def __str__(self):
        return self.args[0]


def find(name: str) -> Exercise:
    """The exercise with this id, or the one whose student defines this name. Raises UnknownExerciseError."""
    for exercise in EXERCISES:
        if name == exercise.id or name in exercise.names:
            return exercise
    close = difflib.get_close_matches(name.replace("_", "-"), [exercise.id for exercise in EXERCISES], n=2)
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    raise UnknownExerciseError(f"there is no exercise {name!r}; {meant}`autograde exercises` lists them")


def of_notebook(notebook: str) -> tuple[Exercise, ...]:
    """The exercises of one notebook, in order."""
    return tuple(exercise for exercise in EXERCISES if exercise.notebook == notebook)


def table(exercises: tuple[Exercise, ...] = EXERCISES) -> str:
    """The catalogue as text: number, points, title, lines of the algorithm, known misconceptions."""
    lines = [f"{'':5} {'points':>6}  {'defines':<20} {'title':<34} misconceptions"]
    for exercise in exercises:
        known = ", ".join(misconception.id for misconception in exercise.misconceptions)
        lines.append(f"{exercise.number:5} {exercise.points:6g}  {exercise.names[0]:<20} {exercise.title:<34} {known}")
    points = sum(exercise.points for exercise in exercises)
    mistakes = sum(len(exercise.misconceptions) for exercise in exercises)
    lines.append(f"{len(exercises)} exercises, {points:g} points, {mistakes} named misconceptions")
    return "\n".join(lines)
