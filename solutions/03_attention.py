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
# # 03 · Attention
#
# The meaning of a word depends on its neighbours. In this notebook you write the step that lets every word look at
# every other: *attention*. First you write one head, on three vectors that you can follow by hand; then a head with a
# mask; then many heads; and finally the Keras layer that becomes part of your own BERT.
#
# By the end you will have built
#
# - `attention_scores`, `softmax_rows`, `attention`: lines 1–6 of the algorithm *Attention*;
# - `padding_mask`, `causal_mask`, `masked_attention`: which token may look at which;
# - `mh_attention` and `MultiHeadAttention`: many heads, as a loop and all at once;
# - `cross_attention`: one sequence that reads another.
#
# 75 to 90 minutes, 35 points. Everything runs on this machine, without a network.
#
# **Notation.** As in *Formal Algorithms for Transformers* (Phuong & Hutter 2022), but with row vectors: each token is a
# row of a matrix. $\ell$ tokens, $d_x$ numbers per token, $d_\text{attn}$ numbers per query and key, $d_\text{mid}$ per
# value. $[A; B]$ puts matrices side by side. All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has
# otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, check, heat_maps, lines, load_backend, progress, show_guess, steps_of_rows

load_backend()

# %% tags=["setup"]
import time

import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

rng = np.random.default_rng(3)  # for the pictures

# %% [markdown]
# In this picture each row is a word that looks (the query), each column a word that is looked at (the key). The darker
# a cell, the larger the attention weight. At the end of the notebook you draw such a picture with your own code.

# %%
sentence = "the robin sat on the branch".split()
who_asks_whom = np.array([[1.0 if a == b else 0.05 for b in sentence] for a in sentence])
heat_maps(
    [who_asks_whom / who_asks_whom.sum(axis=1, keepdims=True)],
    titles=["Who is the same word?"],
    rows=sentence,
    columns=sentence,
    alt="A six by six heat map; the two words 'the' attend to each other, every other word to itself",
)

# %% [markdown]
# ---
# # Warm-up: two operations
#
# ## 3.1 Side by side · 2 points · ~3 minutes · MHAttention, line 4
#
# Several heads look at the same sentence, and each returns its own matrix. The next step needs *one* matrix, in which
# the row of a token contains the results of all heads for it. So the matrices are put side by side, and rows stay rows:
#
# $$Y = [Y^1; Y^2; \dots; Y^H] \qquad Y^h \in \mathbb{R}^{\ell \times d_\text{mid}}
# \;\Rightarrow\; Y \in \mathbb{R}^{\ell \times H d_\text{mid}}$$
#
# From the lecture:
#
# $$A = \begin{pmatrix}1&2\\3&4\\5&6\end{pmatrix},\; B = \begin{pmatrix}11&12\\13&14\\15&16\end{pmatrix} \;\Rightarrow\;
# [A; B] = \begin{pmatrix}1&2&11&12\\3&4&13&14\\5&6&15&16\end{pmatrix}$$
#
# There may be more axes before the last two (a batch of sentences); the result keeps them.

# %% nbgrader={"grade": false, "grade_id": "concat-heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def concat_heads(heads: list[Tensor]) -> Tensor:
    """Puts matrices side by side: [Y1; Y2; ...].

    heads: a list of tensors (..., tokens, d_mid), one per head
    returns (..., tokens, heads * d_mid)
    """
    ### BEGIN SOLUTION
    return ops.concatenate(heads, axis=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-concat-heads", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(concat_heads)

# %%
a = ops.convert_to_tensor([[1, 2], [3, 4], [5, 6]])
b = ops.convert_to_tensor([[11, 12], [13, 14], [15, 16]])
print(concat_heads([a, b]).numpy())

# %% [markdown]
# ## 3.2 The same vector to every row · 2 points · ~3 minutes · Attention, lines 2–4
#
# A bias is one vector that is added to every token. The lecture writes it with a row of ones, so that the sizes match
# on paper:
#
# $$Z = X +_{(\text{rows})} b = X + (b^\top \mathbf{1}^m)^\top \qquad X \in \mathbb{R}^{m \times n},\; b \in \mathbb{R}^n$$
#
# $$X = \begin{pmatrix}1&2\\3&4\\5&6\end{pmatrix},\; b = (10 \quad 20) \;\Rightarrow\; Z = \begin{pmatrix}11&22\\13&24\\15&26\end{pmatrix}$$
#
# A tensor library repeats the vector for you (*broadcasting*: it aligns sizes from the right and repeats along missing
# axes).

# %% nbgrader={"grade": false, "grade_id": "add-to-rows", "locked": false, "schema_version": 3, "solution": true, "task": false}
def add_to_rows(x: Tensor, b: Tensor) -> Tensor:
    """Adds one vector to each row of a matrix.

    x: (..., m, n)    b: (n,)
    returns (..., m, n)
    """
    ### BEGIN SOLUTION
    return x + b
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-add-to-rows", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(add_to_rows)

# %% [markdown]
# ---
# # One head, step by step
#
# Attention is a soft dictionary. Every token computes a **query** (what am I looking for?), a **key** (what can I be
# found by?) and a **value** (what do I return?). Each query is compared with every key; the better they match, the more
# of that key's value goes into the result.
#
# ## 3.3 Weights: softmax of each row · 3 points · ~8 minutes · Attention, line 6
#
# Softmax turns a row of scores into a row of **attention weights**: positive, adding up to 1, and largest where the
# score is largest.
#
# $$\text{softmax}_\text{row}(A)[i, j] = \frac{\exp(A[i, j])}{\sum_{k=1}^n \exp(A[i, k])}$$
#
# One problem is not visible in the formula: $\exp(89)$ is larger than any float32. Adding the same number to every
# score of a row changes nothing (it cancels in the fraction), so shift each row until its largest score is 0, *then*
# apply $\exp$. Compute with `ops`, not with NumPy, here and in 3.4: 3.10 needs the gradients.

# %% nbgrader={"grade": false, "grade_id": "softmax-rows", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_rows(a: Tensor) -> Tensor:
    """Softmax of each row; it and its gradients are finite for scores of any size.

    a: (..., m, n) scores
    returns (..., m, n): every row sums to 1, and no number is negative
    """
    # 1. the largest score of each row becomes 0   2. exp   3. divide by the row's sum
    ### BEGIN SOLUTION
    shifted = a - ops.max(a, axis=-1, keepdims=True)
    powers = ops.exp(shifted)
    return powers / ops.sum(powers, axis=-1, keepdims=True)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-softmax-rows", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(softmax_rows)

# %% [markdown]
# **See it.** One row of scores, multiplied by 0.3, 1, 3 and 10. The larger the scores, the more of the weight goes to
# the largest one. (⚠ A lecture explains this softmax and the one that predicts words together. They are two: this one
# runs over the keys, in every head; the other over the vocabulary, once at the end, in notebook 05.)

# %%
row = np.array([[1.0, 2.0, 0.5, 1.8, -1.0]], "float32")
heat_maps(
    [softmax_rows(ops.convert_to_tensor(row * size)) for size in (0.3, 1, 3, 10)],
    titles=["scores × 0.3", "× 1", "× 3", "× 10"],
    alt="Four rows of weights from the same five scores; from nearly equal weights to 0.88 for the largest score",
    numbers=True,
    largest=1.0,
)

# %% [markdown]
# ## 3.4 Scores · 3 points · ~8 minutes · Attention, line 5
#
# How well does each word match each word, itself included? You have one query and one key per token. A query and a key
# that point in the same direction should get a high score; at right angles, zero. That is a dot product, and a single
# matrix product compares every query with every key:
#
# $$S = \frac{1}{\sqrt{d_\text{attn}}}\, Q K^\top \qquad S \in \mathbb{R}^{\ell \times \ell}$$
#
# Why divide? If the entries of $q$ and $k$ are independent, with mean 0 and variance 1, then $q \cdot k$ is a sum of
# $d_\text{attn}$ products, each of variance 1: its variance is $d_\text{attn}$, its typical size $\sqrt{d_\text{attn}}$
# (Vaswani et al. 2017, section 3.2.1, footnote 4). You have just seen how large scores change the softmax. As in 3.3,
# gradients must pass through.

# %% nbgrader={"grade": false, "grade_id": "scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_scores(q: Tensor, k: Tensor) -> Tensor:
    """Scaled dot products of every query with every key.

    q: (..., tokens, d_attn) queries    k: (..., other_tokens, d_attn) keys
    returns (..., tokens, other_tokens): row t has the scores of query t with every key
    """
    # 1. multiply every query with every key   2. scale
    ### BEGIN SOLUTION
    d_attn = q.shape[-1]
    products = ops.matmul(q, ops.swapaxes(k, -1, -2))
    return products / d_attn**0.5
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-scores", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(attention_scores)

# %% [markdown]
# **See it.** A sentence with random queries and keys of variance 1, for $d_\text{attn}$ = 4, 64 and 1024. The top row
# is without scaling (your scores, multiplied back by $\sqrt{d_\text{attn}}$), the bottom row as you wrote it. Without
# scaling, softmax puts nearly all the weight on one word where $d_\text{attn}$ is large.

# %%
words = "the animal did not cross the street because it was tired".split()
sizes = (4, 64, 1024)
scaled = []
for d in sizes:
    q, k = (ops.convert_to_tensor(rng.normal(size=(len(words), d)).astype("float32")) for _ in range(2))
    scaled.append(attention_scores(q, k))
unscaled = [scores * d**0.5 for scores, d in zip(scaled, sizes)]
it = words.index("it")
heat_maps(
    [softmax_rows(scores) for scores in (*unscaled, *scaled)],
    titles=[f"d = {d}, unscaled" for d in sizes] + [f"d = {d}, scaled" for d in sizes],
    rows=words,
    columns=words,
    per_line=3,
    largest=1,
    row_axis="query",
    column_axis="key",
    alt="Six heat maps of attention weights: unscaled ones collapse onto single words as d grows, scaled ones stay "
    "spread out",
)
for d, loose, tight in zip(sizes, unscaled, scaled):
    largest = [float(ops.max(softmax_rows(scores)[it])) for scores in (loose, tight)]
    print(f"d = {d:4}: the largest weight in the row of 'it' is {largest[0]:.2f} unscaled, {largest[1]:.2f} scaled")

# %% [markdown]
# A dot product is not the only way to compare. The first attention for translation (Bahdanau, Cho & Bengio 2014) used a
# small network with weights of its own, $v^\top \tanh(W q + U k)$: *additive* attention. A dot product needs no weights
# and is one matrix product for all pairs.
#
# How dot products grow with $d$: the standard deviation of your scores, before and after the division, beside
# $\sqrt{d}$.

# %%
dimensions = [2**power for power in range(1, 11)]
spread = []
for d in dimensions:
    q, k = (ops.convert_to_tensor(rng.normal(size=(200, d)).astype("float32")) for _ in range(2))
    spread.append(float(ops.std(attention_scores(q, k))))
lines(
    dimensions,
    {
        "before scaling": [s * d**0.5 for s, d in zip(spread, dimensions)],
        "after scaling": spread,
        "√d": [d**0.5 for d in dimensions],
    },
    title="Size of a dot product",
    x="d",
    y="standard deviation",
    alt="Before scaling the spread follows the square root of d; after scaling it stays at 1",
    log=True,
)

# %% [markdown]
# ### The lecture's example, by hand
#
# Three inputs and three integer matrices:
#
# $$X = \begin{pmatrix}1&0&1&0\\0&2&0&2\\1&1&1&1\end{pmatrix}\quad
# W^Q = \begin{pmatrix}1&0&1\\1&0&0\\0&0&1\\0&1&1\end{pmatrix}\quad
# W^K = \begin{pmatrix}0&0&1\\1&1&0\\0&1&0\\1&1&0\end{pmatrix}\quad
# W^V = \begin{pmatrix}0&2&0\\0&3&0\\1&0&3\\1&1&0\end{pmatrix}$$
#
# The lecture does not scale here. For the first input $q_1 = (1, 0, 2)$; the keys are $k_1 = (0, 1, 1)$,
# $k_2 = (4, 4, 0)$, $k_3 = (2, 3, 1)$; so its row of scores is $q_1 K^\top = (2, 4, 4)$. The values are
# $v_1 = (1, 2, 3)$, $v_2 = (2, 8, 0)$, $v_3 = (2, 6, 3)$. Compute it on paper once, then run the cell.

# %%
x = ops.convert_to_tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
w_q = ops.convert_to_tensor([[1.0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
w_k = ops.convert_to_tensor([[0.0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
w_v = ops.convert_to_tensor([[0.0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]])

q, k, v = x @ w_q, x @ w_k, x @ w_v
with_scale = attention_scores(q, k)
without_scale = with_scale * 3**0.5

for name, scores in (("unscaled, as in the lecture", without_scale), ("divided by √3", with_scale)):
    weights = softmax_rows(scores)
    print(name)
    print("  first row of scores ", np.round(scores[0].numpy(), 4))
    print("  first row of weights", np.round(weights[0].numpy(), 4))
    print("  first output        ", np.round((weights @ v)[0].numpy(), 4))

# %% [markdown]
# ⚠ The lecture rounds the weights (0.0634, 0.4683, 0.4683) to (0, 0.5, 0.5) and therefore gets the output (2.0, 7.0,
# 1.5). The exact first output is (1.9366, 6.6831, 1.5951); with the division by $\sqrt{3}$ that line 5 requires it is
# (1.8639, 6.3194, 1.7042). The other two rows, which the lecture leaves to you, are (2.0000, 7.9640, 0.0540) and
# (1.9997, 7.7599, 0.3584) unscaled: there one score is so large that it takes nearly all the weight.
#
# **See it.** The way of the first input, from left to right, with the numbers of your own functions: one row per token
# that it looks at.

# %%
products, scaled, weights = (np.asarray(rows[0]) for rows in (without_scale, with_scale, softmax_rows(with_scale)))
keys, values, first = np.asarray(k), np.asarray(v), np.asarray(weights @ np.asarray(v))


def in_brackets(numbers):
    return "(" + ", ".join(f"{number:.3g}" for number in numbers) + ")"


steps_of_rows(
    {
        "key": [in_brackets(key) for key in keys],
        f"· q = {in_brackets(np.asarray(q)[0])}": [f"{product:.0f}" for product in products],
        "÷ √3": [f"{score:.3f}" for score in scaled],
        "softmax": [f"{weight:.3f}" for weight in weights],
        "× value": [f"{weight:.3f} · {in_brackets(value)}" for weight, value in zip(weights, values)],
    },
    end=("Σ", in_brackets(first)),
    alt="Boxes from left to right for three tokens: key, product with the query, divided by root 3, softmax, weight times "
    "value; all three are added to the first output",
)

# %% [markdown]
# ## 3.5 Attention, all six lines · 4 points · ~7 minutes · Attention, lines 1–6
#
# You have all the parts; put them together.
#
# > 1: **function** Attention($X$; $W_q, b_q, W_k, b_k, W_v, b_v$)<br>
# > 2: $Q \leftarrow X W_q +_{(\text{rows})} b_q$ &nbsp;&nbsp; $Q \in \mathbb{R}^{\ell \times d_\text{attn}}$<br>
# > 3: $K \leftarrow X W_k +_{(\text{rows})} b_k$<br>
# > 4: $V \leftarrow X W_v +_{(\text{rows})} b_v$ &nbsp;&nbsp; $V \in \mathbb{R}^{\ell \times d_\text{out}}$<br>
# > 5: $S \leftarrow \frac{1}{\sqrt{d_\text{attn}}} Q K^\top$<br>
# > 6: **return** $\tilde V = \text{softmax}_\text{row}(S)\, V$
#
# Use your functions: `add_to_rows`, `attention_scores`, `softmax_rows`. (Add $b_k$, too, although no check can find
# it: it adds the same number to all scores of a query, and softmax ignores that.)

# %% nbgrader={"grade": false, "grade_id": "attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(x: Tensor, w_q: Tensor, b_q: Tensor, w_k: Tensor, b_k: Tensor, w_v: Tensor, b_v: Tensor) -> Tensor:
    """One attention head: lines 1-6 of Attention.

    x: (..., tokens, d_x)    w_q, w_k: (d_x, d_attn)    b_q, b_k: (d_attn,)    w_v: (d_x, d_out)
    b_v: (d_out,)
    returns (..., tokens, d_out)
    """
    # lines 2-4: queries, keys, values   line 5: scores   line 6: weighted sum of the values
    ### BEGIN SOLUTION
    q = add_to_rows(ops.matmul(x, w_q), b_q)
    k = add_to_rows(ops.matmul(x, w_k), b_k)
    v = add_to_rows(ops.matmul(x, w_v), b_v)
    weights = softmax_rows(attention_scores(q, k))
    return ops.matmul(weights, v)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(attention)

# %% [markdown]
# **See it.** Nothing in these six lines depends on the position of a token. Reverse the sentence, and the outputs are
# the same vectors, reversed: self-attention is an operation on sets. (That is why notebook 02 added positions.)
#
# ⚠ Four things to keep apart. $Q K^\top / \sqrt{d}$ are the *scores*, their softmax the *weights*, and the whole formula
# the *output*; a lecture calls the output "attention scores". Another leaves out softmax and root: $(XQ)(XK)^\top(XV)$
# would be three matrix products without any choice. The sum runs over all tokens, *itself included*, not over "all
# other tokens". And the six parameters are learned and then stay; it is the weights that are dot products of vectors.

# %%
none = ops.zeros(3)
forwards = attention(x, w_q, none, w_k, none, w_v, none)
backwards = attention(ops.flip(x, axis=0), w_q, none, w_k, none, w_v, none)
heat_maps(
    [forwards, backwards],
    titles=["x₁ x₂ x₃", "x₃ x₂ x₁"],
    numbers=True,
    alt="Two matrices of outputs; the second has the rows of the first in reverse order",
)

# %% [markdown]
# So how does this differ from a dense layer over the tokens? That would connect every token with every other, too, with a
# matrix of weights that training learns and that is then the same for all sentences (and for one length only). Attention
# computes its matrix from the sentence: another input, other weights.
#
# What does it cost? $Q K^\top$ has $\ell^2$ entries: a sentence of twice the length has four times as many scores. The
# cell times your own function (for short sentences the fixed cost of a call hides the quadratic growth):

# %%
lengths = [128, 256, 512, 1024, 2048]
bias, weight = ops.zeros(64), ops.convert_to_tensor(rng.normal(size=(64, 64)).astype("float32"))
seconds = []
for length in lengths:
    tokens = ops.convert_to_tensor(rng.normal(size=(length, 64)).astype("float32"))
    runs = []
    for _ in range(4):
        start = time.perf_counter()
        attention(tokens, weight, bias, weight, bias, weight, bias).numpy()
        runs.append(time.perf_counter() - start)
    seconds.append(min(runs))
lines(
    lengths,
    {
        "measured": [1000 * s for s in seconds],
        "× 4 for each doubling": [1000 * seconds[-1] * (n / lengths[-1]) ** 2 for n in lengths],
    },
    title="Cost of attention against ℓ",
    x="tokens ℓ",
    y="milliseconds",
    alt="Measured time of attention grows with the square of the number of tokens for long sequences",
    log=True,
)

# %% [markdown]
# ---
# # Who may look at whom
#
# ## 3.6 Padding · 2 points · ~4 minutes
#
# Sentences of a batch are filled up with `[PAD]` to one length. No token may look at a `[PAD]`: it carries no
# information, and the result for a sentence must not depend on how much padding follows it. The tokenizer marks real
# tokens with 1 and padding with 0, one row per sentence.
#
# A mask states *for each query and key* whether the query may see the key, $(B, \ell, \ell)$. For padding it is the
# same for every query, so one row is enough and broadcasting repeats it: $(B, 1, \ell)$.

# %% nbgrader={"grade": false, "grade_id": "padding-mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(is_real: Tensor) -> Tensor:
    """Turns the tokenizer's ones and zeros into a mask over keys.

    is_real: (batch, tokens) integers, 1 for a token of the text, 0 for padding, wherever it is
    returns (batch, 1, tokens) booleans, True where a key may be seen
    """
    ### BEGIN SOLUTION
    may_be_seen = ops.equal(is_real, 1)
    return ops.expand_dims(may_be_seen, axis=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-padding-mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(padding_mask)

# %% [markdown]
# ## 3.7 No looking ahead · 2 points · ~4 minutes
#
# BERT reads in both directions. A model that *writes* must not see what it has not written yet: token $i$ may see token
# $j$ only if $j \le i$.
#
# ⚠ Two of the lectures also hide the diagonal ($-\infty$ for $j \ge i$). Then the first token sees nothing at all; the
# pictures of 3.8 show the consequence. A token may always see itself.

# %% nbgrader={"grade": false, "grade_id": "causal-mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(tokens: int) -> Tensor:
    """The mask with which no token sees the tokens after it.

    tokens: number of tokens
    returns (tokens, tokens) booleans; [i, j] is True where token i may see token j
    """
    ### BEGIN SOLUTION
    i = ops.expand_dims(ops.arange(tokens), axis=1)
    j = ops.expand_dims(ops.arange(tokens), axis=0)
    return j <= i
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-causal-mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(causal_mask)

# %% [markdown]
# **See it.** Each row is a query, each column a key. Dark cells are True: this row may see this column.

# %%
names = ["[CLS]", "The", "chef", "who", "[PAD]"]
padding = padding_mask(ops.convert_to_tensor([[1, 1, 1, 1, 0]]))[0]
heat_maps(
    [ops.broadcast_to(padding, (5, 5)), causal_mask(5), ops.logical_and(padding, causal_mask(5))],
    titles=["padding", "causal", "both"],
    rows=names,
    columns=names,
    row_axis="query",
    column_axis="key",
    alt="Three masks of five tokens, dark where a row may see a column: padding hides the last column, causal "
    "hides what is above the diagonal, and both together",
)

# %% [markdown]
# ## 3.8 Attention that respects a mask · 4 points · ~9 minutes · Attention, lines 5–6
#
# At which step must the mask be applied? If you set *weights* to zero after the softmax, the row no longer sums to 1.
# So the mask is applied before it: a score of (nearly) $-\infty$ gets a weight of $e^{-\infty} = 0$, and softmax
# distributes the weight among the visible keys.
#
# $$\tilde S[i, j] = \begin{cases} S[i, j] & \text{if } i \text{ may see } j \\ -10^9 & \text{otherwise}\end{cases}
# \qquad \tilde V = \text{softmax}_\text{row}(\tilde S)\, V$$
#
# Why $-10^9$ and not $-\infty$? The next pictures show it.

# %% nbgrader={"grade": false, "grade_id": "masked-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
MASKED_SCORE = -1e9  # the score of a key that may not be seen


def masked_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Attention from queries, keys and values with a mask that hides some keys.

    q: (batch, tokens, d_attn)    k: (batch, keys, d_attn)    v: (batch, keys, d_out)
    mask: booleans that broadcast to (batch, tokens, keys), True where a query may see a key; a query
    that may see none gives the same weight to all keys
    returns (batch, tokens, d_out)
    """
    # 1. scores   2. hide   3. weighted sum of the values
    ### BEGIN SOLUTION
    scores = attention_scores(q, k)
    scores = ops.where(mask, scores, MASKED_SCORE)
    weights = softmax_rows(scores)
    return ops.matmul(weights, v)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-masked-attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(masked_attention)

# %% [markdown]
# **See it.** If the values are the identity matrix, the output is the weights themselves. On the left is the causal
# mask of this course. In the middle the diagonal is hidden too, with $-10^9$: the first token may see no token, so it
# gets the same weight for all, including future ones. On the right the same with $-\infty$: the first row is
# $-\infty - (-\infty)$, NaN (*not a number*), and every result computed from it is NaN too.
#
# ⚠ A lecture's table sets the attention *weights* of the future to 0: it is the scores that are set, before the softmax.
# Another lecture fills in $-9 \cdot 10^{15}$. In float32 that is as good as $-10^9$; float16 ends at 65,504, so there
# both are $-\infty$. Models that compute in 16 bits keep the softmax in float32.

# %%
q, k = (ops.convert_to_tensor(rng.normal(size=(1, 4, 8)).astype("float32")) for _ in range(2))
identity = ops.eye(4)[None]
strict = ops.logical_and(causal_mask(4), ops.logical_not(ops.cast(ops.eye(4), "bool")))
with_infinity = softmax_rows(ops.where(strict, attention_scores(q, k), -np.inf))
heat_maps(
    [masked_attention(q, k, identity, causal_mask(4))[0], masked_attention(q, k, identity, strict)[0], with_infinity[0]],
    titles=["j ≤ i visible", "j < i visible, −10⁹", "j < i visible, −∞"],
    rows=names[:4],
    columns=names[:4],
    numbers=True,
    row_axis="query",
    column_axis="key",
    alt="Three heat maps of weights: lower triangle; lower triangle without diagonal whose first row is 0.25 "
    "everywhere; the same with a first row of NaN",
)

# %% [markdown]
# ---
# # Many heads
#
# ## 3.9 A loop over heads · 4 points · ~7 minutes · MHAttention, lines 1–5
#
# One head can look for one thing: *who is my subject?* A sentence needs several at once. So $H$ heads, each with its
# own matrices, look at the same $X$; their results are put side by side, and one more matrix mixes them.
#
# > 1: **function** MHAttention($X$; $\mathcal{W}$)<br>
# > 2: **for** $h \in [H]$ **do**<br>
# > 3: &nbsp;&nbsp; $Y^h \leftarrow \text{Attention}(X; \mathcal{W}^h_{qkv})$ &nbsp;&nbsp;
# > $Y^h \in \mathbb{R}^{\ell \times d_\text{mid}}$<br>
# > 4: $Y \leftarrow [Y^1; Y^2; \dots; Y^H]$ &nbsp;&nbsp; $Y \in \mathbb{R}^{\ell \times H d_\text{mid}}$<br>
# > 5: **return** $\tilde V = Y W_o + b_o$

# %% nbgrader={"grade": false, "grade_id": "mh-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mh_attention(x: Tensor, heads: list[tuple], w_o: Tensor, b_o: Tensor) -> Tensor:
    """Multi-head attention as a loop: lines 1-5 of MHAttention.

    x: (..., tokens, d_x)
    heads: for each head its six parameters (w_q, b_q, w_k, b_k, w_v, b_v), as `attention` takes them
    w_o: (heads * d_mid, d_out)    b_o: (d_out,)
    returns (..., tokens, d_out)
    """
    ### BEGIN SOLUTION
    found = []
    for parameters in heads:
        found.append(attention(x, *parameters))
    y = concat_heads(found)
    return add_to_rows(ops.matmul(y, w_o), b_o)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-mh-attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(mh_attention)

# %% [markdown]
# **See it.** Two heads made by hand. The vector of each word is two one-hot vectors side by side: *which word* and
# *which position*. The queries and keys of the first head read only the word; the query of the second head is the
# position before its own. These matrices are not trained, and still each head finds what it looks for. (The first word
# has no word before it: its query is zero, so all its weights are equal.)

# %%
vocabulary = sorted(set(words))
places = np.eye(len(words), dtype="float32")
spelled = np.eye(len(vocabulary), dtype="float32")[[vocabulary.index(word) for word in words]]
tokens = ops.convert_to_tensor(np.concatenate([spelled, places], axis=1))
v, p = len(vocabulary), len(words)
read_word = np.concatenate([np.eye(v), np.zeros((p, v))]).astype("float32") * 6
read_place = np.concatenate([np.zeros((v, p)), np.eye(p)]).astype("float32") * 6
read_place_before = np.concatenate([np.zeros((v, p)), np.eye(p, k=-1)]).astype("float32") * 6
questions = {"the same word": (read_word, read_word), "the word before": (read_place_before, read_place)}
maps = [softmax_rows(attention_scores(tokens @ ask, tokens @ be_found)) for ask, be_found in questions.values()]
heat_maps(
    maps,
    titles=list(questions),
    rows=words,
    columns=words,
    row_axis="query",
    column_axis="key",
    alt="Two heads: one attends to the same word, with two cells for each 'the'; one to the diagonal just below "
    "the main one, its first row even",
)

# %% [markdown]
# ## 3.10 All heads at once: a Keras layer · 6 points · ~18 minutes · MHAttention, lines 1–5
#
# A loop over 12 heads computes 12 small products where one large one is enough. The letters are now BERT's: $H$ is the
# hidden size and $A$ the number of heads ($H$ in the lecture's formulas above). With $d = H / A$ numbers per head, put
# the $W_q$ of all heads side by side into one $(H, H)$ matrix. One product gives all queries; *reshape* splits each row
# into $A$ parts of $d$ numbers; the heads become one more axis, over which the scores are computed independently:
#
# $$(B, \ell, H) \xrightarrow{\text{reshape}} (B, \ell, A, d) \xrightarrow{\text{transpose}} (B, A, \ell, d)
# \xrightarrow{\;S,\ \text{softmax},\ V\;} (B, A, \ell, d) \xrightarrow{\text{transpose}} (B, \ell, A, d)
# \xrightarrow{\text{reshape}} (B, \ell, H)$$
#
# Take the three sizes from `ops.shape(x)`, here and in all layers below. In `fit`, Keras may not know the batch size in
# advance, and then `x.shape[0]` is None. The check makes one such call: inside of `tf.function`, where a tensor has no
# numbers yet either (see 2.8).
#
# Your `attention_scores` and `softmax_rows` already accept more axes in front. Name the four `Dense` layers
# `self.query`, `self.key`, `self.value` and `self.out` (all $H \to H$): the check puts its own weights into them, and
# notebook 05 will put BERT's. Create them in `build`, which Keras calls once, before the first `call`, with the shape
# of `x`: there the hidden size is known. `**kwargs` holds Keras's own arguments, such as `name` and `trainable`: hand
# them on to `super().__init__`. `attention_mask`, if given, is (B, 1 or ℓ, ℓ): it has no axis for the heads. A query
# that may see no key gives the same weight to all, as in 3.8. (Keras uses the name `mask`
# for a mechanism of its own.) Compute with your functions, the `Dense` layers and `keras.ops`, never with NumPy: the
# check also tests whether gradients reach the weight matrix of every `Dense`.

# %% nbgrader={"grade": false, "grade_id": "multi-head-layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(keras.layers.Layer):
    """Self-attention with `num_heads` heads of hidden / num_heads numbers each.

    call: x (batch, tokens, hidden); attention_mask None or booleans (batch, 1 or tokens, tokens),
    True where a query may see a key
    returns (batch, tokens, hidden)
    """

    def __init__(self, num_heads: int, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.num_heads = num_heads
        ### END SOLUTION

    def build(self, x_shape):
        ### BEGIN SOLUTION
        hidden = x_shape[-1]
        self.query = keras.layers.Dense(hidden, name="query")
        self.key = keras.layers.Dense(hidden, name="key")
        self.value = keras.layers.Dense(hidden, name="value")
        self.out = keras.layers.Dense(hidden, name="out")
        for projection in (self.query, self.key, self.value, self.out):
            projection.build(x_shape)
        ### END SOLUTION

    def split_heads(self, x: Tensor) -> Tensor:
        """(batch, tokens, hidden) to (batch, heads, tokens, hidden / heads).

        The check calls only the layer; the picture below also calls this method.
        """
        ### BEGIN SOLUTION
        batch, tokens, hidden = ops.shape(x)
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))
        ### END SOLUTION

    def call(self, x: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        # 1. project and split   2. scores, mask, weights   3. heads side by side again   4. mix with self.out
        ### BEGIN SOLUTION
        q, k, v = self.split_heads(self.query(x)), self.split_heads(self.key(x)), self.split_heads(self.value(x))
        scores = attention_scores(q, k)
        if attention_mask is not None:
            scores = ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)
        weights = softmax_rows(scores)
        found = ops.matmul(weights, v)
        side_by_side = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))
        return self.out(side_by_side)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-multi-head-layer", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(MultiHeadAttention)

# %% [markdown]
# **See it.** Your layer with 4 heads, freshly initialized, on the sentence: the weights of each head, from your own
# `query` and `key`. Untrained heads have learned nothing yet, so their weights are random. In a trained BERT many heads
# have a recognisable function: some look at the token before, some at `[SEP]`, one from an object to its verb (Clark et
# al. 2019).

# %%
keras.utils.set_random_seed(3)
layer = MultiHeadAttention(num_heads=4)
embedded = ops.convert_to_tensor(rng.normal(size=(1, len(words), 32)).astype("float32"))  # random embeddings
print("in", embedded.shape, " out", layer(embedded).shape, " parameters", layer.count_params())
weights = softmax_rows(attention_scores(layer.split_heads(layer.query(embedded)), layer.split_heads(layer.key(embedded))))
heat_maps(
    [weights[0, head] for head in range(4)],
    titles=[f"head {head + 1}" for head in range(4)],
    rows=words,
    columns=words,
    per_line=2,
    largest=1,
    row_axis="query",
    column_axis="key",
    alt="Four heat maps of untrained attention heads, spread over all words",
)

# %% [markdown]
# **The same layer, trained.** Is a head more than noise? Put trained weights into *your* layer: those of the packaged
# model `bertlab-mini`, whose layers 2 and 3 look at the states that the layer before has made. Guess first: can a head
# find the noun of a phrase, without a single rule?

# %%
from bertlab.checkpoints import load, load_tokenizer

packaged, tokenizer = load("bertlab-mini", "encoder"), load_tokenizer("bertlab-mini")
text = "the old man sat down on the small table and looked at his two dogs"
read = ["[CLS]", *text.split(), "[SEP]"]
ids = [tokenizer.vocabulary.pieces.index(word) for word in read]
states = packaged({"input_ids": ops.convert_to_tensor([ids])}, return_all=True)["hidden_states"]  # embeddings, layer 1, layer 2, …


def trained_layer(number):
    """Your layer with the weights of layer `number` (1, 2 …) of the packaged model."""
    theirs = packaged.encoder.layers_[number - 1].attention
    mine = MultiHeadAttention(num_heads=packaged.config.num_heads)
    mine(states[number - 1])  # makes the weights
    for name in ("query", "key", "value", "out"):
        getattr(mine, name).set_weights(getattr(theirs, name).get_weights())
    return mine


def weights_of(layer, state):
    """The attention weights of all heads of your layer: (heads, tokens, tokens)."""
    q, k = (layer.split_heads(part(state)) for part in (layer.query, layer.key))
    return softmax_rows(attention_scores(q, k))[0]


trained = [trained_layer(number) for number in range(1, packaged.config.num_layers + 1)]
second, third = (weights_of(trained[number - 1], states[number - 1]) for number in (2, 3))
heat_maps(
    [second[1], third[3], third[2], third[0]],
    titles=["2-2: the next word", "3-4: the word before", "3-3: itself", "3-1: the noun of the phrase"],
    rows=read,
    columns=read,
    per_line=2,
    largest=1,
    row_axis="query",
    column_axis="key",
    alt="Four heat maps of trained heads in your layer: above the diagonal, below it, on it, and one that leads from "
    "articles and adjectives to their nouns",
)
for word in ("the", "old", "on", "two"):
    row = np.array(third[0, read.index(word)])
    print(f"head 3-1 of {word!r}: {', '.join(f'{read[i]} {row[i]:.2f}' for i in np.argsort(-row)[:3])}")

# %% [markdown]
# Nobody programmed these heads; they came out of predicting masked words. But beware of names: a head that looks at the
# next word also finds many nouns, since they often follow their article. So a head is compared with the best *fixed
# offset* ("always the second word to the right"), and only what it does better is its own.
#
# The *small world* (`bertlab.data.small_world`) is a tiny language whose sentences come with their trees. In them, how often does
# the strongest weight of a word's row (apart from its own column) lead to the word above it in the tree? Guess for *det*,
# from an article to its noun (*the small dog*): how much better than the best fixed offset is the best head?

# %%
my_guess = ""  # percentage points, for example "10"

# %%
from bertlab.analysis.heads import best_offset
from bertlab.data import small_world

edges, hits = {}, {}  # relation → (word, word above it) of every edge; how often each head is right
for parsed in small_world.sample(seed=3, count=120):
    row = [tokenizer.vocabulary.pieces.index(word) for word in ("[CLS]", *parsed.words, "[SEP]")]
    layer_states = packaged({"input_ids": ops.convert_to_tensor([row])}, return_all=True)["hidden_states"]
    weights = np.stack([weights_of(layer, state) for layer, state in zip(trained, layer_states)])  # (layers, heads, T, T)
    between = weights[:, :, 1:-1, 1:-1] - np.eye(len(parsed.words))  # of words, without their own column
    strongest = between.argmax(axis=-1)  # (layers, heads, words)
    for word, (above, relation) in enumerate(zip(parsed.heads, parsed.relations)):
        if relation in ("det", "amod", "case", "nsubj", "cop", "obj"):
            edges.setdefault(relation, []).append((word, above))
            hits[relation] = hits.get(relation, 0) + (strongest[:, :, word] == above)
gains = {}
for relation, found in edges.items():
    share = hits[relation] / len(found)
    layer, head = np.unravel_index(share.argmax(), share.shape)
    offset, baseline = best_offset(*zip(*found))
    gains[relation] = 100 * (share.max() - baseline)
    print(f"{relation:6} {len(found):4} edges   head {layer + 1}-{head + 1}: {share.max():4.0%}   "
          f"always {offset:+}: {baseline:4.0%}   gain {gains[relation]:+.0f}")  # fmt: skip
show_guess(my_guess, f"{gains['det']:.0f}", what="gain of det")

# %% [markdown]
# Most of what looked like grammar is a distance: no head finds articles' nouns (*det*) much better than "the next word", and
# *case*, which has one distance in this language, is beaten by it. The subject's verb (*nsubj*) and *is* (*cop*) are a
# head's own: there the distance varies. Clark et al. (2019) did this for BERT-Base. ⚠ The
# figure that a lecture quotes from there, 82.5 % for the verb of a passive auxiliary (*was **eaten***), is that of the
# fixed offset, as the authors' own notebook shows; the head has 94.1 in it. Notebook 10 returns to it.
#
# **Is that not just a dense layer?** A dense layer over the tokens mixes them, too, with a matrix of $\ell \times \ell$
# weights. Below, both read two sentences of the same length.

# %%
pair = ["the dog that bit the man ran away".split(), "no one in the town knew her name".split()]
over_tokens = keras.layers.Dense(len(pair[0]))  # mixes the tokens of (batch, hidden, tokens)
mixed, attended = [], []
for words_of_it in pair:
    row = ops.convert_to_tensor([[tokenizer.vocabulary.pieces.index(word) for word in words_of_it]])
    state = packaged({"input_ids": row}, return_all=True)["hidden_states"][2]
    over_tokens(ops.swapaxes(state, 1, 2))
    mixed.append(ops.abs(ops.transpose(over_tokens.kernel)))
    theirs = packaged.encoder.layers_[2].attention
    heads = [ops.reshape(part(state), (1, len(words_of_it), 4, -1)) for part in (theirs.query, theirs.key)]
    q, k = (ops.transpose(head, (0, 2, 1, 3)) for head in heads)
    attended.append(softmax_rows(attention_scores(q, k))[0, 0])
heat_maps(
    [*mixed, *attended],
    titles=["dense, sentence 1", "dense, sentence 2", "head 3-1, sentence 1", "head 3-1, sentence 2"],
    rows=[pair[0], pair[1]] * 2,
    columns=[pair[0], pair[1]] * 2,
    per_line=2,
    alt="Above, a dense layer's matrix, the same for both sentences; below, attention's, another one for each sentence",
)

# %% [markdown]
# The dense layer's matrix is the same for both, and it exists for one length only. Attention computes its matrix from
# the sentence itself: the layer has learned *how to ask*, not where to look.
#
# How large is the layer? Four matrices of $H \times H$ and four biases of $H$: $4 (H^2 + H)$ parameters, here $4\,(32^2 + 32) = 4224$, for any
# number of heads. The arithmetic is the same as well: the scores of $A$ heads need $A \cdot \ell^2 \cdot d = \ell^2 H$
# multiplications, the weighted sums as many; only the number of softmaxes grows with $A$. (⚠ A lecture has $d = 64$ on one
# slide and 512 on another: the original Transformer has $H = 512$ and 8 heads of $d = 64$. Its $Z = W_0 [z_1; \dots; z_h]$
# holds for one token as a column; with tokens as rows $W_o$ is on the right, as in line 5.)
#
# ---
# # One sequence reads another
#
# ## 3.11 Cross-attention · 3 points · ~5 minutes · Attention, lines 1–6, with two sequences
#
# A translator writes one sentence while reading another. The tokens $Z$ of the sentence being written give the queries;
# the tokens $H$ (the lecture's letter; here a matrix) of the sentence being read give the keys and the values:
#
# $$Q = Z W_q + b_q \qquad K = H W_k + b_k \qquad V = H W_v + b_v
# \qquad \text{Output} = \text{softmax}_\text{row}\!\left(\tfrac{1}{\sqrt{d_\text{attn}}} Q K^\top\right) V$$
#
# Each row of the output belongs to a token of $Z$. (BERT has no cross-attention: it packs two sentences into one
# sequence in which all tokens see each other, as in notebook 08.)

# %% nbgrader={"grade": false, "grade_id": "cross-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cross_attention(
    z: Tensor, h: Tensor, w_q: Tensor, b_q: Tensor, w_k: Tensor, b_k: Tensor, w_v: Tensor, b_v: Tensor
) -> Tensor:
    """Attention of the tokens of one sequence to those of another.

    z: (..., tokens, d_x) for the queries    h: (..., other_tokens, d_x) for keys and values
    w_q, w_k: (d_x, d_attn)    b_q, b_k: (d_attn,)    w_v: (d_x, d_out)    b_v: (d_out,)
    returns (..., tokens, d_out)
    """
    ### BEGIN SOLUTION
    q = add_to_rows(ops.matmul(z, w_q), b_q)
    k = add_to_rows(ops.matmul(h, w_k), b_k)
    v = add_to_rows(ops.matmul(h, w_v), b_v)
    weights = softmax_rows(attention_scores(q, k))
    return ops.matmul(weights, v)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-cross-attention", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(cross_attention)

# %% [markdown]
# **See it.** A German sentence reads an English one. The dictionary is made by hand (same meaning, same one-hot
# vector). The values are the meanings themselves, so each row of the output shows what that word received.

# %%
english, german = "the dog bites the man".split(), "der Hund beisst den Mann".split()
meaning = {"the": 0, "der": 0, "den": 0, "dog": 1, "Hund": 1, "bites": 2, "beisst": 2, "man": 3, "Mann": 3}
asks = ops.convert_to_tensor(np.eye(4, dtype="float32")[[meaning[word] for word in german]])
answers = ops.convert_to_tensor(np.eye(4, dtype="float32")[[meaning[word] for word in english]])
sharp, zero, plain = ops.eye(4) * 4, ops.zeros(4), ops.eye(4)
found = cross_attention(asks, answers, sharp, zero, sharp, zero, plain, zero)
heat_maps(
    [softmax_rows(attention_scores(asks @ sharp, answers @ sharp)), found],
    titles=["attention weights", "what each German word receives"],
    rows=german,
    columns=[english, ["the", "dog", "bite", "man"]],
    alt="Left: each German word attends to its English counterpart, articles to both; right: the meanings that "
    "each receives",
)

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("why-scale", "")

# %%
answer("mask-where", "")

# %% [markdown]
# ---
# # Recap
#
# Compare each query with every key, divide by $\sqrt{d_\text{attn}}$, apply a softmax to each row, and take the
# weighted sum of the values: that is attention. A mask changes scores, not weights. Several heads do the same side by
# side, and one reshape turns them into one product.
#
# **To think about**
#
# 1. Add the same number to every score of one row. What changes in the output? And if you add it to one column?
# 2. The $W_q$ of a head is all zeros: what does it compute, and is that useless?
# 3. The layer's parameter count does not depend on the number of heads. What does one give up with more of them?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. Added to a row, nothing: the factor $e^c$ is in the numerator and in the sum. Added to a column, that key gets
#    $e^c$ times its weight before each row is divided by its sum: every query looks at it more (or less) than before.
# 2. If $b_q$ is zero too, all scores are 0, all weights equal, and the output is the mean of the values: a bag of
#    words, which is useful now and then. If $b_q$ is not zero, every token asks the same question, so the weights
#    depend on the keys only.
# 3. The size of each head: $d = H / A$ numbers for a query and a key. A matrix of scores then has rank $d$ at most, so
#    each head can express fewer patterns, although there are more heads.
#
# </details>
#
# **Next:** notebook 04 puts a feed-forward network, residuals and LayerNorm around your `MultiHeadAttention`, and
# stacks them.

# %%
progress()
