"""The loss of int8 weights: the same labelled rows through an ONNX file with float32 weights and one with int8 weights.

Letters: B batch, T tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.data.tasks.rows import Row
from bertlab.export import OnnxModel
from bertlab.predict.evaluation import info_for
from bertlab.predict.predictor import Predictor
from bertlab.training.finetuning.judgement import judge, require_answers


@dataclass(frozen=True)
class Int8Loss:
    """The metrics of both files on the same rows.

    difference: the largest between two outputs (logits). same: the fraction of rows with the same prediction; of
    numbers to predict None.
    """

    rows: int
    full: dict[str, float]
    int8: dict[str, float]
    difference: float
    same: float | None

    def summary(self) -> str:
        """Lines for people."""
        lines = [f"on {self.rows:,} rows: the largest difference of an output is {self.difference:.3g}"]
        if self.same is not None:
            lines[0] += f", {self.same:.2%} of the predictions are the same"
        for name, value in self.full.items():
            lines.append(f"{name:<24} {value:8.4f} → {self.int8[name]:8.4f} ({self.int8[name] - value:+.4f})")
        return "\n".join(lines)


def int8_loss(
    predictor: Predictor,
    full: str | Path,
    int8: str | Path,
    rows: Sequence[Row],
    advance: Callable[[int], None] = lambda rows: None,
) -> Int8Loss:
    """Both files on labelled rows, read as `bertlab predict` reads them.

    Args:
        predictor: of the model that both were made from.   full, int8: the files of `export_int8`.
        rows: of the model's task type, each with its right answer.   advance: called with the number of rows done.

    Raises DataError for rows without right answers.
    """
    info, config = info_for(predictor.info, rows), predictor.model.config
    require_answers(info.name, rows)
    for_each_token = info.shape in ("tagging", "question")
    both = _Both(OnnxModel(full, config), OnnxModel(int8, config), for_each_token=for_each_token)
    decoded = []
    for both.answers_as in (0, 1):
        served = Predictor(both, predictor.tokenizer, info, predictor.batch_size)
        decoded.append(served.decoded(rows, advance))
    figures = [judge(info, rows, one).metrics for one in decoded]
    found = [one.predictions for one in decoded]
    if isinstance(found[0], dict):  # answers by id
        found = [list(one.values()) for one in found]
    same = None if isinstance(found[0][0], float) else float(np.mean([one == other for one, other in zip(*found)]))
    return Int8Loss(len(rows), *figures, both.difference, same)


class _Both:
    """Two models in the place of one. Each batch goes through both; `answers_as` chooses whose outputs are returned.

    for_each_token: the outputs are (B, T, …), so those of padding do not count.
    """

    def __init__(self, *models: OnnxModel, for_each_token: bool):
        self._models, self._for_each_token, self.answers_as, self.difference = models, for_each_token, 0, 0.0
        self.config = models[0].config

    def compile(self, **options) -> None:
        """Nothing: see `OnnxModel.compile`."""

    def predict_on_batch(self, inputs: dict):
        outputs = [model.predict_on_batch(inputs) for model in self._models]
        parts = [each if isinstance(each, dict) else {"logits": each} for each in outputs]
        for name, values in parts[0].items():
            difference = np.abs(values - parts[1][name])
            if self._for_each_token:
                difference = difference[np.asarray(inputs["attention_mask"]) == 1]
            self.difference = max(self.difference, float(difference.max()))
        return outputs[self.answers_as]
