"""Notebook 04, exercises 4.6 and 4.7: the network that each position passes through alone."""

from autograde.exercises import n04_draws as draws
from autograde.exercises.n04_common import BUILD_IT, FEED_FORWARD_ROLES, LIBRARY, MODULE, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, Part, function, layer, values

RELU_FFN = Exercise(
    id="relu-ffn",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.6",
    title="The original network",
    minutes=5,
    lines="",
    names=("relu_ffn",),
    arguments=("x", "w_1", "b_1", "w_2", "b_2"),
    probe=function("relu_ffn"),
    reference=draws.relu_ffn,
    parts=(
        values(2, draws.inputs_of_network),
        Part(
            "each position alone",
            1,
            draws.same_vector_twice,
            "the same vector must give the same at every position and in any company",
        ),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"wide": case.arguments[1].shape[-1]},
    hints=(
        "From the inside outwards: product, bias, max with 0, product, bias.",
        "Two functions are called max: `ops.max` finds the largest along an axis, `ops.maximum` compares element by "
        "element.",
        "Only the d_mlp numbers in between are bent; what comes out may be negative.",
    ),
    misconceptions=(
        Misconception(
            "bent-at-the-end",
            "ReLU acts on the result. It belongs between the two products; what comes out may well be negative.",
            (
                ("bent = ops.maximum(inner, 0.0)", "bent = inner"),
                ("ops.matmul(bent, w_2) + b_2", "ops.maximum(ops.matmul(bent, w_2) + b_2, 0.0)"),
            ),
        ),
        Misconception(
            "bent-twice",
            "ReLU acts in between and once more on the result. The formula has one max, before W₂.",
            (("ops.matmul(bent, w_2) + b_2", "ops.maximum(ops.matmul(bent, w_2) + b_2, 0.0)"),),
        ),
        Misconception(
            "no-bend",
            "There is no max(0, …) in between. Two linear maps in a row are one linear map.",
            (("ops.maximum(inner, 0.0)", "inner"),),
        ),
        Misconception(
            "bent-before",
            "ReLU acts on x, before the first product. It acts on X W₁ + b₁.",
            (
                ("ops.matmul(x, w_1) + b_1", "ops.matmul(ops.maximum(x, 0.0), w_1) + b_1"),
                ("ops.maximum(inner, 0.0)", "inner"),
            ),
        ),
        Misconception(
            "largest-of-all",
            "`ops.max` looks for the largest along an axis and takes the others away. `ops.maximum` compares each "
            "number with 0.",
            (("ops.maximum(inner, 0.0)", "ops.max(inner, 0)"),),
        ),
        Misconception(
            "negative-kept",
            "You keep the negative numbers and drop the positive ones: min in place of max.",
            (("ops.maximum(inner, 0.0)", "ops.minimum(inner, 0.0)"),),
        ),
        Misconception(
            "no-biases",
            "The biases b₁ and b₂ are missing.",
            (
                ("ops.matmul(x, w_1) + b_1", "ops.matmul(x, w_1)"),
                ("ops.matmul(bent, w_2) + b_2", "ops.matmul(bent, w_2)"),
            ),
        ),
    ),
)

FEED_FORWARD_LAYER = Exercise(
    id="feed-forward-layer",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.7",
    title="BERT's network: a Keras layer",
    minutes=7,
    lines="ETransformer, line 8",
    names=("FeedForward",),
    arguments=("x",),
    probe=layer("FeedForward", FEED_FORWARD_ROLES),
    reference=draws.feed_forward,
    parts=(
        values(2, draws.inputs_of_network_layer),
        Part(
            "gradients",
            1,
            draws.slopes_of_network,
            "the weights cannot be trained: their gradients are others, or none",
        ),
        Part(
            "each position alone",
            1,
            draws.same_vector_twice_in_a_layer,
            "the same vector must give the same at every position and in any company",
        ),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"hidden": case.arguments[0].shape[-1], "wide": case.config["intermediate_size"]},
    hints=(
        "`build` makes two Dense layers, `call` is one line: outer of gelu of inner.",
        "How wide is the result of each? inner: intermediate_size; outer: as wide as x.",
        "`self.outer` is built for what inner gives: the shape of x with another last number.",
    ),
    misconceptions=(
        Misconception(
            "relu",
            "You bend with ReLU, as the original Transformer. BERT bends with GELU: your own of 4.3.",
            (("gelu(self.inner(x))", "ops.relu(self.inner(x))"),),
        ),
        Misconception(
            "no-bend",
            "Nothing bends between the two Dense layers, and two linear maps in a row are one.",
            (("gelu(self.inner(x))", "self.inner(x)"),),
        ),
        Misconception(
            "bent-at-the-end",
            "GELU acts on the result. It belongs between inner and outer.",
            (("gelu(self.inner(x))", "self.inner(x)"), ("return self.outer(bent)", "return gelu(self.outer(bent))")),
        ),
        Misconception(
            "bent-twice",
            "GELU acts in between and once more on the result. Line 8 has one GELU.",
            (("return self.outer(bent)", "return gelu(self.outer(bent))"),),
        ),
        Misconception(
            "residual-inside",
            "You add x in here. The X + of line 8 stands before the brackets: it comes with the residual connection, "
            "and would come twice.",
            (("return self.outer(bent)", "return x + self.outer(bent)"),),
        ),
        Misconception(
            "sigmoid-approximation",
            "This is GELU's approximation x · σ(1.702 x). BERT uses the exact one, your `gelu`.",
            (("gelu(self.inner(x))", 'gelu_approximation(self.inner(x), "sigmoid")'),),
        ),
        Misconception(
            "never-widened",
            "inner is as wide as x, {hidden} numbers. It goes out to intermediate_size = {wide}, and outer comes back.",
            (
                ("keras.layers.Dense(self.intermediate_size,", "keras.layers.Dense(x_shape[-1],"),
                ("(*x_shape[:-1], self.intermediate_size)", "x_shape"),
            ),
        ),
        Misconception(
            "averaged-with-the-neighbours",
            "Each position also hears the mean of all positions. Here every token passes alone; mixing tokens is "
            "attention's task.",
            (("self.inner(x)", "self.inner(x + ops.mean(x, axis=1, keepdims=True))"),),
        ),
    ),
)
