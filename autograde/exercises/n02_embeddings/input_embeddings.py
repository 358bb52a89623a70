"""Token + segment + position for every token of a batch."""

import numpy as np

from autograde.exercises.draws import Random, at_drawn_sizes, normal
from autograde.exercises.n02_embeddings._shared import READY_MADE, ids
from autograde.exercises.spec import Case, Exercise, Part, Same, Slopes, Trial, mistake, values


def summed(token_ids, token_type_ids, w_e, w_s, w_p):
    return w_e[token_ids] + w_s[token_type_ids] + w_p[: token_ids.shape[-1]]


def arguments_of_sum(rng: Random, batch: int, tokens: int, d_e: int) -> tuple:
    kinds = rng.integers(0, 2, size=(batch, tokens)).astype("int32")
    num_positions = max(8, tokens)
    return ids(rng, 9, batch, tokens), kinds, normal(rng, 9, d_e), normal(rng, 2, d_e), normal(rng, num_positions, d_e)


def case_of_sum(rng: Random, batch: int, tokens: int, d_e: int) -> Case:
    return Case(arguments_of_sum(rng, batch, tokens, d_e))


def sums(rng: Random) -> list[Case]:
    """Also a batch of one, a single token, as many tokens as the position table has rows, and one segment only."""
    sizes = ((2, 5, 4), (3, 3, 6), (1, 4, 4), (2, 1, 3), (8, 8, 8), (1, 1, 1), (2, 70, 2))
    token_ids, kinds, *tables = arguments_of_sum(rng, 2, 4, 3)
    alike = [Case((token_ids, np.full_like(kinds, segment), *tables)) for segment in (0, 1)]
    return [*(case_of_sum(rng, *size) for size in sizes), *alike]


def slopes_of_tables(rng: Random) -> list[Trial]:
    """The changes of the result for small changes of the three tables."""
    case = sums(rng)[0]
    directions = {index: normal(rng, *case.arguments[index].shape) for index in (2, 3, 4)}
    return [Trial((case,), (Slopes(normal(rng, 2, 5, 4), directions),))]


def each_sentence_alone(rng: Random) -> list[Trial]:
    """A sentence gives the same result alone as in a batch."""
    token_ids, kinds, *tables = arguments_of_sum(rng, 3, 4, 5)
    alone = Case((token_ids[1:2], kinds[1:2], *tables))
    return [Trial((Case((token_ids, kinds, *tables)), alone), (Same((0, -3, (1,)), (1, -3, (0,))),))]


SIDE_BY_SIDE = """
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    tokens = token_embeddings(token_ids, w_e)
    kinds = token_embeddings(token_type_ids, w_s)
    places = ops.broadcast_to(learned_positions(token_ids.shape[-1], w_p), tokens.shape)
    return ops.concatenate([tokens, kinds, places], axis=-1)
"""

EXERCISE = Exercise(
    reference=summed,
    parts=(
        values(1.5, sums, hidden=at_drawn_sizes(case_of_sum, 1, 1, 1, number=3, largest=9)),
        Part("each sentence independently", 1, each_sentence_alone, "a sentence must give the same result alone as in "
                                                                 "a batch"),
        Part("gradients", 0.5, slopes_of_tables, "the tables cannot be trained: their gradients are wrong or missing"),
    ),
    forbidden=READY_MADE,
    hints=(
        "Three look-ups, one sum. Which of your functions does the first, the second, the third?",
        "A segment id is an id like any other: use `token_embeddings` with a table of two rows.",
        "Positions are (tokens, d_e), the other two (batch, tokens, d_e): broadcasting aligns them from the right.",
    ),
    misconceptions=(
        mistake("side-by-side", cell=SIDE_BY_SIDE,
            hint="You concatenate the three vectors. That is possible, but it makes them three times as wide; BERT "
                 "adds them."),
        mistake("no-segments", "tokens + segments + positions", "tokens + positions",
            hint="The segment vectors are missing. Line 3 of the algorithm has none; BERT adds one of two."),
        mistake("no-positions", "tokens + segments + positions", "tokens + segments",
            hint="The position vectors are missing: without them the later layers see a set."),
        mistake("averaged", "tokens + segments + positions", "(tokens + segments + positions) / 3",
            hint="You took the mean of the three. Line 3 is a plain sum."),
        mistake("places-in-the-batch", "learned_positions(token_ids.shape[-1], w_p)",
            "ops.expand_dims(learned_positions(token_ids.shape[0], w_p), axis=1)",
            hint="Every token of a sentence gets the same position vector: you count the sentences of the batch. "
                 "Count the tokens of a sentence, the last axis of the ids."),
        mistake("out-of-the-graph", "return tokens + segments + positions",
            "return ops.convert_to_tensor(tokens.numpy() + segments.numpy() + positions.numpy())",
            hint="The values are right, but the tables cannot learn: no gradient flows through NumPy. Use only "
                 "`keras.ops` from the first line to the last."),
        mistake("position-by-id", "learned_positions(token_ids.shape[-1], w_p)", "token_embeddings(token_ids, w_p)",
            hint="You look positions up by token id. The position of a token is its index in the sentence: 0, 1, 2, …"),
    ),
)  # fmt: skip
