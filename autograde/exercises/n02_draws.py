"""Inputs and references of notebook 02, in NumPy. The references compute in float64 and know nothing of the library.

Sizes differ from one another wherever they may, so that an axis taken for another shows.
"""

import numpy as np

from autograde.exercises.spec import Case, Dropped, Raises, Reference, Same, Slopes, Trial

Random = np.random.Generator

PAD, CLS, SEP = 0, 2, 3  # ids as a vocabulary that begins [PAD] [UNK] [CLS] [SEP] [MASK] gives them
FIRST_WORD = 5
# [CLS] my dog is cute [SEP] he likes play ##ing [SEP], the lecture's eleven pieces
LECTURE_IDS = np.array([[CLS, 5, 6, 7, 8, SEP, 9, 10, 11, 12, SEP]], "int32")


def normal(rng: Random, *shape: int, size: float = 1.0) -> np.ndarray:
    """Standard normal float32 times `size`."""
    return (rng.normal(size=shape) * size).astype("float32")


def ids(rng: Random, below: int, *shape: int) -> np.ndarray:
    """Ids from 0 to below − 1, the largest and the smallest among them."""
    drawn = rng.integers(0, below, size=shape).astype("int32")
    drawn[..., :2] = [below - 1, 0]
    return rng.permuted(drawn, axis=-1)


# --- references ---


def look_up(token_ids, table):
    return table[token_ids]


def unshuffle(y, order):
    result = np.empty_like(y)
    result[..., order, :] = y
    return result


def sinusoids(length, d_e):
    table = np.zeros((length, d_e))
    for p in range(length):
        for i in range(d_e // 2):
            angle = p / 10000 ** (2 * i / d_e)
            table[p, 2 * i], table[p, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return table


def cosines(x):
    lengths = np.linalg.norm(x, axis=-1)
    return x @ np.swapaxes(x, -1, -2) / (lengths[..., :, None] * lengths[..., None, :])


def first_rows(length, w_p):
    return w_p[np.arange(length)]


def segments(token_ids, sep_id, pad_id):
    """Piece by piece: a [SEP] ends a segment after itself."""
    result = np.zeros(token_ids.shape, "int64")
    for row, pieces in enumerate(token_ids):
        segment = 0
        for place, piece in enumerate(pieces):
            result[row, place] = segment if piece != pad_id else 0
            segment = 1 if piece == sep_id else segment
    return result


def summed(token_ids, token_type_ids, w_e, w_s, w_p):
    return w_e[token_ids] + w_s[token_type_ids] + w_p[: token_ids.shape[-1]]


def bert_embeddings(token_ids, token_type_ids, training=None, *, weights, config):
    """Without dropout, whatever `training` says."""
    tables = (weights[f"{name}/table"] for name in ("token", "segment", "position"))
    x = summed(token_ids, token_type_ids, *tables)
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return centred / deviation * weights["norm/gamma"] + weights["norm/beta"]


# --- draws ---


def ids_and_tables(rng: Random) -> list[Case]:
    return [
        Case((ids(rng, 6, 4), normal(rng, 6, 3))),
        Case((ids(rng, 5, 2, 3), normal(rng, 5, 5))),
    ]


def slopes_of_table(rng: Random) -> list[Trial]:
    """How the result answers to small changes of the table."""
    case = Case((ids(rng, 6, 2, 4), normal(rng, 6, 3)))
    return [Trial((case,), (Slopes(normal(rng, 2, 4, 3), {1: normal(rng, 6, 3)}),))]


def cycle(rng: Random, tokens: int) -> np.ndarray:
    """An order of which every token is moved, and twice the same is not back where it was."""
    ring = rng.permutation(tokens)
    order = np.empty(tokens, "int32")
    order[ring] = np.roll(ring, 1)
    return order


def shuffled_rows(rng: Random) -> list[Case]:
    return [Case((normal(rng, 5, 7), cycle(rng, 5))), Case((normal(rng, 4, 4), cycle(rng, 4)))]


def shuffled_batches(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 6, 6), cycle(rng, 6)))]


def small_tables(rng: Random) -> list[Case]:
    width = int(rng.choice([6, 10]))
    return [Case((4, 8)), Case((int(rng.integers(5, 9)), width)), Case((width, width))]


def long_tables(rng: Random) -> list[Case]:
    return [Case((int(rng.integers(60, 100)), 4 * int(rng.integers(3, 6))))]


def rows_of_vectors(rng: Random) -> list[Case]:
    return [Case((normal(rng, 4, 6),)), Case((normal(rng, 2, 3, 3),))]


def lengths_do_not_matter(rng: Random) -> list[Trial]:
    """Each vector made longer or shorter by a factor of its own: the angles stay."""
    x, factors = normal(rng, 5, 4), rng.uniform(0.2, 5, size=(5, 1)).astype("float32")
    everyone = tuple(range(5))
    return [Trial((Case((x,)), Case((x * factors,))), (Reference(0), Same((1, -2, everyone), (0, -2, everyone))))]


def shorter_than_the_table(rng: Random) -> list[Case]:
    return [Case((int(length), normal(rng, 7, 4))) for length in rng.choice(np.arange(2, 7), 2, replace=False)]


def as_long_as_the_table(rng: Random) -> list[Case]:
    return [Case((5, normal(rng, 5, 3)))]


def longer_than_the_table(rng: Random) -> list[Trial]:
    return [Trial((Case((6 + more, normal(rng, 6, 3))),), (Raises("ValueError"),)) for more in (1, 5)]


def packed(rng: Random, first: int, second: int, padding: int = 0) -> np.ndarray:
    """[CLS] first [SEP] second [SEP] [PAD] …; without a second segment if it is 0."""
    words = rng.integers(FIRST_WORD, 20, size=first + second)
    row = [CLS, *words[:first], SEP] + ([*words[first:], SEP] if second else [])
    return np.array(row + [PAD] * padding, "int32")


def pairs(rng: Random) -> list[Case]:
    first = int(rng.integers(1, 4))
    batch = np.stack([packed(rng, first, 6 - first), packed(rng, 5 - first, 1 + first), packed(rng, 7, 0)])
    return [Case((LECTURE_IDS, SEP, PAD), note="the lecture's eleven pieces"), Case((batch, SEP, PAD))]


def padded(rng: Random) -> list[Case]:
    first = int(rng.integers(1, 4))
    batch = [packed(rng, first, 4 - first, 3), packed(rng, first + 1, 0, 7 - first), packed(rng, 3, 1, 3)]
    return [Case((np.stack(batch), SEP, PAD))]


def arguments_of_sum(rng: Random, batch: int, tokens: int, d_e: int) -> tuple:
    kinds = rng.integers(0, 2, size=(batch, tokens)).astype("int32")
    return ids(rng, 9, batch, tokens), kinds, normal(rng, 9, d_e), normal(rng, 2, d_e), normal(rng, 8, d_e)


def sums(rng: Random) -> list[Case]:
    return [Case(arguments_of_sum(rng, 2, 5, 4)), Case(arguments_of_sum(rng, 3, 3, 6))]


def each_sentence_alone(rng: Random) -> list[Trial]:
    """A sentence gives the same alone as in a batch."""
    token_ids, kinds, *tables = arguments_of_sum(rng, 3, 4, 5)
    alone = Case((token_ids[1:2], kinds[1:2], *tables))
    return [Trial((Case((token_ids, kinds, *tables)), alone), (Same((0, -3, (1,)), (1, -3, (0,))),))]


def layer_case(rng: Random, batch=2, tokens=5, hidden=8, size=1.0, dropout=0.1, **keywords) -> Case:
    """A layer for 11 pieces and 9 positions. size: standard deviation of the three tables."""
    config = {"vocab_size": 11, "hidden_size": hidden, "max_positions": 9, "num_segments": 2, "dropout": dropout}
    rows = {"token": 11, "segment": 2, "position": 9}
    weights = {f"{name}/table": normal(rng, count, hidden, size=size) for name, count in rows.items()}
    weights |= {"norm/gamma": 1 + normal(rng, hidden, size=0.3), "norm/beta": normal(rng, hidden, size=0.3)}
    kinds = rng.integers(0, 2, size=(batch, tokens)).astype("int32")
    seed = int(rng.integers(1, 2**31))
    return Case((ids(rng, 11, batch, tokens), kinds), keywords, weights, config, seed=seed)


def layers(rng: Random) -> list[Case]:
    """Tables of numbers as small as those with which BERT begins, and of usual numbers."""
    return [layer_case(rng, size=0.02), layer_case(rng, batch=3, tokens=4, hidden=12)]


def training(rng: Random) -> list[Trial]:
    case = layer_case(rng, batch=4, tokens=6, hidden=32, dropout=0.3, training=True)
    return [Trial((case,), (Dropped(0.3),))]


def slopes_of_layer(rng: Random) -> list[Trial]:
    case = layer_case(rng, hidden=6)
    directions = {role: normal(rng, *weight.shape) for role, weight in case.weights.items()}
    return [Trial((case,), (Slopes(normal(rng, 2, 5, 6), directions),))]
