"""The weights of the course's layers and models: a *role* for each, independent of the student's names.

A role leads to the paths of attributes that are tried in turn (see `probe`). The checks put weights in by role, and the
trained weights of notebook 07 are handed in under the roles of the pre-training model. So a file of weights fits every
layer that follows the course's agreement on names, and says nothing about how it was written.

    {"vocab_size": 4096, "hidden_size": 128, "num_layers": 2, "num_heads": 2, "intermediate_size": 512,
     "max_positions": 32}                          a configuration: what PreTrainingModel is made from
    "layer_0/attention/query/kernel" → (128, 128)  a role and its shape

Some exercises draw the weights in the order of the roles: another order is another question.
"""

Roles = dict[str, list[str]]

CONFIG = ("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size", "max_positions")
_DENSE = {"kernel": ["kernel"], "bias": ["bias"]}
_NORM = {"gamma": ["gamma"], "beta": ["beta"]}


def inside(part: str, roles: Roles, prefix: str = "") -> Roles:
    """The roles of a layer that is an attribute of another. prefix: its path there, if that is not `part`."""
    return {f"{part}/{role}": [f"{prefix or part}.{path}" for path in paths] for role, paths in roles.items()}


def dense(*names: str) -> Roles:
    """Kernel and bias of some Dense layers."""
    return {role: paths for name in names for role, paths in inside(name, _DENSE).items()}


def norm(*names: str) -> Roles:
    """Scale and offset of some LayerNorms."""
    return {role: paths for name in names for role, paths in inside(name, _NORM).items()}


# One Dense per projection, or a list of them with one per head.
ATTENTION = {
    f"{name}/{part}": [f"{name}.{part}", f"{name}.*.{part}"]
    for name in ("query", "key", "value", "out")
    for part in ("kernel", "bias")
}
FEED_FORWARD = dense("inner", "outer")
_ATTENTION, _FEED_FORWARD = inside("attention", ATTENTION), inside("feed_forward", FEED_FORWARD)
_NORMS = norm("attention_norm", "output_norm")
ENCODER_LAYER = _ATTENTION | norm("attention_norm") | _FEED_FORWARD | norm("output_norm")

# A whole encoder: a role has the arrays of all layers side by side; the star splits them along the last axis.
# Here the output projection of attention is one Dense.
IN_A_LAYER = tuple(_ATTENTION | _FEED_FORWARD | _NORMS)
ENCODER = {
    f"layers/{role}": [f"encoder.layers_.*.{path}" for path in ENCODER_LAYER[role] if ".out.*" not in path]
    for role in IN_A_LAYER
}

# A decoder layer, and the encoder–decoder of notebook 13: again all layers of a stack side by side.
DECODER_LAYER = (
    _ATTENTION
    | norm("attention_norm")
    | inside("cross_attention", ATTENTION)
    | norm("cross_norm")
    | _FEED_FORWARD
    | norm("output_norm")
)
TRANSFORMER = {"token": ["token.embeddings"]} | {
    f"{stack}/{role}": [f"{stack}_layers.*.{path}" for path in paths if ".*" not in path]
    for stack, layer in (("encoder", ENCODER_LAYER), ("decoder", DECODER_LAYER))
    for role, paths in layer.items()
}
TRANSFORMER_CONFIG = ("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size")

EMBEDDINGS = {table: [f"{table}.embeddings"] for table in ("token", "position", "segment")} | norm("norm")
MLM_HEAD = dense("dense") | norm("norm") | {"bias": ["bias"]}


def model_roles(num_layers: int) -> Roles:
    """The roles of a pre-training model, each layer of the encoder with roles of its own."""
    roles = inside("embeddings", EMBEDDINGS, "bert.embeddings")
    for number in range(num_layers):
        roles |= inside(f"layer_{number}", _ATTENTION | _NORMS | _FEED_FORWARD, f"bert.encoder.layers_.{number}")
    roles |= inside("pooler", _DENSE, "bert.pooler.dense")
    heads = inside("mlm", MLM_HEAD, "mlm_head") | inside("nsp", _DENSE, "nsp_head.dense")
    earlier = inside("mlm", MLM_HEAD) | inside("nsp", _DENSE, "nsp.dense")  # in earlier editions of notebook 07
    return roles | {role: paths + earlier[role] for role, paths in heads.items()}


def roles_by_path(num_layers: int) -> dict[str, str]:
    """The inverse: the path in the notebooks, "bert.encoder.layers_.0.attention.query.kernel" → role."""
    return {paths[0]: role for role, paths in model_roles(num_layers).items()}


def weight_shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """Role → shape, for a configuration."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    rows = {"token": config["vocab_size"], "position": config["max_positions"], "segment": 2}
    shapes = {}
    for role in model_roles(config["num_layers"]):
        layer, _, part = role.rpartition("/")
        before = inner if layer.endswith("outer") else hidden
        after = inner if layer.endswith("inner") else 2 if layer == "nsp" else hidden
        if layer == "embeddings":
            shapes[role] = (rows[part], hidden)
        elif role == "mlm/bias":
            shapes[role] = (config["vocab_size"],)
        else:
            shapes[role] = (before, after) if part == "kernel" else (after,)
    return shapes


def transformer_shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """Role → shape of an encoder–decoder, for a configuration. A stack's layers lie side by side on the last axis."""
    hidden, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_layers"]
    shapes: dict[str, tuple[int, ...]] = {"token": (config["vocab_size"], hidden)}
    for role in TRANSFORMER:
        if role != "token":
            before, after = (inner if "/outer/" in role else hidden), (inner if "/inner/" in role else hidden)
            shapes[role] = (before, layers * after) if role.endswith("kernel") else (layers * after,)
    return shapes
