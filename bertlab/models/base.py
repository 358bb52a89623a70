"""The common part of all models: configuration, encoder and reading of inputs.

Letters: B batch, T tokens, H hidden size.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families import family, family_of
from bertlab.families.names import BACKBONE
from bertlab.layers import (
    ClassificationHead,
    causal_mask,
    combine,
    gather_positions,
    packed_mask,
    padding_mask,
)

INPUT_NAMES = (
    "input_ids", "token_type_ids", "attention_mask", "position_ids", "sequence_ids", "order_ids", "masked_lm_positions"
)  # fmt: skip
TARGET_NAMES = (  # part of a training batch
    "masked_lm_ids", "masked_lm_weights", "next_sentence_labels", "next_token_ids", "next_token_weights",
    "neighbour_ids", "neighbour_weights",
)  # fmt: skip


def attention_mask_of(inputs: dict, config: ModelConfig):
    """The attention mask of a dict of inputs: bool, broadcasting to (B, T, T), or None if nothing is masked.

    Raises ConfigError for an attention_mask that is neither (B, T) nor (B, T, T).
    """
    mask = inputs.get("attention_mask")
    if mask is not None:
        rank = len(mask.shape)
        if rank not in (2, 3):
            raise ConfigError(f"attention_mask has {rank} axes; expected (batch, tokens) or (batch, tokens, tokens)")
        mask = padding_mask(mask) if rank == 2 else ops.cast(mask, "bool")
    sequence_ids = inputs.get("sequence_ids")
    packed = None if sequence_ids is None else packed_mask(sequence_ids)
    causal = causal_mask(ops.shape(inputs["input_ids"])[1]) if config.causal else None
    return combine(mask, packed, causal)


def check_inputs(inputs, config: ModelConfig) -> None:
    """Raises ConfigError for inputs that no model of this configuration can read."""
    if not isinstance(inputs, dict) or "input_ids" not in inputs:
        raise ConfigError(f"expected a dict with 'input_ids' and optionally {', '.join(INPUT_NAMES[1:])}")
    unknown = sorted(set(inputs) - {*INPUT_NAMES, *TARGET_NAMES})
    if unknown:
        raise ConfigError(f"no model reads an input called {unknown[0]!r}; the names are {', '.join(INPUT_NAMES)}")
    shape = inputs["input_ids"].shape
    if len(shape) != 2:
        raise ConfigError(f"input_ids has shape {tuple(shape)}; expected (batch, tokens)")
    if isinstance(shape[1], int) and shape[1] > config.max_tokens:  # not None or JAX's symbol
        raise ConfigError(
            f"input_ids has {shape[1]} tokens per row, but this model has only {config.max_tokens} "
            "positions: truncate the text or cut it into windows"
        )
    for name in ("token_type_ids", "attention_mask"):
        tokens = inputs[name].shape[-1] if inputs.get(name) is not None else shape[1]
        if isinstance(shape[1], int) and isinstance(tokens, int) and tokens != shape[1]:
            raise ConfigError(f"{name} has {tokens} tokens per row, input_ids has {shape[1]}; expected the same number")


def check_memory_is_taken(encoder, config: ModelConfig) -> None:
    """Raises ConfigError for an encoder that reads each row alone."""
    if not getattr(encoder, "takes_memory", False):
        raise ConfigError(f"a model of {config.model_type} has no memory of earlier rows: leave memory out")


class ConfiguredModel(keras.Model):
    """Base of all models: made again from its configuration, and by the one-liner that Keras users expect."""

    def get_config(self):
        """The arguments to construct this model again; keras.Model's own lacks a subclass's arguments."""
        return {
            "config": {"model_type": self.config.model_type, **self.config.to_dict()},
            "name": self.name,
            "dtype": keras.saving.serialize_keras_object(self.dtype_policy),
        }

    @classmethod
    def from_config(cls, config):
        values = dict(config["config"])
        return cls(**{**config, "config": family(values.pop("model_type")).config.from_dict(values)})

    @classmethod
    def from_preset(cls, preset, **options):
        """A model with the weights of a checkpoint; a head that the checkpoint lacks is initialized randomly.

        preset: the name of a packaged ("bertlab-mini") or published model, or a folder.
        options: arguments of the class, such as num_labels=3 or dtype="mixed_bfloat16". With num_labels, the head is
            always a new one; load a fine-tuned classifier without it.
        Raises CheckpointError, naming the file and tensor, if anything does not fit.
        """
        from bertlab.checkpoints import loading  # one level up: only this shortcut needs it

        return loading.from_preset(preset, cls, **options)


@keras.saving.register_keras_serializable("bertlab")
class Backbone(ConfiguredModel):
    """Embeddings, encoder and pooler: a model without a head. Its weights exist as soon as it is constructed.

    Args:
        config: the configuration of a family, such as a `BertConfig`; the family provides embeddings and encoder.
        pooler: whether there is a pooler; None: as the family's models without a head have it.
        tables: embeddings of another model, whose tables this one shares (see `layers.BertEmbeddings`).

    Call: a dict of int tensors: input_ids (B, T), and optionally token_type_ids (B, T), attention_mask (B, T) or
    (B, T, T), position_ids (B, T), sequence_ids (B, T) (see docs/architecture.md). Returns a dict:
        sequence_output (B, T, H); pooled_output (B, H), if there is a pooler;
        with `return_all=True` also hidden_states, L + 1 tensors (B, T, H), and attentions, L tensors (B, A, T, T).
    With memory (L, B, M, H) the tokens also see what was read before (see `layers.next_memory`); only a family
    whose encoder `takes_memory` has it, others raise ConfigError.
    With positions (B, P) int, sequence_output has only these positions, (B, P, H), and the last layer computes no
    others; with a pooler, the first of them must be 0, that of [CLS].
    With depth only the lowest layers are computed, so many of them, as in a model that has no others.

    Example:
        >>> backbone = Backbone(BertConfig.named("tiny", vocab_size=100))
        >>> outputs = backbone({"input_ids": ops.array([[2, 17, 3]])})
        >>> tuple(outputs["sequence_output"].shape), tuple(outputs["pooled_output"].shape)
        ((1, 3, 128), (1, 128))
    """

    def __init__(self, config: ModelConfig, pooler: bool | None = None, name: str = BACKBONE, tables=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.config = config
        its_family, dtype = family_of(config), self.dtype_policy
        shared = {} if tables is None else {"tables": tables}
        self.embeddings = its_family.embeddings(config, dtype=dtype, name="embeddings", **shared)
        self.encoder = its_family.encoder(config, dtype=dtype, name="encoder")
        self.pooler = None
        if its_family.pooler if pooler is None else pooler:
            self.pooler = its_family.pooling(config, dtype=dtype, name="pooler")
        self.build()

    def build(self, input_shape=None):
        vectors = (None, None, self.config.hidden_size)
        self.embeddings.build((None, None))
        self.encoder.build(vectors)
        if self.pooler is not None:
            self.pooler.build(vectors)
        self.built = True

    def read_vocabulary(self, vocabulary) -> None:
        """Tells embeddings that are made from the characters of tokens what the tokens are; others need not know."""
        if hasattr(self.embeddings, "read_vocabulary"):
            self.embeddings.read_vocabulary(vocabulary)

    def call(self, inputs, training=False, return_all=False, positions=None, memory=None, depth=None):
        check_inputs(inputs, self.config)
        x = self.embeddings(
            inputs["input_ids"],
            token_type_ids=inputs.get("token_type_ids"),
            position_ids=inputs.get("position_ids"),
            training=training,
        )  # (B, T, H)
        mask = attention_mask_of(inputs, self.config)
        pooled_from_all = self.pooler is not None and getattr(self.pooler, "needs_all", False)
        layer_positions = None if pooled_from_all else positions
        options = dict(training=training, return_all=return_all, positions=layer_positions, depth=depth)
        if memory is not None:
            check_memory_is_taken(self.encoder, self.config)
            options["memory"] = memory
        encoded = self.encoder(x, attention_mask=mask, **_read_by(self.encoder, inputs), **options)
        outputs = {"sequence_output": encoded}
        if return_all:
            outputs["sequence_output"], outputs["hidden_states"], outputs["attentions"] = encoded
        if self.pooler is not None:
            outputs["pooled_output"] = self.pooler(outputs["sequence_output"], **_read_by(self.pooler, inputs))
        if pooled_from_all and positions is not None:
            outputs["sequence_output"] = gather_positions(outputs["sequence_output"], positions)
        return outputs

    def get_config(self):
        return {**super().get_config(), "pooler": self.pooler is not None}


def _read_by(layer, inputs: dict) -> dict:
    """The model's inputs that a layer needs, beside the hidden states and the mask."""
    return {name: inputs[name] for name in getattr(layer, "reads", ()) if inputs.get(name) is not None}


class ModelWithHead(ConfiguredModel):
    """Base of the models with a head: has a `backbone`, so that all can load one checkpoint.

    A subclass creates its heads and their weights in its constructor, and works with the outputs of any family's
    backbone. Variables have the name of their part, independent of the model's name:
    `backbone/encoder/layer_0/attention/query/kernel`, `masked_lm_head/bias`.

    A part of a `MultiTaskModel` has the backbone of all, and may read a lower layer: its depth.
    """

    reads = INPUT_NAMES  # the arrays of a training batch that its call gets

    def __init__(self, config: ModelConfig, pooler: bool, tables=None, backbone=None, depth=None, **kwargs):
        super().__init__(**kwargs)
        self.config = config
        self.backbone = backbone or Backbone(config, pooler=pooler, tables=tables, dtype=self.dtype_policy)
        self.depth = depth
        self.built = True  # every weight is made in a constructor

    def encoded(self, inputs, training=False) -> dict:
        """The backbone's outputs that the head reads."""
        return self.backbone(inputs, training=training, depth=self.depth)

    def linear_head(self, num_outputs: int, dropout: float = 0.0, name: str = "head", **options) -> ClassificationHead:
        """A new linear layer on vectors of the backbone, with its weights."""
        deviation = self.config.initializer_range
        head = ClassificationHead(num_outputs, dropout, deviation, dtype=self.dtype_policy, name=name, **options)
        head.build((None, self.config.hidden_size))
        return head
