"""What the exercises of notebook 04 share: what may not be used, and where their layers keep their weights."""

from autograde.exercises import n03_heads

NOTEBOOK = "04_encoder_layer"
MODULE = "encoder"
LIBRARY = ("bertlab.layers", "bertlab.models", "keras_hub")
BUILD_IT = "This exercise is about building it yourself; afterwards you may use either."
READY_NORMS = ("keras.layers.LayerNormalization", "keras.layers.RMSNormalization", "keras.layers.UnitNormalization")
READY_GELU = ("keras.ops.gelu", "keras.activations.gelu", "tensorflow.nn.gelu")
READY_DROPOUT = ("keras.layers.Dropout", "keras.random.dropout", "tensorflow.nn.dropout")


def _named(part: str, weights: tuple[str, ...]) -> dict[str, list[str]]:
    return {f"{part}/{weight}": [f"{part}.{weight}"] for weight in weights}


# role → paths, tried in turn
FEED_FORWARD_ROLES = _named("inner", ("kernel", "bias")) | _named("outer", ("kernel", "bias"))
LAYER_ROLES = (
    {f"attention/{role}": [f"attention.{path}" for path in paths] for role, paths in n03_heads.ROLES.items()}
    | _named("attention_norm", ("gamma", "beta"))
    | {f"feed_forward/{role}": [f"feed_forward.{path}" for path in paths] for role, paths in FEED_FORWARD_ROLES.items()}
    | _named("output_norm", ("gamma", "beta"))
)
# In a stack a role holds all layers' arrays side by side: the star shares them out along the last axis.
STACK_ROLES = {role: [f"layers_.*.{path}" for path in paths] for role, paths in LAYER_ROLES.items()}
