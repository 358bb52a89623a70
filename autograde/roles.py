"""The weights of the course's pre-training model: a *role* for each, independent of the student's names.

The check of notebook 07 puts weights in by role, and the trained weights are handed in under the same roles. So a file
of weights fits every layer that follows the course's agreement on names, and says nothing about how it was written.

    {"vocab_size": 4096, "hidden_size": 128, "num_layers": 2, "num_heads": 2, "intermediate_size": 512,
     "max_positions": 32}                          a configuration: what PreTrainingModel is made from
    "layer_0/attention/query/kernel" → (128, 128)  a role and its shape
"""

CONFIG = ("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size", "max_positions")
_TABLES = ("token", "position", "segment")
_NORMS = ("attention_norm", "output_norm")
_PROJECTIONS = ("query", "key", "value", "out")


def model_roles(num_layers: int) -> dict[str, list[str]]:
    """Role → paths of attributes that may lead to it in a student's model (see `probe`)."""
    roles = {f"embeddings/{table}": [f"bert.embeddings.{table}.embeddings"] for table in _TABLES}
    roles |= _pair("embeddings/norm", "bert.embeddings.norm", ("gamma", "beta"))
    for number in range(num_layers):
        role, place = f"layer_{number}", f"bert.encoder.layers_.{number}"
        for name in _PROJECTIONS:
            for part in ("kernel", "bias"):
                paths = [f"{place}.attention.{name}.{part}", f"{place}.attention.{name}.*.{part}"]
                roles[f"{role}/attention/{name}/{part}"] = paths
        for name in _NORMS:
            roles |= _pair(f"{role}/{name}", f"{place}.{name}", ("gamma", "beta"))
        for name in ("inner", "outer"):
            roles |= _pair(f"{role}/feed_forward/{name}", f"{place}.feed_forward.{name}")
    roles |= _pair("pooler", "bert.pooler.dense") | _pair("mlm/dense", "mlm.dense")
    roles |= _pair("mlm/norm", "mlm.norm", ("gamma", "beta")) | {"mlm/bias": ["mlm.bias"]}
    return roles | _pair("nsp", "nsp.dense")


def roles_by_path(num_layers: int) -> dict[str, str]:
    """The inverse: the path in the notebooks, "bert.encoder.layers_.0.attention.query.kernel" → role."""
    return {paths[0]: role for role, paths in model_roles(num_layers).items()}


def _pair(role: str, place: str, parts=("kernel", "bias")) -> dict[str, list[str]]:
    return {f"{role}/{part}": [f"{place}.{part}"] for part in parts}


def weight_shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """Role → shape, for a configuration."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    rows = {"token": config["vocab_size"], "position": config["max_positions"], "segment": 2}
    shapes = {}
    for role in model_roles(config["num_layers"]):
        place, _, part = role.rpartition("/")
        before = inner if place.endswith("outer") else hidden
        after = inner if place.endswith("inner") else 2 if place == "nsp" else hidden
        if place == "embeddings":
            shapes[role] = (rows[part], hidden)
        elif role == "mlm/bias":
            shapes[role] = (config["vocab_size"],)
        else:
            shapes[role] = (before, after) if part == "kernel" else (after,)
    return shapes
