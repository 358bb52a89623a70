"""The four shapes of fine-tuning (Devlin et al. 2019, figure 4), each with what sets it apart from the others.

    shape                     model of one output for      loss                         prediction
    sentence, pair            each row: C classes          cross-entropy                class
    sentence, pair, labels    each row: C labels          binary cross-entropy         any number of labels
    sentence, pair, numbers   each row: one number         squared error                number
    multiple-choice           each choice: one score       cross-entropy over choices   choice
    tagging                   each token: C tags           cross-entropy, −100 left out tag of each word
    question                  each token: start and end    both cross-entropies         span of the context, or none

A `TaskKind` turns rows into features, says what the loss is, and turns the model's outputs into predictions. Training
and prediction from raw text share it.

Letters: N rows, B rows of a batch, T tokens, C classes.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from keras import ops

from bertlab.common.errors import DataError
from bertlab.data.tasks.features import Features, encode_rows
from bertlab.data.tasks.metrics import default_metrics, score
from bertlab.data.tasks.rows import QuestionRow, Row, TaskData
from bertlab.data.tasks.windows import (
    Answer,
    QuestionWindows,
    answer_texts,
    best_answers,
    make_windows,
    no_answer_scores,
)
from bertlab.training.objectives import token_losses, weighted_mean

EITHER = "sentence or pair"  # the shape of a classifier whose folder does not say which of the two it reads


@dataclass(frozen=True)
class TaskInfo:
    """The description of a task that a fine-tuned model needs; kept beside it in `task.json`.

    metrics: the first is the one to choose models by. null_threshold: questions only: "no answer" is predicted where it
    is ahead of the best span by more; None never predicts it. multi_label: a row has any number of the labels.
    """

    name: str
    shape: str
    labels: tuple[str, ...]
    metrics: tuple[str, ...]
    max_length: int = 128
    stride: int = 128
    null_threshold: float | None = None
    multi_label: bool = False

    @classmethod
    def of(cls, task: TaskData, max_length: int, stride: int) -> "TaskInfo":
        """The description of a task. A threshold of 0 where some questions have no answer."""
        from bertlab.data.tasks.formats_published import find_task

        published = find_task(task.name)
        metrics = published.metrics if published else default_metrics(task.shape, task.labels, task.multi_label)
        unanswerable = task.shape == "question" and any(not row.answers for row in (*task.train, *task.validation))
        return cls(
            task.name, task.shape, tuple(task.labels), tuple(metrics), max_length, stride,
            null_threshold=0.0 if unanswerable else None, multi_label=task.multi_label,
        )  # fmt: skip

    def read_as(self, shape: str) -> "TaskInfo":
        """The description with this shape, sentence or pair, where it does not say which of the two; else itself."""
        chosen = self.shape == EITHER and shape in ("sentence", "pair")
        return dataclasses.replace(self, shape=shape) if chosen else self

    def score(self, rows: Sequence[Row], decoded: "Decoded") -> dict[str, float]:
        """The metrics of predictions for labelled rows."""
        return score(self.metrics, rows, self.labels, decoded.predictions, **decoded.options)


@dataclass(frozen=True)
class Encoded:
    """Rows that are ready for a model. notes: what was cut, one sentence each, for the user to see."""

    rows: Sequence[Row]
    features: Features
    windows: QuestionWindows | None = None  # questions only
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decoded:
    """Predictions as `metrics.score` takes them, and how sure the model is of each, in [0, 1] (NaN for numbers).

    Tagging has a list of either for each row. options: what `score` wants beside them. answers: for questions.
    probabilities: of every class (or label), (N, C), for sentences and pairs.
    """

    predictions: list | dict
    confidences: list
    options: dict = field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    probabilities: np.ndarray | None = None


class TaskKind:
    """A task as a model sees it; the base of the four shapes.

    Args:
        info: a `TaskInfo`.   tokenizer: the model's `WordPieceTokenizer`.
    """

    model_kind = "sequence_classification"  # a key of `bertlab.checkpoints.kinds.KINDS`

    def __init__(self, info: TaskInfo, tokenizer):
        self.info, self.tokenizer = info, tokenizer

    @property
    def model_options(self) -> dict:
        """Arguments of the model's class beside its config."""
        return {"num_labels": len(self.info.labels)}

    def encode(self, rows: Sequence[Row]) -> Encoded:
        """Tokenized rows, cut to the task's max_length."""
        max_length = self.info.max_length
        features = encode_rows(rows, self.tokenizer, max_length, self.info.labels)
        cut = f"{features.truncated} rows have more than {max_length} tokens and were cut"
        return Encoded(rows, features, notes=(cut,) if features.truncated else ())

    def loss(self, targets, outputs, class_weights=None, total=None):
        """The mean loss of a batch, a scalar. Targets −100 (or NaN) take no part.

        total: of a part of a batch, the sum of the weights (see `weights`) of the whole batch.
        """
        return class_loss(targets, outputs, class_weights, total)

    def weights(self, targets, class_weights=None):
        """The weight of each item in the loss, 0 where its target takes no part: float32."""
        return target_weights(targets, class_weights)

    def decode(self, encoded: Encoded, outputs: list) -> Decoded:
        """Predictions from the outputs of every row (or window), as `batches.outputs_of` lists them."""
        return decoded_classes(softmax(np.stack(outputs)))

    def tune(self, dev: Encoded, outputs: Callable[[], list]) -> None:
        """Chooses what only development rows tell; here nothing. outputs: gives the model's output for each of them."""


class MultiLabel(TaskKind):
    """Any number of labels for each row; a label is predicted if its probability is more than one half."""

    def loss(self, targets, outputs, class_weights=None, total=None):
        logits = ops.cast(outputs, "float32")  # (B, C)
        wanted = ops.where(ops.isnan(targets), 0.0, targets)
        losses = ops.softplus(logits) - wanted * logits  # −log σ(x) where 1 is wanted, −log(1 − σ(x)) elsewhere
        return weighted_mean(losses, self.weights(targets, class_weights), total)

    def weights(self, targets, class_weights=None):
        weights = ops.cast(ops.logical_not(ops.isnan(targets)), "float32")  # (B, C)
        return weights if class_weights is None else weights * ops.convert_to_tensor(class_weights, "float32")

    def decode(self, encoded: Encoded, outputs: list) -> Decoded:
        return decoded_labels(sigmoid(np.stack(outputs)))


class Regression(TaskKind):
    """A number for each row, such as STS-B's similarity."""

    @property
    def model_options(self) -> dict:
        return {"num_labels": 1}

    def loss(self, targets, outputs, class_weights=None, total=None):
        difference = ops.cast(outputs[:, 0], "float32") - ops.where(ops.isnan(targets), 0.0, targets)
        return weighted_mean(ops.square(difference), self.weights(targets), total)

    def weights(self, targets, class_weights=None):
        return ops.cast(ops.logical_not(ops.isnan(targets)), "float32")  # (B,)

    def encode(self, rows: Sequence[Row]) -> Encoded:
        encoded = super().encode(rows)
        targets = encoded.features.targets
        if targets is not None and targets.dtype.kind != "f":  # whole numbers are numbers, too
            features = dataclasses.replace(encoded.features, targets=targets.astype(np.float32))
            return dataclasses.replace(encoded, features=features)
        return encoded

    def decode(self, encoded: Encoded, outputs: list) -> Decoded:
        numbers = np.stack(outputs)[:, 0].tolist()
        return Decoded(numbers, [float("nan")] * len(numbers))


class MultipleChoice(TaskKind):
    """Which of several continuations follows a context (SWAG)."""

    model_kind, model_options = "multiple_choice", {}


class Tagging(TaskKind):
    """A tag for each word; a word's first token decides."""

    model_kind = "token_classification"

    def encode(self, rows: Sequence[Row]) -> Encoded:
        encoded = super().encode(rows)
        lost = encoded.features.lost_words
        if not lost:
            return encoded
        note = f"{lost} words are beyond the cut or have no token; they are tagged {self._default()}"
        return dataclasses.replace(encoded, notes=(*encoded.notes, note))

    def _default(self) -> str:
        return "O" if "O" in self.info.labels else self.info.labels[0]

    def decode(self, encoded: Encoded, outputs: list) -> Decoded:
        default = self.info.labels.index(self._default())
        tags, sure = [], []
        for index, logits in enumerate(outputs):
            probabilities = softmax(logits)  # (T, C)
            one = encoded.features.word_positions.row(index)  # (words,)
            sure.append(np.where(one >= 0, probabilities.max(axis=1)[one], 0.0).tolist())
            tags.append(np.where(one >= 0, probabilities.argmax(axis=1)[one], default).tolist())
        return Decoded(tags, sure)


class Questions(TaskKind):
    """The span of a context that answers a question, or that there is none (SQuAD 1.1 and 2.0)."""

    model_kind, model_options = "question_answering", {}

    @property
    def question_length(self) -> int:
        """The largest number of tokens of a question; longer ones are cut. 64 is the published limit."""
        return min(64, self.info.max_length // 3)

    def encode(self, rows: Sequence[QuestionRow]) -> Encoded:
        windows = make_windows(rows, self.tokenizer, self.info.max_length, self.info.stride, self.question_length)
        notes = []
        if windows.cut_questions:
            notes.append(f"{windows.cut_questions} questions have more than {self.question_length} tokens and were cut")
        if windows.lost_answers:
            notes.append(f"{windows.lost_answers} answers have no token")
        return Encoded(rows, windows.features, windows, tuple(notes))

    def loss(self, targets, outputs, class_weights=None, total=None):
        start = class_loss(targets["start_positions"], outputs["start_logits"], total=total)
        return (start + class_loss(targets["end_positions"], outputs["end_logits"], total=total)) / 2

    def weights(self, targets, class_weights=None):
        return target_weights(targets["start_positions"])  # a window has both targets or neither

    def decode(self, encoded: Encoded, outputs: list) -> Decoded:
        start, end = ([row[name] for row in outputs] for name in ("start_logits", "end_logits"))
        answers = best_answers(encoded.windows, start, end, null_threshold=self.info.null_threshold)
        options = {} if self.info.null_threshold is None else {"no_answer_scores": no_answer_scores(answers)}
        return Decoded(answer_texts(answers), list(map(confidence, answers)), options, tuple(answers))

    def tune(self, dev: Encoded, outputs: Callable[[], list]) -> None:
        """Says "no answer", if it may at all, as often as gives the highest F1: by the margin over the best span."""
        if self.info.null_threshold is not None:
            always = Questions(dataclasses.replace(self.info, null_threshold=None), self.tokenizer)
            decoded = always.decode(dev, outputs())
            scores = no_answer_scores(decoded.answers)
            figures = score(("squad",), dev.rows, (), decoded.predictions, no_answer_scores=scores)
            self.info = dataclasses.replace(self.info, null_threshold=figures["best_f1_threshold"])


def decoded_classes(probabilities: np.ndarray) -> Decoded:
    """The most likely class of each row. probabilities: (N, C), each row adding up to 1."""
    return Decoded(
        probabilities.argmax(axis=1).tolist(), probabilities.max(axis=1).tolist(), probabilities=probabilities
    )


def decoded_labels(probabilities: np.ndarray) -> Decoded:
    """Every label that is more likely than not, for each row. probabilities: (N, C), each on its own."""
    predicted = [tuple(np.flatnonzero(row > 0.5).tolist()) for row in probabilities]
    confidences = np.maximum(probabilities, 1 - probabilities).min(axis=1).tolist()
    return Decoded(predicted, confidences, probabilities=probabilities)


def task_kind_of(info: TaskInfo, tokenizer) -> TaskKind:
    """The problem of a task's shape. Raises DataError for a shape that does not exist.

    Example:
        >>> info = TaskInfo("films", "sentence", labels=("bad", "good"), metrics=("accuracy",))
        >>> problem = task_kind_of(info, load_tokenizer("bertlab-mini"))
        >>> problem.model_kind, problem.model_options
        ('sequence_classification', {'num_labels': 2})
    """
    if info.shape in ("sentence", "pair", EITHER):
        if info.multi_label:
            return MultiLabel(info, tokenizer)
        return (TaskKind if info.labels else Regression)(info, tokenizer)
    shapes = {"multiple-choice": MultipleChoice, "tagging": Tagging, "question": Questions}
    if info.shape not in shapes:
        raise DataError(f"{info.name}: there is no shape {info.shape!r}; choose sentence, pair, {', '.join(shapes)}")
    return shapes[info.shape](info, tokenizer)


def class_loss(targets, logits, class_weights=None, total=None):
    """Cross-entropy, weighted by class, over the targets that are not −100.

    targets: (…) int; logits: (…, C); class_weights: (C,) or None. The mean is Σ weight · loss / Σ weight.
    total: Σ weight of the whole batch, when these are a part of it.
    """
    classes = ops.where(targets >= 0, targets, 0)
    return weighted_mean(token_losses(logits, classes), target_weights(targets, class_weights), total)


def target_weights(targets, class_weights=None):
    """The weight of each target: its class's, 1 without class_weights, 0 for −100. targets: (…) int → (…) float32."""
    known = targets >= 0
    weights = ops.cast(known, "float32")
    if class_weights is None:
        return weights
    return weights * ops.take(ops.convert_to_tensor(class_weights, "float32"), ops.where(known, targets, 0))


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(−x)) of each logit, without overflow."""
    return (1 + np.tanh(logits / 2)) / 2


def confidence(answer: Answer) -> float:
    """The probability of an answer among its question's best spans and "no answer", by their scores."""
    if not answer.candidates:
        return 1.0
    scores = [span.score for span in answer.candidates]
    probabilities = softmax(np.array([*scores, scores[0] + answer.no_answer_score]))
    return float(probabilities[-1] if answer.text == "" else probabilities[0])
