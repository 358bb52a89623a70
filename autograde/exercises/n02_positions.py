"""Notebook 02, exercises 2.3 to 2.5: where a token stands."""

from autograde.compare import Tolerance
from autograde.exercises import n02_draws as draws
from autograde.exercises.n02_common import BUILD_IT, MODULE, NOTEBOOK, READY_MADE
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, values

A_FREQUENCY_PER_COLUMN = """
def sinusoids(length, d_e):
    position = ops.expand_dims(ops.arange(length, dtype="float32"), axis=1)
    column = ops.arange(d_e, dtype="float32")
    angles = position / 10000 ** (column / d_e)
    return ops.where(column % 2 == 0, ops.sin(angles), ops.cos(angles))
"""

SINUSOIDS = Exercise(
    id="sinusoids",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.3",
    title="Clocks: sinusoidal positions",
    minutes=12,
    lines="Vaswani et al. 2017, section 3.5",
    names=("sinusoids",),
    arguments=("length", "d_e"),
    probe=function("sinusoids"),
    reference=draws.sinusoids,
    tolerance=Tolerance(1e-3, 5e-4),  # a power and a sine of float32 numbers up to 100
    parts=(
        values(3, draws.small_tables),
        cases("long sequences", 1, draws.long_tables, "for a longer sequence or wider vectors the result is another"),
    ),
    forbidden=READY_MADE,
    forbidden_because=BUILD_IT,
    hints=(
        "Write down row 0 by hand: sin 0, cos 0, sin 0, cos 0, … Then row 1, first two columns: sin 1, cos 1.",
        "First make all angles, one per position and pair: (length, 1) divided by (d_e / 2,) gives (length, d_e / 2).",
        "To let sines and cosines alternate: stack both on a new last axis, then reshape to (length, d_e).",
    ),
    misconceptions=(
        Misconception(
            "pairs-from-one",
            "You number the pairs from 1, as the lecture's formula does. In the paper the first pair has i = 0, so its "
            "angle is the position itself.",
            (("2 * pair / d_e", "2 * (pair + 1) / d_e"),),
        ),
        Misconception(
            "positions-from-one",
            "You number the positions from 1, as the lecture does. In the paper, and in BERT, the first token stands "
            "at 0: its row is 0, 1, 0, 1, …",
            (('ops.arange(length, dtype="float32")', 'ops.arange(1, length + 1, dtype="float32")'),),
        ),
        Misconception(
            "sines-then-cosines",
            "You put all sines first and all cosines after them. That carries the same information (the authors' own "
            "code does it), but the formula lets them alternate: columns 2i and 2i + 1.",
            (
                (
                    "ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)",
                    "ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)",
                ),
            ),
        ),
        Misconception(
            "cosine-first",
            "Your pairs begin with the cosine. Column 2i is the sine, column 2i + 1 the cosine.",
            (("[ops.sin(angles), ops.cos(angles)]", "[ops.cos(angles), ops.sin(angles)]"),),
        ),
        Misconception(
            "a-frequency-per-column",
            "Every column has a frequency of its own in your table. A sine and its cosine share one: the exponent "
            "counts pairs (2i), also in column 2i + 1.",
            cell=A_FREQUENCY_PER_COLUMN,
        ),
        Misconception(
            "exponent-not-doubled",
            "Your exponent is i / d_e; the formula has 2i / d_e. As it stands your slowest hand goes only down to "
            "1 / √10000.",
            (("2 * pair / d_e", "pair / d_e"),),
        ),
    ),
)

POSITION_SIMILARITY = Exercise(
    id="position-similarity",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.4",
    title="Who is near whom?",
    minutes=7,
    lines="",
    names=("cosine_similarities",),
    arguments=("x",),
    probe=function("cosine_similarities"),
    reference=draws.cosines,
    parts=(
        values(2, draws.rows_of_vectors),
        Part(
            "length does not matter",
            1,
            draws.lengths_do_not_matter,
            "a vector made longer points the same way: its cosines must not change",
        ),
    ),
    hints=(
        "The cosine of two vectors is their dot product once both have length 1.",
        "The length of a row is the root of the sum of its squares: one number per row, with `keepdims=True`.",
        "Every row against every row at once: the matrix of unit rows times its own transpose.",
    ),
    misconceptions=(
        Misconception(
            "dot-products",
            "These are plain dot products: a long vector looks similar to everybody. Divide every row by its length "
            "first.",
            (("unit = x / lengths", "unit = x"),),
        ),
        Misconception(
            "unit-columns",
            "You brought the columns to length 1. A vector is a row: sum its squares over the last axis.",
            (("axis=-1, keepdims=True", "axis=-2, keepdims=True"),),
        ),
        Misconception(
            "squared-lengths",
            "You divide by the sum of squares; the length is its root. Your own diagonal shows it: a vector and itself "
            "must give 1.",
            (
                (
                    "ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True))",
                    "ops.sum(ops.square(x), axis=-1, keepdims=True)",
                ),
            ),
        ),
        Misconception(
            "one-length-for-all",
            "You divide by the length of the whole matrix. Each row has a length of its own.",
            (("ops.sum(ops.square(x), axis=-1, keepdims=True)", "ops.sum(ops.square(x))"),),
        ),
        Misconception(
            "columns-compared",
            "You compare columns with columns. Rows go left and, turned, right: (n, d) times (d, n).",
            (
                (
                    "ops.matmul(unit, ops.swapaxes(unit, -1, -2))",
                    "ops.matmul(ops.swapaxes(unit, -1, -2), unit)",
                ),
            ),
        ),
    ),
)

SILENT = """
def learned_positions(length, w_p):
    return w_p[:length]
"""
WRAPPED = """
def learned_positions(length, w_p):
    return ops.take(w_p, ops.arange(length) % w_p.shape[0], axis=0)
"""
REPEATED = """
def learned_positions(length, w_p):
    places = ops.minimum(ops.arange(length), w_p.shape[0] - 1)
    return ops.take(w_p, places, axis=0)
"""
ASSERTED = """
def learned_positions(length, w_p):
    assert length <= w_p.shape[0], "too long"
    return w_p[:length]
"""

LEARNED_POSITIONS = Exercise(
    id="learned-positions",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.5",
    title="A table that ends",
    minutes=6,
    lines="ETransformer, line 3",
    names=("learned_positions",),
    arguments=("length", "w_p"),
    probe=function("learned_positions"),
    reference=draws.first_rows,
    parts=(
        values(1, draws.shorter_than_the_table),
        cases("the whole table", 1, draws.as_long_as_the_table, "a sequence of exactly ℓ_max tokens must go through"),
        Part(
            "no further",
            1,
            draws.longer_than_the_table,
            "more tokens than the table has rows must be refused with a ValueError",
        ),
    ),
    forbidden=READY_MADE,
    forbidden_because=BUILD_IT,
    hints=(
        "Two things to do: say no where the table ends, and else hand out its first rows.",
        "`w_p.shape[0]` is ℓ_max. A length equal to it is still fine.",
        "`raise ValueError(…)` with both numbers in its message; then a slice of the first `length` rows.",
    ),
    misconceptions=(
        Misconception(
            "silently-short",
            "A slice beyond the end of a table is no error in Python: it gives fewer rows than asked for, and nobody "
            "is told. Say no yourself.",
            cell=SILENT,
        ),
        Misconception(
            "begins-again",
            "Beyond the end you begin again at row 0, so token ℓ_max claims to stand first. Learned positions have "
            "nothing to say there: raise a ValueError.",
            cell=WRAPPED,
        ),
        Misconception(
            "last-row-repeated",
            "Beyond the end you repeat the last row, so all later tokens claim the same place. Raise a ValueError "
            "instead.",
            cell=REPEATED,
        ),
        Misconception(
            "last-row-refused",
            "You refuse a sequence as long as the table. ℓ_max tokens stand at 0 … ℓ_max − 1: all of them have a row.",
            (("length > longest", "length >= longest"),),
        ),
        Misconception(
            "rows-from-one",
            "You hand out the rows from 1 on. The first token stands at position 0.",
            (("w_p[:length]", "w_p[1 : length + 1]"),),
        ),
        Misconception(
            "asserted",
            "An `assert` disappears when Python runs with -O, and callers cannot tell what was wrong. Raise a "
            "ValueError.",
            cell=ASSERTED,
        ),
    ),
)
