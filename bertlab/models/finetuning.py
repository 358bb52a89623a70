"""The models of fine-tuning: a head for a text or pair, for each token, for a choice or for a span, or several of them
(Devlin et al. 2019, section 4 and 5.3). Each is made from the configuration of a family, such as a `BertConfig`.

Letters: B batch, T tokens, C classes, tags or choices, H hidden size.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.families.names import BACKBONE
from bertlab.models.base import INPUT_NAMES, ModelWithHead


@keras.saving.register_keras_serializable("bertlab")
class SequenceClassifier(ModelWithHead):
    """One linear layer on the pooled vector: a class of a sentence or pair, or with num_labels=1 a number (STS-B).

    Arg: num_labels: C.

    Call: a dict as for `Backbone` → logits (B, C).

    Example:
        >>> model = SequenceClassifier.from_preset("bertlab-mini", num_labels=3)
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])}).shape)
        (1, 3)
    """

    def __init__(self, config: ModelConfig, num_labels: int = 2, **kwargs):
        super().__init__(config, pooler=True, **kwargs)
        self.num_labels = num_labels
        bias = family_of(config).text_classifier_bias
        self.head = self.linear_head(num_labels, config.classifier_dropout, bias=bias)

    def call(self, inputs, training=False):
        pooled = self.encoded(inputs, training)["pooled_output"]  # (B, H)
        return self.head(pooled, training=training)

    def get_config(self):
        return super().get_config() | {"num_labels": self.num_labels}


@keras.saving.register_keras_serializable("bertlab")
class NextSentenceClassifier(SequenceClassifier):
    """Whether the second text of a pair follows the first: the published next-sentence head without the other one.

    Call: a dict as for `Backbone` → logits (B, 2): class 0 = IsNext, class 1 = NotNext.

    Example:
        >>> model = NextSentenceClassifier(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3, 9, 3]])}).shape)
        (1, 2)
    """


@keras.saving.register_keras_serializable("bertlab")
class MultipleChoiceClassifier(ModelWithHead):
    """Each choice is a separate row; its score is the product of a vector with its pooled output.

    Call: a dict as for `Backbone`, but each tensor (B, C, T): context and choice packed as a pair → logits (B, C).

    Example:
        >>> model = MultipleChoiceClassifier(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.ones((2, 4, 6), "int32")}).shape)
        (2, 4)
    """

    def __init__(self, config: ModelConfig, **kwargs):
        super().__init__(config, pooler=True, **kwargs)
        self.head = self.linear_head(1, config.classifier_dropout)

    def call(self, inputs, training=False):
        if not isinstance(inputs, dict) or "input_ids" not in inputs or len(inputs["input_ids"].shape) != 3:
            raise ConfigError("expected a dict with 'input_ids' of shape (batch, choices, tokens)")
        batch, num_choices, num_tokens = ops.shape(inputs["input_ids"])
        rows = {
            name: ops.reshape(inputs[name], (-1, num_tokens))  # (B·C, T)
            for name in INPUT_NAMES
            if inputs.get(name) is not None
        }
        pooled = self.encoded(rows, training)["pooled_output"]  # (B·C, H)
        return ops.reshape(self.head(pooled, training=training), (batch, num_choices))


class TokenModel(ModelWithHead):
    """Base of the models whose head reads every token; some families transform the vectors before it."""

    def __init__(self, config: ModelConfig, **kwargs):
        super().__init__(config, pooler=False, **kwargs)
        self.transform = family_of(config).token_transform(config, dtype=self.dtype_policy, name="transform")
        if self.transform is not None:
            self.transform.build((None, None, config.hidden_size))

    def token_vectors(self, inputs, training):
        """The vectors that the head reads, (B, T, H)."""
        x = self.encoded(inputs, training)["sequence_output"]
        return x if self.transform is None else self.transform(x)


@keras.saving.register_keras_serializable("bertlab")
class TokenClassifier(TokenModel):
    """One linear layer on each token's vector.

    Arg: num_labels: C.

    Call: a dict as for `Backbone` → logits (B, T, C).

    Example:
        >>> model = TokenClassifier(BertConfig.named("tiny", vocab_size=100), num_labels=9)
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])}).shape)
        (1, 3, 9)
    """

    def __init__(self, config: ModelConfig, num_labels: int = 2, **kwargs):
        super().__init__(config, **kwargs)
        self.num_labels = num_labels
        self.head = self.linear_head(num_labels, config.tagger_dropout)

    def call(self, inputs, training=False):
        x = self.token_vectors(inputs, training)  # (B, T, H)
        return self.head(x, training=training)

    def get_config(self):
        return super().get_config() | {"num_labels": self.num_labels}


@keras.saving.register_keras_serializable("bertlab")
class QuestionAnswerer(TokenModel):
    """A start vector S and an end vector E: the dot products S·Tᵢ and E·Tᵢ score token i as start and end.

    Call: a dict as for `Backbone`, question as segment A and paragraph as segment B → a dict of start_logits (B, T)
    and end_logits (B, T). The span on [CLS], position 0, means "no answer" (SQuAD 2.0).

    Example:
        >>> model = QuestionAnswerer(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])})["start_logits"].shape)
        (1, 3)
    """

    def __init__(self, config: ModelConfig, **kwargs):
        super().__init__(config, **kwargs)
        self.head = self.linear_head(2)

    def call(self, inputs, training=False):
        x = self.token_vectors(inputs, training)  # (B, T, H)
        logits = self.head(x, training=training)  # (B, T, 2)
        return {"start_logits": logits[:, :, 0], "end_logits": logits[:, :, 1]}


PARTS = {
    "sequence_classification": SequenceClassifier,
    "token_classification": TokenClassifier,
    "multiple_choice": MultipleChoiceClassifier,
    "question_answering": QuestionAnswerer,
}
_POOLED = ("sequence_classification", "multiple_choice")  # their heads read the pooler


@keras.saving.register_keras_serializable("bertlab")
class MultiTaskModel(ModelWithHead):
    """A backbone, with its pooler if a head reads it, and a head for each task (Caruana 1997, "Multitask Learning").

    A head may read a lower layer than the last: tasks about single words do well there, and what they teach the lower
    layers helps the tasks above (Søgaard and Goldberg 2016; Hashimoto et al. 2017, "A Joint Many-Task Model").

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
