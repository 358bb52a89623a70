"""What the exercises of notebook 05 share: its name, what is forbidden, and where its layers keep their weights."""

NOTEBOOK = "05_bert"
WHOLE_BERT = ("bertlab.layers", "bertlab.models", "transformers", "keras_hub")
BUILD_IT = "This exercise is about putting BERT together yourself, from the layers of your earlier notebooks."

# One encoder layer's weights: the role's name → the path below the layer. Notebook 04 says how the parts are called.
_DENSES = ("attention.query", "attention.key", "attention.value", "attention.out", "feed_forward.inner",
           "feed_forward.outer")  # fmt: skip
_NORMS = ("attention_norm", "output_norm")
LAYER_PARTS = tuple(
    [f"{name}.{part}" for name in _DENSES for part in ("kernel", "bias")]
    + [f"{name}.{part}" for name in _NORMS for part in ("gamma", "beta")]
)


def _ways(part: str) -> list[str]:
    """Where all layers' weights of one kind are, side by side; a head may have a Dense of its own."""
    ways = [f"encoder.layers_.*.{part}"]
    projection, _, weight = part.rpartition(".")
    if projection.startswith("attention.") and projection != "attention.out":
        ways.append(f"encoder.layers_.*.{projection}.*.{weight}")
    return ways


ENCODER_ROLES = {f"layers/{part.replace('.', '/')}": _ways(part) for part in LAYER_PARTS}


def dense_roles(*names: str) -> dict[str, list[str]]:
    """Kernel and bias of some Dense layers."""
    return {f"{name}/{part}": [f"{name}.{part}"] for name in names for part in ("kernel", "bias")}


def norm_roles(*names: str) -> dict[str, list[str]]:
    """Scale and offset of some LayerNorms."""
    return {f"{name}/{part}": [f"{name}.{part}"] for name in names for part in ("gamma", "beta")}
