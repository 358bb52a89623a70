"""Fills your variables from a published checkpoint."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n05_bert._shared import LOADERS
from autograde.exercises.n05_bert.published_name import published_name
from autograde.exercises.spec import Case, Exercise, cases, filling, mistake, values


def load_published(variables, tensors):
    """What is returned, and what the variables hold afterwards."""
    names = {path: published_name(path) for path in variables}
    after = {path: np.asarray(value, "float32") for path, value in variables.items()}
    for path, name in names.items():
        if name in tensors:
            value = np.asarray(tensors[name], "float32")
            after[path] = value.swapaxes(0, 1) if path.endswith("kernel") else value
    missing = sorted(path for path, name in names.items() if name not in tensors)
    unused = sorted(set(tensors) - set(names.values()))
    return {"returned": (missing, unused), "variables": after}


SHAPES = {
    "bert.embeddings.token.embeddings": (5, 3),
    "bert.embeddings.norm.gamma": (3,),
    "bert.encoder.layers_.1.attention.query.kernel": (3, 3),
    "bert.encoder.layers_.1.attention.query.bias": (3,),
    "bert.encoder.layers_.1.feed_forward.inner.kernel": (3, 4),
    "bert.encoder.layers_.1.output_norm.beta": (3,),
    "nsp_head.dense.kernel": (3, 2),
}


def checkpoint(rng: Random, paths, left_out=(), extra=()) -> Case:
    """Variables with their random start, and a checkpoint that holds something else for most of them."""
    variables = {path: normal(rng, *SHAPES[path]) for path in paths}
    stored = {}
    for path in rng.permutation([path for path in paths if path not in left_out]):
        shape = SHAPES[path][::-1] if path.endswith("kernel") else SHAPES[path]
        stored[published_name(path)] = normal(rng, *shape)
    return Case((variables, stored | {name: normal(rng, 2) for name in extra}))


def square_checkpoint(rng: Random) -> list[Case]:
    """Every matrix is square, so that one put in the wrong way round fits too."""
    paths = [path for path in SHAPES if path.endswith("query.kernel") or len(SHAPES[path]) == 1]
    return [checkpoint(rng, paths)]


def whole_checkpoint(rng: Random) -> list[Case]:
    return [checkpoint(rng, SHAPES)]


def checkpoint_with_holes(rng: Random) -> list[Case]:
    """Without a next-sentence head, and with two tensors that no variable wants."""
    extra = ("bert.embeddings.position_ids", "cls.predictions.decoder.bias")
    return [checkpoint(rng, SHAPES, left_out=("nsp_head.dense.kernel",), extra=extra)]


EXERCISE = Exercise(
    probe=filling(),
    reference=load_published,
    returns="tuple",
    parts=(
        values(2, square_checkpoint),
        cases("matrices that are not square", 1, whole_checkpoint, "a table or a kernel is not what was stored"),
        cases("what is left over", 1, checkpoint_with_holes,
            "variables without a tensor, or tensors without a variable"),
    ),
    forbidden=LOADERS,
    hints=(
        "One loop over `variables.items()`; `published_name(path)` is the key into `tensors`.",
        "The path's last word says whether to turn: kernels are (in, out) here and (out, in) there; tables stay.",
        "`variable.assign(value)` puts numbers into a variable. A set of all tensors' names, minus those you used, is "
        "what was left over.",
    ),
    misconceptions=(
        mistake("kernels-not-turned", 'value.T if path.endswith("kernel") else value', "value",
            hint="A kernel stands in your model as it lies in the file. PyTorch keeps (out, in), Keras (in, out): "
                 "turn it. A square one fits either way, and that is why nobody notices."),
        mistake("reshaped-instead", 'value.T if path.endswith("kernel") else value', "value.reshape(variable.shape)",
            hint="You reshape the kernel to the size you need. The numbers keep their order in memory, so rows and "
                 "columns are mixed up; turn it (`.T`)."),
        mistake("tables-turned-too", 'value.T if path.endswith("kernel") else value', "value.T",
            hint="You turn everything that has two axes. A table is (pieces, H) on both sides: only kernels are "
                 "turned."),
        mistake("name-bound-anew", 'variable.assign(value.T if path.endswith("kernel") else value)',
            'variables[path] = value.T if path.endswith("kernel") else value',
            hint="You put the array into the dict. The layer's variable never hears of it: use "
                 "`variable.assign(...)`."),
        mistake("by-order", "value = tensors[name]", "value = list(tensors.values())[list(variables).index(path)]",
            hint="You hand out the tensors in the order of the file. Nothing says that it is yours: go by name."),
        mistake("nothing-reported", "return sorted(missing), sorted(unused)", "return [], []",
            hint="The weights are right, but what was left over is not told. Half a checkpoint would go unnoticed."),
    ),
)  # fmt: skip
