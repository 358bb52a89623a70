"""Names of weights as tables: one row for each layer with weights, read in both directions.

    dense("encoder/layer_{i}/attention/query", "encoder.layer.{i}.attention.self.query")

is one row for two variables of every layer i. Its names depend on the format's spelling:

    ours            backbone/encoder/layer_0/attention/query/kernel      (in, out)
    Hugging Face    bert.encoder.layer.0.attention.self.query.weight     (out, in): PyTorch's way round, so transposed
    Google          bert/encoder/layer_0/attention/self/query/kernel     (in, out)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from bertlab.common.errors import ConfigError

BACKBONE = "backbone"  # our paths of everything below the heads begin with it

# For each kind of row, its variables: (our last word, what the format appends, whether its matrix is transposed).
HUGGINGFACE = {
    "dense": (("kernel", ".weight", True), ("bias", ".bias", False)),
    "conv1d": (("kernel", ".weight", False), ("bias", ".bias", False)),  # as in TensorFlow 1: (in, out)
    "norm": (("gamma", ".weight", False), ("beta", ".bias", False)),
    "table": (("embeddings", ".weight", False),),
    "matrix": (("", "", True),),
    "vector": (("", "", False),),
    "by_head": (("kernel", "", False),),
}
GOOGLE = {
    "dense": (("kernel", "/kernel", False), ("bias", "/bias", False)),
    "norm": (("gamma", "/gamma", False), ("beta", "/beta", False)),
    "table": (("embeddings", "", False),),
    "vector": (("", "", False),),
    "output": (("kernel", "output_weights", True), ("bias", "output_bias", False)),  # used with `transpose_b=True`
}


@dataclass(frozen=True)
class Row:
    """The weights of one layer: its path in our models, its name in another format, and its kind.

    part: (i, n): ours is part i, counted from 0, of the n equal parts in which their outputs are cut.
    """

    ours: str
    theirs: str
    kind: str
    part: tuple[int, int] = (0, 1)


dense = partial(Row, kind="dense")  # a linear layer: kernel and bias
conv1d = partial(Row, kind="conv1d")  # a linear layer whose kernel is not transposed
norm = partial(Row, kind="norm")  # a LayerNorm: gamma and beta
table = partial(Row, kind="table")  # an embedding
matrix = partial(Row, kind="matrix")  # a single matrix, by its whole name
vector = partial(Row, kind="vector")  # a single vector, by its whole name
by_head = partial(Row, kind="by_head")  # a kernel (H, A, d) with an axis for the heads, by its whole name
output = partial(Row, kind="output")  # a head's layer at Google: `theirs` precedes output_weights and output_bias


@dataclass(frozen=True)
class WeightName:
    """One variable: our path, its name in the other format, whether that stores the matrix transposed.

    in_backbone: whether a model with a head puts the format's prefix ("bert.") before the name.
    part: as in `Row`.
    """

    ours: str
    theirs: str
    transposed: bool
    in_backbone: bool
    part: tuple[int, int] = (0, 1)


@dataclass(frozen=True)
class Names:
    """The names of a family's weights in one format.

    spelling: `HUGGINGFACE` or `GOOGLE`.   prefix: what a model with a head puts before the backbone's names.
    backbone: rows without our leading "backbone/"; "{i}" is the number of a layer.
    decoder: rows of a decoder beside the backbone; in this format they too are behind the prefix.
    heads: kind of model → rows. A row replaces the backbone's row of the same path: some families store the pooler
        of a classifier beside the classifier.
    class_prefix: how transformers' class names begin, in `architectures`.   class_ends: kind of model → how they end,
        where that is not the usual end.
    ignored_weights: a regular expression of the names of weights that some folders have and no model of ours needs.
    implied_config: fields of the config by kind of model, for a head that is stored beside such weights.
    """

    spelling: dict[str, tuple]
    backbone: tuple[Row, ...]
    heads: dict[str, tuple[Row, ...]]
    prefix: str = ""
    class_prefix: str = ""
    ignored_weights: str = ""
    implied_config: dict[str, dict] = field(default_factory=dict)
    class_ends: Mapping[str, str] = field(default_factory=dict)
    decoder: tuple[Row, ...] = ()

    def __post_init__(self):
        for rows in ((*self.backbone, *self.decoder), *self.heads.values()):
            _check_names(rows)

    def weight_names(self, kind: str | None, layers: int | Iterable[dict[str, int]]) -> list[WeightName]:
        """The variables of a model of this kind, of all its optional parts too (pooler, untied MLM head).

        layers: how many there are, or for each the numbers in its names (`Family.layer_numbers`).

        kind None: a classifier of which no more is known; all classifiers of a family begin alike.
        """
        heads = self.heads.get(kind or "sequence_classification", ())
        in_heads = {row.ours for row in heads}
        layers = [{"i": number} for number in range(layers)] if isinstance(layers, int) else list(layers)
        rows = [*(replace(row, ours=f"{BACKBONE}/{row.ours}") for row in self.backbone), *self.decoder]
        weight_names = [
            weight for row in rows if row.ours not in in_heads for weight in self._expand(row, layers, True)
        ]
        return weight_names + [weight for row in heads for weight in self._expand(row, layers, False)]

    def name_of(self, ours: str, kind: str = "pretraining") -> str | None:
        """The format's name of one variable that is in no layer; None if the format has no such variable."""
        return next((weight.theirs for weight in self.weight_names(kind, 0) if weight.ours == ours), None)

    def kinds_of(self, names: Iterable[str]) -> list[str]:
        """The kinds whose heads fit these names best: as many of their variables as possible, as few others missing."""
        names = set(names)
        scores = {}
        for kind in self.heads:
            expected = {weight.theirs for weight in self.weight_names(kind, 0) if not weight.in_backbone}
            if expected & names:
                scores[kind] = (len(expected & names), -len(expected - names))
        best = max(scores.values(), default=None)
        return [kind for kind, score in scores.items() if score == best]

    def _expand(self, row: Row, layers: Sequence[dict[str, int]], in_backbone: bool) -> Iterable[WeightName]:
        for numbers in layers if "{i}" in row.ours else ({},):
            ours, theirs = row.ours.format(**numbers), row.theirs.format(**numbers)
            for our_last, their_last, transposed in self.spelling[row.kind]:
                path = f"{ours}/{our_last}".rstrip("/")
                yield WeightName(path, theirs + their_last, transposed, in_backbone, row.part)


def _check_names(rows: Iterable[Row]) -> None:
    """Raises ConfigError for two weights of one name: only one of them would be stored, and read for both."""
    first = {}
    for row in rows:
        if "{i}" in row.ours and "{" not in row.theirs:
            raise ConfigError(f"{row.ours}: expected a name with the number of the layer, {{i}}; got {row.theirs!r}")
        other = first.setdefault((row.theirs, row.part), row)
        if other is not row:
            raise ConfigError(f"expected a name of its own for {row.ours}; got {row.theirs!r}, as for {other.ours}")


def under_their_names(
    arrays: Mapping[str, np.ndarray], weight_names: Iterable[WeightName], prefix: str
) -> dict[str, np.ndarray]:
    """Arrays by our paths → by the format's names, in its orientation, parts of one matrix put together."""
    parts, transposed = {}, {}
    for weight in weight_names:
        if weight.ours in arrays:
            name = prefix + weight.theirs if weight.in_backbone else weight.theirs
            parts.setdefault(name, {})[weight.part[0]] = arrays[weight.ours]
            transposed[name] = weight.transposed
    joined = {
        name: of[0] if len(of) == 1 else np.concatenate([of[i] for i in sorted(of)], axis=-1)
        for name, of in parts.items()
    }
    return {name: array.T if transposed[name] else array for name, array in joined.items()}
