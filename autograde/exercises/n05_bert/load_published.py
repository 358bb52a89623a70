"""Fills your variables from a published checkpoint."""

import numpy as np

from autograde.exercises.n05_bert._shared import LOADERS
from autograde.exercises.n05_bert.published_name import published_name
from autograde.exercises.writing import Case, Exercise, Random, cases, filling, mistake, normal, values


def load_published(variables, tensors):
    """The returned lists, and the values of the variables afterwards."""
    names = {path: published_name(path) for path in variables}
    after = {path: np.asarray(value, "float32") for path, value in variables.items()}
    for path, name in names.items():
        if name in tensors:
            value = np.asarray(tensors[name], "float32")
            after[path] = value.swapaxes(0, 1) if path.endswith("kernel") else value
    missing = sorted(path for path, name in names.items() if name not in tensors)
    unused = sorted(set(tensors) - set(names.values()))
    return {"returned": (missing, unused), "variables": after}


SQUARE = {
    "bert.embeddings.token.embeddings": (3, 3),
    "bert.embeddings.position.embeddings": (3, 3),
    "bert.embeddings.segment.embeddings": (3, 3),
    "bert.embeddings.norm.gamma": (3,),
    "bert.encoder.layers_.1.attention.query.kernel": (3, 3),
    "bert.encoder.layers_.1.attention.query.bias": (3,),
    "bert.pooler.dense.kernel": (3, 3),
}
SHAPES = {
    "bert.embeddings.token.embeddings": (5, 3),
    "bert.embeddings.position.embeddings": (4, 3),
    "bert.embeddings.segment.embeddings": (2, 3),
    "bert.embeddings.norm.gamma": (3,),
    "bert.encoder.layers_.1.attention.query.kernel": (3, 3),
    "bert.encoder.layers_.1.attention.query.bias": (3,),
    "bert.encoder.layers_.1.feed_forward.inner.kernel": (3, 4),
    "bert.encoder.layers_.1.output_norm.beta": (3,),
    "nsp_head.dense.kernel": (3, 2),
}


def checkpoint(rng: Random, shapes: dict, left_out=(), extra=()) -> Case:
    """Variables with random values, and a checkpoint with other values for most of them."""
    variables = {path: normal(rng, *shape) for path, shape in shapes.items()}
    stored = {}
    for path in rng.permutation([path for path in shapes if path not in left_out]):
        shape = shapes[path][::-1] if path.endswith("kernel") else shapes[path]
        stored[published_name(path)] = normal(rng, *shape)
    return Case((variables, {name: normal(rng, 2) for name in extra} | stored))


def square_checkpoint(rng: Random) -> list[Case]:
    """Every matrix is square, tables too, so that one put in the wrong way round fits."""
    return [checkpoint(rng, SQUARE)]


def whole_checkpoint(rng: Random) -> list[Case]:
    return [checkpoint(rng, SHAPES)]


def checkpoint_with_holes(rng: Random) -> list[Case]:
    """Three variables without an array, five arrays without a variable: neither in alphabetical order, one of another
    model's, one that an earlier call used; no variable; nothing in the file; two layers, of which 10 comes before 2."""
    left_out = ("nsp_head.dense.kernel", "bert.encoder.layers_.1.output_norm.beta", "bert.embeddings.norm.gamma")
    extra = (
        "qa_outputs.weight", "cls.predictions.decoder.bias", "bert.embeddings.position_ids", "cls.predictions.bias",
        "bert.pooler.dense.weight",
    )  # fmt: skip
    shapes = {path: SHAPES[path] for path in sorted(SHAPES, reverse=True)}
    two = {f"bert.encoder.layers_.{number}.attention.out.kernel": (2, 4) for number in (10, 2)}
    return [
        checkpoint(rng, shapes, left_out, extra), checkpoint(rng, {}, (), extra[:1]),
        checkpoint(rng, SHAPES, left_out=SHAPES), checkpoint(rng, two | {"mlm_head.bias": (5,)}, two),
    ]  # fmt: skip


def other_checkpoints(rng: Random) -> list[Case]:
    """A model of three layers."""
    three = {f"bert.encoder.layers_.{number}.attention.out.kernel": (2, 4) for number in (10, 2, 7)}
    return [checkpoint(rng, three | {"mlm_head.bias": (5,)})]


EXERCISE = Exercise(
    probe=filling(),
    reference=load_published,
    returns="tuple",
    parts=(
        values(2, square_checkpoint),
        cases("matrices that are not square", 1, whole_checkpoint, "a table or a kernel has other values than the "
                                                                   "file"),
        cases("left-over names", 1, checkpoint_with_holes,
            "variables without an array, or arrays without a variable", other_checkpoints),
    ),
    forbidden=LOADERS,
    hints=(
        "One loop over `variables.items()`; `published_name(path)` is the key into `tensors`.",
        "The last word of the path decides: transpose kernels, which are (in, out) here and (out, in) in the file; "
        "keep tables.",
        "`variable.assign(value)` puts numbers into a variable. The set of all names, minus those you used, is left "
        "over.",
    ),
    misconceptions=(
        mistake("kernels-not-turned", 'value.T if path.endswith("kernel") else value', "value",
            hint="Your kernel has the orientation of the file. PyTorch stores (out, in), Keras (in, out): transpose "
                 "it. A square one has the right shape either way, so no error appears."),
        mistake("reshaped-instead", 'value.T if path.endswith("kernel") else value', "value.reshape(variable.shape)",
            hint="You reshape the kernel to the size you need. The numbers keep their order in memory, so rows and "
                 "columns are mixed up; transpose it (`.T`)."),
        mistake("turned-where-shapes-differ", 'value.T if path.endswith("kernel") else value',
            "value if value.shape == tuple(variable.shape) else value.T",
            hint="You transpose only where the shapes differ. A square kernel has the same shape either way, so it "
                 "stays in the orientation of the file: decide by the path, which ends with `kernel`."),
        mistake("tables-turned-too", 'value.T if path.endswith("kernel") else value', "value.T",
            hint="You transpose everything that has two axes. A table is (vocabulary, H) on both sides: transpose "
                 "only kernels."),
        mistake("name-bound-anew", 'variable.assign(value.T if path.endswith("kernel") else value)',
            'variables[path] = value.T if path.endswith("kernel") else value',
            hint="You put the array into the dict. That does not change the layer's variable: use "
                 "`variable.assign(...)`."),
        mistake("by-order", "value = tensors[name]", "value = list(tensors.values())[list(variables).index(path)]",
            hint="You use the arrays in the order of the file. That order need not be yours: look them up by name."),
        mistake("nothing-reported", "return sorted(missing), sorted(unused)", "return [], []",
            hint="The weights are right, but you do not report the left-over names. Half a checkpoint would not be "
                 "noticed."),
        mistake("zeros-without-an-array",
            "missing.append(path)", "missing.append(path)\n            variable.assign(ops.zeros_like(variable.value))",
            hint="A variable without an array must keep its values."),
        mistake("lists-exchanged", "return sorted(missing), sorted(unused)", "return sorted(unused), sorted(missing)",
            hint="You exchanged the two lists: first the paths without an array, then the names without a variable."),
        mistake("names-for-paths", "missing.append(path)", "missing.append(name)",
            hint="You report the published names of the variables without an array. Report their paths."),
        mistake("not-sorted", "return sorted(missing), sorted(unused)", "return missing, sorted(unused, reverse=True)",
            hint="Your lists are right, but not sorted."),
    ),
)  # fmt: skip
