"""Marian's translation models, in the form in which transformers has them (Junczys-Dowmunt et al. 2018).

The Transformer of 2017 with all sines before the cosines, a bias of the output, and ε 1e-5 in LayerNorm. Source and
target share a table, or have a vocabulary and a table each. Source: modeling_marian.py and configuration_marian.py of
transformers.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.config import check_whole_number
from bertlab.families.base import Family
from bertlab.families.names import HUGGINGFACE, Names, table, vector
from bertlab.families.transformer import (
    BACKBONE,
    DECODER,
    OUTPUT,
    PRETRAINING,
    TransformerConfig,
    decoder,
    embeddings,
    encoder,
    layer_numbers,
    output,
    own_paths,
)

_SHARED = "share_encoder_decoder_embeddings"
# Settings that config.json has twice, and for which the two must be equal.
_TWICE = {"encoder_attention_heads": "decoder_attention_heads", "encoder_ffn_dim": "decoder_ffn_dim"}


@dataclass(frozen=True)
class MarianConfig(TransformerConfig):
    """All settings of such a model. The defaults are those of the published opus-mt models, English to German.

    Example:
        >>> MarianConfig().decoder_start_token_id
        58100
    """

    vocab_size: int = 58101
    hidden_act: str = "silu"
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 58100
    decoder_start_token_id: int = 58100  # the token before a target: that of padding
    eos_token_id: int = 0  # ends targets, and sources that share their vocabulary
    decoder_vocab_size: int | None = None  # tokens of targets, which have a table of their own; None: they share one

    model_type: ClassVar[str] = "marian"
    halves: ClassVar[bool] = True
    output_bias: ClassVar[bool] = True
    SIZES: ClassVar[dict] = {"base": {}}
    HUGGINGFACE_NAMES: ClassVar[dict] = {
        "hidden_size": "d_model",
        "num_layers": "encoder_layers",
        "num_heads": "encoder_attention_heads",
        "intermediate_size": "encoder_ffn_dim",
        "hidden_act": "activation_function",
        "hidden_dropout": "dropout",
        "initializer_range": "init_std",
    }
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {
        "scale_embedding": True,
        "tie_word_embeddings": True,
        "static_position_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "activation_dropout": 0.0,
        "is_encoder_decoder": True,
    }

    def __post_init__(self):
        super().__post_init__()
        if self.decoder_vocab_size is not None:
            check_whole_number("decoder_vocab_size", self.decoder_vocab_size)

    @property
    def target_vocab_size(self) -> int:
        return self.decoder_vocab_size or self.vocab_size

    def huggingface_lacks(self) -> list[str]:
        found = ["pre_norm"] if self.pre_norm else []
        return found if self.layer_norm_eps == 1e-5 else [*found, f"layer_norm_eps {self.layer_norm_eps}"]

    def to_huggingface(self) -> dict:
        values = super().to_huggingface()
        tables = {_SHARED: self.decoder_vocab_size is None, "decoder_vocab_size": self.target_vocab_size}
        return values | tables | {copy: values[name] for name, copy in _TWICE.items()}

    @classmethod
    def adapted(cls, values: dict, where: str) -> dict:
        for name, copy in _TWICE.items():
            if values.get(copy, values.get(name)) not in (values.get(name), None):
                raise ConfigError(
                    f"{where}: {name} is {values.get(name)!r} and {copy} {values[copy]!r}; expected the same number"
                )
        left_out = {"scale_embedding": False}  # what transformers takes then
        return left_out | values | {"decoder_vocab_size": _own_size_of_targets(values, where)}


def _own_size_of_targets(values: dict, where: str) -> int | None:
    """The number of tokens of a table for targets alone; None where sources and targets share one."""
    shared, sizes = values.get(_SHARED), [values.get(name) for name in ("vocab_size", "decoder_vocab_size")]
    if shared not in (True, False, None):
        raise ConfigError(f"{where}: {_SHARED} is {shared!r}; expected true or false")
    if shared not in (True, None):
        return sizes[1] or sizes[0]
    if sizes[1] not in (sizes[0], None):
        raise ConfigError(
            f"{where}: vocab_size is {sizes[0]!r} and decoder_vocab_size {sizes[1]!r}; expected the same number, or "
            f"{_SHARED} false"
        )
    return None


_SINES = r"(encoder|decoder)\.embed_positions\.weight"
_COPIES = r"(encoder|decoder)\.embed_tokens\.weight"  # of the shared table
FAMILY = Family(
    config=MarianConfig,
    huggingface=Names(
        spelling=HUGGINGFACE,
        prefix="model.",
        class_prefix="Marian",
        class_ends={"sequence_to_sequence": "MTModel"},
        ignored_weights=f"{_SINES}|{_COPIES}",
        backbone=BACKBONE,
        decoder=DECODER,
        heads={"sequence_to_sequence": (*OUTPUT, vector("masked_lm_head/bias", "final_logits_bias"))},
    ),
    embeddings=embeddings,
    encoder=encoder,
    decoder=decoder,
    output=output,
    pretraining=PRETRAINING,
    pooler=False,
    tokenizer="SentencePiece for translation",
    own_paths=own_paths,
    layer_numbers=layer_numbers,
    variant=lambda config: None if config.decoder_vocab_size is None else _TWO_TABLES,
)
_TWO_TABLES = replace(
    FAMILY,
    huggingface=replace(
        FAMILY.huggingface,
        ignored_weights=_SINES,
        backbone=(table("embeddings/token", "encoder.embed_tokens"), *BACKBONE[1:]),
        decoder=(table("target_embeddings/token", "decoder.embed_tokens"), *DECODER),
    ),
    target_embeddings=lambda config, **options: embeddings(
        config.replace(vocab_size=config.target_vocab_size), **options
    ),
)
