"""GPT-2: GPT with LayerNorm before each sub-layer, on byte-level BPE (Radford et al. 2019, section 2.3).

Source of the names: modeling_gpt2.py of transformers.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bertlab.config import ModelConfig, sizes_of
from bertlab.families.base import Family, standard_encoder
from bertlab.families.bert import HUGGINGFACE_HEADS
from bertlab.families.gpt import (
    GptConfig,
    decoder_embeddings,
    decoder_names,
    last_token,
    next_token_head,
    with_inner_size,
)
from bertlab.families.names import norm, table


@dataclass(frozen=True)
class Gpt2Config(ModelConfig):
    """All settings of a GPT-2's architecture and numerics. The defaults are the smallest published size.

    Example:
        >>> Gpt2Config.named("xl").num_layers
        48
    """

    vocab_size: int = 50257
    max_position_embeddings: int = 1024
    hidden_act: str = "gelu_tanh"
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 50256  # the end of a text; there is no token of padding
    embedding_dropout: float = 0.1

    model_type: ClassVar[str] = "gpt2"
    causal: ClassVar[bool] = True
    SIZES: ClassVar[dict] = sizes_of(
        {"base": (12, 768, 12), "medium": (24, 1024, 16), "large": (36, 1280, 20), "xl": (48, 1600, 25)}
    )
    HUGGINGFACE_NAMES: ClassVar[dict] = GptConfig.HUGGINGFACE_NAMES | {"hidden_act": "activation_function"}
    HUGGINGFACE_CONSTANTS: ClassVar[dict] = {
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "reorder_and_upcast_attn": False,
    }

    @classmethod
    def adapted(cls, values: dict, where: str) -> dict:
        return with_inner_size(values)


_HUGGINGFACE = decoder_names(
    "GPT2",
    (table("embeddings/token", "wte"), table("embeddings/position", "wpe"), norm("encoder/final_norm", "ln_f")),
    {kind: HUGGINGFACE_HEADS[kind] for kind in ("token_classification", "question_answering")},
)

FAMILY = Family(
    config=Gpt2Config,
    huggingface=_HUGGINGFACE,
    embeddings=decoder_embeddings,
    encoder=partial(standard_encoder, pre_norm=True),
    masked_lm_head=next_token_head,
    pooling=last_token,
    pooler=False,
    text_classifier_bias=False,
    tokenizer="byte-level BPE",
)
