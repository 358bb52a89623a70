"""What every assembled model shares: its configuration, its encoder and how it reads its inputs.

Letters: B batch, T tokens, H hidden size.
"""

import keras
from keras import ops

from bertlab.config import BertConfig
from bertlab.errors import ConfigError
from bertlab.layers import (
    BertEmbeddings,
    Encoder,
    Pooler,
    arbitrary_mask,
    causal_mask,
    combine,
    packed_mask,
    padding_mask,
)

INPUT_NAMES = (
    "input_ids", "token_type_ids", "attention_mask", "position_ids", "sequence_ids", "masked_lm_positions"
)  # fmt: skip
TARGET_NAMES = (  # a training batch carries them along
    "masked_lm_ids", "masked_lm_weights", "next_sentence_labels", "next_token_ids", "next_token_weights"
)  # fmt: skip


def attention_mask_of(inputs: dict, config: BertConfig):
    """The mask that a dict of inputs asks for: bool, broadcasting to (B, A, T, T), or None when all is visible.

    Raises ConfigError for an attention_mask that is neither (B, T) nor (B, T, T).
    """
    mask = inputs.get("attention_mask")
    if mask is not None:
        rank = len(mask.shape)
        if rank not in (2, 3):
            raise ConfigError(f"attention_mask has {rank} axes; expected (batch, tokens) or (batch, tokens, tokens)")
        mask = padding_mask(mask) if rank == 2 else arbitrary_mask(mask)
    sequence_ids = inputs.get("sequence_ids")
    packed = None if sequence_ids is None else packed_mask(sequence_ids)
    causal = causal_mask(ops.shape(inputs["input_ids"])[1]) if config.causal else None
    return combine(mask, packed, causal)


def check_inputs(inputs, config: BertConfig) -> None:
    """Raises ConfigError for inputs that no BERT of this configuration can read."""
    if not isinstance(inputs, dict) or "input_ids" not in inputs:
        raise ConfigError(f"expected a dict with 'input_ids' and, if wanted, {', '.join(INPUT_NAMES[1:])}")
    unknown = sorted(set(inputs) - {*INPUT_NAMES, *TARGET_NAMES})
    if unknown:
        raise ConfigError(f"no BERT reads an input called {unknown[0]!r}; the names are {', '.join(INPUT_NAMES)}")
    shape = inputs["input_ids"].shape
    if len(shape) != 2:
        raise ConfigError(f"input_ids has shape {tuple(shape)}; expected (batch, tokens)")
    if isinstance(shape[1], int) and shape[1] > config.max_position_embeddings:  # not None or JAX's symbol
        raise ConfigError(
            f"input_ids has {shape[1]} tokens a row, but this model has only {config.max_position_embeddings} "
            "positions: truncate the text or cut it into windows"
        )


@keras.saving.register_keras_serializable("bertlab")
class BertEncoder(keras.Model):
    """Embeddings, encoder and pooler: BERT without a head. Its weights exist as soon as it is constructed.

    Args:
        config: a `BertConfig`.
        pooler: whether there is a pooler.

    Call: a dict of int tensors: input_ids (B, T), and if wanted token_type_ids (B, T), attention_mask (B, T) or
    (B, T, T), position_ids (B, T), sequence_ids (B, T) (see docs/architecture.md). Returns a dict:
        sequence_output (B, T, H); pooled_output (B, H), if there is a pooler;
        with `return_all=True` also hidden_states, L + 1 tensors (B, T, H), and attentions, L tensors (B, A, T, T).
    With positions (B, P) int sequence_output has only these places, (B, P, H), and the last layer computes no others;
    where there is a pooler, the first of them must be 0, that of [CLS].
    """

    def __init__(self, config: BertConfig, pooler: bool = True, name: str = "bert", **kwargs):
        super().__init__(name=name, **kwargs)
        self.config = config
        dtype = self.dtype_policy
        self.embeddings = BertEmbeddings(
            config.vocab_size,
            config.hidden_size,
            max_position_embeddings=config.max_position_embeddings,
            type_vocab_size=config.type_vocab_size,
            position_embedding=config.position_embedding,
            dropout=config.hidden_dropout,
            layer_norm_eps=config.layer_norm_eps,
            initializer_range=config.initializer_range,
            dtype=dtype,
            name="embeddings",
        )
        self.encoder = Encoder(
            config.num_layers,
            config.num_heads,
            config.intermediate_size,
            activation=config.hidden_act,
            dropout=config.hidden_dropout,
            attention_dropout=config.attention_dropout,
            layer_norm_eps=config.layer_norm_eps,
            initializer_range=config.initializer_range,
            pre_norm=config.pre_norm,
            dtype=dtype,
            name="encoder",
        )
        self.pooler = Pooler(config.initializer_range, dtype=dtype, name="pooler") if pooler else None
        self.build()

    def build(self, input_shape=None):
        vectors = (None, None, self.config.hidden_size)
        self.embeddings.build((None, None))
        self.encoder.build(vectors)
        if self.pooler is not None:
            self.pooler.build(vectors)
        self.built = True

    def call(self, inputs, training=False, return_all=False, positions=None):
        check_inputs(inputs, self.config)
        x = self.embeddings(
            inputs["input_ids"],
            token_type_ids=inputs.get("token_type_ids"),
            position_ids=inputs.get("position_ids"),
            training=training,
        )  # (B, T, H)
        mask = attention_mask_of(inputs, self.config)
        encoded = self.encoder(x, attention_mask=mask, training=training, return_all=return_all, positions=positions)
        outputs = {"sequence_output": encoded}
        if return_all:
            outputs["sequence_output"], outputs["hidden_states"], outputs["attentions"] = encoded
        if self.pooler is not None:
            outputs["pooled_output"] = self.pooler(outputs["sequence_output"])
        return outputs

    def get_config(self):
        return {**_model_config(self), "pooler": self.pooler is not None}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "config": BertConfig.from_dict(config["config"])})


class BertWithHead(keras.Model):
    """Base of the models with a head: holds the encoder as `bert`, so that a checkpoint of one fits all.

    A subclass makes its heads and their weights in its constructor. Variables are called by the part they belong to,
    whatever the model is called: `bert/encoder/layer_0/attention/query/kernel`, `masked_lm_head/bias`.
    """

    def __init__(self, config: BertConfig, pooler: bool, **kwargs):
        super().__init__(**kwargs)
        self.config = config
        self.bert = BertEncoder(config, pooler=pooler, dtype=self.dtype_policy)
        self.built = True  # every weight is made in a constructor

    def get_config(self):
        return _model_config(self)

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "config": BertConfig.from_dict(config["config"])})


def _model_config(model) -> dict:
    """What keras.Model needs to make this one again; its own get_config knows nothing of a subclass's arguments."""
    return {
        "config": model.config.to_dict(),
        "name": model.name,
        "dtype": keras.saving.serialize_keras_object(model.dtype_policy),
    }
