"""Activation patching: where in the model is the information that makes the difference between two texts?

Two texts differ in one word, and so does the model's prediction. One hidden vector of the second text is replaced by
that of the first, at one layer and one token, and the layers above are computed again. The fraction of the difference
that comes back says how much of it went through this vector (Vig et al. 2020, "Investigating Gender Bias in Language
Models Using Causal Mediation Analysis"; Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section
2).

Letters: L layers, T tokens, H hidden size.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from bertlab.analysis.diagnostics import token_ids
from bertlab.analysis.lens import check_has_head
from bertlab.analysis.readings import TextReading, read_text
from bertlab.common.errors import DataError
from bertlab.families import check_fills_masks


@dataclass(frozen=True)
class PatchingResult:
    """The effect of every vector.

    pieces: the T tokens of the second text.   source, target: the metric of the first and the second text.
    values: (L + 1, T) the metric of the second text with one vector from the first; layer 0 are the embeddings.
    """

    pieces: list[str]
    source: float
    target: float
    values: np.ndarray

    @property
    def fractions(self) -> np.ndarray:
        """The fraction of the difference that each vector brings back, (L + 1, T): 0 nothing, 1 all of it."""
        return (self.values - self.target) / (self.source - self.target)


def patch_each(
    encoder, tokenizer, source: str, target: str, metric: Callable[[np.ndarray], np.ndarray]
) -> PatchingResult:
    """Replaces every hidden vector of `target` in turn by that of `source` at the same layer and position.

    Args:
        encoder: a `Backbone`.   tokenizer: its tokenizer.
        source, target: two texts with equally many tokens. [MASK] in them is the special token.
        metric: last hidden states (B, T, H) float32 → (B,) numbers, such as a difference of logits at a [MASK].

    Raises DataError for texts with different numbers of tokens, an empty or too long text, and texts with the same
    metric: there is no difference to explain.
    """
    first, second = (read_text(encoder, tokenizer, text) for text in (source, target))
    if len(first.ids) != len(second.ids):
        raise DataError(f"expected equally many tokens in both texts, got {len(first.ids)} and {len(second.ids)}")
    ends = metric(np.stack([first.states[-1], second.states[-1]]))
    if ends[0] == ends[1]:
        raise DataError("both texts have the same metric: there is no difference to explain; choose other texts")
    values, tokens = [], np.arange(len(second.ids))
    for layer, (state, other) in enumerate(zip(first.states, second.states, strict=True)):
        copies = np.repeat(other[None], len(tokens), axis=0)  # (T, T, H)
        copies[tokens, tokens] = state  # copy t has the first text's vector at token t
        values.append(metric(_from_layer(encoder, second, copies, layer)))
    return PatchingResult(second.pieces, float(ends[0]), float(ends[1]), np.stack(values))


def logit_difference(model, tokenizer, position: int, first: str, second: str) -> Callable[[np.ndarray], np.ndarray]:
    """A metric for `patch_each`: the logit of one word minus that of another at a token. [CLS] is position 0.

    model: a `PreTrainingModel`.   first, second: words of one token.
    Raises DataError for a word of several tokens or a model without a masked-LM head.
    """
    from keras import ops

    check_fills_masks(model.config)
    one, other = token_ids(tokenizer, [first, second])
    check_has_head(model)

    def metric(states: np.ndarray) -> np.ndarray:
        logits = ops.convert_to_numpy(ops.cast(model.token_logits(states[:, position : position + 1]), "float32"))
        return logits[:, 0, one] - logits[:, 0, other]

    return metric


def _from_layer(encoder, reading: TextReading, states: np.ndarray, layer: int) -> np.ndarray:
    """The last hidden states, (B, T, H), if `states` (B, T, H) are the output of a layer.

    The whole model runs, of any family; only the vectors that the next layer gets are other ones.
    """
    from keras import ops

    if layer == len(reading.states) - 1:
        return states
    inputs = {"input_ids": reading.ids, "token_type_ids": reading.segments}
    copies = {name: np.repeat(row[None], len(states), axis=0) for name, row in inputs.items()}
    with _replaced_input(encoder.encoder.layers_, layer, ops.convert_to_tensor(states)):
        outputs = encoder(copies, training=False)
    return ops.convert_to_numpy(ops.cast(outputs["sequence_output"], "float32"))


@contextmanager
def _replaced_input(layers, number: int, states) -> Iterator[None]:
    """Inside, call number `number` of the layers, counted from 0, gets `states`; a shared layer is called often."""
    calls = itertools.count()

    def instead_of(call):
        def replaced(x, *others, **options):
            return call(states if next(calls) == number else x, *others, **options)

        return replaced

    for layer in layers:
        layer.call = instead_of(layer.call)
    try:
        yield
    finally:
        for layer in layers:
            del layer.call
