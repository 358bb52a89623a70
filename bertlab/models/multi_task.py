"""One encoder with a head for each of several tasks (Caruana 1997, "Multitask Learning").

A head may read a lower layer than the last: tasks about single words do well there, and what they teach the lower
layers helps the tasks above (Søgaard and Goldberg 2016; Hashimoto et al. 2017, "A Joint Many-Task Model").
"""

import keras

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families.names import BACKBONE
from bertlab.models.base import ModelWithHead
from bertlab.models.finetuning import (
    MultipleChoiceClassifier,
    QuestionAnswerer,
    SequenceClassifier,
    TokenClassifier,
)

PARTS = {
    "sequence_classification": SequenceClassifier,
    "token_classification": TokenClassifier,
    "multiple_choice": MultipleChoiceClassifier,
    "question_answering": QuestionAnswerer,
}
_POOLED = ("sequence_classification", "multiple_choice")  # their heads read the pooler


@keras.saving.register_keras_serializable("bertlab")
class MultiTaskModel(ModelWithHead):
    """A backbone, with its pooler if a head reads it, and a head for each task.

    Args:
        config: the configuration of a family, such as a `BertConfig`.
        tasks: name → what is its own: `kind`, a key of `PARTS`; `depth`, how many layers lie below its head, None for
            all; and the arguments of the kind's class, such as num_labels.

    `part(name)` is the model of one task: an ordinary one, such as a `SequenceClassifier`, on the shared backbone.

    Call: a dict as for `Backbone`, and task, a name → what the part of this task returns.
    Raises ConfigError for a name, kind or depth that cannot be.

    Example:
        >>> tasks = {"tone": {"kind": "sequence_classification"}, "tags": {"kind": "token_classification", "depth": 1}}
        >>> model = MultiTaskModel(BertConfig.named("tiny", vocab_size=100), tasks)
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])}, task="tags").shape)
        (1, 3, 2)
    """

    def __init__(self, config: ModelConfig, tasks: dict[str, dict], **kwargs):
        _check(config, tasks)
        super().__init__(config, pooler=any(own["kind"] in _POOLED for own in tasks.values()), **kwargs)
        self._tasks = [(name, dict(own)) for name, own in tasks.items()]
        self._parts = {}
        for name, own in self._tasks:
            options = {argument: value for argument, value in own.items() if argument != "kind"}
            with keras.name_scope(name):  # of the head's weights: tone/head/dense/kernel
                self._parts[name] = PARTS[own["kind"]](
                    config, backbone=self.backbone, name=name, dtype=self.dtype_policy, **options
                )

    @property
    def tasks(self) -> dict[str, dict]:
        """The constructor's argument."""
        return {name: dict(own) for name, own in self._tasks}

    def part(self, name: str):
        """The model of one task. Raises ConfigError for a task that is not there."""
        if name not in self._parts:
            raise ConfigError(f"task: expected one of {', '.join(self._parts)}; got {name!r}")
        return self._parts[name]

    def call(self, inputs, task=None, training=False):
        return self.part(next(iter(self._parts)) if task is None else task)(inputs, training=training)

    def get_config(self):
        return super().get_config() | {"tasks": self.tasks}


def _check(config: ModelConfig, tasks: dict[str, dict]) -> None:
    if not tasks:
        raise ConfigError("expected at least one task, got none")
    for name, own in tasks.items():
        if not name or "/" in name or name == BACKBONE:
            raise ConfigError(f"expected a name without / for a task, and not {BACKBONE!r}; got {name!r}")
        if own.get("kind") not in PARTS:
            raise ConfigError(f"{name}: expected a kind among {', '.join(PARTS)}; got {own.get('kind')!r}")
        depth = own.get("depth")
        if depth is not None and not 1 <= depth <= config.num_layers:
            raise ConfigError(f"{name}: expected a layer from 1 to {config.num_layers} for its head, got {depth}")
