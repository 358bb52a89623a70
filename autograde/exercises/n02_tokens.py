"""Notebook 02, exercises 2.1 and 2.2: from ids to vectors, and what a set does not know."""

from autograde.exercises import n02_draws as draws
from autograde.exercises.n02_common import BY_PRODUCT, LOOK_UPS, MODULE, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, values

TOKEN_EMBEDDINGS = Exercise(
    id="token-embeddings",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.1",
    title="A row for every piece",
    minutes=8,
    lines="ETransformer, line 3",
    names=("token_embeddings",),
    arguments=("token_ids", "w_e"),
    probe=function("token_embeddings"),
    reference=draws.look_up,
    parts=(
        values(2, draws.ids_and_tables),
        Part("gradients", 1, draws.slopes_of_table, "the table cannot be trained: its gradient is another, or none"),
    ),
    forbidden=LOOK_UPS,
    forbidden_because=BY_PRODUCT,
    facts=lambda case: {"rows": case.arguments[1].shape[0], "columns": case.arguments[1].shape[1]},
    hints=(
        "Do it for one id on paper: which row vector of zeros and a single one, times W_e, gives row 3 of W_e?",
        "A one-hot row answers a question for every row number of the table: is it this id? Compare the ids with "
        "0, 1, …, N_V − 1.",
        "`ops.expand_dims(token_ids, -1)` has shape (…, tokens, 1); compared with `ops.arange(…)` of shape (N_V,) it "
        "gives (…, tokens, N_V). Cast the booleans to the table's dtype before you multiply.",
    ),
    misconceptions=(
        Misconception(
            "rows-from-one",
            "You count the rows from 1, as the algorithm's notation does. The ids of a vocabulary file count from 0: "
            "id 0 is the first row.",
            (("ops.expand_dims(token_ids, -1)", "ops.expand_dims(token_ids - 1, -1)"),),
        ),
        Misconception(
            "one-hot-returned",
            "These are the one-hot rows themselves, {rows} numbers per token. One step is missing: the product with "
            "W_e gives {columns}.",
            (("return ops.matmul(one_hot, w_e)", "return one_hot"),),
        ),
        Misconception(
            "bag-of-words",
            "One vector for the whole sentence came back: you added the tokens up. That is a bag of words; here each "
            "token keeps a row of its own.",
            (("return ops.matmul(one_hot, w_e)", "return ops.sum(ops.matmul(one_hot, w_e), axis=-2)"),),
        ),
        Misconception(
            "columns",
            "You pick columns of W_e. A piece owns a row: {rows} rows for {rows} pieces, {columns} numbers each.",
            (("ops.matmul(one_hot, w_e)", "ops.matmul(one_hot, ops.transpose(w_e))"),),
        ),
        Misconception(
            "ids-as-amounts",
            "You multiply by the ids as if they were amounts. An id is a name: piece 4 is not twice piece 2. The one "
            "in a one-hot row stays 1.",
            (
                (
                    "return ops.matmul(one_hot, w_e)",
                    "return ops.matmul(one_hot, w_e) * ops.cast(ops.expand_dims(token_ids, -1), w_e.dtype)",
                ),
            ),
        ),
        Misconception(
            "out-of-the-graph",
            "The values are right, but the table cannot learn: through NumPy no gradient flows back to it. Stay with "
            "`keras.ops` from the first line to the last.",
            (("return ops.matmul(one_hot, w_e)", "return ops.convert_to_tensor(one_hot.numpy() @ w_e.numpy())"),),
        ),
    ),
)

UNSHUFFLE = Exercise(
    id="unshuffle",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.2",
    title="Back in order",
    minutes=6,
    lines="",
    names=("unshuffle",),
    arguments=("y", "order"),
    probe=function("unshuffle"),
    reference=draws.unshuffle,
    parts=(
        values(1, draws.shuffled_rows),
        cases("a batch", 1, draws.shuffled_batches, "with a batch in front of the tokens the result is another"),
    ),
    hints=(
        "Take three rows a, b, c and order = (2, 0, 1): shuffled they are c, a, b. Which places must you read to get "
        "a, b, c again?",
        "You are looking for the inverse of a permutation: where in `order` does 0 stand, where 1, where 2?",
        "`ops.argsort(order)` lists exactly these places. Then take the rows of y in that order.",
    ),
    misconceptions=(
        Misconception(
            "shuffled-again",
            "You applied the same order once more. That undoes it only if the order exchanges places in pairs; in "
            "general you need its inverse.",
            (("ops.argsort(order)", "order"),),
        ),
        Misconception(
            "reversed",
            "You turned the rows round. That undoes only an order that turned them round; look at what `order` says.",
            (("ops.take(y, ops.argsort(order), axis=-2)", "ops.flip(y, axis=-2)"),),
        ),
        Misconception(
            "numbers-sorted",
            "You sorted the numbers of every column, so the rows fell apart. Whole rows move; what decides is `order`, "
            "not y.",
            (("ops.take(y, ops.argsort(order), axis=-2)", "ops.sort(y, axis=-2)"),),
        ),
        Misconception(
            "columns-moved",
            "You moved the numbers inside each vector. Tokens are rows, so the axis to take from is the last but one.",
            (("axis=-2", "axis=-1"),),
        ),
    ),
)
