"""Layer normalization of the last axis, with weights `gamma` and `beta`."""

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, READY_NORMS, SEED, norm_weights
from autograde.exercises.numpy_bert import layer_norm
from autograde.exercises.spec import (
    Case,
    Exercise,
    Forbidden,
    HandsOn,
    OwnWeights,
    Part,
    Slopes,
    Trial,
    cases,
    composed,
    layer,
    mistake,
    result_of,
)


def layer_norm_layer(x, *, weights, config):
    """With the initial weights: a scale of 1, no offset."""
    return layer_norm(x, weights.get("gamma", 1.0), weights.get("beta", 0.0), config.get("epsilon", 1e-12))


def inputs_of_norm(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 2, 3, 6, size=2) + 1,), weights=norm_weights(rng, 6)),
        Case((normal(rng, 4, 5),), weights=norm_weights(rng, 5), config={"epsilon": 0.5}),
        Case((normal(rng, 2, 3, 5, size=2e-5),), weights=norm_weights(rng, 5)),
        Case((normal(rng, 2, 1, 3, 4),), weights=norm_weights(rng, 4)),
        Case((normal(rng, 3, 6, 4),), weights=norm_weights(rng, 4), first=(normal(rng, 2, 5, 4),)),
    ]


def inputs_and_arguments(rng: Random) -> list[Trial]:
    named = Trial(
        (Case((normal(rng, 2, 3, 4),), weights=norm_weights(rng, 4)),), (HandsOn(dtype="float64"), OwnWeights())
    )
    two = composed(
        ("layer-norm-layer", Case((normal(rng, 2, 3, 4),), weights=norm_weights(rng, 4))),
        ("layer-norm-layer", Case((normal(rng, 2, 5),), weights=norm_weights(rng, 5), config={"epsilon": 0.5})),
    )
    return [*(Trial((case,)) for case in inputs_of_norm(rng)), named, Trial((two,))]


def other_epsilons(rng: Random) -> list[Trial]:
    d = int(rng.integers(3, 30))
    shapes = ((2, d), (1, 4, d), (2, 1, 2, d))
    return [
        Trial((Case((normal(rng, *shape),), weights=norm_weights(rng, d), config={"epsilon": epsilon}),))
        for shape, epsilon in zip(shapes, (1e-12, 0.1, 2.0))
    ] + [norm_on_norm(rng, d)]


def norm_on_norm(rng: Random, d: int) -> Trial:
    """The function and two layers with weights of their own, each on the result before it."""
    scale, offset = norm_weights(rng, d).values()
    case = composed(
        ("layer-norm", Case((normal(rng, 2, 3, d), scale, offset))),
        ("layer-norm-layer", Case((result_of(0),), weights=norm_weights(rng, d))),
        ("layer-norm-layer", Case((result_of(1),), weights=norm_weights(rng, d), config={"epsilon": 0.5})),
    )
    return Trial((case,))


def fresh_norm(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 4, 6, size=2) + 1,), seed=SEED)]


def slopes_of_norm(rng: Random) -> list[Trial]:
    case = Case((normal(rng, 2, 3, 5),), weights=norm_weights(rng, 5))
    directions = {0: normal(rng, 2, 3, 5), "gamma": normal(rng, 5), "beta": normal(rng, 5)}
    return [Trial((case,), (Slopes(normal(rng, 2, 3, 5), directions),))]


EXERCISE = Exercise(
    probe=layer({"gamma": ["gamma", "scale"], "beta": ["beta", "offset"]}),
    reference=layer_norm_layer,
    in_graph=True,
    parts=(
        Part("values", 1, inputs_and_arguments, hidden=other_epsilons),
        cases("a new layer", 1, fresh_norm, "a new layer must only normalise: γ starts at 1, β at 0"),
        Part("gradients", 1, slopes_of_norm, "gradients must pass through the layer"),
    ),
    forbidden=Forbidden(LIBRARY.because, (*READY_NORMS, *LIBRARY.names)),
    facts=lambda case: {"hidden": case.arguments[0].shape[-1]},
    hints=(
        "`__init__` stores ε, `build` creates the two weights, `call` uses them. The formula is your `layer_norm`.",
        "`build` receives the shape of x; its last number is the length of γ and β.",
        '`self.add_weight(shape=(…,), initializer="ones", name="gamma")`; for β another initializer.',
    ),
    misconceptions=(
        mistake("scale-starts-at-zero", 'initializer="ones"', 'initializer="zeros"',
            hint="In a new layer your γ is 0, so the result is always β. A scale that changes nothing is 1."),
        mistake("offset-starts-at-one", 'initializer="zeros"', 'initializer="ones"',
            hint="In a new layer your β is 1 everywhere. An offset that changes nothing is 0."),
        mistake("started-by-chance",
            'initializer="ones", ', "",
            'initializer="zeros", ', "",
            hint="You give no initializer, so Keras draws γ and β at random, as for a matrix. Here they start at 1 "
                 "and 0."),
        mistake("one-for-the-whole-vector",
            'self.add_weight(shape=(x_shape[-1],), initializer="ones"',
            'self.add_weight(shape=(1,), initializer="ones"',
            'self.add_weight(shape=(x_shape[-1],), initializer="zeros"',
            'self.add_weight(shape=(1,), initializer="zeros"',
            hint="Your layer has a single γ and a single β. Each of the {hidden} components has its own."),
        mistake("one-per-token",
            'self.add_weight(shape=(x_shape[-1],), initializer="ones"',
            'self.add_weight(shape=x_shape[1:], initializer="ones"',
            'self.add_weight(shape=(x_shape[-1],), initializer="zeros"',
            'self.add_weight(shape=x_shape[1:], initializer="zeros"',
            hint="Your γ has the shape of a whole sentence. Every token must use the same {hidden} numbers; a longer "
                 "sentence would not fit."),
        mistake("epsilon-ignored", "self.beta, self.epsilon)", "self.beta)",
            hint="You store the ε of the constructor but never use it: pass `self.epsilon` to `layer_norm`."),
        mistake("statistics-as-constants", "return layer_norm(x, self.gamma, self.beta, self.epsilon)",
            "mean, variance = np.mean(x, -1, keepdims=True), np.var(x, -1, keepdims=True)\n"
            "        return (x - mean) / np.sqrt(variance + self.epsilon) * self.gamma + self.beta",
            hint="The values are right, but you compute mean and variance without tensors, so they are constants "
                 "for the gradient. They depend on x too: use `keras.ops`."),
    ),
)  # fmt: skip
