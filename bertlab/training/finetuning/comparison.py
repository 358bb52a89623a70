"""The question that fine-tuning answers about pre-training: what was it worth?

The same classifier is trained on the same labelled rows twice, once from pre-trained weights and once from scratch,
with several seeds each. A seed decides the fresh weights (the head's; from scratch all of them), dropout and the order
of the rows.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import keras
import numpy as np

from bertlab.models import BertEncoder, BertForSequenceClassification
from bertlab.progress import bar
from bertlab.training.finetuning.settings import STARTS, FineTuningSettings
from bertlab.training.recipes.optimizer import adamw
from bertlab.training.recipes.schedule import WarmupLinearDecay

PREDICTED_TOGETHER = 250  # rows


@dataclass(frozen=True)
class Split:
    """Labelled rows ready for a model: inputs, a dict of (N, T) int32 arrays, and labels (N,) int32."""

    inputs: dict[str, np.ndarray]
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Run:
    """One fine-tuning run: where it started, its seed and what came out on the validation rows."""

    start: str  # one of STARTS
    seed: int
    accuracy: float
    predictions: list[int]  # one class per validation row
    epoch_accuracies: list[float]  # after each epoch


class Comparison:
    """Fine-tunes one classifier from two starting points with several seeds; compiles it once for all runs.

    Args:
        encoder: a pre-trained `BertEncoder` with a pooler.
        num_labels: classes.
        train, validation: `Split`s. The rows of an incomplete last batch of train are left out of each epoch.
        folder: each finished run is kept there as JSON, so that an interrupted comparison goes on where it was.
    """

    def __init__(
        self,
        encoder: BertEncoder,
        num_labels: int,
        train: Split,
        validation: Split,
        settings: FineTuningSettings,
        folder: str | Path,
    ):
        self.encoder, self.num_labels = encoder, num_labels
        self.train, self.validation, self.settings = train, validation, settings
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._classifier = None

    def run_all(self) -> list[Run]:
        """Every start with every seed."""
        pairs = [(start, seed) for seed in self.settings.seeds for start in STARTS]
        runs = []
        with bar("Fine-tuning", len(pairs) * self.settings.epochs) as running:
            for start, seed in pairs:
                file = self.folder / f"{start.replace(' ', '-')}-{seed}.json"
                if file.exists():
                    runs.append(Run(**json.loads(file.read_text())))
                    running.advance(self.settings.epochs)
                    continue
                runs.append(self._run(start, seed, running))
                unfinished = file.with_suffix(".unfinished")
                unfinished.write_text(json.dumps(asdict(runs[-1])))
                os.replace(unfinished, file)
        return runs

    def _run(self, start: str, seed: int, running) -> Run:
        classifier = self._classifier = self._classifier or self._compiled()
        self._set_weights(classifier, start, seed)
        judge = _JudgeEveryEpoch(self.validation)
        show = keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: running.advance(1, f"{start}, seed {seed}: {judge.accuracies[-1]:.1%}")
        )
        rows = len(self.train) // self.settings.batch_size * self.settings.batch_size
        classifier.fit(
            {name: values[:rows] for name, values in self.train.inputs.items()},
            self.train.labels[:rows],
            batch_size=self.settings.batch_size,
            epochs=self.settings.epochs,
            verbose=0,
            callbacks=[judge, show],
        )
        return Run(start, seed, judge.accuracies[-1], judge.predictions.tolist(), judge.accuracies)

    def _compiled(self) -> BertForSequenceClassification:
        classifier = BertForSequenceClassification(self.encoder.config, self.num_labels)
        settings = self.settings
        steps = len(self.train) // settings.batch_size * settings.epochs
        schedule = WarmupLinearDecay(settings.learning_rate, steps, int(settings.warmup_share * steps))
        classifier.compile(
            adamw(schedule, classifier),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            jit_compile=True,
            steps_per_execution=8,
        )
        classifier.optimizer.build(classifier.trainable_variables)
        return classifier

    def _set_weights(self, classifier: BertForSequenceClassification, start: str, seed: int) -> None:
        """Fresh weights, dropout and optimizer, then, unless from scratch, the pre-trained encoder."""
        keras.utils.set_random_seed(seed)
        fresh = BertForSequenceClassification(self.encoder.config, self.num_labels)
        classifier.set_weights(fresh.get_weights())
        for own, new in zip(_dropout_seeds(classifier), _dropout_seeds(fresh), strict=True):
            own.assign(new)
        if start == "pre-trained":
            classifier.bert.set_weights(self.encoder.get_weights())
        for variable in classifier.optimizer.variables:
            if variable.path.split("/")[-1] != "learning_rate":
                variable.assign(keras.ops.zeros_like(variable))


def _dropout_seeds(model: keras.Model) -> list:
    return [variable for variable in model.variables if "seed_generator" in variable.path]


class _JudgeEveryEpoch(keras.callbacks.Callback):
    """Predicts the validation rows after every epoch."""

    def __init__(self, validation: Split):
        super().__init__()
        self.validation = validation
        self.accuracies: list[float] = []
        self.predictions = np.zeros(0, int)

    def on_epoch_end(self, epoch, logs=None):
        logits = self.model.predict(self.validation.inputs, batch_size=PREDICTED_TOGETHER, verbose=0)
        self.predictions = np.argmax(logits, axis=-1)
        self.accuracies.append(float((self.predictions == self.validation.labels).mean()))


def accuracies(runs: Sequence[Run], start: str) -> np.ndarray:
    """The accuracies of the runs from one start, in the order of their seeds."""
    return np.array([run.accuracy for run in sorted(runs, key=lambda run: run.seed) if run.start == start])


def advantage(runs: Sequence[Run]) -> tuple[float, float]:
    """(pre-trained − from scratch, in accuracy; the same in standard deviations of the runs).

    The deviation is pooled over both starts: √((s₁² + s₂²) / 2), each s with one degree of freedom taken off.
    """
    first, second = (accuracies(runs, start) for start in STARTS)
    difference = float(first.mean() - second.mean())
    deviation = float(np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2))
    if difference == 0:
        return 0.0, 0.0  # also where no run differs from another
    return difference, difference / deviation if deviation else float(np.copysign(np.inf, difference))
