"""What the exercises of notebook 07 share."""

NOTEBOOK = "07_pretraining"
MODULE = "pretraining"
READY_MADE_LOSSES = (
    "keras.losses",
    "keras.ops.categorical_crossentropy",
    "keras.ops.sparse_categorical_crossentropy",
    "tensorflow.nn.softmax_cross_entropy_with_logits",
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits",
    "bertlab.training",
)
WRITE_THE_LOSS = "This exercise is about writing the loss yourself; `ops.log_softmax` is yours to use."

# Where PreTrainingModel keeps its weights, by role. The training run's weights are handed in under the same roles.
_ENCODER_LAYER = ("attention_norm", "output_norm", "feed_forward.inner", "feed_forward.outer")
_PARTS = {"attention_norm": ("gamma", "beta"), "output_norm": ("gamma", "beta")}


def model_roles(num_layers: int) -> dict[str, list[str]]:
    """Role → the paths of attributes that may lead to it in a student's model."""
    roles = {f"embeddings/{table}": [f"bert.embeddings.{table}.embeddings"] for table in ("token", "position", "segment")}
    roles |= {f"embeddings/norm/{part}": [f"bert.embeddings.norm.{part}"] for part in ("gamma", "beta")}
    for number in range(num_layers):
        place, role = f"bert.encoder.layers_.{number}", f"layer_{number}"
        for name in ("query", "key", "value", "out"):
            for part in ("kernel", "bias"):
                paths = [f"{place}.attention.{name}.{part}", f"{place}.attention.{name}.*.{part}"]
                roles[f"{role}/attention/{name}/{part}"] = paths
        for name in _ENCODER_LAYER:
            for part in _PARTS.get(name, ("kernel", "bias")):
                roles[f"{role}/{name.replace('.', '/')}/{part}"] = [f"{place}.{name}.{part}"]
    for part in ("kernel", "bias"):
        roles[f"pooler/{part}"] = [f"bert.pooler.dense.{part}"]
        roles[f"mlm/dense/{part}"] = [f"mlm.dense.{part}"]
        roles[f"nsp/{part}"] = [f"nsp.dense.{part}", f"nsp.{part}"]
    roles |= {f"mlm/norm/{part}": [f"mlm.norm.{part}"] for part in ("gamma", "beta")}
    return roles | {"mlm/bias": ["mlm.bias"]}
