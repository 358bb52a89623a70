"""The number of parameters of each component of a model."""

import math

from bertlab.config import ModelConfig
from bertlab.families.names import BACKBONE


def component_counts(config: ModelConfig, heads: bool = True) -> list[tuple[str, int]]:
    """(component, parameters), in the order of the forward pass. heads: include the pre-training heads.

    The model's variables are declared but not filled: counting BERT-large takes no memory.
    """
    from bertlab.models.outline import pretraining_outline

    model = pretraining_outline(config)
    counts: dict[str, int] = {}
    for variable in model.trainable_variables:
        name = _component(variable.path.split("/"), config.num_layers)
        if heads or not name.endswith("head"):
            counts[name] = counts.get(name, 0) + math.prod(variable.shape)
    return list(counts.items())


_NAMES = {
    "token": "token embedding",
    "segment": "segment embedding",
    "position": "position embedding",
    "norm": "embedding LayerNorm",
    "masked_lm_head": "masked-LM head",
    "next_sentence_head": "next-sentence head",
}


def _component(path: list[str], num_layers: int) -> str:
    """The component a variable belongs to, from its path: ["backbone", "encoder", "layer_0", …]."""
    if path[0] != BACKBONE:
        return _NAMES[path[0]]
    part = path[1]
    if part == "embeddings":
        return _NAMES[path[2]]
    if part == "encoder" and path[2].startswith("layer_"):
        component = "LayerNorms" if path[3].endswith("norm") else path[3].replace("_", "-")
        return f"{num_layers} × {component}"
    return "final LayerNorm" if part == "encoder" else part
