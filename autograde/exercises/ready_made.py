"""Modules that no exercise may be answered with: the library that the course builds, and packages like it.

The catalogue adds `EVERYWHERE` to each exercise's own `forbidden`, which names what is ready-made in Keras, TensorFlow
or SciPy. So a way through another module of the library (`bertlab.minimal`, `bertlab.families`) leads nowhere either.
"""

from dataclasses import replace

from autograde.exercises.spec import Forbidden

LIBRARY = (
    "bertlab.analysis", "bertlab.checkpoints", "bertlab.cli", "bertlab.data", "bertlab.demo", "bertlab.export",
    "bertlab.families", "bertlab.generation", "bertlab.layers", "bertlab.minimal", "bertlab.minimal_training",
    "bertlab.models", "bertlab.predict", "bertlab.pretrained", "bertlab.tokenizers", "bertlab.training",
)  # fmt: skip
# Modules of the library that solve nothing: errors, files, settings, plots, and what notebooks are started with.
TOOLS = ("bertlab.__main__", "bertlab.common", "bertlab.config", "bertlab.plots")
PACKAGES = ("keras_hub", "keras_nlp", "tensorflow_text", "tokenizers", "torch", "transformers")
EVERYWHERE = (*LIBRARY, *PACKAGES)
WRITE_IT_YOURSELF = "In this exercise you write it yourself."


def own_names(forbidden: Forbidden) -> tuple[str, ...]:
    """The names that an exercise forbids by itself, without those that all forbid."""
    below = tuple(f"{module}." for module in EVERYWHERE)
    return tuple(name for name in forbidden.names if not f"{name}.".startswith(below))


def refusal(forbidden: Forbidden) -> str:
    """The sentence that names the ready-made functions `check` refuses here, and the reason; "" if it refuses none."""
    *others, last = [f"`{name}`" for name in own_names(forbidden)] or [""]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"`check` refuses {names} here. {forbidden.because}" if names else ""


def with_everywhere(forbidden: Forbidden) -> Forbidden:
    """The names that an exercise forbids by itself, and those that all forbid."""
    return replace(
        forbidden,
        because=forbidden.because or WRITE_IT_YOURSELF,
        names=tuple(dict.fromkeys((*forbidden.names, *EVERYWHERE))),
    )
