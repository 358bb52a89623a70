"""A fine-tuned model, its tokenizer and its task, ready for raw text, and its predictions, a class for each task type.

The shell prints a prediction's `line`, and `--json` its `vars`. Inputs of similar length are read together, and the
results come back in the order of the inputs.
"""

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab import checkpoints
from bertlab.common.errors import CheckpointError, DataError
from bertlab.data.tasks.features import Features, encode_rows
from bertlab.data.tasks.rows import MultipleChoiceRow, QuestionRow, Row, TaggingRow
from bertlab.predict.inputs import row_of
from bertlab.predict.windows import mean_of_windows, text_windows, tokens_of_windows
from bertlab.tokenizers.wordpiece.encoding import text_column
from bertlab.training.features.models import load_trained
from bertlab.training.finetuning.batches import outputs_of
from bertlab.training.finetuning.task_info import load_info, load_task_model
from bertlab.training.finetuning.task_kinds import (
    Decoded,
    Encoded,
    TaskInfo,
    decoded_classes,
    decoded_labels,
    sigmoid,
    softmax,
    task_kind_of,
)

_WHOLE = 1 << 30  # a length that no text reaches: no truncation


@dataclass(frozen=True)
class LabelPrediction:
    """A class, its probability, and those of all classes by name, most likely first.

    Example:
        >>> LabelPrediction("good", 0.75, {"good": 0.75, "bad": 0.25}).line.split()
        ['good', '0.7500']
    """

    label: str
    probability: float
    probabilities: dict[str, float]

    @property
    def line(self) -> str:
        return f"{self.label}\t{self.probability:.4f}"


@dataclass(frozen=True)
class LabelsPrediction:
    """The labels whose probability is more than one half (multi-label), and the probabilities of all by name.

    Example:
        >>> LabelsPrediction(["funny"], {"funny": 0.75, "long": 0.25}).line
        'funny 0.7500'
        >>> LabelsPrediction([], {"funny": 0.25, "long": 0.25}).line
        '(no label)'
    """

    labels: list[str]
    probabilities: dict[str, float]

    @property
    def line(self) -> str:
        """The labels with their probabilities, most likely first; "(no label)" without any."""
        return "\t".join(f"{label} {self.probabilities[label]:.4f}" for label in self.labels) or "(no label)"


@dataclass(frozen=True)
class NumberPrediction:
    """A number (regression).

    Example:
        >>> NumberPrediction(3.5).line
        '3.5000'
    """

    value: float

    @property
    def line(self) -> str:
        return f"{self.value:.4f}"


@dataclass(frozen=True)
class ChoicePrediction:
    """The index of the most likely choice, its text, and the probabilities of all in the order they were given.

    Example:
        >>> prediction = ChoicePrediction(1, "It barked.", [0.25, 0.75])
        >>> prediction.probabilities[prediction.choice]
        0.75
    """

    choice: int
    text: str
    probabilities: list[float]

    @property
    def line(self) -> str:
        return f"{self.choice}\t{self.probabilities[self.choice]:.4f}\t{self.text}"


@dataclass(frozen=True)
class TagPrediction:
    """A tag for each word, and its probability.

    Example:
        >>> TagPrediction(["Paris", "is", "nice"], ["B-LOC", "O", "O"], [0.75, 0.5, 0.5]).line
        'Paris/B-LOC is nice'
    """

    words: list[str]
    tags: list[str]
    probabilities: list[float]

    @property
    def line(self) -> str:
        """Words with their tags after a slash unless they are "O": Paris/B-LOC is nice ."""
        return " ".join(word if tag == "O" else f"{word}/{tag}" for word, tag in zip(self.words, self.tags))


@dataclass(frozen=True)
class AnswerPrediction:
    """The answer and its position: context[start:end]. No answer: the empty text, start and end None.

    Example:
        >>> context = "The capital is Paris."
        >>> answer = AnswerPrediction("Paris", start=15, end=20, probability=0.75, id="1")
        >>> context[answer.start : answer.end]
        'Paris'
    """

    text: str
    start: int | None
    end: int | None
    probability: float  # among the question's best spans and "no answer"
    id: str  # the given id, else the number of the input

    @property
    def line(self) -> str:
        return f"{self.text or '(no answer)'}\t{self.probability:.4f}"


Prediction = LabelPrediction | LabelsPrediction | NumberPrediction | ChoicePrediction | TagPrediction | AnswerPrediction


class Predictor:
    """Call it with a list of raw inputs (see `bertlab.predict.inputs`); it gives a list of predictions.

    Inputs longer than the model's maximum length are read in overlapping windows, never truncated. Only a question
    about a context is cut, as in fine-tuning, and `say` gets a line about it.

    Args:
        model: one of `bertlab.models` with a fine-tuned head, a baseline or a head on a frozen model.
        tokenizer: its `WordPieceTokenizer`.
        info: the task that the model was fine-tuned for.
        batch_size: rows read together.
        jit_compile: compile with XLA: slow at first, then faster; for many inputs.
        say: called with a sentence about each question that was cut.

    Example:
        predictor = Predictor.load("runs/reviews")
        for prediction in predictor(["A fine film.", "It is too long."]):
            print(prediction.label, prediction.probability)
    """

    def __init__(
        self,
        model,
        tokenizer,
        info: TaskInfo,
        batch_size: int = 32,
        jit_compile: bool = False,
        say: Callable[[str], object] = warnings.warn,
    ):
        self.model, self.tokenizer, self.batch_size, self.say = model, tokenizer, batch_size, say
        limit = min(info.max_length, model.config.max_tokens)
        self.info = dataclasses.replace(info, max_length=limit, stride=min(info.stride, limit))
        self.task_kind = task_kind_of(self.info, tokenizer)
        model.compile(jit_compile=jit_compile)

    @classmethod
    def load(cls, folder: str | Path, task: str | None = None, shape: str | None = None, **options) -> "Predictor":
        """The predictor of a folder that `bertlab finetune` or transformers wrote. options: of the constructor.

        task: which one, of a model of several tasks. shape: sentence or pair, for a classifier whose folder does not
        say which of the two it reads; without it, each call's first input decides.
        Raises CheckpointError for a model that is not fine-tuned, or not on this task, or has another shape.
        """
        tokens, trained = folder, load_trained(folder)
        if trained is not None:
            model, tokens = trained
            info = load_info(folder, model, task, from_config=False)
        else:
            model, info = load_task_model(folder, task)
        if shape is not None:
            if info.read_as(shape).shape != shape:
                raise CheckpointError(f"{folder}: reads the shape {info.shape}, got {shape}; leave the shape out")
            info = info.read_as(shape)
        return cls(model, checkpoints.load_tokenizer(tokens), info, **options)

    def __call__(self, inputs: Iterable, advance: Callable[[int], None] = lambda rows: None) -> list[Prediction]:
        """One prediction for each input. Raises DataError, with the input, for one in another format, and for one
        input in place of several.
        """
        if isinstance(inputs, (str, bytes, dict)):
            raise DataError(f"expected a list of inputs, got one, {inputs!r:.80}; put it into a list")
        inputs = list(inputs)
        info = self.info.read_as("sentence" if inputs and isinstance(inputs[0], str) else "pair")
        rows = [row_of(info.shape, value, number) for number, value in enumerate(inputs, 1)]
        return self.predict_rows(rows, advance) if rows else []

    def predict_rows(self, rows: Sequence[Row], advance: Callable[[int], None] = lambda rows: None) -> list[Prediction]:
        """The same for rows of `bertlab.data.tasks.rows`; their labels are ignored."""
        decoded, labels = self.decoded(rows, advance), self.info.labels
        sures = decoded.confidences
        if isinstance(rows[0], QuestionRow):
            best = [answer.candidates[0] if answer.text else None for answer in decoded.answers]
            places = [(one.start, one.end) if one else (None, None) for one in best]
            given = zip(decoded.answers, places, sures, rows)
            return [AnswerPrediction(answer.text, *place, sure, row.id) for answer, place, sure, row in given]
        if isinstance(rows[0], TaggingRow):
            tagged = zip(rows, decoded.predictions, sures)
            return [TagPrediction(list(row.words), [labels[tag] for tag in tags], sure) for row, tags, sure in tagged]
        if isinstance(rows[0], MultipleChoiceRow):
            chosen = zip(decoded.predictions, rows, decoded.probabilities)
            return [ChoicePrediction(best, row.choices[best], chances.tolist()) for best, row, chances in chosen]
        if not labels:
            return [NumberPrediction(number) for number in decoded.predictions]
        predictions = []
        for probabilities in decoded.probabilities:
            order = np.argsort(-probabilities, kind="stable")
            named = {labels[i]: float(probabilities[i]) for i in order}
            if self.info.multi_label:
                likely = [label for label, chance in named.items() if chance > 0.5]
                predictions.append(LabelsPrediction(likely, named))
            else:
                predictions.append(LabelPrediction(*next(iter(named.items())), named))
        return predictions

    def decoded(self, rows: Sequence[Row], advance: Callable[[int], None] = lambda rows: None) -> Decoded:
        """Predictions for the rows as indices, which metrics are computed from. advance: as for `predict_rows`."""
        if isinstance(rows[0], QuestionRow):
            return self._answers(rows, advance)
        if isinstance(rows[0], TaggingRow):
            return self._tags(rows, advance)
        if isinstance(rows[0], MultipleChoiceRow):
            return self._choices(rows, advance)
        outputs = self._mean_outputs(encode_rows(rows, self.tokenizer, _WHOLE), self.model.predict_on_batch, advance)
        if not self.info.labels:
            return Decoded([float(output[0]) for output in outputs], [float("nan")] * len(outputs))
        probabilities = (sigmoid if self.info.multi_label else softmax)(np.stack(outputs)).astype(np.float64)  # (N, C)
        return (decoded_labels if self.info.multi_label else decoded_classes)(probabilities)

    # === Shapes ===

    def _choices(self, rows: Sequence[MultipleChoiceRow], advance) -> Decoded:
        """Each choice is scored on its own, so rows may have different numbers of them."""
        flat = [MultipleChoiceRow(row.context, (choice,)) for row in rows for choice in row.choices]
        whole = dataclasses.replace(encode_rows(flat, self.tokenizer, _WHOLE), choices=None)

        def predict(inputs):
            return self.model.predict_on_batch({name: values[:, None] for name, values in inputs.items()})

        scores = np.concatenate(self._mean_outputs(whole, predict, advance))
        ends = np.cumsum([len(row.choices) for row in rows])
        probabilities = [softmax(own) for own in np.split(scores, ends[:-1])]
        best = [int(own.argmax()) for own in probabilities]
        return Decoded(best, [float(own.max()) for own in probabilities], probabilities=probabilities)

    def _tags(self, rows: Sequence[TaggingRow], advance) -> Decoded:
        rows = [TaggingRow(row.words) for row in rows]
        encoded = Encoded(rows, encode_rows(rows, self.tokenizer, _WHOLE))
        whole = encoded.features
        windows, _, _ = text_windows(whole.first, None, self.info.max_length, whole.vocabulary)
        outputs = self._outputs(Features(whole.vocabulary, windows), self.model.predict_on_batch, advance)
        column = text_column(whole.vocabulary)
        merged = tokens_of_windows(outputs, np.diff(whole.first.row_splits), self.info.max_length - 2, column)
        before = [np.zeros((column, tokens.shape[1]), np.float32) for tokens in merged]  # where [CLS] is
        return self.task_kind.decode(encoded, [np.concatenate(both) for both in zip(before, merged)])

    def _answers(self, rows: Sequence[QuestionRow], advance) -> Decoded:
        numbered = [QuestionRow(str(number), row.question, row.context) for number, row in enumerate(rows)]
        encoded = self.task_kind.encode(numbered)  # given ids may have duplicates
        longest = self.task_kind.question_length
        for row in rows if encoded.windows.cut_questions else ():
            count = len(self.tokenizer.encode(row.question))
            if count > longest:
                self.say(f"question {row.id} has {count} tokens and was cut to its first {longest}, as in fine-tuning")
        outputs = self._outputs(encoded.features, self.model.predict_on_batch, advance)
        decoded = self.task_kind.decode(encoded, outputs)
        texts = {row.id: answer.text for row, answer in zip(rows, decoded.answers, strict=True)}
        return Decoded(texts, decoded.confidences, answers=decoded.answers)

    # === Running the model ===

    def _mean_outputs(self, whole: Features, predict: Callable, advance) -> list[np.ndarray]:
        """The logits of each row, the mean of its windows'."""
        first, second, owners = text_windows(whole.first, whole.second, self.info.max_length, whole.vocabulary)
        outputs = self._outputs(Features(whole.vocabulary, first, second), predict, advance)
        return mean_of_windows(outputs, owners, len(whole.first.row_splits) - 1)

    def _outputs(self, features: Features, predict: Callable, advance) -> list:
        batch_size = min(self.batch_size, 1 << (len(features) - 1).bit_length())  # few inputs: a small batch
        return outputs_of(predict, features, batch_size, self.info.max_length, advance)
