"""A whole block of tokens in one compiled program: no return to Python between two tokens.

The program reads a token of each row, chooses the next ones and continues until every row has ended or has its number
of tokens. Numbers for drawing are made beforehand, so the text is the one that `choosing.choose` makes step by step.

Letters: B rows, N positions for new tokens, V vocabulary.
"""

import keras
import numpy as np
from keras import ops

from bertlab.generation.choosing import choose
from bertlab.generation.compiling import compiled
from bertlab.generation.reading import BLOCK, CachedReader, read
from bertlab.generation.settings import GenerationSettings

NO_END = -1  # an id that no token has
HALVINGS = 60  # of an interval of chances: the ends are nearer than two chances that differ


def write_rows(reader: CachedReader, settings: GenerationSettings, end_id: int | None = None) -> list[list[int]]:
    """The ids that follow each prompt of a reader that has read nothing so far; see `generate`."""
    rngs = [np.random.default_rng([settings.seed, row]) for row in range(len(reader.ids))]
    first = [choose(logits, settings, rng) for logits, rng in zip(reader.first(), rngs)]
    count = settings.max_new_tokens - 1
    if not count:
        return [[number] for number in first]
    padded_count = -(-count // BLOCK) * BLOCK
    drawn = np.zeros((len(rngs), padded_count if settings.sampling else 0))  # (B, N) float64
    if settings.sampling:
        drawn[:, :count] = [rng.random(count) for rng in rngs]
    options = (settings.sampling, settings.top_k, settings.top_p < 1, reader.vocabulary)
    program = compiled(reader.model, _write, options)
    written = program(
        np.array(first, np.int32), reader.caches, np.int32(reader.tokens), reader.padding,
        np.zeros((len(rngs), padded_count), np.int32), np.int32(count), np.int32(NO_END if end_id is None else end_id),
        _below_one(drawn.astype(_precise())), np.asarray([settings.temperature, settings.top_p], _precise()),
    )  # fmt: skip
    rows = np.column_stack([first, ops.convert_to_numpy(written)[:, :count]]).tolist()
    return [row[: row.index(end_id) + 1] if end_id in row else row for row in rows]


def _write(model, options, ids, caches, start, padding, written, count, end_id, drawn, factors):
    """The tokens behind ids (B,), which have not been read yet: `written` (B, N) with `count` of them filled in."""

    def goes_on(number, ids, running, caches, written):
        return ops.logical_and(number < count, ops.any(running))

    def next_token(number, ids, running, caches, written):
        logits, caches = read(model, ids[:, None], caches, start + number, padding)
        logits = logits[:, : options[-1]]  # without those of padding
        ids = _choose(logits, options[:3], drawn[:, number] if options[0] else None, factors)  # (B,)
        written = ops.slice_update(written, (0, number), ids[:, None])
        return number + 1, ids, ops.logical_and(running, ids != end_id), caches, written

    state = (ops.zeros_like(count), ids, ids != end_id, caches, written)
    return ops.while_loop(goes_on, next_token, state)[-1]


def _choose(logits, options, drawn, factors):
    """The ids of the next tokens, (B,) int32, as `choosing.choose` has them. logits (B, V) float32.

    options: whether to draw, top_k, whether there is a nucleus.   drawn: (B,) in [0, 1).
    factors: temperature and top_p.
    """
    sampling, top_k, nucleus = options
    if not sampling:
        return ops.cast(ops.argmax(logits, axis=-1), "int32")
    chances = ops.softmax(ops.cast(logits, _precise()) / factors[0], axis=-1)  # (B, V)
    if top_k:
        chances = _most_likely(chances, ops.ones_like(chances), top_k)
    if nucleus:
        chances = _most_likely(chances, chances, factors[1] - 1e-12)
    sums = ops.cumsum(chances, axis=-1)
    return ops.sum(ops.cast(sums <= drawn[:, None] * sums[:, -1:], "int32"), axis=-1)


def _most_likely(chances, weights, enough):
    """The tokens, the most likely first, until their weights add up to `enough`; 0 for the others, the rest sums to 1.

    The chance of the last of them is found by halving an interval: sorting a vocabulary takes longer than a layer.
    """

    def halve(_, bounds):
        low, high = bounds
        middle = (low + high) / 2
        enough_above = ops.sum(ops.where(chances >= middle, weights, 0), axis=-1, keepdims=True) >= enough
        return ops.where(enough_above, middle, low), ops.where(enough_above, high, middle)

    low = ops.zeros_like(chances[:, :1])
    low, high = ops.fori_loop(0, HALVINGS, halve, (low, low + 2))
    surely = ops.sum(ops.where(chances >= high, weights, 0), axis=-1, keepdims=True)  # below `enough`
    equal = ops.where(ops.logical_and(chances >= low, chances < high), weights, 0)  # of equal ones, the first
    before = surely + ops.cumsum(equal, axis=-1) - equal
    kept = ops.where(ops.logical_or(chances >= high, ops.logical_and(equal > 0, before < enough)), chances, 0)
    return kept / ops.sum(kept, axis=-1, keepdims=True)


def _below_one(drawn: np.ndarray) -> np.ndarray:
    """Numbers from 0 up to but not 1, which float64 numbers close to 1 become in float32: no token has that draw."""
    return np.minimum(drawn, np.nextafter(drawn.dtype.type(1), drawn.dtype.type(0)))


def _precise() -> str:
    """float64, which JAX has only where its setting jax_enable_x64 is on."""
    return "float64" if keras.backend.backend() == "tensorflow" else "float32"
