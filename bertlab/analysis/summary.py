"""The number of parameters of each component of a model."""

import math

from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.families.names import BACKBONE


def component_counts(config: ModelConfig, heads: bool = True) -> list[tuple[str, int]]:
    """(component, parameters), in the order of the forward pass. heads: include the pre-training heads.

    The model's variables are declared but not filled: counting BERT-large takes no memory.
    """
    from bertlab.models.outline import pretraining_outline

    variables = pretraining_outline(config).trainable_variables
    return stored_counts({variable.path: variable.shape for variable in variables}, config, heads)


def stored_counts(shapes: dict[str, tuple], config: ModelConfig, heads: bool = True) -> list[tuple[str, int]]:
    """(component, parameters) of what a checkpoint holds, such as a classifier's head.

    shapes: of its tensors, by their paths in any order.
    """
    num_layers = sum(1 for _ in family_of(config).layer_numbers(config))  # those with weights of their own
    counts: dict[str, int] = {}
    for path in sorted(shapes, key=_sort_key):
        if path.split("/")[-1] in _NOT_TRAINED:
            continue
        name = _component(path.split("/"), num_layers)
        if heads or not name.endswith("head"):
            counts[name] = counts.get(name, 0) + math.prod(shapes[path])
    return list(counts.items())


def _sort_key(path: str) -> tuple:
    """Sorts embeddings, encoder, pooler and heads; layers and heads in the order of their names."""
    parts = path.split("/")
    inside = ("embeddings", "encoder", "pooler")
    if parts[0] != BACKBONE:
        return len(inside), parts[0]
    return inside.index(parts[1]), _ORDER.index(parts[2]) if parts[2] in _ORDER else len(_ORDER), parts[3:4]


_ORDER = ("characters", "token", "segment", "position", "norm", "projection")
_NOT_TRAINED = ("character_ids",)  # a table made from the vocabulary
_NAMES = {
    "characters": "character CNN",
    "token": "token embedding",
    "segment": "segment embedding",
    "position": "position embedding",
    "norm": "embedding LayerNorm",
    "projection": "embedding projection",
    "final_norm": "final LayerNorm",
    "prediction": "prediction embedding",
    "masked_lm_head": "masked-LM head",
    "next_sentence_head": "next-sentence head",
    "detection_head": "detection head",
}


def _component(path: list[str], num_layers: int) -> str:
    """The component a variable belongs to, from its path: ["backbone", "encoder", "layer_0", …]."""
    if path[0] == "decoder":
        return "decoder: " + _component([BACKBONE, "encoder", *path[1:]], num_layers)
    if path[0] != BACKBONE:
        return _NAMES.get(path[0], "task head")
    part = path[1]
    if part == "embeddings":
        return _NAMES[path[2]]
    if part == "encoder" and path[2].startswith("layer_"):
        component = "LayerNorms" if path[3].endswith("norm") else path[3].replace("_", "-")
        return f"{num_layers} × {component}"
    return _NAMES[path[2]] if part == "encoder" else part
