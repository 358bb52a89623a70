"""The time of the training run of notebook 07: computed for known GPUs, measured after 20 steps on any machine."""

import re
import time
from dataclasses import dataclass

from autograde.student.pictures import Place, Shown, in_notebook
from bertlab.common.progress import SECONDS_BETWEEN_LINES, duration

MEASURED = 20  # steps after which the time left is known well enough
SECONDS_BETWEEN_UPDATES = 2.0  # in a notebook
COMPUTED_FOR = {"batch_size": 256, "length": 128, "hidden_size": 256, "num_layers": 6}
USUAL_STEPS = 1_500  # of a run on an unknown GPU, and without one


@dataclass(frozen=True)
class KnownGPU:
    """The numbers that were computed for a GPU, and the number of steps that the run makes there.

    The step of `COMPUTED_FOR` was compiled for it on JAX (`python -m benchmarks.accelerators`), never run on it.
    precision: of the layers. milliseconds: what one step takes at least. gibibytes: the memory that it needs.
    """

    precision: str
    milliseconds: float
    gibibytes: float
    steps: int = USUAL_STEPS


KNOWN = {
    "T4": KnownGPU("float16", 53.0, 2.01),
    "L4": KnownGPU("bfloat16", 59.8, 2.12),
    "A100": KnownGPU("bfloat16", 11.6, 2.13, steps=6_000),
    "H100": KnownGPU("bfloat16", 5.1, 1.93, steps=6_000),
    "H200": KnownGPU("bfloat16", 3.5, 1.93, steps=6_000),
}  # a part of the GPU's name → what is known


def known_gpu(name: str | None) -> KnownGPU | None:
    """The entry of the GPU with this `name`, such as "Tesla T4"; None for any other GPU, and without a GPU."""
    return next((known for part, known in KNOWN.items() if re.search(rf"\b{part}\b", name or "")), None)


def gpu_name() -> str | None:
    """The name of the first GPU, such as "Tesla T4"; None without a GPU."""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    return tf.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU") if gpus else None


def beforehand(settings, name: str | None, done: int = 0) -> str:
    """A line before the first step. settings: the RunSettings. name: the GPU's, None without one. done: steps made."""
    sizes = settings.model | {"batch_size": settings.batch_size, "length": settings.length}
    known = known_gpu(name)
    if known is None or any(sizes[key] != value for key, value in COMPUTED_FOR.items()):
        return f"The time that the run takes is shown after {MEASURED} steps."
    steps = settings.steps - done
    return (
        f"{name}: at least {duration(steps * known.milliseconds / 1000)} for {steps:,} steps. This is computed from "
        f"the GPU's bandwidth and peak, in {known.precision}; a real run takes longer. After {MEASURED} steps the "
        "measured time is shown."
    )


class TimeLeft:
    """One line with the time that a run still takes: updated in place in a notebook, elsewhere printed again and again.

    steps, interval: of the whole run, and between evaluations. finished: called before a time is read; waits until the
    device has finished the step.
    """

    def __init__(self, steps: int, interval: int, finished=lambda: None, say=print):
        self.steps, self.interval, self._finished, self._place = steps, interval, finished, Place(say)
        self._began = self._first = self._said = self._judging = None
        self._judged = self._last_judged = 0.0  # seconds of all evaluations, and of the last one: the first compiles
        self._pause = SECONDS_BETWEEN_UPDATES if in_notebook() else SECONDS_BETWEEN_LINES

    def evaluation_begins(self) -> None:
        self._finished()
        self._judging = time.monotonic()

    def evaluation_ends(self) -> None:
        if self._judging is not None:
            self._last_judged = time.monotonic() - self._judging
            self._judged += self._last_judged
            self._judging = None

    def after(self, step: int) -> None:
        """Call this after each step. step: the number of steps made. The first one compiles, so it does not count."""
        self.evaluation_ends()
        if self._began is None:
            self._finished()
            self._began, self._first, self._judged = time.monotonic(), step, 0.0
            return
        made = step - self._first
        waited = made > MEASURED and time.monotonic() - self._said >= self._pause
        if made == MEASURED or waited or step == self.steps:
            self._finished()
            self._said = time.monotonic()
            self._place.show(Shown(self.line(step, self._said - self._began)))

    def line(self, step: int, seconds: float) -> str:
        """The line after a step. seconds: the time of all steps since the first, with their evaluations."""
        made = step - self._first
        if step == self.steps:
            return f"step {step:,} of {self.steps:,}: the last {made:,} steps took {duration(seconds)}"
        evaluations = -(-self.steps // self.interval) - step // self.interval
        left = (seconds - self._judged) / made * (self.steps - step) + evaluations * self._last_judged
        return f"step {step:,} of {self.steps:,}: about {duration(left)} left"
