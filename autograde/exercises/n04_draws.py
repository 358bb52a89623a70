"""Inputs and references of notebook 04, in NumPy. The references compute in float64 and know nothing of the library.

Sizes differ from one another wherever they may, so that an axis taken for another shows.
"""

import math

import numpy as np

from autograde.exercises import n03_draws
from autograde.exercises.n03_draws import normal, some_seen
from autograde.exercises.spec import Case, Dropped, Same, Slopes, Trial, Varies

Random = np.random.Generator
SEED = 11  # of the random numbers of a call that uses chance; the values it acts on are drawn as always


# --- references ---


def layer_norm(x, gamma, beta, epsilon=1e-12):
    deviations = x - x.mean(axis=-1, keepdims=True)
    return deviations / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gamma + beta


def layer_norm_layer(x, *, weights, config):
    """Without weights given, as a fresh layer has them: a scale of 1, no offset."""
    return layer_norm(x, weights.get("gamma", 1.0), weights.get("beta", 0.0), config.get("epsilon", 1e-12))


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def gelu_approximation(x, kind):
    if kind == "sigmoid":
        return x / (1 + np.exp(-1.702 * x))
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def worst_point(x, exact, approximate):
    distance = np.abs(exact - approximate)
    return np.array([x[distance.argmax()], distance.max()])


def relu_ffn(x, w_1, b_1, w_2, b_2):
    return np.where(x @ w_1 + b_1 > 0, x @ w_1 + b_1, 0) @ w_2 + b_2


def feed_forward(x, *, weights, config=None):
    inner = x @ weights["inner/kernel"] + weights["inner/bias"]
    return gelu(inner) @ weights["outer/kernel"] + weights["outer/bias"]


def dropout(x, rate, training):
    """Without its chance."""
    return x


def residual(x, found, rate, training):
    """Without its chance."""
    return x + found


def below(weights: dict, part: str) -> dict:
    """The weights of one sub-layer, by their roles in it."""
    return {role.removeprefix(f"{part}/"): array for role, array in weights.items() if role.startswith(f"{part}/")}


def _parts(weights, config, mask):
    """The four sub-layers of an encoder layer as functions of x."""

    def attention(x):
        return n03_draws.multi_head_layer(x, mask, weights=below(weights, "attention"), config=config)

    def norm(name):
        return lambda x: layer_norm(x, weights[f"{name}/gamma"], weights[f"{name}/beta"])

    network = below(weights, "feed_forward")
    return attention, norm("attention_norm"), lambda x: feed_forward(x, weights=network), norm("output_norm")


def encoder_layer(x, attention_mask=None, training=None, *, weights, config):
    attention, first_norm, network, second_norm = _parts(weights, config, attention_mask)
    middle = first_norm(x + attention(x))
    return second_norm(middle + network(middle))


def pre_norm_layer(x, attention_mask=None, training=None, *, weights, config):
    attention, first_norm, network, second_norm = _parts(weights, config, attention_mask)
    middle = x + attention(first_norm(x))
    return middle + network(second_norm(middle))


def encoder(x, attention_mask=None, training=None, *, weights, config):
    for index in range(config["num_layers"]):
        own = {role: np.split(array, config["num_layers"], axis=-1)[index] for role, array in weights.items()}
        x = encoder_layer(x, attention_mask, weights=own, config=config)
    return x


# --- LayerNorm ---


def scale_and_offset(rng: Random, d: int) -> tuple[np.ndarray, np.ndarray]:
    return 1 + normal(rng, d, size=0.4), normal(rng, d, size=0.5)


def rows_to_normalise(rng: Random) -> list[Case]:
    by_hand = Case((np.array([[1, 2, 3, 4]], "float32"), np.ones(4, "float32"), np.zeros(4, "float32")), note="by hand")
    return [
        Case((1 + normal(rng, 5, 5, size=2), *scale_and_offset(rng, 5))),
        Case((normal(rng, 2, 3, 6, size=2) - 1, *scale_and_offset(rng, 6))),
        by_hand,
    ]


def rows_that_need_epsilon(rng: Random) -> list[Case]:
    """Rows whose variance is as small as ε or 0. With BERT's ε zeros only: another constant leaves rounding / 10⁻⁶."""
    small = normal(rng, 3, 6, size=0.1)
    small[1] = small[1, 0]
    return [
        Case((small, *scale_and_offset(rng, 6)), {"epsilon": 0.01}),
        Case((np.zeros((2, 8), "float32"), *scale_and_offset(rng, 8))),
    ]


def each_row_alone(rng: Random) -> list[Trial]:
    """A row's result depends on no other row, nor on its own size and mean before."""
    x, parameters = normal(rng, 4, 6, size=2), scale_and_offset(rng, 6)
    stretched = 3 * x[[2, 0]] + np.float32(2)
    return [Trial((Case((x, *parameters)), Case((stretched, *parameters))), (Same((0, -2, (2, 0)), (1, -2, (0, 1))),))]


def norm_weights(rng: Random, d: int) -> dict:
    return dict(zip(("gamma", "beta"), scale_and_offset(rng, d)))


def inputs_of_norm(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 2, 3, 6, size=2) + 1,), weights=norm_weights(rng, 6)),
        Case((normal(rng, 4, 5),), weights=norm_weights(rng, 5), config={"epsilon": 0.5}),
    ]


def fresh_norm(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 4, 6, size=2) + 1,), seed=SEED)]


def slopes_of_norm(rng: Random) -> list[Trial]:
    case = Case((normal(rng, 2, 3, 5),), weights=norm_weights(rng, 5))
    directions = {0: normal(rng, 2, 3, 5), "gamma": normal(rng, 5), "beta": normal(rng, 5)}
    return [Trial((case,), (Slopes(normal(rng, 2, 3, 5), directions),))]


# --- the network ---


def numbers_around_zero(rng: Random) -> list[Case]:
    """Where GELU bends, and the places of the worked numbers."""
    return [
        Case((normal(rng, 3, 5, size=1.5),)),
        Case((np.array([-3, -2.25, -1, -0.75, 0, 0.75, 1, 2.25, 3], "float32"),)),
    ]


def slopes_of_gelu(rng: Random) -> list[Trial]:
    x = normal(rng, 3, 4, size=1.5)
    return [Trial((Case((x,)),), (Slopes(normal(rng, 3, 4), {0: normal(rng, 3, 4)}),))]


def both_kinds(rng: Random) -> list[Case]:
    x = normal(rng, 3, 5, size=2)
    return [Case((x, "sigmoid")), Case((x, "tanh"))]


def far_from_zero(rng: Random) -> list[Case]:
    x = (rng.choice([-1, 1], size=6) * rng.uniform(6, 30, size=6)).astype("float32")
    return [Case((x, "sigmoid")), Case((x, "tanh"))]


def two_functions(rng: Random) -> list[Case]:
    """The farthest point lies below the exact function, and not where the function itself is smallest or largest."""
    made = []
    for size in (9, 12):
        x = np.sort(normal(rng, size, size=2))
        exact = 1 + rng.uniform(0, 4, size).astype("float32")
        error = rng.uniform(-0.2, 0.2, size).astype("float32")
        error[int(rng.integers(2, size - 2))] = -rng.uniform(0.5, 0.8)
        made.append(Case((x, exact, exact + error)))
    return made


def network_parameters(rng: Random, d_e: int, d_mlp: int) -> tuple[np.ndarray, ...]:
    return (
        normal(rng, d_e, d_mlp, size=d_e**-0.5),
        normal(rng, d_mlp, size=0.5),
        normal(rng, d_mlp, d_e, size=d_mlp**-0.5),
        normal(rng, d_e, size=0.5),
    )


def inputs_of_network(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 3, 4), *network_parameters(rng, 4, 9))),
        Case((normal(rng, 2, 3, 5), *network_parameters(rng, 5, 7))),
    ]


def same_vector_twice(rng: Random) -> list[Trial]:
    """The same vector at two positions gives the same, and so does a position alone."""
    x = normal(rng, 5, 4)
    x[3] = x[1]
    parameters = network_parameters(rng, 4, 6)
    claims = (Same((0, -2, (1,)), (0, -2, (3,))), Same((0, -2, (1, 4)), (1, -2, (0, 1))))
    return [Trial((Case((x, *parameters)), Case((x[[1, 4]], *parameters))), claims)]


def network_weights(rng: Random, hidden: int, inner: int) -> dict:
    names = ("inner/kernel", "inner/bias", "outer/kernel", "outer/bias")
    return dict(zip(names, network_parameters(rng, hidden, inner)))


def network_case(rng: Random, x, inner: int) -> Case:
    return Case((x,), weights=network_weights(rng, x.shape[-1], inner), config={"intermediate_size": inner})


def inputs_of_network_layer(rng: Random) -> list[Case]:
    return [network_case(rng, normal(rng, 2, 3, 5, size=1.5), 12), network_case(rng, normal(rng, 1, 4, 6), 6)]


def slopes_of_network(rng: Random) -> list[Trial]:
    case = network_case(rng, normal(rng, 2, 3, 4), 7)
    directions = {role: normal(rng, *array.shape) for role, array in case.weights.items() if "kernel" in role}
    return [Trial((case,), (Slopes(normal(rng, 2, 3, 4), {0: normal(rng, 2, 3, 4)} | directions),))]


def same_vector_twice_in_a_layer(rng: Random) -> list[Trial]:
    x = normal(rng, 1, 5, 4)
    x[0, 3] = x[0, 1]
    case = network_case(rng, x, 6)
    alone = Case((x[:, [1, 4]],), weights=case.weights, config=case.config)
    return [Trial((case, alone), (Same((0, -2, (1,)), (0, -2, (3,))), Same((0, -2, (1, 4)), (1, -2, (0, 1)))))]


# --- chance ---


def away_from_zero(rng: Random, *shape: int) -> np.ndarray:
    return (rng.choice([-1, 1], size=shape) * rng.uniform(0.5, 2, size=shape)).astype("float32")


def dropped_in_training(rng: Random) -> list[Trial]:
    """Few rows and many columns: whole rows at a time would never give the right share."""
    often, seldom = ((away_from_zero(rng, 4, 500), rate, True) for rate in (0.4, 0.1))
    return [
        Trial(
            (Case(often, seed=SEED), Case(often, seed=SEED + 1)),
            (Dropped(0.4), Dropped(0.4, answer=1, unlike=0)),
        ),
        Trial((Case(seldom, seed=SEED),), (Dropped(0.1),)),
    ]


def nobody_trains(rng: Random) -> list[Case]:
    return [Case((normal(rng, 4, 6), 0.4, False), seed=SEED), Case((normal(rng, 2, 3, 5), 0.1, False), seed=SEED)]


def rate_of_zero(rng: Random) -> list[Case]:
    return [Case((normal(rng, 3, 5), 0.0, True), seed=SEED)]


def added_outside_training(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 4, 6), normal(rng, 4, 6), 0.4, False), seed=SEED),
        Case((normal(rng, 2, 3, 5), normal(rng, 2, 3, 5), 0.1, False), seed=SEED),
    ]


def road_and_change(rng: Random) -> list[Trial]:
    """In training: an empty road shows what becomes of the change, an empty change what becomes of the road."""
    full, empty = away_from_zero(rng, 4, 500), np.zeros((4, 500), "float32")
    return [
        Trial((Case((empty, full, 0.4, True), seed=SEED),), (Dropped(0.4),)),
        Trial((Case((full, empty, 0.4, True), seed=SEED),)),
    ]


# --- the layers ---


def layer_weights(rng: Random, hidden: int, inner: int) -> dict:
    weights = {f"attention/{role}": array for role, array in n03_draws.layer_weights(rng, hidden).items()}
    weights |= {f"feed_forward/{role}": array for role, array in network_weights(rng, hidden, inner).items()}
    for name in ("attention_norm", "output_norm"):
        weights |= {f"{name}/{role}": array for role, array in norm_weights(rng, hidden).items()}
    return weights


def layer_case(rng: Random, x, mask=None, **keywords) -> Case:
    keywords |= {} if mask is None else {"attention_mask": mask}
    config = {"num_heads": 2, "intermediate_size": 10, "dropout": 0.5}
    return Case((x,), keywords, layer_weights(rng, x.shape[-1], inner=10), config, seed=SEED)


def silenced(case: Case, *parts: str) -> Case:
    """The same case with sub-layers that find nothing: "attention", "feed_forward" or both."""
    last = {"attention": "attention/out/", "feed_forward": "feed_forward/outer/"}
    quiet = tuple(last[part] for part in parts)
    weights = {role: array * 0 if role.startswith(quiet) else array for role, array in case.weights.items()}
    return Case(case.arguments, case.keywords, weights, case.config, seed=case.seed)


def inputs_of_layer(rng: Random) -> list[Case]:
    return [layer_case(rng, normal(rng, 2, 5, 8))]


def masked_layer(rng: Random) -> list[Case]:
    return [layer_case(rng, normal(rng, 2, 4, 6), mask=some_seen(rng, 2, 1, 4))]


def chance_in_training(rng: Random) -> list[Trial]:
    """What each sub-layer finds is left to chance; where both find nothing, nothing is."""
    case = layer_case(rng, normal(rng, 2, 4, 8), training=True)
    return [
        Trial((silenced(case, "feed_forward"),), (Varies(),)),
        Trial((silenced(case, "attention"),), (Varies(),)),
        Trial((silenced(case, "attention", "feed_forward"),)),
    ]


def dropped_by_layer(rng: Random) -> list[Trial]:
    """From an empty stream a pre-LN layer with one silent sub-layer returns what dropout made of the other's finds."""
    case = layer_case(rng, np.zeros((6, 10, 8), "float32"), training=True)
    return [Trial((silenced(case, part),), (Dropped(0.5),)) for part in ("feed_forward", "attention")]


def slopes_of_layer(rng: Random) -> list[Trial]:
    case = layer_case(rng, normal(rng, 1, 4, 6))
    roles = ("attention/query/kernel", "attention_norm/gamma", "feed_forward/inner/kernel", "output_norm/beta")
    directions = {0: normal(rng, 1, 4, 6)} | {role: normal(rng, *case.weights[role].shape) for role in roles}
    return [Trial((case,), (Slopes(normal(rng, 1, 4, 6), directions),))]


def stack_case(rng: Random, x, layers: int, inner: int, mask=None) -> Case:
    each = [layer_weights(rng, x.shape[-1], inner) for _ in range(layers)]
    weights = {role: np.concatenate([one[role] for one in each], axis=-1) for role in each[0]}
    config = {"num_layers": layers, "num_heads": 2, "intermediate_size": inner}
    return Case((x,), {} if mask is None else {"attention_mask": mask}, weights, config)


def inputs_of_stack(rng: Random) -> list[Case]:
    return [stack_case(rng, normal(rng, 2, 4, 6), 3, 8)]


def masked_stack(rng: Random) -> list[Case]:
    return [stack_case(rng, normal(rng, 2, 5, 4), 2, 6, some_seen(rng, 2, 1, 5))]
