"""Tuning sentence vectors with pairs: texts that belong together are moved together, all others apart.

The vector of a text is the mean over its tokens, as `bertlab encode` gives it (Reimers and Gurevych 2019,
"Sentence-BERT"). In a batch of B pairs the softmax over the cosines of a first text with all second texts, divided by
a temperature, should choose its own one: the other B − 1 are negatives (Henderson et al. 2017, "Efficient Natural
Language Response Suggestion for Smart Reply"). A text paired with itself is read twice with different dropout (Gao et
al. 2021, "SimCSE").

The loss of a batch needs the vectors of all its texts, so a batch that is computed in parts, one after the other or on
several devices, is read twice: first without gradients, for all vectors; then part by part, each with the gradient of
the whole batch's loss for its own vectors (Gao et al. 2021, "Scaling Deep Contrastive Learning Batch Size under Memory
Limited Setup"). Dropout draws the same in both readings. The parts' gradients add up to the batch's.

    OUT/settings.json, OUT/states/      what the folder belongs to; the last states, to resume from
    OUT/logs/                           metrics.csv and tensorboard/
    OUT/curve.png                       the loss and, with graded pairs, Spearman's correlation
    OUT/                                at the end: the encoder with its tokenizer, and results.json

Letters: B pairs of a batch, N rows of a part, T tokens, H hidden size.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import keras
import numpy as np
from keras import ops

from bertlab import checkpoints
from bertlab.analysis.vectors import encode_texts
from bertlab.checkpoints.native import model_digests
from bertlab.checkpoints.saving import check_replaceable, format_of
from bertlab.common.errors import ConfigError, DataError
from bertlab.common.files import write_json
from bertlab.common.job import Job
from bertlab.common.progress import bar
from bertlab.data.tasks.features import encode_rows
from bertlab.data.tasks.metrics import spearman
from bertlab.data.tasks.rows import PairRow, SentenceRow
from bertlab.plots import tuning_curves
from bertlab.training.contrastive.settings import ContrastiveSettings
from bertlab.training.devices.accumulation import InParts, split
from bertlab.training.devices.distribution import data_parallel, num_replicas
from bertlab.training.devices.failures import backend_errors
from bertlab.training.devices.precision import policy_of, resolve_precision
from bertlab.training.finetuning.batches import padded_length
from bertlab.training.finetuning.optimizer import finetuning_optimizer
from bertlab.training.finetuning.results import json_values
from bertlab.training.finetuning.trainer import inputs_of
from bertlab.training.recipes.schedule import learning_rate_at
from bertlab.training.runs.curves import RunFiles, save_figure
from bertlab.training.runs.loop import Progress, ProgressLines, TrainingLoop
from bertlab.training.runs.pretrainer import FirstBadStep
from bertlab.training.runs.state import remove_states, restored_progress

RESULTS, SETTINGS, STATES, LOGS, CURVE = "results.json", "settings.json", "states", "logs", "curve.png"
ROWS, VECTORS = "rows", "vectors"  # of a batch


def contrastive_loss(first, second, temperature: float):
    """The mean cross-entropy of choosing each row's own partner by cosine / temperature. (B, H), (B, H) → scalar.

    Example:
        >>> vectors = ops.eye(2)
        >>> round(float(contrastive_loss(vectors, vectors, 1.0)), 4)  # log(1 + e⁻¹)
        0.3133
    """
    first, second = (ops.normalize(ops.cast(each, "float32"), axis=-1, epsilon=1e-12) for each in (first, second))
    scores = ops.matmul(first, ops.transpose(second)) / temperature  # (B, B)
    return -ops.mean(ops.diagonal(ops.log_softmax(scores, axis=-1)))


class ContrastiveTuner(InParts, keras.Model):
    """An encoder whose loss is `contrastive_loss`.

    A batch has 2 B rows, first texts, then their partners, and their numbers, `rows` (2 B,).

    Args:
        backbone: the encoder.   temperature: of the loss.
        accumulation: parts that a batch is computed in, one after the other; together they give the same update.
    """

    def __init__(self, backbone, temperature: float, accumulation: int = 1):
        super().__init__(dtype=backbone.dtype_policy)
        self.backbone, self.temperature, self.accumulation = backbone, temperature, accumulation
        self.bad_step = FirstBadStep(accumulation)
        self.built = True  # every weight is made in the backbone's constructor

    @property
    def config(self):
        """The backbone's configuration."""
        return self.backbone.config

    def call(self, batch, training=False):
        hidden = self.backbone(inputs_of(batch, self.backbone), training=training)["sequence_output"]  # (N, T, H)
        weights = ops.cast(batch["attention_mask"], hidden.dtype)
        return ops.einsum("bth,bt->bh", hidden, weights) / ops.sum(weights, axis=1, keepdims=True)

    def with_totals(self, batch: dict) -> dict:
        """The batch and, for `compute_loss` on parts of it, the vectors of its rows: (2 B, H), 0 for other devices'."""
        seeds = [variable for variable in self.non_trainable_variables if "seed" in variable.name]
        before = [ops.copy(seed) for seed in seeds]
        parts = split(batch, self.accumulation)
        vectors = [
            ops.cast(self({name: values[k] for name, values in parts.items()}, training=True), "float32")
            for k in range(self.accumulation)
        ]
        for seed, value in zip(seeds, before):
            seed.assign(value)
        rows = ops.reshape(parts[ROWS], (-1, 1))
        everything = ops.concatenate(vectors, axis=0)
        zeros = ops.zeros((ops.shape(rows)[0] * num_replicas(), ops.shape(everything)[1]), "float32")
        return {**batch, VECTORS: ops.stop_gradient(ops.scatter_update(zeros, rows, everything))}

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of a batch; of a part, with the gradient for its rows, its part of the loss."""
        if VECTORS not in x:
            loss = contrastive_loss(*ops.split(y_pred, 2), self.temperature)
        else:
            vectors = ops.scatter_update(x[VECTORS], x[ROWS][:, None], ops.cast(y_pred, "float32"))
            loss = contrastive_loss(*ops.split(vectors, 2), self.temperature)
            others = 1 - 1 / (self.accumulation * num_replicas())
            loss = loss - ops.stop_gradient(loss) * others  # the parts' losses, too, add up to the batch's
        self.bad_step.update_state(loss)
        return loss


@dataclass(frozen=True)
class ContrastiveResult:
    """Spearman's correlation of cosines and grades before training, and after each epoch with its loss.

    Without graded pairs the correlations are None. seconds: of training alone.
    """

    before: float | None
    epochs: list[dict]
    seconds: float

    def summary(self) -> str:
        """Lines for people."""
        lines = [] if self.before is None else [f"before   spearman {self.before:.4f}"]
        for row in self.epochs:
            after = "" if row["spearman"] is None else f"spearman {row['spearman']:.4f}  "
            lines.append(f"epoch {row['epoch']:<2} {after}loss {row['loss']:.4f}")
        return "\n".join(lines)


@dataclass
class _Progress(Progress):
    """before: Spearman's correlation before training. losses: of the steps of the current epoch."""

    before: float | None = None
    losses: list[float] = field(default_factory=list)
    epochs: list[dict] = field(default_factory=list)


def tune_vectors(
    model: str | Path,
    pairs: Sequence[PairRow],
    out: str | Path,
    settings: ContrastiveSettings | None = None,
    graded: Sequence[PairRow] = (),
    say: Callable[[str], object] = lambda text: None,
) -> ContrastiveResult:
    """Tunes an encoder's sentence vectors; writes it, its tokenizer and the results into a folder.

    Args:
        model: a checkpoint folder, or a name on the Hugging Face hub.
        pairs: texts that belong together (see `read_pairs`); a text may be paired with itself if the model has dropout.
        out: the folder; started again with the same arguments, the run resumes.
        graded: pairs whose label is a number, larger for pairs that are more alike, to judge the vectors on.
        say: called with lines for the user.

    An epoch has whole batches only, of pairs in a new order; a batch has at most as many pairs as there are.
    Raises DataError for fewer than two pairs or a grade that is not a number, ConfigError for a folder of another run
    or model and for texts paired with themselves without dropout, TrainingError for a loss that is infinite or NaN.
    """
    settings = settings or ContrastiveSettings()
    check_replaceable(out, model, SETTINGS)
    with data_parallel(settings.devices):
        run = _Run(model, pairs, Path(out), settings, graded, say)
        finished = run.job.result(RESULTS)
        if finished is not None:
            return ContrastiveResult(**finished)
        run.job.start(STATES, LOGS, CURVE)
        with backend_errors():
            progress = run.train()
        return run.finish(progress)


class _Run:
    """The arguments of `tune_vectors`, and what follows from them."""

    def __init__(self, model, pairs, out: Path, settings: ContrastiveSettings, graded, say):
        self.out, self.settings, self.graded, self.say = out, settings, graded, say
        keras.utils.set_random_seed(settings.seed)
        precision = resolve_precision(settings.precision)
        self.backbone = checkpoints.load(model, "encoder", padded_vocabulary=True, dtype=policy_of(precision))
        self.tokenizer = checkpoints.load_tokenizer(model)
        _check(pairs, graded, self.backbone.config)
        identity = model_digests(self.backbone, self.tokenizer)
        rows = hashlib.sha256(repr((list(pairs), list(graded))).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        chosen = {name: value for name, value in settings.to_dict().items() if name != "interval"}
        chosen |= {"precision": precision, "backend": keras.backend.backend()}
        defaults = ContrastiveSettings().to_dict() | {"backend": "tensorflow"}  # of folders older than a setting
        self.job = Job(out, SETTINGS, {"model": str(model), **identity, "rows": rows, **chosen}, defaults=defaults)
        if self.backbone.pooler is not None:
            self.backbone.pooler.trainable = False  # the vectors do not come from it
        self.limit = min(settings.max_length, self.backbone.config.max_tokens)
        texts = [SentenceRow(text) for row in pairs for text in (row.text_a, row.text_b)]
        self.features, self.pairs = encode_rows(texts, self.tokenizer, self.limit), len(pairs)
        parts = settings.accumulation * settings.devices
        together = min(settings.batch_size, len(pairs))  # pairs of a batch
        self.together = together - together % parts
        if self.together < 2:
            raise ConfigError(f"expected at least {max(parts, 2)} pairs for {parts} parts of a batch, got {len(pairs)}")
        self.per_epoch = len(pairs) // self.together

    def train(self) -> _Progress:
        """All epochs, from the last state if there is one."""
        settings, total = self.settings, self.per_epoch * self.settings.epochs
        tuner = ContrastiveTuner(self.backbone, settings.temperature, settings.accumulation)
        jit = "auto" if num_replicas() == 1 else False  # TensorFlow's devices cannot share a step that XLA compiled
        tuner.compile(finetuning_optimizer(tuner, settings.weight_decay, layer_decay=1.0), jit_compile=jit)
        tuner.optimizer.build(tuner.trainable_variables)
        found = restored_progress(self.out / STATES, tuner, self.say)
        progress = _Progress(**found) if found else _Progress(before=self._judge())
        if found:
            self.say(f"resumes from step {progress.step:,} of {total:,}")
        advice = (
            f"(learning rate {settings.learning_rate:g}, temperature {settings.temperature:g}): choose a lower "
            "learning rate or a higher temperature"
        )
        files = RunFiles(self.out / LOGS, curve=False)
        self.loop = TrainingLoop(tuner, progress, settings.interval, self.out / STATES, files, advice)
        with bar("Tuning of vectors", total, progress.step) as running:
            lines = ProgressLines(total, self.say, progress.step, running)
            while progress.step < total:
                loss = self._step(tuner, progress, total)
                lines.advance(1, f"loss {loss:.3f}")
        return progress

    def _step(self, tuner: ContrastiveTuner, progress: _Progress, total: int) -> float:
        """One update, with what is due after it. Returns the loss."""
        loss = self.loop.step(self._batch(progress.step), learning_rate_at(progress.step, total, self.settings))
        progress.losses.append(loss)
        if progress.step % self.per_epoch == 0:
            mean = float(np.mean(progress.losses))
            row = {"epoch": len(progress.epochs) + 1, "loss": mean, "spearman": self._judge()}
            progress.epochs.append(row)
            progress.losses = []
            self.loop.record({name: value for name, value in row.items() if value is not None}, save=False)
            self.say(ContrastiveResult(None, [row], 0.0).summary())
            save_figure(self.out / CURVE, tuning_curves(progress.rows, progress.before))
        if self.loop.is_interval_over:
            self.loop.record({"loss": loss})
        return loss

    def _batch(self, step: int) -> dict[str, np.ndarray]:
        """The first texts of B pairs, then the second ones: (2 B, T) int32 each. It follows from the step alone.

        `rows` (2 B,) numbers them.
        """
        epoch, number = divmod(step, self.per_epoch)
        order = np.random.default_rng((self.settings.seed, epoch)).permutation(self.pairs)
        chosen = order[number * self.together : (number + 1) * self.together]
        indices = np.concatenate([2 * chosen, 2 * chosen + 1])
        length = padded_length(int(self.features.lengths[indices].max()), self.limit)
        inputs, _ = self.features.batch(indices, length)
        return inputs | {ROWS: np.arange(len(indices), dtype="int32")}

    def _judge(self) -> float | None:
        """Spearman's correlation of the cosines with the grades; None without graded pairs."""
        if not self.graded:
            return None
        texts = [text for row in self.graded for text in (row.text_a, row.text_b)]
        vectors = encode_texts(self.backbone, self.tokenizer, texts, normalise=True)  # (2 N, H)
        return spearman([row.label for row in self.graded], np.sum(vectors[::2] * vectors[1::2], axis=1))

    def finish(self, progress: _Progress) -> ContrastiveResult:
        """Writes the encoder, then the results; then the states are no longer needed."""
        checkpoints.save(self.backbone, self.out, self.tokenizer, format=format_of(self.backbone))
        result = ContrastiveResult(progress.before, progress.epochs, progress.seconds)
        write_json(self.out / RESULTS, json_values(dataclasses.asdict(result)))
        remove_states(self.out / STATES)
        return result


def _check(pairs, graded, config) -> None:
    if len(pairs) < 2:
        raise DataError(f"expected at least two pairs to tune on, got {len(pairs)}")
    if any(row.text_a == row.text_b for row in pairs) and not (config.hidden_dropout or config.attention_dropout):
        raise ConfigError(
            "a text that is paired with itself teaches nothing without dropout, and this model has none; give pairs of "
            "two texts, or a model whose config.json has dropout"
        )
    for number, row in enumerate(graded, 1):
        if not isinstance(row, PairRow) or not isinstance(row.label, int | float):
            raise DataError(f"graded pair {number}: expected two texts and a number, got {row!r}")
