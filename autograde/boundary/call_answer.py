"""Asks a student's code a question and returns the result as a plain value. Runs in *their* process, without secrets.

    answers = answer(questions, namespace)      # one answer per question, in order; never raises for what they wrote

A **question** is a plain value (see `values`), a dict:

    {"probe": {"kind": "function", "name": "attention_scores"},
     "arguments": [array, …],          NumPy arrays arrive as tensors, unless the probe says {"tensors": False}
     "keywords": {"mask": array},      optional
     "weights": {role: array},         optional: for layers
     "first": [array, …],              optional: the arguments of an earlier call; a layer builds itself in it
     "seed": 7,                        optional: random seed, set before the layer is made or the function called
     "graph": True,                    optional: call the function or the built layer inside of `tf.function`
     "unknown_batch": True,            optional, with "graph": a layer does not know the size of the batch there
     "watch": ["keras.ops.softmax"]}   optional: note whether any of these functions or layers ran

A **probe** of each kind is described by its function below; a probe that has "of" asks another one in its own way:

    {"kind": "gradient", "of": {"kind": "layer", "name": …, …}, "with_respect_to": [0, role, …]}

A role's paths are tried in turn: "query.kernel" is an attribute of an attribute, "layers_.0" an item of a list; in
"query.*.kernel" the star means every item of a list, and the array is split among them along its last axis (one Dense
per head). A weight of another shape but the same size is filled in row-major order, so (H, A·d) also fits (H, A, d).

An **answer** is a plain value, a dict:

    status   "ok" | "raised" | "missing" (no such name) | "not attempted" (the unchanged stub) | "refused" (no plain
             form, too large, weights that cannot be set)
    value    the result if "ok", otherwise None
    error    None or {"type", "message", "line": number or None, "text": that line}: the student's own
             innermost line; "reason": why it was refused
    notes    facts beside the value: {"returned": "tensor" | "NumPy array" | "nothing" | …, "after": the arguments after
             the call, "again": what a second, equal call of a layer returned, "printed": lines, "new_weights": a call
             after the first made more of them, "watched": [names that ran]}

Nobody believes an answer that comes out of a sandbox: `answers.read` makes a trusted value of it, and all that decides
points is compared outside, `after` with the arguments that were sent and `again` with `value`.
"""

import contextlib
import dis
import io
import itertools
import random
import types
from functools import partial

import numpy as np

from autograde.boundary import tracing
from autograde.boundary.call_layer import (
    Build,
    build_layer,
    count_trainable,
    gradient,
    layer_answer,
    made,
    put_weights,
    variables_at,
)
from autograde.boundary.calls import (
    MissingError,
    RefusedError,
    call_with_notes,
    function_of,
    in_graph,
    inputs,
    usual_settings,
    with_results,
)
from autograde.boundary.plain_values import NotPlainError, describe, to_plain, whole_numbers
from autograde.boundary.values import encode
from autograde.common.errors import AutogradeError

WATCHED_CALLS = 20  # in which changed arguments and results are searched; random functions are called hundreds of times
OUT_OF_MEMORY = ("ResourceExhaustedError", "MemoryError", "_ArrayMemoryError")  # names of errors
_MODEL_READS = ("token_ids", "token_type_ids", "attention_mask", "positions")  # of a batch, in the order of its call
_STUB_INSTRUCTIONS = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "POP_TOP"}


class _Lines(io.TextIOBase):
    """Counts the lines that are printed while code is probed, without storing them."""

    count = 0

    def writable(self):
        return True

    def write(self, text):
        self.count += text.count("\n")
        return len(text)


def answer(questions: list[dict], namespace: dict, build: Build = build_layer) -> list[dict]:
    """Asks the code in `namespace` each question. build: what makes the layers."""
    return [_answer_one(question, namespace, build) for question in questions]


def _answer_one(question, namespace, build):
    notes, printed, watched = {}, _Lines(), set()
    error, value, status = None, None, "ok"
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(_Lines()), usual_settings():
            with tracing.watching(question.get("watch", ())) as watched:
                raw = _ask(question["probe"], question, namespace, notes, build)
        notes.setdefault("returned", describe(raw))
        if (raw is None or raw is ...) and _is_stub(namespace.get(question["probe"].get("name"))):
            raise NotImplementedError
        value = to_plain(raw)
        for part in (value, notes.get("after"), notes.get("again")):
            encode(part)  # or it is too large
    except NotImplementedError as raised:
        error = tracing.describe_error(raised, namespace, question)
        other = tracing.empty_stub_used(raised, namespace, question)
        by_tensorflow = "symbolic tf.Tensor" in str(raised)  # which has no numbers yet, inside of `tf.function`
        status = "raised" if other or by_tensorflow else "not attempted"
        if other and not by_tensorflow:
            error["message"] = f"{other}, which your code uses, is still an empty stub"
    except MissingError:
        status = "missing"
    except AutogradeError as refused:
        status, error = "refused", _refusal(refused)
    except (Exception, SystemExit) as raised:  # every error of a student's code is an answer, not a failure
        status, error = "raised", tracing.describe_error(raised, namespace, question)
    notes["printed"], notes["watched"] = printed.count, sorted(watched)
    return {"status": status, "value": value if status == "ok" else None, "error": error, "notes": notes}


def too_large(reason: AutogradeError) -> dict:
    """The answer in place of one that does not fit beside the answers before it."""
    return {"status": "refused", "value": None, "error": _refusal(reason), "notes": {}}


def _refusal(refused):
    reason = getattr(refused, "reason", "no plain form" if isinstance(refused, NotPlainError) else "too large")
    return {"type": type(refused).__name__, "message": str(refused)[:tracing.LONGEST_MESSAGE], "line": None, "text": "",
            "reason": reason}  # fmt: skip


def _is_stub(function) -> bool:
    """Whether a function's body is nothing but a docstring, `...` or `pass`."""
    if not isinstance(function, types.FunctionType):
        return False
    instructions = list(dis.get_instructions(function))
    return all(i.opname in _STUB_INSTRUCTIONS and i.argval in (None, 0, ...) for i in instructions)


def _ask(probe, question, namespace, notes, build):
    if "seed" in question:
        _set_seed(question["seed"])
    kind = probe["kind"]
    if kind == "repeat":
        return _repeat(probe, question, namespace, notes, build)
    if kind == "composition":
        return _composed(question["calls"], namespace)
    function = function_of(probe.get("of", probe), namespace)  # or a class
    if kind not in _KINDS:
        raise RefusedError(f"there is no probe of kind {str(kind)[:40]!r}")
    if "model" in probe:
        probe = probe | {"model": namespace[probe["model"]]}
    return _KINDS[kind](function, probe, question, notes, build)


def _set_seed(seed):
    import keras

    keras.utils.set_random_seed(seed)


# --- the kinds of probe: (function or class, probe, question, notes, build) → what the student's code returns ---


def _repeat(probe, question, namespace, notes, build):
    """{"kind": "repeat", "of": probe, "seeds": [1, 2, …]}: the same call under several random seeds → list"""
    results = []
    for seed in probe["seeds"]:
        _set_seed(seed)
        results.append(to_plain(_ask(probe["of"], question, namespace, notes, build)))
    return results


def _composed(calls, namespace):
    """{"kind": "composition", "name": …}: makes the calls of question["calls"] one after the other, each a question
    with a probe of its own, a function or a layer; {"result of": 0} in the arguments of a call is what the first
    call returned → list of what each returns. Layers are built in a first round, so that they exist side by side."""
    callees = [function_of(call["probe"], namespace) for call in calls]
    for index, probe in enumerate(call["probe"] for call in calls):
        if probe["kind"] == "layer":
            callees[index] = callees[index](**probe.get("config", {}))

    def results():
        found = []
        for call, callee in zip(calls, callees):
            arguments, keywords = inputs(call["probe"], call)
            found.append(callee(*with_results(arguments, found), **with_results(keywords, found)))
        return found

    if any("weights" in call for call in calls):
        results()
        for call, callee in zip(calls, callees):
            put_weights(callee, call["probe"].get("roles", {}), call.get("weights", {}))
    return results()


def _function(function, probe, question, notes, build):
    """{"kind": "function", "name": …}: calls it → what it returns; with "takes": another name, its first argument is
    that function, the question's a list of the arrays that come behind that function's own arguments"""
    if "first" in question:  # its result does not matter, nor its failure: a function must not remember it
        try:
            function(*inputs(probe, {"arguments": question["first"]})[0], **inputs(probe, question)[1])
        except Exception as failure:
            if type(failure).__name__ in OUT_OF_MEMORY:  # after ten seconds, and a second call would take them, too
                raise
    call = in_graph(function) if question.get("graph") else function
    return call_with_notes(call, *inputs(probe, question), notes)


def _fingerprints(arguments):
    return [encode(to_plain(argument)) for argument in arguments]


def _filled(function, probe, question, notes, build):
    """{"kind": "fill", "name": …}: calls a function whose first argument, a dict of arrays, arrives as Keras
    variables; the others as NumPy arrays → {"returned": …, "variables": what they hold afterwards}"""
    import keras

    (starts, *others), keywords = to_plain(question["arguments"]), to_plain(question.get("keywords", {}))
    variables = {name: keras.Variable(start) for name, start in starts.items()}
    given = dict(variables)
    returned = function(given, *others, **keywords)
    with contextlib.suppress(Exception):  # a later call, of nothing, must not change what this one returned
        function({}, *(type(other)() for other in others), **keywords)
    notes["returned"] = describe(returned)
    same_keys = given.keys() == starts.keys()  # what the variables hold may change, and is compared by itself
    notes["after"] = to_plain([starts if same_keys else list(given), *others])
    return {"returned": to_plain(returned), "variables": to_plain(variables)}


def _with_model(function, probe, question, notes, build):
    """{"kind": "with model", "name": …, "model": …, "config": {…}, "roles": {…}}: constructs the model, sets weights
    by role, calls the function with the model as first argument"""
    model = probe["model"](**probe.get("config", {}))
    put_weights(model, probe["roles"], question["weights"])
    return call_with_notes(partial(function, model), *inputs(probe, question), notes)


def _seeded(function, probe, question, notes, build):
    """{"kind": "seeded", "name": …, "seeds": [1, 2, …]}: calls a function once for each seed, with a NumPy generator
    of that seed as its last argument → list of what it returns"""
    results = []
    before = _fingerprints(inputs(probe, question)[0])
    for number, seed in enumerate(probe["seeds"]):
        arguments, keywords = inputs(probe, question)  # each call gets its own
        result = function(*arguments, np.random.default_rng(seed), **keywords)
        if result is None or result is ...:
            return result
        if number == 0:
            notes["returned"], first = describe(result), encode(to_plain(result))
        if number < WATCHED_CALLS and ("after" not in notes or _fingerprints(arguments) != before):
            notes["after"] = to_plain(arguments)  # of the last call that changed them
        results.append(result)
        if number < WATCHED_CALLS and encode(to_plain(results[0])) != first:
            raise RefusedError(
                "A later call of your function changes what an earlier call returned: make a new list in each call.",
                "changed later",
            )
    return [_compact(to_plain(result)) for result in results]


def _arguments_after_changes(function, probe, question, notes, build):
    """{"kind": "own lists", "of": probe}: calls a function, changes the lists and dicts that it returns → the
    arguments as they are then: a list in both has changed, too"""
    inner = probe["of"]
    arguments, keywords = inputs(inner, question)
    generators = [np.random.default_rng(seed) for seed in inner.get("seeds", ())[:1]]
    _change(function(*arguments, *generators, **keywords))
    return arguments


def _change(value):
    if type(value) in (list, tuple):
        for item in value:
            _change(item)
    elif isinstance(value, dict):
        for item in value.values():
            _change(item)
    if type(value) is list:
        value.append("changed")
    elif isinstance(value, dict):
        value["changed"] = 0


def _compact(value):
    """Converts a list of NumPy integers to Python integers, also in a tuple: each would be a separate array."""
    if type(value) is tuple:
        return tuple(map(_compact, value))
    numbers = whole_numbers(value) if type(value) is list else None
    return value if numbers is None else numbers


def _items(function, probe, question, notes, build):
    """{"kind": "items", "name": …, "most": 12}: calls a function and takes the first items of what it returns; with a
    "seed" after some numbers were drawn elsewhere"""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(0)  # so that what draws from the library's own chance is the same every time
    if "seed" in question:  # what has a seed of its own stays the same, everything else differs then
        random.random()
        np.random.random()
        tf.random.uniform(())
    result = call_with_notes(function, *inputs(probe, question), notes)
    notes["returned"] = describe(result)
    if result is None or result is ...:
        return result
    if not hasattr(result, "take"):  # a generator can be read once only
        raise RefusedError(f"expected a data set (`tf.data.Dataset`), got a {describe(result)}", "no plain form")
    if (batches := int(result.cardinality())) == 0:
        words = "Your data set has no batch: does it hold the examples (`tf.data.Dataset.from_tensor_slices`)?"
        raise RefusedError(words, "no plain form")
    if batches > 0:  # below 0 for one without end, or if TensorFlow cannot know it
        raise RefusedError(f"Your data set ends after {batches} batches; expected one without end.", "ends")
    return [to_plain(item) for item in itertools.islice(result, probe["most"])]


def _steps(function, probe, question, notes, build):
    """{"kind": "step", "name": …, "model": …, "config": {…}, "roles": {…}}: constructs the model, sets weights by
    role, calls the function with (model, SGD, the batch) keywords["steps"] times at keywords["rate"] and
    keywords["momentum"] (or 0), with keywords["compiled"] inside tf.function → {"loss": …, role: weight after it}"""
    import keras

    model = probe["model"](**probe["config"])
    (batch,), asked = inputs(probe, question)
    model(*(batch[name] for name in _MODEL_READS))  # so that its weights exist
    put_weights(model, probe["roles"], question["weights"])
    optimizer = keras.optimizers.SGD(asked["rate"], momentum=asked.get("momentum", 0.0))
    optimizer.build(model.trainable_variables)
    step = partial(function, model, optimizer)
    if asked.get("compiled"):  # as the run of notebook 07 calls it: traced once, then run without Python
        step = in_graph(step)
    for _ in range(asked["steps"]):
        loss = call_with_notes(step, [batch], {}, notes)
    if loss is None or loss is ...:
        return loss
    after = {role: variables_at(model, paths) for role, paths in probe["roles"].items()}
    return {"loss": loss} | {role: np.concatenate(list(map(np.asarray, found)), -1) for role, found in after.items()}


_KINDS = {
    "function": _function,
    "layer": layer_answer,
    "gradient": gradient,
    "seeded": _seeded,
    "made": made,
    "own lists": _arguments_after_changes,
    "items": _items,
    "step": _steps,
    "with model": _with_model,
    "fill": _filled,
    "trainable": count_trainable,
}
