"""The Transformer of 2017: an encoder and a decoder that share one table (Vaswani et al. 2017).

It has no files of its own in transformers. Marian's translation models are the same but for the order of the sines and
a bias of the output, so the names of the weights here are theirs (modeling_marian.py of transformers).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from bertlab.config import ModelConfig
from bertlab.families.base import Family, Pretraining, layers, standard_embeddings, standard_encoder
from bertlab.families.names import HUGGINGFACE, Names, dense, matrix, norm, table


@dataclass(frozen=True)
class TransformerConfig(ModelConfig):
    """All settings of an encoder–decoder's architecture and numerics. The defaults are the paper's base model.

    num_layers counts the layers of the encoder, decoder_layers those of the decoder.

    Example:
        >>> TransformerConfig.named("big").hidden_size
        1024
    """

    vocab_size: int = 37000  # tokens that both languages share (section 5.1)
    hidden_size: int = 512
    num_layers: int = 6
    decoder_layers: int = 6
    num_heads: int = 8
    intermediate_size: int = 2048
    hidden_act: str = "relu"
    attention_dropout: float = 0.0  # section 5.4: on the sub-layers and on the embeddings
    layer_norm_eps: float = 1e-6  # tensor2tensor's
    pre_norm: bool = False

    model_type: ClassVar[str] = "transformer"
    SIZES: ClassVar[dict] = {
        "base": {},
        "big": dict(hidden_size=1024, num_heads=16, intermediate_size=4096, hidden_dropout=0.3),
    }
    NUMERICS: ClassVar[tuple[str, ...]] = (*ModelConfig.NUMERICS, "decoder_layers", "pre_norm")
    halves: ClassVar[bool] = False  # the order of sines and cosines, see `layers.sinusoids`
    output_bias: ClassVar[bool] = False

    def huggingface_lacks(self) -> list[str]:
        return ["the order of the sines and cosines of 2017"]


def embeddings(config: TransformerConfig, **options):
    """Tokens times √d, and sines and cosines: one layer for source and target."""
    positions = dict(position_embedding="sinusoidal", halves=config.halves)
    deviation = config.hidden_size**-0.5  # as in tensor2tensor: a scaled vector is about as large as the sines
    options = {"norm": False, "scaled": True, "initializer_range": deviation} | positions | options
    return standard_embeddings(config, **options)


def encoder(config: TransformerConfig, **options):
    """The stack of encoder layers."""
    return standard_encoder(config, pre_norm=config.pre_norm, **options)


def decoder(config: TransformerConfig, **options):
    """The stack of decoder layers."""
    return encoder(config.replace(num_layers=config.decoder_layers), kind=layers.Decoder, **options)


def output(config: TransformerConfig, **options):
    """The scores of the target's next token: a product with the table of targets."""
    return layers.LanguageModelHead(
        config.target_vocab_size, config.initializer_range, bias=config.output_bias, **options
    )


def layer_numbers(config: TransformerConfig) -> Iterator[dict[str, int]]:
    """The numbers in the names of layers, of the longer of the two stacks."""
    return ({"i": number} for number in range(max(config.num_layers, config.decoder_layers)))


def own_paths(config: TransformerConfig, paths: set[str]) -> set[str]:
    """Without the layers that the shorter stack does not have."""

    def is_there(path: str) -> bool:
        for stack, count in (("backbone/encoder/", config.num_layers), ("decoder/", config.decoder_layers)):
            layer = path.removeprefix(f"{stack}layer_").split("/")[0]
            if path.startswith(stack) and layer.isdecimal():
                return int(layer) < count
        return True

    return {path for path in paths if is_there(path)}


def _layer(ours: str, theirs: str) -> tuple:
    """The rows that a layer of the encoder and one of the decoder have in common."""
    return (
        dense(f"{ours}/attention/query", f"{theirs}.self_attn.q_proj"),
        dense(f"{ours}/attention/key", f"{theirs}.self_attn.k_proj"),
        dense(f"{ours}/attention/value", f"{theirs}.self_attn.v_proj"),
        dense(f"{ours}/attention/out", f"{theirs}.self_attn.out_proj"),
        norm(f"{ours}/attention_norm", f"{theirs}.self_attn_layer_norm"),
        dense(f"{ours}/feed_forward/inner", f"{theirs}.fc1"),
        dense(f"{ours}/feed_forward/outer", f"{theirs}.fc2"),
        norm(f"{ours}/output_norm", f"{theirs}.final_layer_norm"),
    )


_THEIRS = "decoder.layers.{i}"
BACKBONE = (
    table("embeddings/token", "shared"),
    *_layer("encoder/layer_{i}", "encoder.layers.{i}"),
    norm("encoder/final_norm", "encoder.layer_norm"),
)
DECODER = (
    *_layer("decoder/layer_{i}", _THEIRS),
    dense("decoder/layer_{i}/cross_attention/query", f"{_THEIRS}.encoder_attn.q_proj"),
    dense("decoder/layer_{i}/cross_attention/key", f"{_THEIRS}.encoder_attn.k_proj"),
    dense("decoder/layer_{i}/cross_attention/value", f"{_THEIRS}.encoder_attn.v_proj"),
    dense("decoder/layer_{i}/cross_attention/out", f"{_THEIRS}.encoder_attn.out_proj"),
    norm("decoder/layer_{i}/cross_norm", f"{_THEIRS}.encoder_attn_layer_norm"),
    norm("decoder/final_norm", "decoder.layer_norm"),
)
OUTPUT = (matrix("masked_lm_head/unembedding", "lm_head.weight"),)
PRETRAINING = Pretraining("target_token", no_objective="with a decoder")

FAMILY = Family(
    config=TransformerConfig,
    huggingface=Names(
        spelling=HUGGINGFACE,
        prefix="model.",
        backbone=BACKBONE,
        decoder=DECODER,
        heads={"sequence_to_sequence": OUTPUT},
    ),
    embeddings=embeddings,
    encoder=encoder,
    decoder=decoder,
    output=output,
    pretraining=PRETRAINING,
    pooler=False,
    own_paths=own_paths,
    layer_numbers=layer_numbers,
)
