"""Finding replaced tokens: the discriminator, and its pre-training beside a generator (Clark et al. 2020, "ELECTRA").

Letters: B batch, T tokens, P predictions, H hidden size, V vocabulary.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.layers import DetectionHead, put_at_positions, row_keys_of, sample_tokens
from bertlab.layers.dropout import next_key, random_bits
from bertlab.models.base import INPUT_NAMES, ModelWithHead
from bertlab.models.pretraining import PreTrainingModel


@keras.saving.register_keras_serializable("bertlab")
class ReplacedTokenDetector(ModelWithHead):
    """ELECTRA's discriminator: a score for every token, positive where it looks replaced.

    Call: a dict as for `Backbone` → logits (B, T).

    Example:
        >>> model = ReplacedTokenDetector(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])}).shape)
        (1, 3)
    """

    def __init__(self, config: ModelConfig, **kwargs):
        super().__init__(config, pooler=False, **kwargs)
        self.detection_head = DetectionHead(
            config.hidden_act, config.initializer_range, dtype=self.dtype_policy, name="detection_head"
        )
        self.detection_head.build((None, None, config.hidden_size))

    def call(self, inputs, training=False):
        return self.detection_head(self.backbone(inputs, training=training)["sequence_output"])  # (B, T)


class GeneratorAndDiscriminator(keras.Model):
    """A small generator fills in the masks, a discriminator is asked which tokens are not the original ones.

    Both have the same tables of tokens, segments and positions and their LayerNorm; everything else is their own. The
    generator's guesses are drawn with its own probabilities (temperature 1). No gradient passes through a draw: the
    discriminator does not train the generator's encoder.

    Args:
        config: of the discriminator.
        generator_config: of the generator (see `generator_config_of`), with tables of the same sizes.
        seed: of the draws.

    Parts: `discriminator`, a `ReplacedTokenDetector`; `generator`, a `PreTrainingModel`.

    Call: a dict as for `Backbone`, with masked tokens, and masked_lm_positions, masked_lm_ids and masked_lm_weights
    (B, P) of the masks. Without training a row always gets the same draws. Returns a dict:
        masked_lm_logits (B, P, V), of the generator; replaced_logits (B, T), positive where a token looks replaced;
        corrupted_ids (B, T) int32, what the discriminator reads: the row with the generator's guesses;
        is_replaced (B, T) bool: where these are not the original tokens. A guess that is right is an original.

    Raises ConfigError when the two cannot share their tables.

    Example:
        >>> config = BertConfig.named("tiny", vocab_size=100)
        >>> model = GeneratorAndDiscriminator(config, config)
        >>> masked = {"input_ids": [[2, 4, 17, 3]], "masked_lm_positions": [[1]], "masked_lm_ids": [[9]]}
        >>> inputs = {name: ops.array(values) for name, values in masked.items()}
        >>> tuple(model(inputs | {"masked_lm_weights": ops.array([[1.0]])})["is_replaced"].shape)
        (1, 4)
    """

    reads = (*INPUT_NAMES, "masked_lm_ids", "masked_lm_weights")

    def __init__(self, config: ModelConfig, generator_config: ModelConfig, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        _check_tables(config, generator_config)
        self.config = config
        self.discriminator = ReplacedTokenDetector(config, dtype=self.dtype_policy, name="discriminator")
        self.generator = PreTrainingModel(
            generator_config,
            next_sentence=False,
            tables=self.discriminator.backbone.embeddings,
            dtype=self.dtype_policy,
            name="generator",
        )
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.built = True  # every weight is made in a constructor

    def call(self, inputs, training=False):
        read = {name: inputs[name] for name in INPUT_NAMES if name in inputs}
        logits = self.generator(read, training=training)["masked_lm_logits"]  # (B, P, V)
        ids = inputs["input_ids"]
        keys = random_bits(ops.shape(ids)[:1], next_key(self.seed_generator)) if training else row_keys_of(ids)
        guesses = sample_tokens(logits, keys)  # (B, P)
        positions, used = read.pop("masked_lm_positions"), inputs["masked_lm_weights"]
        original = put_at_positions(ids, positions, inputs["masked_lm_ids"], used)  # (B, T)
        corrupted = put_at_positions(original, positions, guesses, used)  # (B, T)
        return {
            "masked_lm_logits": logits,
            "replaced_logits": self.discriminator(read | {"input_ids": corrupted}, training=training),
            "corrupted_ids": corrupted,
            "is_replaced": ops.not_equal(corrupted, original),
        }


def generator_config_of(config: ModelConfig, width: float | None = None) -> ModelConfig:
    """The configuration of a generator for a discriminator: as deep, narrower, with the same tables.

    width: its hidden size as a fraction of the discriminator's; default 0.25, and 1 for a family without
    embedding_size, whose tables are always as wide as the encoder. A head has 64 dimensions where that divides the
    hidden size, and the feed-forward network four times the hidden size, as in run_pretraining.py of
    google-research/electra.
    Raises ConfigError for another width than 1 in a family without embedding_size.

    Example:
        >>> config = generator_config_of(ElectraConfig.named("small"))
        >>> config.hidden_size, config.num_heads, config.intermediate_size, config.token_width
        (64, 1, 256, 128)
    """
    if width is None:
        width = 0.25 if hasattr(config, "embedding_size") else 1
    if width == 1:
        return config
    hidden = max(1, round(config.hidden_size * width))
    heads = max(heads for heads in range(1, max(1, hidden // 64) + 1) if hidden % heads == 0)
    narrower = config.replace(hidden_size=hidden, num_heads=heads, intermediate_size=4 * hidden)
    _check_tables(config, narrower)
    return narrower


def _check_tables(config: ModelConfig, generator: ModelConfig) -> None:
    for name in ("vocab_size", "token_width", "max_position_embeddings"):
        ours, theirs = getattr(config, name), getattr(generator, name)
        if ours != theirs:
            raise ConfigError(
                f"generator and discriminator share their tables: expected the same {name}, got {theirs} and {ours}; "
                "choose a family with an embedding_size, or a generator as wide as the model (generator_width 1)"
            )
