"""Notebook 04, exercises 4.1 and 4.2: LayerNorm as a function and as a layer."""

from autograde.exercises import n04_draws as draws
from autograde.exercises.n04_common import BUILD_IT, LIBRARY, MODULE, NOTEBOOK, READY_NORMS
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, layer, values

LAYER_NORM = Exercise(
    id="layer-norm",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.1",
    title="LayerNorm",
    minutes=8,
    lines="LayerNorm, lines 1–4",
    names=("layer_norm",),
    arguments=("x", "gamma", "beta"),
    probe=function("layer_norm"),
    reference=draws.layer_norm,
    parts=(
        values(2, draws.rows_to_normalise),
        cases(
            "epsilon",
            1,
            draws.rows_that_need_epsilon,
            "where the variance is as small as ε, or 0, the result is another",
        ),
        Part(
            "each row on its own",
            1,
            draws.each_row_alone,
            "a row must give the same without the others, and when it is stretched or shifted as a whole",
        ),
    ),
    forbidden=(*READY_NORMS, *LIBRARY),
    forbidden_because=BUILD_IT,
    facts=lambda case: {"d": case.arguments[0].shape[-1], "less": case.arguments[0].shape[-1] - 1},
    hints=(
        "Three lines, as in the algorithm: mean, variance, and the fraction with γ and β. One mean per row.",
        "To take one number per row away from the row, keep its axis: `ops.mean(x, axis=-1, keepdims=True)`.",
        "The variance is the mean of the squared deviations; ε is added to it before the root is taken.",
    ),
    misconceptions=(
        Misconception(
            "over-the-tokens",
            "You take mean and variance down each column, over the tokens. That is how batch normalization looks at "
            "it; LayerNorm takes each row, one token's {d} numbers, by itself.",
            (
                ("ops.mean(x, axis=-1, keepdims=True)", "ops.mean(x, axis=-2, keepdims=True)"),
                (
                    "ops.mean(ops.square(x - mean), axis=-1, keepdims=True)",
                    "ops.mean(ops.square(x - mean), axis=-2, keepdims=True)",
                ),
            ),
        ),
        Misconception(
            "one-mean-for-all",
            "There is one mean and one variance for the whole matrix. Each row has its own: `axis=-1`, with the axis "
            "kept.",
            (
                ("ops.mean(x, axis=-1, keepdims=True)", "ops.mean(x)"),
                ("ops.mean(ops.square(x - mean), axis=-1, keepdims=True)", "ops.mean(ops.square(x - mean))"),
            ),
        ),
        Misconception(
            "divided-by-one-less",
            "Your variance is a sum over {d} numbers divided by {less}. That corrects an estimate from a sample; here "
            "the vector is all there is, and line 3 divides by d = {d}.",
            (
                (
                    "ops.mean(ops.square(x - mean), axis=-1, keepdims=True)",
                    "ops.sum(ops.square(x - mean), axis=-1, keepdims=True) / (x.shape[-1] - 1)",
                ),
            ),
        ),
        Misconception(
            "epsilon-outside",
            "ε stands behind the root in your code, σ + ε, as in one of the lectures. It belongs inside: √(v + ε). "
            "The two differ where the variance is small.",
            (("ops.sqrt(variance + epsilon)", "(ops.sqrt(variance) + epsilon)"),),
        ),
        Misconception(
            "no-epsilon",
            "There is no ε in your root. A row of equal numbers has variance 0, and 0/0 is NaN: √(v + ε).",
            (("ops.sqrt(variance + epsilon)", "ops.sqrt(variance)"),),
        ),
        Misconception(
            "divided-by-variance",
            "You divide by the variance itself. Its root, the standard deviation, is in the units of x.",
            (("ops.sqrt(variance + epsilon)", "(variance + epsilon)"),),
        ),
        Misconception(
            "not-centred",
            "You divide by the root mean square and never subtract the mean. That is RMSNorm (m = 0); LayerNorm "
            "brings every row to mean 0 first.",
            (("ops.mean(x, axis=-1, keepdims=True)", "0.0"),),
        ),
        Misconception(
            "no-scale-and-offset",
            "This is the normalised row, without γ and β. Line 4 goes on: ⊙ γ + β.",
            (("return normalised * gamma + beta", "return normalised"),),
        ),
        Misconception(
            "offset-scaled-too",
            "You add β before you multiply by γ, so β is scaled as well. First γ, then β.",
            (("normalised * gamma + beta", "(normalised + beta) * gamma"),),
        ),
    ),
)

LAYER_NORM_LAYER = Exercise(
    id="layer-norm-layer",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.2",
    title="LayerNorm as a Keras layer",
    minutes=6,
    lines="LayerNorm, lines 1–4",
    names=("LayerNorm",),
    arguments=("x",),
    probe=layer("LayerNorm", {"gamma": ["gamma", "scale"], "beta": ["beta", "offset"]}),
    reference=draws.layer_norm_layer,
    parts=(
        values(1, draws.inputs_of_norm),
        cases("a fresh layer", 1, draws.fresh_norm, "a new layer must only normalise: γ starts at 1, β at 0"),
        Part(
            "gradients", 1, draws.slopes_of_norm, "the layer cannot be trained through: gradients are others, or none"
        ),
    ),
    forbidden=(*READY_NORMS, *LIBRARY),
    forbidden_because=BUILD_IT,
    facts=lambda case: {"hidden": case.arguments[0].shape[-1]},
    hints=(
        "`__init__` keeps ε, `build` makes the two weights, `call` uses them. The formula is your `layer_norm`.",
        "`build` is given the shape of x; its last number says how long γ and β are.",
        '`self.add_weight(shape=(…,), initializer="ones", name="gamma")`; for β another initializer.',
    ),
    misconceptions=(
        Misconception(
            "scale-starts-at-zero",
            "In a fresh layer your γ is 0, so whatever goes in, only β comes out. A scale that changes nothing is 1.",
            (('initializer="ones"', 'initializer="zeros"'),),
        ),
        Misconception(
            "offset-starts-at-one",
            "In a fresh layer your β is 1 everywhere. An offset that changes nothing is 0.",
            (('initializer="zeros"', 'initializer="ones"'),),
        ),
        Misconception(
            "started-by-chance",
            "You name no initializer, so Keras draws γ and β at random, as for a matrix. Here they start at 1 and 0.",
            (('initializer="ones", ', ""), ('initializer="zeros", ', "")),
        ),
        Misconception(
            "one-for-the-whole-vector",
            "Your layer has a single γ and a single β. Each of the {hidden} numbers of a vector has its own.",
            (
                (
                    'self.add_weight(shape=(x_shape[-1],), initializer="ones"',
                    'self.add_weight(shape=(1,), initializer="ones"',
                ),
                (
                    'self.add_weight(shape=(x_shape[-1],), initializer="zeros"',
                    'self.add_weight(shape=(1,), initializer="zeros"',
                ),
            ),
        ),
        Misconception(
            "one-per-token",
            "Your γ has the shape of a whole sentence. Every token shares the same {hidden} numbers; a longer sentence "
            "would not fit.",
            (
                (
                    'self.add_weight(shape=(x_shape[-1],), initializer="ones"',
                    'self.add_weight(shape=x_shape[1:], initializer="ones"',
                ),
                (
                    'self.add_weight(shape=(x_shape[-1],), initializer="zeros"',
                    'self.add_weight(shape=x_shape[1:], initializer="zeros"',
                ),
            ),
        ),
        Misconception(
            "epsilon-ignored",
            "The ε of the constructor is kept and never used: hand `self.epsilon` on to `layer_norm`.",
            (("self.beta, self.epsilon)", "self.beta)"),),
        ),
        Misconception(
            "statistics-as-constants",
            "The values are right, but mean and variance are computed outside the tensors, so gradients take them for "
            "constants. They depend on x too: stay with `keras.ops`.",
            (
                (
                    "return layer_norm(x, self.gamma, self.beta, self.epsilon)",
                    "mean, variance = np.mean(x, -1, keepdims=True), np.var(x, -1, keepdims=True)\n"
                    "        return (x - mean) / np.sqrt(variance + self.epsilon) * self.gamma + self.beta",
                ),
            ),
        ),
    ),
)
