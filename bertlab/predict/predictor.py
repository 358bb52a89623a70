"""A fine-tuned model, its tokenizer and its task, ready for raw text.

Inputs of similar length are read together, and the results come back in the order of the inputs.
"""

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from bertlab import checkpoints
from bertlab.common.errors import CheckpointError, DataError
from bertlab.data.tasks.features import Features, encode_rows
from bertlab.data.tasks.rows import MultipleChoiceRow, QuestionRow, Row, TaggingRow
from bertlab.predict.inputs import row_of
from bertlab.predict.predictions import (
    AnswerPrediction,
    ChoicePrediction,
    LabelPrediction,
    LabelsPrediction,
    NumberPrediction,
    Prediction,
    TagPrediction,
)
from bertlab.predict.windows import mean_of_windows, text_windows, tokens_of_windows
from bertlab.tokenizers.wordpiece.encoding import text_column
from bertlab.training.features.storage import load_trained
from bertlab.training.finetuning.batches import outputs_of
from bertlab.training.finetuning.task_info import load_task_model, load_written_info
from bertlab.training.finetuning.task_kinds import Encoded, TaskInfo, sigmoid, softmax, task_kind_of

_WHOLE = 1 << 30  # a length that no text reaches: no truncation


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
            info = load_written_info(folder, model, task)
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
        if isinstance(rows[0], QuestionRow):
            return self._answers(rows, advance)
        if isinstance(rows[0], TaggingRow):
            return self._tags(rows, advance)
        if isinstance(rows[0], MultipleChoiceRow):
            return self._choices(rows, advance)
        outputs = self._mean_outputs(encode_rows(rows, self.tokenizer, _WHOLE), self.model.predict_on_batch, advance)
        if not self.info.labels:
            return [NumberPrediction(float(output[0])) for output in outputs]
        chances = (sigmoid if self.info.multi_label else softmax)(np.stack(outputs))  # (N, C)
        return [self._label(probabilities) for probabilities in chances]

    # === Shapes ===

    def _label(self, probabilities: np.ndarray) -> LabelPrediction | LabelsPrediction:
        order = np.argsort(-probabilities, kind="stable")
        named = {self.info.labels[i]: float(probabilities[i]) for i in order}
        if self.info.multi_label:
            return LabelsPrediction([label for label, chance in named.items() if chance > 0.5], named)
        return LabelPrediction(*next(iter(named.items())), named)

    def _choices(self, rows: Sequence[MultipleChoiceRow], advance) -> list[ChoicePrediction]:
        """Each choice is scored on its own, so rows may have different numbers of them."""
        flat = [MultipleChoiceRow(row.context, (choice,)) for row in rows for choice in row.choices]
        whole = dataclasses.replace(encode_rows(flat, self.tokenizer, _WHOLE), choices=None)

        def predict(inputs):
            return self.model.predict_on_batch({name: values[:, None] for name, values in inputs.items()})

        scores = np.concatenate(self._mean_outputs(whole, predict, advance))
        predictions, first = [], 0
        for row in rows:
            probabilities = softmax(scores[first : first + len(row.choices)])
            best = int(probabilities.argmax())
            predictions.append(ChoicePrediction(best, row.choices[best], probabilities.tolist()))
            first += len(row.choices)
        return predictions

    def _tags(self, rows: Sequence[TaggingRow], advance) -> list[TagPrediction]:
        rows = [TaggingRow(row.words) for row in rows]
        encoded = Encoded(rows, encode_rows(rows, self.tokenizer, _WHOLE))
        whole = encoded.features
        windows, _, _ = text_windows(whole.first, None, self.info.max_length, whole.vocabulary)
        outputs = self._outputs(Features(whole.vocabulary, windows), self.model.predict_on_batch, advance)
        column = text_column(whole.vocabulary)
        merged = tokens_of_windows(outputs, np.diff(whole.first.row_splits), self.info.max_length - 2, column)
        before = [np.zeros((column, tokens.shape[1]), np.float32) for tokens in merged]  # where [CLS] is
        decoded = self.task_kind.decode(encoded, [np.concatenate(both) for both in zip(before, merged)])
        return [
            TagPrediction(list(row.words), [self.info.labels[tag] for tag in tags], sure)
            for row, tags, sure in zip(rows, decoded.predictions, decoded.confidences)
        ]

    def _answers(self, rows: Sequence[QuestionRow], advance) -> list[AnswerPrediction]:
        names = [row.id for row in rows]  # may have duplicates, but answers need unique ids
        rows = [QuestionRow(str(number), row.question, row.context) for number, row in enumerate(rows)]
        encoded = self.task_kind.encode(rows)
        if encoded.windows.cut_questions:
            self._name_cut_questions(rows, names)
        outputs = self._outputs(encoded.features, self.model.predict_on_batch, advance)
        decoded = self.task_kind.decode(encoded, outputs)
        predictions = []
        for name, answer, sure in zip(names, decoded.answers, decoded.confidences, strict=True):
            best = answer.candidates[0] if answer.text else None
            start, end = (best.start, best.end) if best else (None, None)
            predictions.append(AnswerPrediction(answer.text, start, end, sure, name))
        return predictions

    def _name_cut_questions(self, rows: Sequence[QuestionRow], names: list[str]) -> None:
        longest = self.task_kind.question_length
        for name, row in zip(names, rows):
            count = len(self.tokenizer.encode(row.question))
            if count > longest:
                self.say(f"question {name} has {count} tokens and was cut to its first {longest}, as in fine-tuning")

    # === Running the model ===

    def _mean_outputs(self, whole: Features, predict: Callable, advance) -> list[np.ndarray]:
        """The logits of each row, the mean of its windows'."""
        first, second, owners = text_windows(whole.first, whole.second, self.info.max_length, whole.vocabulary)
        outputs = self._outputs(Features(whole.vocabulary, first, second), predict, advance)
        return mean_of_windows(outputs, owners, len(whole.first.row_splits) - 1)

    def _outputs(self, features: Features, predict: Callable, advance) -> list:
        batch_size = min(self.batch_size, 1 << (len(features) - 1).bit_length())  # few inputs: a small batch
        return outputs_of(predict, features, batch_size, self.info.max_length, advance)
