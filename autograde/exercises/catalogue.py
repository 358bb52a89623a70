"""All exercises of the course, as data: find one by name, list them, count them.

Every module of a package `nNN_topic` is an exercise, unless its name begins with "_". The notebook `NN_topic` gives
their order and what else it states (`notebooks.Facts`); nothing has to be listed here.
"""

import dataclasses
import difflib
import importlib
import pkgutil

from autograde import exercises as folder
from autograde.common.errors import AutogradeError
from autograde.exercises import notebooks, variants
from autograde.exercises.notebooks import Facts, SolutionError
from autograde.exercises.ready_made import with_everywhere
from autograde.exercises.spec import Exercise, named
from autograde.exercises.variants import Values

MADE_HERE = {"step": 2, "with model": 1}  # the first arguments that a probe makes: model and optimizer; model


class UnknownExerciseError(AutogradeError, KeyError):
    """No exercise has this name."""

    def __str__(self):
        return self.args[0]


def read_all() -> tuple[Exercise, ...]:
    """All exercises, in the order of the notebooks. Raises SolutionError where module and notebook do not agree."""
    modules = pkgutil.iter_modules(folder.__path__)
    packages = sorted(module.name for module in modules if module.ispkg and module.name.startswith("n"))
    return tuple(exercise for package in packages for exercise in read_notebook(package.removeprefix("n")))


def read_notebook(notebook: str, variant: Values = ()) -> list[Exercise]:
    """The exercises of one notebook, in its order. Raises SolutionError where module and notebook do not agree.

    variant: the values of a variant of the questions; by default those that are written in the notebook.
    """
    package = importlib.import_module(f"{folder.__name__}.n{notebook}")
    facts = notebooks.facts_of(notebook)
    modules = [module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")]
    for module in modules:
        if module.replace("_", "-") not in facts:
            raise SolutionError(
                f'{package.__name__}.{module}: expected a cell with "grade_id": "{module.replace("_", "-")}" in '
                f"solutions/{notebook}.py; write it, or remove the module"
            )
    return [_complete(stated, package, modules, variant) for stated in facts.values()]


def _complete(stated: Facts, package, modules: list[str], variant: Values) -> Exercise:
    name = stated.id.replace("-", "_")
    if name not in modules:
        raise SolutionError(f"{stated.where}: expected its exercise in {package.__name__}.{name}; add that module")
    module = importlib.import_module(f"{package.__name__}.{name}")
    varies = hasattr(module, "exercise")
    exercise = module.exercise(dict(variant or notebooks.variant_of(stated.notebook))) if varies else module.EXERCISE
    if exercise.points != stated.points:
        parts = ", ".join(f"{part.name} {part.points:g}" for part in exercise.parts)
        raise SolutionError(
            f"{stated.where}: expected the {exercise.points:g} points that the parts of {name}.py add up to ({parts}), "
            f"got {stated.points:g}"
        )
    parameters = stated.signatures[stated.name]
    return dataclasses.replace(
        exercise, id=stated.id, notebook=stated.notebook, number=stated.number, title=stated.title,
        minutes=stated.minutes, lines=stated.lines, names=(stated.name,), kept_in=package.KEPT_IN,
        arguments=parameters[MADE_HERE.get(exercise.probe["kind"], 0) :],
        probe=named(exercise.probe, stated.name), forbidden=with_everywhere(exercise.forbidden), variant=variant,
    )  # fmt: skip


EXERCISES: tuple[Exercise, ...] = read_all()


def find(name: str, variant: int = 0) -> Exercise:
    """The exercise with this id, or the one whose student defines this name. Raises UnknownExerciseError.

    variant: the number of a variant of its question.
    """
    exercise = next((one for one in EXERCISES if name == one.id or name in one.names), None)
    if exercise and variant:
        drawn = variants_of(exercise.notebook)
        if variant > len(drawn):
            raise UnknownExerciseError(f"expected a variant of {exercise.notebook} up to {len(drawn)}, got {variant}")
        return next(one for one in of_notebook(exercise.notebook, drawn[variant - 1]) if one.id == exercise.id)
    if exercise:
        return exercise
    close = difflib.get_close_matches(name.replace("_", "-"), [exercise.id for exercise in EXERCISES], n=2)
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    raise UnknownExerciseError(f"there is no exercise {name!r}; {meant}`autograde exercises` lists them")


def of_notebook(notebook: str, variant: Values = ()) -> tuple[Exercise, ...]:
    """The exercises of one notebook, in order. variant: the values of a variant of its questions."""
    if variant:
        return tuple(read_notebook(notebook, variant))
    return tuple(exercise for exercise in EXERCISES if exercise.notebook == notebook)


def variants_of(notebook: str) -> list[Values]:
    """The values of a notebook's variants 1, 2, …; none if it has no variants. Raises VariantError."""
    return variants.drawn(notebook, notebooks.variant_of(notebook))


def table(exercises: tuple[Exercise, ...] | None = None) -> str:
    """The catalogue, or some of it, as text: number, points, title, lines of the algorithm, known misconceptions."""
    lines = [f"{'':5} {'points':>6}  {'defines':<20} {'title':<34} misconceptions"]
    exercises = EXERCISES if exercises is None else exercises  # as they are now: `folders.use` can change them
    for exercise in exercises:
        known = ", ".join(misconception.id for misconception in exercise.misconceptions)
        lines.append(f"{exercise.number:5} {exercise.points:6g}  {exercise.names[0]:<20} {exercise.title:<34} {known}")
    points = sum(exercise.points for exercise in exercises)
    mistakes = sum(len(exercise.misconceptions) for exercise in exercises)
    lines.append(f"{len(exercises)} exercises, {points:g} points, {mistakes} named misconceptions")
    return "\n".join(lines)
