# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04 · The encoder layer
#
# Attention lets words look at each other, but each output is only a weighted average of linearly transformed vectors,
# and twelve attention layers with nothing between them are hard to train. In this notebook you build the other parts
# around attention: a small network that processes each word, a connection that bypasses every step, and a normalisation
# that keeps the numbers in a range with useful gradients. Together they are one **encoder layer**. The encoder of
# BERT-Base has twelve of them.
#
# By the end you will have built
#
# - `layer_norm` and `LayerNorm`: every vector shifted and scaled to mean 0 and variance 1, with the ε that the
#   lecture's formula leaves out;
# - `token_spread`: how much the words of a sentence still differ;
# - `gelu`, exact and with its two cheap approximations;
# - `relu_ffn` and `FeedForward`: the network that processes every position alone;
# - `dropout` and `residual`: random zeros during training, and the connection that bypasses a step;
# - `EncoderLayer`, `PreNormEncoderLayer` and `Encoder`: lines 5–9 of BERT's forward pass.
#
# About 90 minutes, 37 points. Everything runs on this machine, without a network.
#
# **Notation.** As in notebook 03, with row vectors: $\ell$ tokens, $d_e$ numbers per token, $d_\text{mlp}$ inside the
# small network. In shapes: batch, tokens, hidden. All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture
# has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, check, curves, heat_maps, histograms, load_backend
from autograde.student import progress, show_guess, stacked_boxes

load_backend()

# %% tags=["setup"]
import math

import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

from mybert.attention import MultiHeadAttention

rng = np.random.default_rng(4)  # for the pictures

# %% [markdown]
# This is the layer that you will build; read it from the bottom. The numbers are the lines of the algorithm
# *ETransformer*. On the left is the order of the original Transformer and of BERT, on the right the order of most later
# models; at the end you will see why they differ.

# %%
attend, transform = "multi-head attention  (6)", "feed-forward network  (8)"
stacked_boxes(
    {
        "post-LN (BERT)": ["fork", attend, "+", "LayerNorm  (7)", "fork", transform, "+", "LayerNorm  (9)"],
        "pre-LN": ["fork", "LayerNorm", "multi-head attention", "+", "fork", "LayerNorm", "feed-forward network", "+"],
    },
    alt="Two stacks of boxes. BERT: attention, plus, LayerNorm, feed-forward, plus, LayerNorm. Pre-LN: LayerNorm "
    "before attention, plus, LayerNorm before feed-forward, plus. A line leads around each pair to the plus",
)

# %% [markdown]
# ---
# # Keeping numbers in range
#
# ## 4.1 LayerNorm · 4 points · ~8 minutes · LayerNorm, lines 1–4
#
# If you stack enough layers, the numbers grow or shrink with every layer. *Layer normalization* (Ba, Kiros & Hinton 2016)
# shifts and scales each token's vector on its own to mean 0 and variance 1. Then it applies a learned scale $\gamma$
# and offset $\beta$, one of each per component, so that the network can restore what it needs.
#
# > 1: **function** LayerNorm($e; \gamma, \beta$)<br>
# > 2: $m \leftarrow \frac{1}{d} \sum_{i=1}^d e[i]$<br>
# > 3: $v \leftarrow \frac{1}{d} \sum_{i=1}^d (e[i] - m)^2$<br>
# > 4: **return** $\hat e = \frac{e - m}{\sqrt{v + \varepsilon}} \odot \gamma + \beta$
#
# LayerNormPerRow does this to every row of $X$. By hand: $e = (1, 2, 3, 4)$ has $m = 2.5$ and $v = 1.25$, so
# $\hat e = (-1.3416, -0.4472, 0.4472, 1.3416)$.
#
# ⚠ **About ε** (*epsilon*). The lecture's line 4 has none. Then a vector whose numbers are all equal has $v = 0$, and
# $0/0$ is NaN. Another lecture writes $\frac{x - \mu}{\sigma + \varepsilon}$, outside the root. Keras and BERT have it
# *inside*: $\sqrt{v + \varepsilon}$, with $\varepsilon = 10^{-12}$ in BERT. For ordinary vectors the results agree;
# they differ where $v$ is as small as ε.
#
# Compute with `ops`, not with NumPy: 4.2 needs the gradients.
#
# ⚠ Line 3 divides by $d$, not by $d - 1$, which would estimate the variance of more numbers than there are: the vector
# is complete. (The lecture puts 'sample variance' in quotation marks.) And the mean is *zero*: another lecture's "unit
# mean" is a mistake.

# %% nbgrader={"grade": false, "grade_id": "layer-norm", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-12) -> Tensor:
    """Normalises each row to mean 0 and variance 1, then scales and shifts it.

    x: (..., tokens, d)    gamma, beta: (d,)    epsilon: added to the variance
    returns (..., tokens, d)
    """
    # line 2: the mean of each row   line 3: its variance   line 4: normalise, scale, shift
    ### BEGIN SOLUTION
    mean = ops.mean(x, axis=-1, keepdims=True)
    variance = ops.mean(ops.square(x - mean), axis=-1, keepdims=True)
    normalised = (x - mean) / ops.sqrt(variance + epsilon)
    return normalised * gamma + beta
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-layer-norm", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(layer_norm)

# %% [markdown]
# **See it.** The same vector three times: as it is, ten thousand times smaller, a million times smaller. On the left
# your function with BERT's ε; on the right with ε = 10⁻⁶, as in some other models. Such a small vector is noise, and a
# larger ε treats it as noise: it stays small instead of being scaled up. An ε matters where the variance is not much
# larger than it: here the variances are 1.25, $1.25 \cdot 10^{-8}$ and $1.25 \cdot 10^{-12}$.

# %%
example = np.array([[1.0, 2, 3, 4]], "float32")
rows = ops.convert_to_tensor(np.concatenate([example, example * 1e-4, example * 1e-6]))
one, zero = ops.ones(4), ops.zeros(4)
heat_maps(
    [layer_norm(rows, one, zero), layer_norm(rows, one, zero, epsilon=1e-6)],
    titles=["ε = 10⁻¹²", "ε = 10⁻⁶"],
    rows=["e", "e / 10⁴", "e / 10⁶"],
    numbers=True,
    alt="Two matrices of three rows. With epsilon 1e-12 the first two rows agree and the third is a quarter "
    "smaller; with 1e-6 the second row is near a tenth and the third near zero",
)

# %% [markdown]
# ## 4.2 LayerNorm as a Keras layer · 3 points · ~6 minutes · LayerNorm, lines 1–4
#
# $\gamma$ and $\beta$ are *learned*: they are weights, and a Keras layer stores them.
# `self.add_weight(shape=…, initializer=…, name=…)` creates one, in `build`, where the shape of the input is known. What
# should their initial values be? A new LayerNorm should only normalise: no scale, no offset.
#
# Name them `self.gamma` and `self.beta`: the check puts its own values there, and notebook 05 will put BERT's.
# `**kwargs` holds Keras's own arguments, such as `name` and `trainable`: hand them on to `super().__init__` here and in
# all classes below. As in 2.8, the check of a layer makes one of its calls inside of `tf.function`, where a tensor has
# no numbers yet and the batch size is unknown.

# %% nbgrader={"grade": false, "grade_id": "layer-norm-layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LayerNorm(keras.layers.Layer):
    """Layer normalization of the last axis, with weights `gamma` and `beta`.

    call: x (..., hidden)
    returns (..., hidden)
    """

    def __init__(self, epsilon: float = 1e-12, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.epsilon = epsilon
        ### END SOLUTION

    def build(self, x_shape):
        ### BEGIN SOLUTION
        self.gamma = self.add_weight(shape=(x_shape[-1],), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(x_shape[-1],), initializer="zeros", name="beta")
        ### END SOLUTION

    def call(self, x: Tensor) -> Tensor:
        # use your layer_norm
        ### BEGIN SOLUTION
        return layer_norm(x, self.gamma, self.beta, self.epsilon)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-layer-norm-layer", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(LayerNorm)

# %% [markdown]
# **See it.** A hundred vectors go through twelve random matrices with a ReLU after each. In the top row the matrices
# are a little too large, as can happen in training: the numbers grow without limit. In the bottom row are the same
# matrices with your LayerNorm after each: the numbers look the same at every depth. (The edge bars count everything
# beyond ±3.)

# %%
width, depths = 64, (1, 4, 8, 12)
spread_out = {}
for name, norm in (("without", None), ("with", LayerNorm())):
    h = ops.convert_to_tensor(rng.normal(size=(100, width)).astype("float32"))
    for depth in range(1, 13):
        matrix = np.random.default_rng(depth).normal(size=(width, width)) * (4 / width) ** 0.5
        h = ops.relu(h @ ops.convert_to_tensor(matrix.astype("float32")))
        h = h if norm is None else norm(h)
        if depth in depths:
            spread_out[f"{name} LayerNorm, layer {depth}"] = h
histograms(
    spread_out,
    alt="Eight histograms of activations. Without LayerNorm half are 0 and nearly all others lie beyond the edge "
    "by layer 8; with it every layer has the same shape",
)

# %% [markdown]
# LayerNorm uses one token at a time: not its neighbours, not the rest of the batch. ⚠ So each *vector* gets mean 0 and
# variance 1; a lecture has "each unit / dimension", but those keep their own means. (*Batch* normalization, an older
# method, averages over the batch: then the result for a sentence depends on the other sentences of its batch.) One
# lecture adds that some transformers use $m = \beta = 0$: they only divide by the root of the mean square. That is
# RMSNorm (Zhang & Sennrich 2019).
#
# ⚠ "No loss of information", says a lecture about normalization. There is a loss: the mean and the length of the
# vector, two numbers of $d$, are gone. Remember this when you come to the residuals.
#
# *Why* does it help training? The first answer was "internal covariate shift": a layer's inputs change while the layers
# below it learn. For batch normalization Santurkar et al. (2018) found that this is not the reason, and a smoother loss
# is; for LayerNorm Xu et al. (2019) found that what it does to the gradients matters more than what it does to the
# numbers.
#
# ---
# # A network for each word
#
# Attention returns weighted averages of values: however many attention steps you stack, without a nonlinear function in
# between the result is still a weighted average of linearly transformed inputs. With weights $A_1$ and $A_2$, two
# layers give $A_2 (A_1 X W_1) W_2 = (A_2 A_1)\, X\, (W_1 W_2)$: again one matrix that mixes the tokens and one that
# transforms them. And averages of averages become more and more alike. First you measure that, then you build what is
# missing.
#
# ## 4.3 How much do the words still differ? · 2 points · ~4 minutes
#
# If all tokens of a sentence have the same vector, nothing above can tell one word from another. So compare each token
# with the mean of all tokens, $\bar x = \frac{1}{\ell} \sum_t X[t, :]$, and relate the differences to $X$ itself (Dong,
# Cordonnier & Loukas 2021):
#
# $$\text{spread}(X) = \frac{\lVert X - \bar x \rVert}{\lVert X \rVert} \qquad
# \lVert X \rVert = \sqrt{\textstyle\sum_{t, i} X[t, i]^2}$$
#
# $X - \bar x$ subtracts the mean token from every row. The spread is 0 if all tokens are equal and 1 if their mean is 0.
# By hand: the rows $(1, 0)$ and $(0, 1)$ have the mean $(\frac12, \frac12)$; the squared differences add up to 1, the
# squares to 2, and the spread is $\sqrt{1/2} = 0.7071$.

# %% nbgrader={"grade": false, "grade_id": "token-spread", "locked": false, "schema_version": 3, "solution": true, "task": false}
def token_spread(x: Tensor) -> Tensor:
    """The size of the differences between the tokens of each sentence and their mean, relative to all numbers.

    x: (batch, tokens, hidden)
    returns (batch,)
    """
    ### BEGIN SOLUTION
    mean = ops.mean(x, axis=1, keepdims=True)
    differences = ops.sum(ops.square(x - mean), axis=(1, 2))
    everything = ops.sum(ops.square(x), axis=(1, 2))
    return ops.sqrt(differences / everything)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-token-spread", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(token_spread)

# %% [markdown]
# **See it.** A stack of your attention layers of notebook 03, one head each, new random weights, nothing in between. How
# different are twelve random words after four of them? Write your guess of the spread; empty, the cell only measures.

# %%
my_guess = ""  # between 0 (all words alike) and 1, for example "0.5"

# %%
keras.utils.set_random_seed(4)
words_in = ops.convert_to_tensor(rng.normal(size=(1, 12, 16)).astype("float32"))
state, mixing, transform = words_in[0], ops.eye(12), ops.eye(16)
singular, measured_spread = {}, {}
for depth in range(5):
    if depth:
        layer = MultiHeadAttention(1)
        layer(state[None])  # creates its weights
        for part in (layer.query, layer.key, layer.value, layer.out):
            part.kernel.assign(rng.normal(size=(16, 16)) / 16**0.5)
        q, k = layer.query(state[None])[0], layer.key(state[None])[0]
        mixing = ops.softmax(q @ ops.transpose(k) / 16**0.5) @ mixing
        transform = transform @ layer.value.kernel @ layer.out.kernel
        state = layer(state[None])[0]
        away = ops.max(ops.abs(state - mixing @ words_in[0] @ transform)) / ops.max(ops.abs(state))
    sizes = np.linalg.svd(np.asarray(state), compute_uv=False)
    measured_spread[depth] = float(token_spread(state[None])[0])
    singular[f"{depth} layers"] = np.maximum(sizes / sizes[0], 1e-7)  # float32 cannot represent smaller ones
    rank = (sizes > sizes[0] / 1000).sum()
    print(f"{depth} layers: spread {measured_spread[depth]:7.2g}, rank {rank:2}", end="")
    print(f"; one mixing and one transforming matrix give the same to {away:.0e}" if depth else "")
curves(
    range(1, 13),
    {"Singular values ÷ the largest": singular},
    x="number",
    log=True,
    alt="Five curves. The singular values of the input fall slowly; with every attention layer all but the first fall by "
    "orders of magnitude: one direction is left",
)
show_guess(my_guess, measured_spread[4], what="spread after 4 layers")

# %% [markdown]
# (*Rank* here: how many singular values are above a thousandth of the largest one. A matrix of rank 1 has rows that are
# all multiples of one vector.) Four layers are *one* mixing matrix times the input times *one* transforming matrix, and
# hardly a difference between the words is left.
#
# Against the first there is the nonlinear network: after each attention every token passes, alone, through a small
# network with a nonlinear function (the *activation*) in the middle, and two layers are no longer one. The original
# Transformer uses ReLU, BERT uses GELU. Against the second there is the residual connection (4.8); the last picture of this
# notebook measures which part does how much.
#
# ## 4.4 GELU, and two cheaper ones · 4 points · ~8 minutes · ETransformer, line 8
#
# ReLU keeps a number if it is positive: $x \cdot [x > 0]$, a switch. GELU (Hendrycks & Gimpel 2016) makes the switch
# soft: it multiplies $x$ by the probability that a standard normal number is below it.
#
# $$\text{GELU}(x) = x \cdot \Phi(x) \qquad \Phi(x) = \Pr(X \le x) = \frac{1}{\sqrt{2\pi}} \int_{-\infty}^x e^{-t^2/2}\, dt$$
#
# The integral has no closed form, but it has a name:
# $\Phi(x) = \frac12\left(1 + \text{erf}\!\left(\frac{x}{\sqrt 2}\right)\right)$, and libraries have `ops.erf`. By hand:
# $\Phi(1) = 0.8413$, so $\text{GELU}(1) = 0.8413$ and $\text{GELU}(-1) = -0.1587$.
#
# The paper offers two approximations that are faster but less exact, and published models use all three versions:
# BERT's first code and `transformers` have the exact one; BERT's later code has the one with tanh, and so has GPT-2;
# CLIP has the one with σ.
#
# $$\text{"sigmoid":}\quad x \cdot \sigma(1.702\, x) \qquad\qquad
# \text{"tanh":}\quad \tfrac12\, x \left(1 + \tanh\!\left(\sqrt{2/\pi}\,\left(x + 0.044715\, x^3\right)\right)\right)$$

# %% nbgrader={"grade": false, "grade_id": "gelu", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gelu(x: Tensor, kind: str = "exact") -> Tensor:
    """GELU of every element, x · Φ(x), or one of its approximations.

    x: any shape    kind: "exact", "sigmoid" or "tanh"
    returns the same shape
    """
    # all three are x times a weight between 0 and 1
    ### BEGIN SOLUTION
    if kind == "exact":
        weight = 0.5 * (1.0 + ops.erf(x / 2**0.5))
    elif kind == "sigmoid":
        weight = ops.sigmoid(1.702 * x)
    else:
        inside = (2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)
        weight = 0.5 * (1.0 + ops.tanh(inside))
    return x * weight
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-gelu", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(gelu)

# %% [markdown]
# **See it.** "Approximately" is not a number. At the top your GELU beside ReLU, and beside its two approximations. Below,
# their errors, each on its own scale, and where an error is largest.

# %%
grid = ops.linspace(-5.0, 5.0, 2001)
near = ops.linspace(-3.0, 1.5, 901)
kinds = ("sigmoid", "tanh")
errors = {kind: np.asarray(gelu(grid, kind) - gelu(grid)) for kind in kinds}
curves(
    near,
    {
        "Exact and ReLU": {"GELU": gelu(near), "ReLU": ops.relu(near)},
        "Exact and approximate": {"GELU": gelu(near)} | {kind: gelu(near, kind) for kind in kinds},
    },
    x="x",
    alt="Left: GELU dips to minus 0.17 near minus 0.75 where ReLU is 0. Right: the exact GELU and its two "
    "approximations nearly lie on one another",
)
curves(
    grid,
    {f"{kind}: approximate − exact": {kind: error} for kind, error in errors.items()},
    x="x",
    alt="Two error curves: the sigmoid's within 0.02, the tanh's within 0.0005, both wavy and fading far out",
)
for kind, error in errors.items():
    worst = np.argmax(np.abs(error))
    print(f"{kind:8} at worst {abs(error[worst]):.5f} away, {abs(grid[worst]):.1f} to the left and to the right of 0")

# %% [markdown]
# ReLU's slope is 1 for all positive numbers, so it does not shrink the gradients that pass through many layers; the older
# sigmoid's slope is at most ¼. For negative numbers ReLU's slope is 0, and nothing passes; GELU lets a little through.
#
# The one with tanh is forty times closer. Is that close enough? Always run published weights with the function with
# which they were trained: with another one the model still runs, but every vector is slightly wrong, and no error
# message appears.
#
# ## 4.5 The original network · 3 points · ~5 minutes
#
# Two linear maps with an activation between them (Vaswani et al. 2017, section 3.3), from $d_e$ to $d_\text{mlp}$
# numbers and back:
#
# $$\text{FFN}(X) = \max(0,\; X W_1 +_{(\text{rows})} b_1)\, W_2 +_{(\text{rows})} b_2
# \qquad W_1 \in \mathbb{R}^{d_e \times d_\text{mlp}},\; W_2 \in \mathbb{R}^{d_\text{mlp} \times d_e}$$
#
# Every row uses the same four parameters: a *position-wise* network.

# %% nbgrader={"grade": false, "grade_id": "relu-ffn", "locked": false, "schema_version": 3, "solution": true, "task": false}
def relu_ffn(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor:
    """The feed-forward network of the original Transformer, applied to every row.

    x: (..., tokens, d_e)    w_1: (d_e, d_mlp)    b_1: (d_mlp,)    w_2: (d_mlp, d_e)    b_2: (d_e,)
    returns (..., tokens, d_e)
    """
    ### BEGIN SOLUTION
    inner = ops.matmul(x, w_1) + b_1
    bent = ops.maximum(inner, 0.0)
    return ops.matmul(bent, w_2) + b_2
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-relu-ffn", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(relu_ffn)

# %% [markdown]
# ## 4.6 BERT's network: a Keras layer · 4 points · ~7 minutes · ETransformer, line 8
#
# The same with GELU (the exact one, your `gelu`), and as a layer. `intermediate_size` is $d_\text{mlp}$, in BERT
# $4 \cdot$ hidden: four times as many numbers, the activation, and back. Two thirds of an encoder layer's parameters
# are here: $8 d_e^2$, compared with $4 d_e^2$ in attention (without biases).
#
# $$\text{GELU}(X W^\text{mlp1} +_{(\text{rows})} b^\text{mlp1})\, W^\text{mlp2} +_{(\text{rows})} b^\text{mlp2}$$
#
# Name the two `Dense` layers `self.inner` and `self.outer`. The $X +$ before the brackets in line 8 comes later.

# %% nbgrader={"grade": false, "grade_id": "feed-forward-layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FeedForward(keras.layers.Layer):
    """A dense layer to `intermediate_size`, GELU, and a dense layer back, at every position.

    call: x (batch, tokens, hidden)
    returns (batch, tokens, hidden)
    """

    def __init__(self, intermediate_size: int, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size
        ### END SOLUTION

    def build(self, x_shape):
        ### BEGIN SOLUTION
        self.inner = keras.layers.Dense(self.intermediate_size, name="inner")
        self.outer = keras.layers.Dense(x_shape[-1], name="outer")
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.intermediate_size))
        ### END SOLUTION

    def call(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        bent = gelu(self.inner(x))
        return self.outer(bent)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-feed-forward-layer", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(FeedForward)

# %% [markdown]
# **See it.** Five words; "bank" occurs twice, with the same vector. Your network gives the same result for both: it
# sees neither position nor neighbours. (⚠ A lecture has "each sequence is multiplied by the same weights": each
# *position* is.) Attention under the causal mask (notebook 03) gives two different results, because it sees the
# neighbours.

# %%
keras.utils.set_random_seed(4)
words = ["the", "bank", "by", "river", "bank"]
vectors = rng.normal(size=(1, 5, 8)).astype("float32")
vectors[0, 4] = vectors[0, 1]
vectors = ops.convert_to_tensor(vectors)
before = ops.convert_to_tensor(np.tril(np.ones((1, 5, 5), bool)))
heat_maps(
    [vectors[0], FeedForward(32)(vectors)[0], MultiHeadAttention(2)(vectors, attention_mask=before)[0]],
    titles=["in", "after FeedForward", "after attention"],
    rows=words,
    alt="Three matrices with a row per word. In the first two the rows of the two words 'bank' are equal, in the "
    "third they differ",
)

# %% [markdown]
# ---
# # Bypassing a step, and randomness
#
# ## 4.7 Dropout · 3 points · ~7 minutes
#
# During training, dropout (Srivastava et al. 2014) sets each number to 0 with probability `rate`, drawn for each number
# by itself and again at every call, so that no number can rely on a particular other one. BERT uses a rate of 0.1. To
# keep sums at their usual size, the remaining numbers are divided by $1 - \text{rate}$: on average nothing changes.
# Outside training dropout does *nothing*: no random zeros, no scaling.
#
# $$\text{dropout}(x)[i] = \begin{cases} 0 & \text{with probability } \text{rate} \\
# x[i] / (1 - \text{rate}) & \text{otherwise}\end{cases}$$
#
# ⚠ A lecture says that dropout zeroes "a fraction of model weights". It zeroes activations: the numbers that pass
# through the network, not its parameters.
#
# `keras.random.uniform(shape)` returns random numbers between 0 and 1.

# %% nbgrader={"grade": false, "grade_id": "dropout", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    """In training, sets random elements to 0 and scales the others up.

    x: any shape    rate: probability of each element to become 0, at least 0 and below 1
    returns the same shape; x itself if training is False
    """
    ### BEGIN SOLUTION
    if not training:
        return x
    kept = keras.random.uniform(ops.shape(x)) >= rate
    return ops.where(kept, x / (1.0 - rate), 0.0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-dropout", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(dropout)

# %% [markdown]
# **See it.** A matrix of ones with rate 0.3: twice in training, the mean of 300 such calls, and once outside training.
# Another way to see it: every step trains another, thinner network, all of them share their weights, and without dropout
# the whole network answers about like the mean of them (Srivastava et al. 2014).

# %%
ones = ops.ones((5, 10))
drawn = [dropout(ones, 0.3, True) for _ in range(300)]
heat_maps(
    [drawn[0], drawn[1], ops.mean(ops.stack(drawn), axis=0), dropout(ones, 0.3, False)],
    titles=["training", "training, again", "mean of 300", "not training"],
    numbers=True,
    per_line=2,
    largest=1.5,
    alt="Four matrices: the first two have zeros at different positions and 1.43 elsewhere; the mean of 300 is close "
    "to 1 everywhere; without training all ones",
)

# %% [markdown]
# ## 4.8 The residual connection · 2 points · ~3 minutes · ETransformer, lines 6 and 8
#
# The result of a sub-layer (attention, or the network) is *added* to its input (He et al. 2015):
#
# $$X \leftarrow X + \text{dropout}(\text{SubLayer}(X))$$
#
# So a sub-layer need not reproduce the sentence; it only computes a change. And since the derivative of $X + f(X)$ is
# $1 + f'(X)$, gradients have a direct path past every layer. Dropout may zero the result of the sub-layer, but it must
# never be applied to the direct path.

# %% nbgrader={"grade": false, "grade_id": "residual", "locked": false, "schema_version": 3, "solution": true, "task": false}
def residual(x: Tensor, found: Tensor, rate: float, training: bool) -> Tensor:
    """Adds the result of a sub-layer, after dropout, to its input.

    x: (..., tokens, hidden) the input    found: (..., tokens, hidden) the result
    rate, training: as in `dropout`
    returns (..., tokens, hidden)
    """
    ### BEGIN SOLUTION
    return x + dropout(found, rate, training)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-residual", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(residual)

# %% [markdown]
# ---
# # The layer
#
# ## 4.9 Lines 6 to 9: an encoder layer · 6 points · ~15 minutes · ETransformer, lines 6–9
#
# You have all the parts. BERT normalises *after* each addition (post-LN):
#
# > 5: **for** $l = 1, 2, \dots, L$ **do**<br>
# > 6: &nbsp;&nbsp; $X \leftarrow X + \text{MHAttention}(X \mid \mathcal{W}_l)$<br>
# > 7: &nbsp;&nbsp; $X \leftarrow \text{LayerNormPerRow}(X \mid \gamma_l^1, \beta_l^1)$<br>
# > 8: &nbsp;&nbsp; $X \leftarrow X + \left(\text{GELU}(X W_l^\text{mlp1} +_{(\text{rows})} b_l^\text{mlp1})\,
# > W_l^\text{mlp2} +_{(\text{rows})} b_l^\text{mlp2}\right)$<br>
# > 9: &nbsp;&nbsp; $X \leftarrow \text{LayerNormPerRow}(X \mid \gamma_l^2, \beta_l^2)$
#
# The algorithm leaves out dropout and the mask. Apply dropout to the result of each of the two sub-layers, as in 4.8;
# give the mask to attention. Use `keras.layers.Dropout(rate)`: it does the same as yours, and the state of its random
# numbers is saved with the model. Pass `training` on to it; None lets Keras decide (True in `fit`, otherwise False).
# Keras layers take only tensors by position: pass `attention_mask` and `training` by name.
#
# Name the sub-layers `self.attention`, `self.attention_norm`, `self.feed_forward` and `self.output_norm`, and the
# dropout `self.dropout`: 4.10 uses these names. Both norms are your `LayerNorm`, or Keras's with `epsilon=1e-12`. In
# `build`, build each of them for the shape of `x`; or delete `build`, and Keras does it at the first call. If
# your `build` leaves out a sub-layer, Keras builds it at the first call, and `check` does not notice.

# %% nbgrader={"grade": false, "grade_id": "encoder-layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EncoderLayer(keras.layers.Layer):
    """One encoder layer of BERT: attention and feed-forward network, each added and normalised (post-LN).

    call: x (batch, tokens, hidden); attention_mask None or booleans (batch, 1 or tokens, tokens),
    True where a query may see a key; training True, False or None
    returns (batch, tokens, hidden)
    """

    def __init__(self, num_heads: int, intermediate_size: int, dropout: float = 0.1, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()
        self.dropout = keras.layers.Dropout(dropout)
        ### END SOLUTION

    def build(self, x_shape):
        ### BEGIN SOLUTION
        for part in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            part.build(x_shape)
        ### END SOLUTION

    def call(self, x: Tensor, attention_mask: Tensor | None = None, training: bool | None = None) -> Tensor:
        # line 6: attend and add   line 7: normalise   line 8: transform and add   line 9: normalise
        ### BEGIN SOLUTION
        attended = self.attention(x, attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        x = self.attention_norm(x)
        transformed = self.feed_forward(x)
        x = x + self.dropout(transformed, training=training)
        return self.output_norm(x)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-encoder-layer", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(EncoderLayer)

# %% [markdown]
# How many parameters does one layer have? Attention $4(H^2 + H)$, the network $2 \cdot 4H^2 + 4H + H$, two LayerNorms
# $4H$: together $12 H^2 + 13 H$. For BERT's $H = 768$ that is 7,087,872, twelve times. Yours:

# %%
layer = EncoderLayer(num_heads=4, intermediate_size=4 * 64)
layer(ops.zeros((1, 3, 64)))
print(f"H = 64: {layer.count_params():,} parameters; 12 H² + 13 H = {12 * 64**2 + 13 * 64:,}")

# %% [markdown]
# ## 4.10 The other order: pre-LN · 3 points · ~5 minutes
#
# Normalise the *input* of each sub-layer instead of the result of each addition:
#
# $$X \leftarrow X + \text{SubLayer}(\text{LayerNorm}(X))$$
#
# Then $X$ itself (the *residual stream*) is never normalised: from the first layer to the last, layers only add to it.
# ⚠ One lecture says that LayerNorm is applied before attention and before the network. That is this order, GPT-2's; in
# the original Transformer and in BERT it comes after each. (The same lecture draws GPT-2's two residuals before and
# after the network. One goes around attention, the other around the network.)
#
# Only `call` is new: your `EncoderLayer` has all the parts already. Use those that 4.9 names. If you want a helper
# method, define it in this class: the grader also tests the class with another `EncoderLayer`.

# %% nbgrader={"grade": false, "grade_id": "pre-norm-layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class PreNormEncoderLayer(EncoderLayer):
    """An encoder layer in the order of GPT-2 (pre-LN), with the same parts as `EncoderLayer`.

    call, returns: as `EncoderLayer`
    """

    def call(self, x: Tensor, attention_mask: Tensor | None = None, training: bool | None = None) -> Tensor:
        # attention_norm belongs to attention, output_norm to the feed-forward network
        ### BEGIN SOLUTION
        attended = self.attention(self.attention_norm(x), attention_mask=attention_mask)
        x = x + self.dropout(attended, training=training)
        transformed = self.feed_forward(self.output_norm(x))
        return x + self.dropout(transformed, training=training)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-pre-norm-layer", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(PreNormEncoderLayer)

# %% [markdown]
# ## 4.11 The stack · 3 points · ~5 minutes · ETransformer, line 5
#
# $L$ layers, one after the other, each with its own weights. Keep them in the list `self.layers_` (in Keras models the
# name `layers` is already used). All layers get the same mask: padding stays padding.

# %% nbgrader={"grade": false, "grade_id": "encoder", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Encoder(keras.layers.Layer):
    """`num_layers` encoder layers, one after the other, each with this dropout.

    call, returns: as `EncoderLayer`
    """

    def __init__(self, num_layers: int, num_heads: int, intermediate_size: int, dropout: float = 0.1, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]
        ### END SOLUTION

    def build(self, x_shape):
        ### BEGIN SOLUTION
        for layer in self.layers_:
            layer.build(x_shape)
        ### END SOLUTION

    def call(self, x: Tensor, attention_mask: Tensor | None = None, training: bool | None = None) -> Tensor:
        ### BEGIN SOLUTION
        for layer in self.layers_:
            x = layer(x, attention_mask=attention_mask, training=training)
        return x
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-encoder", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(Encoder)

# %% [markdown]
# In a stack all positions of a layer are computed at once, but layer 2 needs all of layer 1: $L$ steps after each other,
# for a text of any length. A recurrent network needs $\ell$ steps in each layer.
#
# **See it: why all these parts?** Your own parts in five arrangements, 24 layers deep, every matrix random with
# variance 1 / (number of inputs), and a loss at the end (this cell and the next take about 20 seconds each). Left: the
# gradient at the input of each layer, relative to layer 24. Right: your `token_spread`. Which arrangement keeps the words
# apart for longest? Write the name of one; empty, the picture is drawn without your guess.

# %%
my_guess = ""  # "sub-layers alone", "residuals only", "LayerNorm only", "post-LN" or "pre-LN"

# %%
import warnings

import tensorflow as tf


class SubLayersOnly(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        return self.feed_forward(self.attention(x))


class ResidualsOnly(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        y = x + self.attention(x)
        return y + self.feed_forward(y)


class NormsOnly(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        return self.output_norm(self.feed_forward(self.attention_norm(self.attention(x))))


def look_into(kind, depth=24, hidden=64):
    """A new stack with a loss. For each layer: gradient at its input, gradient of its weights, difference of words."""
    rng = np.random.default_rng(4)
    x, target = (ops.convert_to_tensor(rng.normal(size=(4, 16, hidden)).astype("float32")) for _ in range(2))
    layers = [kind(num_heads=4, intermediate_size=4 * hidden) for _ in range(depth)]
    for layer in layers:
        with warnings.catch_warnings(action="ignore"):  # Keras warns of parts that an arrangement does not use
            layer(x)  # creates its weights
        for weight in layer.weights:
            if len(weight.shape) == 2:
                weight.assign(rng.normal(size=weight.shape) / weight.shape[0] ** 0.5)
    states = [x]
    with tf.GradientTape() as tape:
        tape.watch(x)
        for layer in layers:
            states.append(layer(states[-1]))
        loss = ops.mean(ops.square(LayerNorm()(states[-1]) - target))
    inputs, weights = tape.gradient(loss, [states[:-1], [[w.value for w in layer.weights] for layer in layers]])
    differences = [float(ops.mean(token_spread(state))) for state in states[1:]]
    return (
        np.array([tf.linalg.global_norm([gradient]) for gradient in inputs]),
        np.array([tf.linalg.global_norm(gradients) for gradients in weights]),
        np.maximum(differences, 1e-7),  # float32 cannot represent smaller differences
    )


arrangements = {
    "sub-layers alone": SubLayersOnly,
    "residuals only": ResidualsOnly,
    "LayerNorm only": NormsOnly,
    "post-LN": EncoderLayer,
    "pre-LN": PreNormEncoderLayer,
}
found = {name: look_into(kind) for name, kind in arrangements.items()}
apart = {name: differences[-1] for name, (_, _, differences) in found.items()}
curves(
    range(1, 25),
    {
        "Gradient at a layer's input ÷ at layer 24's": {name: inputs / inputs[-1] for name, (inputs, _, _) in found.items()},
        "How much the words still differ: token_spread": {name: differences for name, (_, _, differences) in found.items()},
    },
    x="layer",
    y="ratio",
    log=True,
    alt="Left: towards layer 1 the gradient vanishes for sub-layers alone, explodes for residuals only, and stays "
    "level with LayerNorm. Right: without residuals all words have become one after a few layers; with them "
    "they differ much longer",
)
for name, (inputs, _, differences) in found.items():
    print(f"{name:17} layer 1 gets {inputs[0] / inputs[-1]:8.1e} × the gradient of layer 24; spread {differences[-1]:.0e}")
show_guess(my_guess, max(apart, key=apart.get), what="largest spread after layer 24")

# %% [markdown]
# - *Sub-layers alone*: the lower layers get practically no gradient. They could not learn.
# - *Residuals only*: the gradient flows along the direct path, but every layer adds to it, and it grows without limit.
# - *LayerNorm only*: the size of the gradient looks good. But all words have become the same word: attention averages,
#   and nothing restores what a token was (Dong, Cordonnier & Loukas 2021).
# - Both together (post-LN, pre-LN): the gradient stays level, and words stay different for many more layers. It is the
#   residual connections that keep them different; in post-LN each normalisation takes a little of that away.
#   (Residual connections also make the loss a much smoother function of the weights: Li et al. 2018 have drawn it.)
#
# And the two orders? Look at the gradient of the *weights* of the last layer, in stacks of 2 to 32 layers:

# %%
depths = [2, 4, 8, 16, 32]
top = {name: [look_into(arrangements[name], depth)[1][-1] for depth in depths] for name in ("post-LN", "pre-LN")}
falling = [top["pre-LN"][0] * (depths[0] / depth) ** 0.5 for depth in depths]
curves(
    depths,
    {"Gradient of the last layer's weights": top | {"like 1/√L": falling}},
    x="layers in the stack, L",
    y="norm",
    log=True,
    alt="Gradient norm of the last layer's weights against the number of layers: level for post-LN, falling about "
    "as one over the root of L for pre-LN",
)

# %% [markdown]
# In a pre-LN stack the residual stream has grown by the time it reaches the last layer. That layer's contribution is
# therefore relatively small, and so is its gradient, about as $1/\sqrt L$. In a post-LN stack every sum is normalised
# again, and the first steps of the last layer are as large in a deep model as in a shallow one. That is why post-LN
# models need a *warm-up* of the learning rate (notebook 07) and pre-LN models can do without (Xiong et al. 2020). BERT
# is post-LN, with warm-up.

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("norm-axis", "")

# %%
answer("ffn-mixes", "")

# %% [markdown]
# ---
# # Recap
#
# There are two sub-layers: attention mixes tokens, the feed-forward network processes each token. Around each is a
# residual connection, so that gradients have a direct path and words stay different; after each is a LayerNorm, so that
# the numbers keep their range; dropout is applied to the result of each, in training only. The encoder of BERT-Base has
# twelve of these layers.
#
# Self-attention alone is not enough. The last three notebooks added what it lacks:
#
# | barrier: attention alone … | solution |
# |---|---|
# | does not know the order of the words | positions are added to the input (02) |
# | only averages: nothing nonlinear acts on the vectors | a feed-forward network at every position (04) |
# | sees the future, where a model must write | future keys get the score −∞ (03; not in BERT) |
#
# Three tricks help a deep stack to train: the scaled scores, LayerNorm, the residuals. A lecture adds that they do not
# change what a model *can* do. That is nearly true: LayerNorm does remove two numbers of every vector.
#
# **To think about**
#
# 1. LayerNorm discards each vector's length and mean. What could a model no longer tell apart, if there were no
#    residual connections?
# 2. Remove GELU from the network. Which single matrix does it become, and would the twelve layers still be worth
#    twelve?
# 3. The output of a pre-LN stack has never been normalised. What would you put after its last layer before a head reads
#    it?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. Two vectors of which one is the other, scaled by a positive factor and shifted by the same number everywhere:
#    strong and weak forms of the same thing. In pre-LN the direct path keeps the difference. In post-LN the sum is
#    normalised too; there the length of a sub-layer's result still decides how far it turns the sum.
# 2. $(X W_1 + b_1) W_2 + b_2 = X\,(W_1 W_2) + (b_1 W_2 + b_2)$: one matrix of $d_e \times d_e$, which could be part of
#    the next layer's matrices. The twelve layers would not become one, because the attention weights depend on the
#    input; but all that happens to the vectors themselves would be averaging, linear maps and LayerNorm.
# 3. One more LayerNorm; GPT-2 has it. Without it the head gets vectors whose length grows with the number of layers.
#
# </details>
#
# **Next:** notebook 05 puts your embeddings of notebook 02 below this stack and heads on top of it, and loads a
# published BERT into it.

# %%
progress()
