"""Lists the gaps of an exercise, all of which a sketch may have: no misconception, no gradient, untested sentences."""

from collections.abc import Iterator

from autograde.exercises import notebooks, requirements
from autograde.exercises.other_answers import alternatives, wrong_answers
from autograde.exercises.planning import planner
from autograde.exercises.spec import Exercise
from autograde.judging.claims import Slopes


def of_exercise(exercise: Exercise) -> list[str]:
    """The gaps of an exercise, as sentences."""
    return list(_gaps(exercise))


def _gaps(exercise: Exercise) -> Iterator[str]:
    is_called = exercise.probe["kind"] in ("function", "layer") and exercise.probe.get("tensors", True)
    has_gradients = is_called and exercise.returns == "tensor" and exercise.dtype == "float32"
    rng = planner.generator(exercise, "gaps")
    claims = [claim for part in exercise.parts for trial in part.trials(rng) for claim in trial.claims]
    answers = notebooks.path_beside("answers", exercise.notebook).name
    if not planner.draws_anything(exercise):
        yield "hidden inputs are the visible ones: nothing is drawn (`draws`)"
    if len(exercise.parts) == 1:
        yield "no edge or relation has a part of its own: one part has all points"
    if has_gradients and not any(isinstance(claim, Slopes) for claim in claims):
        yield "no gradient is tested (`Slopes`)"
    if not exercise.misconceptions:
        yield "no misconception is named (`mistake`)"
    if not exercise.hints:
        yield "no hint helps after a failed try"
    if not alternatives(exercise):
        yield f"no other right answer is in answers/{answers}: the check may refuse one"
    if not wrong_answers(exercise) and not exercise.misconceptions:
        yield f"no wrong answer is in answers/{answers}: the check may miss one"
    yield from requirements.unknown_parts(exercise)
    untested = requirements.untested(exercise)
    if untested:
        table = notebooks.path_beside("requirements", exercise.notebook)
        yield "\n        ".join(
            [f"{len(untested)} sentences have no part that tests them ({table.parent.name}/{table.name}):", *untested]
        )
