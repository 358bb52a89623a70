"""Training runs, which are graded by their trained weights. The instructor's side only.

A run is handed in as a file of weights together with its notebook. It is graded by the predictions of the *student's
own model* with these weights on text whose masks are drawn from the course's secret; the notebook gives the thresholds.
"""

from dataclasses import dataclass, field

from autograde.boundary.weights_file import WEIGHTS


@dataclass(frozen=True)
class Mark:
    """Points for a threshold: at most this loss, at least this accuracy, at least this gain from the context.

    Besides, every mark needs a loss below the baseline: that of an untrained model and of the token frequencies.

    context: by how much the loss is lower than that of the same predictions at the other masked positions. It is 0 for
    a model that predicts the same everywhere.
    """

    name: str
    points: float
    loss: float = float("inf")
    accuracy: float = 0.0
    context: float = float("-inf")

    def earned(self, loss: float, accuracy: float, context: float, baseline: float) -> bool:
        """False also for NaN."""
        return loss < baseline and loss <= self.loss and accuracy >= self.accuracy and context >= self.context


@dataclass(frozen=True)
class Share:
    """Points for a fraction of right results."""

    name: str
    points: float
    share: float


@dataclass(frozen=True, kw_only=True)
class Run:
    """The fields of all runs. id: the `grade_id` of the cell with its points; file: what is handed in."""

    id: str
    notebook: str
    number: str
    title: str = "the run"
    marks: tuple[Mark | Share, ...]
    file: str = WEIGHTS

    @property
    def points(self) -> float:
        return sum(mark.points for mark in self.marks)

    @property
    def label(self) -> str:
        return f"{self.number} {self.title}"


@dataclass(frozen=True, kw_only=True)
class TrainingRun(Run):
    """A run of a language model.

    starts_from: the packaged model that a run begins with; it has its vocabulary. "": random weights, and the
    vocabulary of notebook 07. sizes: those that the run's model must have.
    """

    model: str  # the name of the student's class
    starts_from: str = ""
    sizes: dict[str, int] = field(default_factory=dict, hash=False)
    rows: int = 256  # of hidden text
    tokens: int = 32  # in a row
    # Better scores are reported to the instructor: no model that a student trains here is expected to reach them.
    honest_loss: float = 2.0
    honest_accuracy: float = 0.6


@dataclass(frozen=True, kw_only=True)
class TranslationRun(Run):
    """A translator from the small world into its mirror, graded by its translations of hidden sentences."""

    sentences: int = 300  # hidden ones


RUNS = (
    TrainingRun(
        id="pretraining-run",
        notebook="07_pretraining",
        number="7.13",
        model="PreTrainingModel",
        marks=(
            Mark("better than the token frequencies", 2, context=0.02),
            Mark("predictions depend on the context", 2, context=0.05),
            Mark("many tokens are right", 2, loss=6.35, accuracy=0.06, context=0.1),
        ),
    ),
    TrainingRun(
        id="distillation-run",
        notebook="12_distillation",
        number="12.6",
        model="PreTrainingModel",
        marks=tuple(
            Mark(f"{accuracy:.0%} of the masked tokens are right", 2, accuracy=accuracy)
            for accuracy in (0.22, 0.26, 0.30)
        ),
        file="distilled_weights.safetensors",
        starts_from="bertlab-mini",
        sizes={"num_layers": 2, "hidden_size": 256},
    ),
    TranslationRun(
        id="translation-run",
        notebook="13_decoder",
        number="13.8",
        file="translator_weights.safetensors",
        marks=tuple(Share(f"{share:.0%} of the translations are right", 2, share) for share in (0.2, 0.4, 0.6)),
    ),
)


def of_notebook(notebook: str) -> tuple[TrainingRun | TranslationRun, ...]:
    """The runs of one notebook."""
    return tuple(run for run in RUNS if run.notebook == notebook)
