"""Attention from queries, keys and values with a mask that hides some keys."""

import numpy as np

from autograde.exercises.draws import Random, normal, some_seen
from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION
from autograde.exercises.n03_attention.causal_mask import lower_triangle
from autograde.exercises.numpy_bert import masked_attention
from autograde.exercises.writing import Case, Exercise, Part, Same, Trial, cases, draws, mistake, sized, values


def seen(rng: Random, sizes) -> np.ndarray:
    """One row for each sentence; a single key may be seen."""
    batch, keys = sizes["batch"], sizes["keys"]
    return some_seen(rng, batch, 1, keys) if keys > 1 else np.ones((batch, 1, 1), bool)


INPUTS = draws(__name__, sized(batch=2, tokens=4, keys=5, d_attn=8), sized(batch=1, keys=80), mask=seen)


def masked_inputs(rng: Random) -> list[Case]:
    special = [scores_of_zero(rng), hidden_peaks(rng)]
    return [*INPUTS(rng), *masks_that_broadcast(rng), *special]


def masks_that_broadcast(rng: Random) -> list[Case]:
    q, k, v, _ = INPUTS.case(rng, batch=3, tokens=4, keys=6).arguments
    masks = [some_seen(rng, *shape) for shape in ((3, 4, 6), (1, 4, 6), (4, 6), (1, 1, 6), (6,))]
    masks.append(np.array([[True]] * 4))
    as_many = Case((q[:, :3], k, v, some_seen(rng, 3, 6)))  # as many sentences as queries
    return [*(Case((q, k, v, mask)) for mask in masks), as_many]


def rows_that_see_nothing(rng: Random) -> list[Case]:
    """A query that may see no key gets the same weight for all; so does a whole sentence whose mask is False."""
    q, k, v = normal(rng, 2, 4, 3), normal(rng, 2, 5, 3), normal(rng, 2, 5, 3)
    some, none, queries = some_seen(rng, 2, 4, 5), some_seen(rng, 2, 1, 5), np.array([[True], [False], [True], [True]])
    some[0, 1], some[1, 3], none[1] = False, False, False
    return [Case((q, k, v, mask)) for mask in (some, none, queries, np.array([[[True]], [[False]]]))]


def hidden_peaks(rng: Random) -> Case:
    """The hidden keys have by far the highest scores."""
    q, k, v, mask = normal(rng, 2, 4, 3), normal(rng, 2, 5, 3), normal(rng, 2, 5, 3), some_seen(rng, 2, 1, 5)
    q[..., 0], k[..., 0] = 1, np.where(mask[:, 0], 0, 2000)
    return Case((q, k, v, mask))


def scores_of_zero(rng: Random) -> Case:
    """Scores of exactly 0 belong to keys that may be seen: of two queries all scores, of the others that of one key."""
    q, k, mask = normal(rng, 2, 4, 3), normal(rng, 2, 5, 3), some_seen(rng, 2, 1, 5)
    q[:, 1:3] = 0
    for sentence, seen in enumerate(mask[:, 0]):
        k[sentence, int(seen.argmax())] = 0
    return Case((q, k, normal(rng, 2, 5, 3), mask))


def other_masks(rng: Random) -> list[Case]:
    """Also a mask for each query, with and without an axis for the sentences."""
    q, k, v, _ = INPUTS.case(rng, batch=2, tokens=int(rng.integers(2, 9)), keys=int(rng.integers(2, 9))).arguments
    shape = (q.shape[1], k.shape[1])
    return [*INPUTS.hidden(rng), *(Case((q, k, v, some_seen(rng, *front, *shape))) for front in ((), (2,)))]


def padding_changes_nothing(rng: Random) -> list[Trial]:
    """A sentence with masked padding, compared with the same sentence without."""
    q, k, v = normal(rng, 2, 3, 4), normal(rng, 2, 6, 4), normal(rng, 2, 6, 3)
    k[:, 4:] *= 9  # the values of the padding must have no effect, even if they are large
    mask = np.broadcast_to(np.arange(6) < 4, (2, 1, 6)).copy()
    short = Case((q, k[:, :4], v[:, :4], np.ones((2, 1, 4), bool)))
    return [Trial((Case((q, k, v, mask)), short), (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


def no_looking_ahead(rng: Random) -> list[Trial]:
    """Under the causal mask the first tokens' outputs are what they would be without the later tokens."""
    q, k, v = normal(rng, 1, 5, 4), normal(rng, 1, 5, 4), normal(rng, 1, 5, 3)
    early = Case((q[:, :3], k[:, :3], v[:, :3], lower_triangle(3)))
    return [Trial((Case((q, k, v, lower_triangle(5))), early), (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


EXERCISE = Exercise(
    reference=masked_attention,
    parts=(
        values(1, masked_inputs, hidden=other_masks),
        cases("queries that see nothing", 1, rows_that_see_nothing,
            "a query that may see no key must give the same weight to all keys"),
        Part("padding changes nothing", 1, padding_changes_nothing,
            "masked padding after a sentence must not change its result, for any padding"),
        Part("no token looks ahead", 1, no_looking_ahead,
            "under the causal mask early tokens must give the same result as without the later ones"),
    ),
    forbidden=WHOLE_ATTENTION,
    hints=(
        "Three lines: scores, hide, weighted sum of the values. Apply the mask to the scores, before softmax.",
        "`ops.where(condition, a, b)` takes from a where the condition is True, else from b.",
        "Where the mask is True keep the score; elsewhere use MASKED_SCORE.",
    ),
    misconceptions=(
        mistake("after-softmax",
            "    scores = ops.where(mask, scores, MASKED_SCORE)\n", "",
            "softmax_rows(scores)", "ops.where(mask, softmax_rows(scores), 0.0)",
            hint="You hide after the softmax, so the rows no longer sum to 1: the weight of the hidden keys is "
                 "lost. Hide the scores instead."),
        mistake("after-softmax-divided-again",
            "    scores = ops.where(mask, scores, MASKED_SCORE)\n", "",
            "weights = softmax_rows(scores)\n",
            "weights = softmax_rows(scores) * ops.cast(mask, scores.dtype)\n"
            "    weights = weights / (ops.sum(weights, axis=-1, keepdims=True) + 1e-9)\n",
            hint="You hide after the softmax and divide by the new sum. That is right while a query may see a key; one "
                 "that may see none gets nothing at all, and with −10⁹ the same weight for all keys."),
        mistake("score-zero", "ops.where(mask, scores, MASKED_SCORE)", "ops.where(mask, scores, 0.0)",
            hint="A score of 0 is an ordinary score: exp(0) = 1, so hidden keys still get weight. Hiding needs "
                 "(nearly) −∞."),
        mistake("minus-infinity", "ops.where(mask, scores, MASKED_SCORE)", "ops.where(mask, scores, -np.inf)",
            hint="You hide with −∞. A query that may see no key then has ∞ − ∞ = NaN; with −10⁹ its weights are all "
                 "equal."),
        mistake("scaled-twice", "scores = attention_scores(q, k)",
            "scores = attention_scores(q, k) / ops.shape(k)[-1] ** 0.5",
            hint="You divide the scores by √d_attn twice: your `attention_scores` has already done it."),
        mistake("shares-per-key", "softmax_rows(scores)",
            "ops.swapaxes(softmax_rows(ops.swapaxes(scores, -1, -2)), -1, -2)",
            hint="Your weights sum to 1 for each key. The weights of each query must sum to 1: softmax along the "
                 "rows."),
        mistake("inverted", "ops.where(mask, scores, MASKED_SCORE)", "ops.where(mask, MASKED_SCORE, scores)",
            hint="You hide exactly the visible keys. True means: may be seen."),
        mistake("mask-ignored", "    scores = ops.where(mask, scores, MASKED_SCORE)\n", "",
            hint="The mask has no effect on your result. Apply it between scores and softmax."),
        mistake("mask-added", "ops.where(mask, scores, MASKED_SCORE)", "scores + ops.cast(mask, scores.dtype)",
            hint="You add the mask as 0 and 1: visible keys get a little more weight, and nothing is hidden. Use "
                 "`ops.where`."),
    ),
)  # fmt: skip
