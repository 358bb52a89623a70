"""Notebook 03, exercises 3.6 to 3.8: who may look at whom."""

from autograde.exercises import n03_draws as draws
from autograde.exercises.n03_common import BUILD_IT, NOTEBOOK, WHOLE_ATTENTION
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, values

PADDING_MASK = Exercise(
    id="padding-mask",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.6",
    title="Padding",
    minutes=4,
    lines="",
    names=("padding_mask",),
    arguments=("is_real",),
    probe=function("padding_mask"),
    reference=lambda is_real: (is_real == 1)[:, None, :],
    dtype="bool",
    parts=(
        values(1, draws.ones_and_zeros),
        cases("nothing to hide", 1, draws.nothing_padded, "without padding every key may be seen"),
    ),
    hints=(
        "Compare with 1 to get booleans, then make room for the axis of queries.",
        "The mask is (batch, queries, keys). Padding hides keys, whoever asks: which axis has size 1?",
        "`ops.expand_dims(..., axis=1)` puts the new axis between the other two.",
    ),
    misconceptions=(
        Misconception(
            "inverted",
            "True marks the padding in your mask. True is to mean: may be seen.",
            (("ops.equal(is_real, 1)", "ops.equal(is_real, 0)"),),
        ),
        Misconception(
            "queries-hidden",
            ("Your new axis stands last: this hides what a [PAD] asks, not the [PAD] itself. Keys are the last axis."),
            (("axis=1", "axis=2"),),
        ),
        Misconception(
            "pairs",
            (
                "You also hide everything from the padding's own queries. Then their rows see nothing at all; what "
                "they compute is never used, so one row per sentence, (batch, 1, tokens), is enough."
            ),
            (
                (
                    "return ops.expand_dims(may_be_seen, axis=1)",
                    "return ops.logical_and(ops.expand_dims(may_be_seen, 1), ops.expand_dims(may_be_seen, 2))",
                ),
            ),
        ),
        Misconception(
            "no-axis-for-queries",
            (
                "(batch, tokens) would be lined up with (queries, keys) of the scores. Make room for the queries: "
                "(batch, 1, tokens)."
            ),
            (("ops.expand_dims(may_be_seen, axis=1)", "may_be_seen"),),
        ),
    ),
)

CAUSAL_MASK = Exercise(
    id="causal-mask",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.7",
    title="No looking ahead",
    minutes=4,
    lines="",
    names=("causal_mask",),
    arguments=("tokens",),
    probe=function("causal_mask"),
    reference=draws.lower_triangle,
    dtype="bool",
    parts=(
        values(1, draws.some_lengths),
        cases("a single token", 1, draws.one_token, "a sequence of one token sees that token"),
    ),
    hints=(
        "Write down the mask of 3 tokens by hand: 9 cells, row i, column j.",
        "[i, j] is True where j ≤ i: at and below the diagonal.",
        "`ops.arange(tokens)` as a column and as a row, compared, gives the whole matrix.",
    ),
    misconceptions=(
        Misconception(
            "diagonal-hidden",
            (
                "You hide the diagonal too, as two of the lectures do. Then the first token sees nothing: its "
                "shares are 0/0. A token may see itself: j ≤ i."
            ),
            (("j <= i", "j < i"),),
        ),
        Misconception(
            "backwards",
            "Your mask shows the future and hides the past: row i may see j ≥ i. Rows ask, columns answer.",
            (("j <= i", "j >= i"),),
        ),
        Misconception(
            "true-hides",
            "True marks what is hidden in your mask. True is to mean: may be seen.",
            (("j <= i", "j > i"),),
        ),
        Misconception(
            "nobody-hidden",
            "Everybody sees everybody in your mask. That is BERT's, not the causal one: [i, j] depends on i and j.",
            (("j <= i", "ops.logical_and(j >= 0, i >= 0)"),),
        ),
    ),
)

MASKED_ATTENTION = Exercise(
    id="masked-attention",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.8",
    title="Attention that respects a mask",
    minutes=9,
    lines="Attention, lines 5–6",
    names=("masked_attention",),
    arguments=("q", "k", "v", "mask"),
    probe=function("masked_attention"),
    reference=draws.masked,
    parts=(
        values(2, draws.masked_inputs),
        Part(
            "padding changes nothing",
            1,
            draws.padding_changes_nothing,
            "hidden filling behind a sentence must not change its result, whatever stands in it",
        ),
        Part(
            "nobody looks ahead",
            1,
            draws.no_looking_ahead,
            "under the causal mask early tokens must give what they give without the later ones",
        ),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    hints=(
        "Three lines: scores, hide, shares of the values. The mask acts on the scores, before softmax.",
        "`ops.where(condition, a, b)` takes from a where the condition is True, else from b.",
        "Where the mask is True the score stays; elsewhere it becomes MASKED_SCORE.",
    ),
    misconceptions=(
        Misconception(
            "after-softmax",
            (
                "You hide after the softmax, so the rows no longer sum to 1: what the hidden keys had taken is "
                "lost. Hide the scores instead."
            ),
            (
                ("    scores = ops.where(mask, scores, MASKED_SCORE)\n", ""),
                ("softmax_rows(scores)", "ops.where(mask, softmax_rows(scores), 0.0)"),
            ),
        ),
        Misconception(
            "score-zero",
            (
                "A score of 0 is an ordinary score: exp(0) = 1, so hidden keys still get a share. Hiding needs "
                "(nearly) −∞."
            ),
            (("ops.where(mask, scores, MASKED_SCORE)", "ops.where(mask, scores, 0.0)"),),
        ),
        Misconception(
            "inverted",
            "You hide exactly what may be seen. True means: may be seen.",
            (("ops.where(mask, scores, MASKED_SCORE)", "ops.where(mask, MASKED_SCORE, scores)"),),
        ),
        Misconception(
            "mask-ignored",
            "The mask has no effect on your result. It belongs between scores and softmax.",
            (("    scores = ops.where(mask, scores, MASKED_SCORE)\n", ""),),
        ),
        Misconception(
            "mask-added",
            (
                "You add the mask as 0 and 1: what may be seen gets a little more, and nothing is hidden. Add 0 and "
                "−10⁹, or use `ops.where`."
            ),
            (("ops.where(mask, scores, MASKED_SCORE)", "scores + ops.cast(mask, scores.dtype)"),),
        ),
    ),
)
