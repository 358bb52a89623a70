"""Looks up the rows of a table for some ids, as a product with one-hot vectors."""

import numpy as np

from autograde.exercises.n02_embeddings._shared import ids
from autograde.exercises.writing import Case, Exercise, Forbidden, Part, Random, Slopes, Trial, mistake, normal, values

LOOK_UPS = (
    "keras.ops.take",
    "keras.ops.take_along_axis",
    "keras.layers.Embedding",
    "tensorflow.gather",
    "tensorflow.gather_nd",
    "tensorflow.nn.embedding_lookup",
)


def look_up(token_ids, table):
    return table[token_ids]


def ids_and_tables(rng: Random) -> list[Case]:
    return [
        Case((ids(rng, 6, 4), normal(rng, 6, 3))),
        Case((ids(rng, 5, 2, 3), normal(rng, 5, 5))),
        Case((ids(rng, 7, 1, 4), normal(rng, 7, 2))),  # a batch of one keeps its axis
        Case((ids(rng, 4, 2, 3, 2), normal(rng, 4, 3))),
        Case((ids(rng, 300, 3, 2), normal(rng, 300, 2))),
        Case((np.array([2], "int32"), normal(rng, 3, 4))),
        Case((ids(rng, 6, 1, 2, 1, 3), normal(rng, 6, 1))),
        Case((ids(rng, 9, 70), normal(rng, 9, 2))),
        Case((rng.permutation(np.arange(2040, 2060, dtype="int32")), normal(rng, 2060, 1))),
    ]


def larger_tables(rng: Random) -> list[Case]:
    rows, d_e = int(rng.integers(20, 700)), int(rng.integers(2, 20))
    return [Case((ids(rng, rows, *shape), normal(rng, rows, d_e))) for shape in ((9,), (1, 1, 6), (2, 1, 2, 3))]


def slopes_of_table(rng: Random) -> list[Trial]:
    """The changes of the result for small changes of the table."""
    case = Case((ids(rng, 6, 2, 4), normal(rng, 6, 3)))
    return [Trial((case,), (Slopes(normal(rng, 2, 4, 3), {1: normal(rng, 6, 3)}),))]


EXERCISE = Exercise(
    reference=look_up,
    parts=(
        values(2, ids_and_tables, hidden=larger_tables),
        Part("gradients", 1, slopes_of_table, "the table cannot be trained: its gradient is wrong or missing"),
    ),
    forbidden=Forbidden("Write the look-up as a matrix product; later exercises do not refuse look-ups.", LOOK_UPS),
    facts=lambda case: {"rows": case.arguments[1].shape[0], "columns": case.arguments[1].shape[1]},
    hints=(
        "Do it for one id on paper: which row vector with a single 1, times W_e, gives row 3 of W_e?",
        "A one-hot vector compares the id with every row number of the table: 0, 1, …, N_V − 1.",
        "`ops.expand_dims(token_ids, -1)` has shape (…, tokens, 1); compared with `ops.arange(…)` of shape (N_V,) it "
        "gives (…, tokens, N_V). Cast the booleans to the table's dtype before you multiply.",
    ),
    misconceptions=(
        mistake("rows-from-one", "ops.expand_dims(token_ids, -1)", "ops.expand_dims(token_ids - 1, -1)",
            hint="You count the rows from 1, as the algorithm's notation does. The ids of a vocabulary file count "
                 "from 0: id 0 is the first row."),
        mistake("one-hot-returned", "return ops.matmul(one_hot, w_e)", "return one_hot",
            hint="These are the one-hot vectors themselves, {rows} numbers per token. One step is missing: the "
                 "product with W_e gives {columns}."),
        mistake("bag-of-words", "return ops.matmul(one_hot, w_e)", "return ops.sum(ops.matmul(one_hot, w_e), axis=-2)",
            hint="The result is one vector for the whole sentence: you added the tokens. That is a bag of words; "
                 "here each token keeps its own row."),
        mistake("columns", "ops.matmul(one_hot, w_e)", "ops.matmul(one_hot, ops.transpose(w_e))",
            hint="You select columns of W_e. Each token has a row: {rows} rows for {rows} tokens, {columns} numbers "
                 "each."),
        mistake("ids-as-amounts", "return ops.matmul(one_hot, w_e)",
            "return ops.matmul(one_hot, w_e) * ops.cast(ops.expand_dims(token_ids, -1), w_e.dtype)",
            hint="You multiply by the ids as if they were amounts. An id is only a name: token 4 is not twice token "
                 "2. The 1 in a one-hot vector stays 1."),
        mistake("out-of-the-graph",
            "return ops.matmul(one_hot, w_e)", "return ops.convert_to_tensor(one_hot.numpy() @ w_e.numpy())",
            hint="The values are right, but the table cannot learn: no gradient flows through NumPy. Use only "
                 "`keras.ops` from the first line to the last."),
    ),
)  # fmt: skip
