"""Inputs and references of notebook 03, in NumPy. The references compute in float64 and know nothing of the library.

Sizes differ from one another wherever they may, so that an axis taken for another shows.
"""

import numpy as np

from autograde.exercises.spec import Case, Reference, Same, Slopes, Sums, Trial

Random = np.random.Generator

EXAMPLE_X = np.array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]], "float32")
EXAMPLE_W_Q = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]], "float32")
EXAMPLE_W_K = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]], "float32")
EXAMPLE_W_V = np.array([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]], "float32")


def normal(rng: Random, *shape: int, size: float = 1.0) -> np.ndarray:
    """Standard normal float32 times `size`."""
    return (rng.normal(size=shape) * size).astype("float32")


# --- references ---


def softmax(a):
    powers = np.exp(a - a.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def scores(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


def masked(q, k, v, mask):
    return softmax(np.where(mask, scores(q, k), -1e9)) @ v


def cross(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    return softmax(scores(z @ w_q + b_q, h @ w_k + b_k)) @ (h @ w_v + b_v)


def attention(x, *parameters):
    return cross(x, x, *parameters)


def multi_head(x, heads, w_o, b_o):
    return np.concatenate([attention(x, *parameters) for parameters in heads], axis=-1) @ w_o + b_o


def multi_head_layer(x, attention_mask=None, *, weights, config):
    """A loop over slices of the shared matrices: another road than the reshape that students take."""
    q, k, v = (x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"] for name in ("query", "key", "value"))
    mask = np.ones((1, 1, x.shape[1]), bool) if attention_mask is None else attention_mask
    pieces = np.split(np.arange(x.shape[-1]), config["num_heads"])
    heads = [masked(q[..., piece], k[..., piece], v[..., piece], mask) for piece in pieces]
    return np.concatenate(heads, axis=-1) @ weights["out/kernel"] + weights["out/bias"]


# --- draws ---


def two_matrices(rng: Random) -> list[Case]:
    a = np.array([[1, 2], [3, 4], [5, 6]], "float32")
    return [
        Case(([a, a + 10],), note="the lecture's example"),
        Case(([normal(rng, 4, 2) for _ in range(3)],)),
    ]


def batches_of_heads(rng: Random) -> list[Case]:
    return [Case(([normal(rng, 2, 3, 4) for _ in range(2)],)), Case(([normal(rng, 2, 2, 5, 3) for _ in range(3)],))]


def rows_and_vectors(rng: Random) -> list[Case]:
    example = Case((np.array([[1, 2], [3, 4], [5, 6]], "float32"), np.array([10, 20], "float32")))
    return [example, Case((normal(rng, 4, 4), normal(rng, 4))), Case((normal(rng, 2, 5), normal(rng, 5)))]


def batches_and_vectors(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 3, 4), normal(rng, 4))), Case((normal(rng, 2, 2, 3, 5), normal(rng, 5)))]


def usual_rows(rng: Random) -> list[Case]:
    return [Case((normal(rng, 4, 4, size=2),)), Case((normal(rng, 2, 3, 5, size=2),))]


def large_scores(rng: Random) -> list[Trial]:
    """Scores whose exp is beyond float32, and such a row beside an ordinary one."""
    rows = normal(rng, 3, 6) + np.array([[100], [500], [1000]], "float32")
    return [Trial((Case((rows,)),), (Reference(), Sums(1.0)))]


def rows_far_apart(rng: Random) -> list[Trial]:
    rows = normal(rng, 3, 5) + np.array([[0], [-400], [-900]], "float32")
    return [Trial((Case((rows,)),), (Reference(), Sums(1.0)))]


def queries_and_keys(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 5, 16), normal(rng, 2, 5, 16))), Case((normal(rng, 4, 9), normal(rng, 4, 9)))]


def each_query_alone(rng: Random) -> list[Trial]:
    """A query's row does not depend on which other queries stand beside it; keys may be more or fewer."""
    q, k = normal(rng, 6, 8), normal(rng, 4, 8)
    chosen = tuple(int(i) for i in rng.choice(6, 2, replace=False))
    claims = (Reference(0), Same((0, -2, chosen), (1, -2, (0, 1))))
    return [Trial((Case((q, k)), Case((q[list(chosen)], k))), claims)]


def head_parameters(rng: Random, d_x: int, d_attn: int, d_out: int) -> tuple[np.ndarray, ...]:
    """w_q, b_q, w_k, b_k, w_v, b_v of one head."""
    widths = (d_attn, d_attn, d_out)
    return tuple(part for width in widths for part in (normal(rng, d_x, width, size=0.7), normal(rng, width)))


def inputs_of_attention(rng: Random) -> list[Case]:
    zero = np.zeros(3, "float32")
    return [
        Case((normal(rng, 4, 6), *head_parameters(rng, 6, 3, 5))),
        Case((normal(rng, 2, 5, 4), *head_parameters(rng, 4, 4, 4))),
        Case((EXAMPLE_X, EXAMPLE_W_Q, zero, EXAMPLE_W_K, zero, EXAMPLE_W_V, zero), note="the lecture's example"),
    ]


def shuffled(make_arguments):
    """Shuffling the tokens shuffles the outputs: nothing here knows where a token stands."""

    def trials(rng: Random) -> list[Trial]:
        x, *others = make_arguments(rng)
        order = tuple(int(i) for i in rng.permutation(x.shape[-2]))
        everyone = tuple(range(len(order)))
        pair = (Case((x, *others)), Case((x[..., list(order), :], *others)))
        return [Trial(pair, (Same((1, -2, everyone), (0, -2, order)),))]

    return trials


def arguments_of_attention(rng: Random) -> tuple:
    return normal(rng, 2, 6, 5), *head_parameters(rng, 5, 3, 4)


def ones_and_zeros(rng: Random) -> list[Case]:
    lengths = rng.integers(1, 5, size=3)
    return [Case(((np.arange(5) < lengths[:, None]).astype("int32"),))]


def nothing_padded(rng: Random) -> list[Case]:
    return [Case((np.ones((2, 4), "int32"),))]


def some_lengths(rng: Random) -> list[Case]:
    return [Case((int(n),)) for n in rng.choice(np.arange(3, 9), 2, replace=False)]


def one_token(rng: Random) -> list[Case]:
    return [Case((1,))]


def lower_triangle(tokens: int) -> np.ndarray:
    return np.tril(np.ones((tokens, tokens), bool))


def some_seen(rng: Random, *shape: int) -> np.ndarray:
    """A mask in which every query sees a key and misses one."""
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return rng.permuted(mask, axis=-1)


def masked_inputs(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 2, 4, 8), normal(rng, 2, 5, 8), normal(rng, 2, 5, 3), some_seen(rng, 2, 1, 5))),
        Case((normal(rng, 2, 5, 4), normal(rng, 2, 5, 4), normal(rng, 2, 5, 3), some_seen(rng, 2, 5, 5))),
    ]


def padding_changes_nothing(rng: Random) -> list[Trial]:
    """A sentence with filling behind it, hidden, against the same sentence without."""
    q, k, v = normal(rng, 2, 3, 4), normal(rng, 2, 6, 4), normal(rng, 2, 6, 3)
    k[:, 4:] *= 9  # what stands in the filling must not matter, however large
    mask = np.broadcast_to(np.arange(6) < 4, (2, 1, 6)).copy()
    short = Case((q, k[:, :4], v[:, :4], np.ones((2, 1, 4), bool)))
    return [Trial((Case((q, k, v, mask)), short), (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


def no_looking_ahead(rng: Random) -> list[Trial]:
    """Under the causal mask the first tokens' outputs are what they would be without the later tokens."""
    q, k, v = normal(rng, 1, 5, 4), normal(rng, 1, 5, 4), normal(rng, 1, 5, 3)
    early = Case((q[:, :3], k[:, :3], v[:, :3], lower_triangle(3)))
    return [Trial((Case((q, k, v, lower_triangle(5))), early), (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


def arguments_of_heads(rng: Random, d_x=6, d_attn=3, d_mid=4, d_out=5, heads=2) -> tuple:
    parameters = [head_parameters(rng, d_x, d_attn, d_mid) for _ in range(heads)]
    return normal(rng, 5, d_x), parameters, normal(rng, heads * d_mid, d_out, size=0.5), normal(rng, d_out)


def inputs_of_heads(rng: Random) -> list[Case]:
    return [Case(arguments_of_heads(rng)), Case(arguments_of_heads(rng, d_x=4, d_mid=4, d_out=4, heads=3))]


def layer_weights(rng: Random, hidden: int) -> dict[str, np.ndarray]:
    weights = {}
    for name in ("query", "key", "value", "out"):
        weights[f"{name}/kernel"] = normal(rng, hidden, hidden, size=1.5 * hidden**-0.5)
        weights[f"{name}/bias"] = normal(rng, hidden, size=0.5)
    return weights


def layer_case(rng: Random, x, num_heads, mask=None) -> Case:
    keywords = {} if mask is None else {"attention_mask": mask}
    return Case((x,), keywords, layer_weights(rng, x.shape[-1]), {"num_heads": num_heads})


def inputs_of_layer(rng: Random) -> list[Case]:
    return [layer_case(rng, normal(rng, 2, 5, 8), 2), layer_case(rng, normal(rng, 3, 4, 12), 3)]


def masked_layer(rng: Random) -> list[Case]:
    return [
        layer_case(rng, normal(rng, 2, 5, 8), 2, some_seen(rng, 2, 1, 5)),
        layer_case(rng, normal(rng, 2, 4, 8), 4, np.broadcast_to(lower_triangle(4), (2, 4, 4)).copy()),
    ]


def batch_of_one(rng: Random) -> list[Trial]:
    """A sentence gives the same alone as in a batch."""
    case = layer_case(rng, normal(rng, 3, 4, 8), 2)
    alone = Case((case.arguments[0][1:2],), {}, case.weights, case.config)
    return [Trial((case, alone), (Same((0, -3, (1,)), (1, -3, (0,))),))]


def slopes_of_layer(rng: Random) -> list[Trial]:
    """How the output answers to small changes of each kernel."""
    case = layer_case(rng, normal(rng, 2, 4, 6), 2)
    directions = {f"{name}/kernel": normal(rng, 6, 6) for name in ("query", "key", "value", "out")}
    return [Trial((case,), (Slopes(normal(rng, 2, 4, 6), directions),))]


def two_sequences(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 3, 6), normal(rng, 5, 6), *head_parameters(rng, 6, 4, 2))),
        Case((normal(rng, 2, 4, 6), normal(rng, 2, 4, 6), *head_parameters(rng, 6, 3, 5))),
    ]


def order_of_the_other(rng: Random) -> list[Trial]:
    """The other sequence's order does not matter: its tokens are a set."""
    z, h, *parameters = normal(rng, 3, 6), normal(rng, 5, 6), *head_parameters(rng, 6, 4, 2)
    pair = (Case((z, h, *parameters)), Case((z, h[rng.permutation(5)], *parameters)))
    return [Trial(pair, (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]
