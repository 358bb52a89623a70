"""Probes of layers: constructs them, sets weights by role, calls them, asks for gradients. In the student's process."""

import inspect
import math
from collections.abc import Callable

from autograde.boundary.calls import RefusedError, call_with_notes, in_graph, inputs
from autograde.boundary.plain_values import is_tensor, to_plain, to_tensors

Build = Callable[[Callable, dict, list, dict], object]  # (its class, layer probe, arguments, keywords) → a built layer


def build_layer(its_class: Callable, probe: dict, arguments: list, keywords: dict):
    """Constructs the layer and calls it once, so that its weights exist."""
    layer = its_class(**probe.get("config", {}))
    if not callable(layer):
        raise RefusedError(f"{probe['name']}(…) gives a {type(layer).__name__}, which cannot be called", "not callable")
    layer(*arguments, **keywords)
    return layer


def layer_answer(its_class, probe, question, notes, build):
    """{"kind": "layer", "name": …, "config": {…}, "roles": {role: [path, …]}}: constructs it, calls it once so that it
    builds itself, sets the question's weights by role, calls it again"""
    arguments, keywords = inputs(probe, question)
    before = to_tensors(list(question["first"])) if "first" in question else arguments
    layer = build(its_class, probe, before, keywords)
    put_weights(layer, probe.get("roles", {}), question.get("weights", {}))
    return _call_layer(layer, arguments, keywords, notes, probe.get("twice", True), question)


def made(its_class, probe, question, notes, build):
    """{"kind": "made", "of": layer probe, "values": …}: constructs a layer and calls it once → {"named": has it its
    name?, "trainable": …, "trained": roles}, or its initial weights by role"""
    inner = probe["of"]
    if "dtype" in inner["config"]:  # not built: a right answer may mix dtypes when it computes
        layer = its_class(**inner["config"])
        return {"in its dtype": layer.dtype == inner["config"]["dtype"]}
    layer = build(its_class, inner, *inputs(inner, question))
    variables = {role: variables_at(layer, paths) or [] for role, paths in inner["roles"].items()}
    if probe["values"]:
        return {role: to_plain(found[0]) for role, found in variables.items() if found}
    trained = {id(variable) for variable in layer.trainable_variables}
    roles = [
        role for role in question["weights"] if variables[role] and all(id(one) in trained for one in variables[role])
    ]
    has_its_name = layer.name == inner["config"].get("name", layer.name)
    return {"named": has_its_name, "trainable": layer.trainable, "trained": roles}


def count_trainable(its_class, probe, question, notes, build):
    """{"kind": "trainable", "of": layer probe}: how many numbers of the built layer can be trained, and how many
    cannot → dict"""
    layer = build(its_class, probe["of"], *inputs(probe["of"], question))
    can_be_trained, total = (
        sum(math.prod(weight.shape) for weight in weights) for weights in (layer.trainable_weights, layer.weights)
    )
    return {"numbers that can be trained": can_be_trained, "numbers that are fixed": total - can_be_trained}


def _call_layer(layer, arguments, keywords, notes, twice, question):
    """The result of a call. twice: notes also that of an equal call, so that the two can be compared."""
    call, before = layer, list(getattr(layer, "weights", []))
    if keywords.get("training") and "training" not in inspect.signature(getattr(layer, "call", layer)).parameters:
        call = _in_training(layer)
        keywords = {name: value for name, value in keywords.items() if name != "training"}
    call = in_graph(call, question.get("unknown_batch", False)) if question.get("graph") else call
    result = call_with_notes(call, arguments, keywords, notes)
    if twice:
        again = call(*arguments, **keywords)
        known = {id(weight) for weight in before}
        notes["new_weights"] = any(id(weight) not in known for weight in getattr(layer, "weights", []))
        if _is_tensors(result) and _is_tensors(again):
            notes["again"] = to_plain(again)
    return result


def _in_training(layer):
    """A call of a layer inside of another one that is being trained: what Keras hands on by itself acts."""
    import keras

    class Outer(keras.layers.Layer):
        def call(self, *arguments, training=None, **keywords):
            return layer(*arguments, **keywords)

    outer = Outer()
    return lambda *arguments, **keywords: outer(*arguments, training=True, **keywords)


def _is_tensors(value):
    return is_tensor(value) or (type(value) is tuple and all(map(is_tensor, value)))


def put_weights(layer, roles, weights):
    for role, array in weights.items():
        variables = variables_at(layer, roles[role])
        if variables is None:
            have = _names_with_weights(layer) or "none (create them in `__init__` or `build`)"
            message = f"{type(layer).__name__} has no weight `{roles[role][0]}`; its weights: {have}"
            name = roles[role][0].split(".")[0]
            part = getattr(layer, name, None)
            if hasattr(part, "weights") and hasattr(part, "call") and not part.weights:  # nothing built or called it
                message += f". `self.{name}` exists, but has no weights: `call` did not use it"
            raise RefusedError(message, "no such weight")
        width, left_over = divmod(array.shape[-1], len(variables))
        for index, variable in enumerate(variables):
            share = array[..., index * width : (index + 1) * width]
            turned = len(variable.shape) == share.ndim and tuple(variable.shape) != share.shape
            if left_over or turned or share.size != math.prod(variable.shape):
                message = _about_shape(
                    type(layer).__name__, roles[role][0], len(variables), variable.shape, array.shape
                )
                raise RefusedError(message, "shape of a weight")
            variable.assign(share.reshape(variable.shape))


def _about_shape(layer: str, role: str, count: int, got: tuple, wanted: tuple) -> str:
    """A message on a weight that `wanted` does not fit: it has another shape, or too many or too few layers have it."""
    of_each, rest = divmod(wanted[-1], got[-1] if got else 1)
    if count > 1 and not rest and of_each != count:
        return f"{layer} has {count} weights `{role}`; expected {of_each}"
    expected = wanted if count == 1 else (*wanted[:-1], wanted[-1] // count)
    return f"`{role}` of {layer} has shape {tuple(got)}; expected {tuple(expected)}"


def _names_with_weights(layer):
    """The layer's own attributes that are weights or hold some: "`self.gamma` (8,), those of `self.dense`"."""
    found = []
    for name, value in vars(layer).items():
        if name.startswith("_"):  # of Keras
            continue
        if hasattr(value, "assign"):
            found.append(f"`self.{name}` {tuple(value.shape)}")
        elif any(getattr(part, "weights", ()) for part in (value if isinstance(value, (list, tuple)) else [value])):
            found.append(f"those of `self.{name}`")
    return ", ".join(found)


def variables_at(layer, paths):
    """The variables at the first path that exists; None if no path exists."""
    for path in paths:
        found = [layer]
        for name in path.split("."):
            if name.isdecimal():
                found = [obj[int(name)] for obj in found if int(name) < len(obj)]
            elif name == "*":
                found = [item for obj in found if isinstance(obj, (list, tuple)) for item in obj]
            else:
                found = [getattr(obj, name) for obj in found if getattr(obj, name, None) is not None]
        if found and all(hasattr(obj, "assign") for obj in found):
            return found
    return None


# --- gradients ---


def gradient(callee, probe, question, notes, build):
    """{"kind": "gradient", "of": probe, "with_respect_to": [0, role, …]}: gradients of Σ output · question["cotangent"]
    with respect to arguments by index or weights by role; of several outputs of number question["item"].

    NaN if none arrives at all: with such a loss an optimizer makes no step, but raises an error.
    """
    import tensorflow as tf

    inner = probe["of"]
    arguments, keywords = inputs(inner, question)
    weights = question.get("weights", {})
    if inner["kind"] == "layer":
        callee = build(callee, inner, arguments, keywords)
        put_weights(callee, inner.get("roles", {}), weights)
    sources = [  # a role may lead to several variables
        [arguments[name]]
        if type(name) is int
        else [variable.value for variable in variables_at(callee, inner["roles"][name])]
        for name in probe["with_respect_to"]
    ]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        output = callee(*arguments, **keywords)
        if type(output) in (list, tuple) and question.get("item", len(output)) < len(output):
            output = output[question["item"]]
        if not is_tensor(output):
            return output  # it has no gradient; its type is reported like that of any other answer
        total = tf.reduce_sum(output * tf.cast(question["cotangent"], output.dtype))
    gradients = tape.gradient(total, sources)
    notes["no_gradient"] = [index for index, group in enumerate(gradients) if any(part is None for part in group)]
    absent = float("nan") if all(part is None for group in gradients for part in group) else 0.0
    shapes = [tuple(arguments[n].shape) if type(n) is int else weights[n].shape for n in probe["with_respect_to"]]
    return [_joined(*group, absent) for group in zip(gradients, sources, shapes)]


def _joined(gradients, variables, shape, absent):
    """The gradients of a role's variables as one array of the role's shape; `absent` where none arrived."""
    import tensorflow as tf

    width = shape[-1] // len(variables) if shape else 1
    parts = [tf.zeros_like(v) + absent if g is None else tf.convert_to_tensor(g) for g, v in zip(gradients, variables)]
    return tf.concat([tf.reshape(part, (*shape[:-1], width)) for part in parts], -1) if shape else parts[0]
