"""The paths of layers' weights: role → paths of attributes, tried in turn (see `probe`). Shared by all notebooks."""

Roles = dict[str, list[str]]


def dense(*names: str) -> Roles:
    """Kernel and bias of some Dense layers."""
    return {f"{name}/{part}": [f"{name}.{part}"] for name in names for part in ("kernel", "bias")}


def norm(*names: str) -> Roles:
    """Scale and offset of some LayerNorms."""
    return {f"{name}/{part}": [f"{name}.{part}"] for name in names for part in ("gamma", "beta")}


def inside(part: str, roles: Roles) -> Roles:
    """The roles of a layer that is an attribute of another."""
    return {f"{part}/{role}": [f"{part}.{path}" for path in paths] for role, paths in roles.items()}


# One Dense per projection, or a list of them with one per head.
ATTENTION = {
    f"{name}/{part}": [f"{name}.{part}", f"{name}.*.{part}"]
    for name in ("query", "key", "value", "out")
    for part in ("kernel", "bias")
}
FEED_FORWARD = dense("inner", "outer")
ENCODER_LAYER = (
    inside("attention", ATTENTION) | norm("attention_norm") | inside("feed_forward", FEED_FORWARD) | norm("output_norm")
)

# A whole model: a role has the arrays of all layers side by side; the star splits them along the last axis.
_DENSES = [f"attention/{name}" for name in ("query", "key", "value", "out")]
_DENSES += [f"feed_forward/{name}" for name in ("inner", "outer")]
IN_A_LAYER = (*dense(*_DENSES), *norm("attention_norm", "output_norm"))


def _paths(role: str) -> list[str]:
    part, _, weight = role.replace("/", ".").rpartition(".")
    paths = [f"encoder.layers_.*.{part}.{weight}"]
    if part.startswith("attention.") and part != "attention.out":
        paths.append(f"encoder.layers_.*.{part}.*.{weight}")
    return paths


ENCODER = {f"layers/{role}": _paths(role) for role in IN_A_LAYER}
