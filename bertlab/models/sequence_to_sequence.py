"""An encoder–decoder: it reads a source and writes a target (Vaswani et al. 2017).

Letters: B batch, S source tokens, U target tokens, H hidden size, V tokens of targets.
"""

import keras

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.layers import padding_mask
from bertlab.models.base import INPUT_NAMES, ModelWithHead

DECODER_INPUT_NAMES = ("decoder_input_ids", "decoder_attention_mask")


def never_written(config: ModelConfig, start_id: int) -> list[int]:
    """The ids that are never tokens of a target: padding, where it begins targets. Its vector and bias are 0 there, so
    its logit is often the largest. transformers leaves it out before the softmax too (huggingface/transformers, #5126).
    """
    return [start_id] if start_id == config.pad_token_id else []


@keras.saving.register_keras_serializable("bertlab")
class SequenceToSequenceModel(ModelWithHead):
    """The encoder is the `backbone`, the decoder reads its output. One table has the vectors of source and target, or
    `target_embeddings` has those of the target; its product with the decoder's output scores the target's next token.

    Args:
        config: the configuration of a family that has a decoder, such as a `TransformerConfig`.

    Call: a dict as for `Backbone`, the source, and decoder_input_ids (B, U), the target after a token that begins it;
    optionally decoder_attention_mask (B, U), 1 for what may be attended to (padding behind a target needs none: no
    token sees those behind it). Returns a dict:
        masked_lm_logits (B, U, V): the scores of the next token, after each token of the target;
        encoder_output (B, S, H), decoder_output (B, U, H);
        with `return_all=True` also hidden_states, attentions (encoder), decoder_hidden_states, decoder_attentions and
        cross_attentions, each a list over the layers.
    Raises ConfigError for a family without a decoder, and for inputs that it cannot read.

    Example:
        >>> model = SequenceToSequenceModel(TransformerConfig(vocab_size=100, num_layers=1, decoder_layers=1))
        >>> inputs = {"input_ids": ops.array([[17, 8, 3]]), "decoder_input_ids": ops.array([[2, 9]])}
        >>> tuple(model(inputs)["masked_lm_logits"].shape)
        (1, 2, 100)
    """

    reads = (*INPUT_NAMES, *DECODER_INPUT_NAMES)

    def __init__(self, config: ModelConfig, **kwargs):
        its_family = family_of(config)
        if its_family.decoder is None:
            raise ConfigError(
                f"expected a configuration with a decoder, got one of the family {config.model_type!r}: choose an "
                "encoder-decoder"
            )
        super().__init__(config, pooler=False, **kwargs)
        self.decoder = its_family.decoder(config, dtype=self.dtype_policy, name="decoder")
        self.decoder.build((None, None, config.hidden_size))
        self.target_embeddings = its_family.target_embeddings(config, dtype=self.dtype_policy, name="target_embeddings")
        if self.target_embeddings is not None:
            self.target_embeddings.build((None, None))
        self.masked_lm_head = its_family.output(config, dtype=self.dtype_policy, name="masked_lm_head")
        self.masked_lm_head.build((None, None, config.hidden_size))

    def call(self, inputs, training=False, return_all=False):
        outputs = self.decode(inputs, training, return_all)
        return outputs | {"masked_lm_logits": self.token_logits(outputs["decoder_output"])}

    def decode(self, inputs, training=False, return_all=False):
        """The outputs of a call without masked_lm_logits, which need the most memory."""
        encoded, mask = self.encode(inputs, training, return_all)
        if "decoder_input_ids" not in inputs:
            raise ConfigError(
                "expected 'decoder_input_ids' beside 'input_ids': the target after a token that begins it"
            )
        ids, max_tokens = inputs["decoder_input_ids"], self.config.max_tokens
        if isinstance(ids.shape[1], int) and ids.shape[1] > max_tokens:
            raise ConfigError(
                f"decoder_input_ids has {ids.shape[1]} tokens per row, but this model has only {max_tokens} positions"
            )
        seen = inputs.get("decoder_attention_mask")
        seen = None if seen is None else padding_mask(seen)
        decoded = self.read_target(ids, encoded["sequence_output"], mask, seen, training, return_all)
        outputs = {"encoder_output": encoded["sequence_output"], "decoder_output": decoded}
        if return_all:
            outputs |= {name: encoded[name] for name in ("hidden_states", "attentions")}
            names = ("decoder_output", "decoder_hidden_states", "decoder_attentions", "cross_attentions")
            outputs |= dict(zip(names, decoded, strict=True))
        return outputs

    def encode(self, inputs, training=False, return_all=False):
        """The backbone's outputs for a source, with "sequence_output" (B, S, H), and the mask of its tokens, (B, 1, S)
        bool or None."""
        source = {name: value for name, value in inputs.items() if name not in DECODER_INPUT_NAMES}
        mask = inputs.get("attention_mask")
        encoded = self.backbone(source, training=training, return_all=return_all)
        return encoded, None if mask is None else padding_mask(mask)

    def read_target(self, ids, memory, memory_mask=None, attention_mask=None, training=False, return_all=False):
        """The decoder's output for a target, (B, U, H). ids (B, U); memory (B, S, H), the encoder's output; the masks
        and `return_all` as in `layers.Decoder`."""
        masks = dict(attention_mask=attention_mask, memory_mask=memory_mask)
        x = self.embeddings_of_targets(ids, training=training)  # (B, U, H)
        return self.decoder(x, memory, **masks, training=training, return_all=return_all)

    def token_logits(self, x):
        """The logits from vectors of the decoder's last layer: x (…, H) → (…, V)."""
        return self.masked_lm_head(x, table=self.embeddings_of_targets.token.embeddings)

    @property
    def embeddings_of_targets(self):
        """The layer that turns the target's tokens into vectors: the source's, where they share a table."""
        return self.backbone.embeddings if self.target_embeddings is None else self.target_embeddings
