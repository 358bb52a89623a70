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
# # P · Before transformers
#
# How did machines read before attention? They counted words, averaged vectors, or went through the text word by word
# with a state that remembers. In this notebook you build these readers, and measure on the same tasks what each of them
# can do and what it cannot. At the end you know, in numbers, which problem attention solves.
#
# By the end you will have built
#
# - `cbow_loss`: vectors of words, learned from their neighbours (word2vec), and how BERT's own task grew out of it;
# - `rnn_step`, `lstm_step`: one step of a recurrent network, without and with gates;
# - `gradient_by_distance`, `costs`: what distance does to learning, and what a layer costs;
# - `pair_features`, `two_tasks_loss`: two ideas of that time that BERT kept.
#
# This notebook is optional: no other one needs it. Do it any time after 02. About 65 minutes, 22 points. Everything
# runs on this machine, without a network.
#
# **Notation.** Row vectors, as everywhere in the course: $n$ tokens, $d$ numbers per token, $B$ rows of a batch, $V$
# words in the vocabulary. $\sigma(x) = 1 / (1 + e^{-x})$ is the *sigmoid*, a number between 0 and 1, and $\odot$
# multiplies number by number. All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has otherwise
# ([errata](../errata.md)).

# %%
from autograde.student import answer, check, heat_maps, load_backend, progress

load_backend()

# %% tags=["setup"]
import math
import time

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import Tensor

# %% [markdown]
# The simplest reader counts words: a **bag of words** is one number per word of the vocabulary. It is fast, and often
# good enough to tell spam from letters. The picture shows all that it knows about two sentences.

# %%
from bertlab.data import small_world

bites = ["dog bites man", "man bites dog"]
kinds = sorted({word for text in bites for word in text.split()})
counts = np.array([[text.split().count(word) for word in kinds] for text in bites])
heat_maps(
    [counts],
    titles=["two bags of words"],
    rows=bites,
    columns=kinds,
    numbers=True,
    alt="Two equal rows of counts: dog bites man and man bites dog are the same bag of words",
)

# %% [markdown]
# Two sentences, one bag. Three more limits, in numbers: such a vector is nearly all zeros; two different words are
# always at right angles, whether they mean the same or not; and a word has one number, whichever sense it has. The
# texts are of the course's *small world*, a tiny language of 125 words with known laws (see
# [its page](../small_world.md)).

# %%
sentences = small_world.sample(seed=0, count=20_000)
ids = small_world.word_ids(sentences)  # (sentences, tokens); after the end of a sentence there is PAD
WORDS, PAD = small_world.WORDS, len(small_world.WORDS)
number_of = {word: number for number, word in enumerate(WORDS)}
bags = np.zeros((len(sentences), PAD + 1))
np.add.at(bags, (np.arange(len(ids))[:, None], ids), 1)
print(f"zeros in a bag of {PAD} words: {(bags[:, :PAD] == 0).mean():.1%}")
print(f"zeros if the vocabulary had BERT's 30,522 tokens: {1 - (bags[:, :PAD] > 0).sum(axis=1).mean() / 30_522:.2%}")
one_hot = np.eye(PAD)
print("cosine of 'dog' and 'cat' as one-hot vectors:", one_hot[number_of["dog"]] @ one_hot[number_of["cat"]])
for text in ("the bank faces the river .", "the bank pays the lawyer ."):
    print(f"{text:28} 'bank' is column {number_of['bank']} of the bag; the scene is {small_world.read(text).scene}")

# %% [markdown]
# ---
# # Vectors instead of counts
#
# ## P.1 CBOW: a word from its neighbours · 4 points · ~10 minutes · word2vec (Mikolov et al. 2013)
#
# *You shall know a word by the company it keeps* (Firth 1957): words with similar neighbours have similar meanings. So
# let a model guess each word from its neighbours; whatever helps to guess ends up in the words' vectors. The
# **continuous bag of words** does it in the simplest way. It looks up a vector for each word $c$ of the context $C$,
# two words on each side, takes the mean, and scores all words with a second matrix:
#
# $$\bar v = \frac{1}{|C|} \sum_{c \in C} E[c] \qquad P(w \mid C) = \text{softmax}(\bar v\, W_\text{out})[w]
# \qquad \text{loss} = -\log P(w \mid C), \text{ mean over the batch}$$
#
# At the edge of a sentence a context has fewer words; it is filled up with padding, which must not count: $|C|$ is the
# number of real neighbours. Training runs inside of `tf.function`, as in Keras's `fit`, and needs gradients, so compute
# with `ops` only. `ops.log_softmax` may be used: the logarithm of a softmax, finite for large scores too.

# %% nbgrader={"grade": false, "grade_id": "cbow-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cbow_loss(table: Tensor, w_out: Tensor, context: Tensor, is_real: Tensor, target: Tensor) -> Tensor:
    """The mean loss of words that are guessed from the mean of their neighbours' vectors.

    table: (vocabulary, d)    w_out: (d, vocabulary)
    context: (batch, window) integers, the neighbours of each word
    is_real: (batch, window) integers, 1 for a neighbour, 0 for padding, wherever it is; each row has a 1
    target: (batch,) integers, the words to guess
    returns a scalar
    """
    # 1. look up   2. mean of the real neighbours   3. scores of all words   4. −log softmax at the target
    ### BEGIN SOLUTION
    weights = ops.cast(is_real, table.dtype)[..., None]  # (batch, window, 1)
    vectors = ops.take(table, context, axis=0)  # (batch, window, d)
    mean = ops.sum(vectors * weights, axis=1) / ops.sum(weights, axis=1)
    log_p = ops.log_softmax(ops.matmul(mean, w_out), axis=-1)
    return -ops.mean(ops.take_along_axis(log_p, target[:, None], axis=1))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-cbow-loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(cbow_loss)

# %% [markdown]
# **See it.** Your loss trains 125 vectors of 32 numbers for some seconds.

# %%
# CBOW-TRAINING

# %% [markdown]
# ---
# # Reading word by word
#
# ## P.2 A step of a recurrent network · 2 points · ~5 minutes · Elman (1990)
#
# An average forgets the order. A **recurrent neural network** (RNN) reads as we do, from left to right, with a *hidden
# state* $h$, a vector that sums up what has been read so far. Each step makes a new state of the next word and the old
# state, with the same weights at every step:
#
# $$h_t = \tanh(x_t W + h_{t-1} U + b) \qquad h_0 = 0$$
#
# Without $\tanh$ all steps together would be one linear map; it also keeps every number of the state between −1 and 1.

# %% nbgrader={"grade": false, "grade_id": "rnn-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rnn_step(x: Tensor, h: Tensor, w: Tensor, u: Tensor, b: Tensor) -> Tensor:
    """The next state of a recurrent network.

    x: (batch, d) the word    h: (batch, units) the state before
    w: (d, units)    u: (units, units)    b: (units,)
    returns (batch, units)
    """
    ### BEGIN SOLUTION
    return ops.tanh(ops.matmul(x, w) + ops.matmul(h, u) + b)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-rnn-step", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(rnn_step)

# %% [markdown]
# SEE-RNN
#
# ## P.3 A step with gates: the LSTM · 4 points · ~10 minutes · Hochreiter & Schmidhuber (1997)
#
# An RNN writes its whole state anew at each step: what it wants to keep has to survive a matrix product and a $\tanh$,
# hundreds of times. A **long short-term memory** (LSTM) has a second state, the *cell* $c$, that is only scaled and
# added to. Three **gates**, numbers between 0 and 1 for each number of the cell, decide: what is written (*input*), what
# is kept (*forget*; Gers, Schmidhuber & Cummins 2000) and what is shown (*output*). All four parts are computed at once and then
# split into four equal pieces, in the order of Keras:
#
# $$[\,i;\; f;\; g;\; o\,] = x_t W + h_{t-1} U + b$$
#
# $$c_t = \sigma(f) \odot c_{t-1} + \sigma(i) \odot \tanh(g) \qquad h_t = \sigma(o) \odot \tanh(c_t)$$
#
# (Another order works as well, but with other weights: a published model has to be read in the order in which it was
# trained. The forget gate's bias usually *begins* at 1, so that a new LSTM remembers; that is a matter of the initial
# weights, and nothing to add in the step.)

# %% nbgrader={"grade": false, "grade_id": "lstm-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def lstm_step(x: Tensor, h: Tensor, c: Tensor, w: Tensor, u: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The next state and the next cell of an LSTM.

    x: (batch, d) the word    h, c: (batch, units) state and cell before
    w: (d, 4 * units)    u: (units, 4 * units)    b: (4 * units,)
    returns two tensors (batch, units): the state h, then the cell c
    """
    # 1. all four parts, split   2. the cell: keep and write   3. the state: show
    ### BEGIN SOLUTION
    i, f, g, o = ops.split(ops.matmul(x, w) + ops.matmul(h, u) + b, 4, axis=-1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    h = ops.sigmoid(o) * ops.tanh(c)
    return h, c
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-lstm-step", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(lstm_step)

# %% [markdown]
# SEE-LSTM
#
# ## P.4 What distance does to a gradient · 3 points · ~8 minutes
#
# Why is it hard for an RNN to learn that *that country* is *France*, twenty words back? Learning follows gradients. How
# strongly does the last state depend on a word $k$ steps before? The chain rule multiplies one matrix per step,
#
# $$\frac{\partial h_n}{\partial x_{n-k}} = \text{diag}(1 - h_{n-k}^2)\text{-like factors}$$
#
# GRADIENT-TEXT


# %% tags=["setup"]
def last_state(x, w, u, b):
    """The last state of an RNN that reads x (tokens, d); without exercise P.2."""
    h = ops.zeros((1, u.shape[0]))
    for word in ops.split(ops.matmul(x, w) + b, x.shape[0]):  # x W + b of all words at once
        h = ops.tanh(word + ops.matmul(h, u))
    return h[0]


# %% nbgrader={"grade": false, "grade_id": "gradient-by-distance", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gradient_by_distance(read, x: Tensor) -> Tensor:
    """How strongly what a reader returns depends on each word: the length of its gradient, by distance from the end.

    read: a function of the words, such as `last_state` with its weights; it returns a vector (units,)
    x: (tokens, d) the words
    returns (tokens,): number k is the Frobenius norm of the derivative of all units with respect to the word that is
    k words before the last one
    """
    # 1. inside the tape: watch x, read   2. tape.jacobian: (units, tokens, d)   3. norms, the last word first
    ### BEGIN SOLUTION
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        state = read(x)
    jacobian = tape.jacobian(state, x, experimental_use_pfor=False)  # (units, tokens, d)
    norms = ops.sqrt(ops.sum(jacobian**2, axis=(0, 2)))
    return ops.flip(norms, axis=0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-gradient-by-distance", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(gradient_by_distance)

# %% [markdown]
# SEE-GRADIENT
#
# ## P.5 What a layer costs · 3 points · ~8 minutes · Vaswani et al. (2017), table 1
#
# COSTS-TEXT

# %% nbgrader={"grade": false, "grade_id": "costs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def costs(n: int, d: int, k: int) -> dict[str, tuple[int, int, int]]:
    """Table 1 of Vaswani et al. without the O: operations of a layer, steps one after the other, longest path.

    n: number of tokens, at least 2    d: numbers per token    k: width of the convolution, at least 2
    returns {"attention": (operations, steps, path), "recurrence": (…), "convolution": (…)}, whole numbers
    """
    ### BEGIN SOLUTION
    layers = 1
    while k**layers < n:
        layers += 1
    return {
        "attention": (n * n * d, 1, 1),
        "recurrence": (n * d * d, n, n),
        "convolution": (k * n * d * d, 1, layers),
    }
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-costs", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(costs)

# %% [markdown]
# SEE-COSTS
#
# ---
# # Two ideas that BERT kept
#
# ## P.6 Features of a pair of sentences · 3 points · ~7 minutes · InferSent (Conneau et al. 2017)
#
# PAIR-TEXT

# %% nbgrader={"grade": false, "grade_id": "pair-features", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pair_features(x: Tensor, x_real: Tensor, y: Tensor, y_real: Tensor) -> Tensor:
    """The features of a pair of sentences: [u; v; |u − v|; u ⊙ v] of their largest states u and v.

    x: (batch, tokens, d) the states of the first    y: (batch, other_tokens, d) of the second
    x_real: (batch, tokens) integers    y_real: (batch, other_tokens) integers, 1 for a word, 0 for padding, wherever
    it is; each sentence has a word
    returns (batch, 4 * d)
    """
    # 1. the largest value of each of the d numbers over the real words   2. four blocks side by side
    ### BEGIN SOLUTION
    u = ops.max(ops.where(ops.equal(x_real, 1)[..., None], x, -np.inf), axis=1)
    v = ops.max(ops.where(ops.equal(y_real, 1)[..., None], y, -np.inf), axis=1)
    return ops.concatenate([u, v, ops.abs(u - v), u * v], axis=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-pair-features", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(pair_features)

# %% [markdown]
# SEE-PAIR
#
# ## P.7 Two tasks at two depths · 3 points · ~8 minutes · Søgaard & Goldberg (2016)
#
# TASKS-TEXT

# %% nbgrader={"grade": false, "grade_id": "two-tasks-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def two_tasks_loss(
    states: Tensor, w_tag: Tensor, w_label: Tensor, tags: Tensor, labels: Tensor, layer: int
) -> Tensor:
    """The sum of two losses: tags of words from a lower layer, labels of sentences from the last one.

    states: (layers, batch, tokens, hidden), what each layer returns, from the first to the last
    w_tag: (hidden, tag_names)    w_label: (hidden, label_names)
    tags: (batch, tokens) integers, −1 where a position has no tag    labels: (batch,) integers
    layer: the layer whose states are tagged, 1 for the first
    returns a scalar
    """
    # 1. scores of the tags, from `layer`   2. mean loss over the tagged positions
    # 3. scores of the labels, from the first position of the last layer   4. mean loss over the sentences   5. sum
    ### BEGIN SOLUTION
    log_p = ops.log_softmax(ops.matmul(states[layer - 1], w_tag), axis=-1)  # (batch, tokens, tag_names)
    has_tag = ops.cast(ops.greater_equal(tags, 0), log_p.dtype)
    of_tags = ops.take_along_axis(log_p, ops.maximum(tags, 0)[..., None], axis=-1)[..., 0]
    tag_loss = -ops.sum(of_tags * has_tag) / ops.sum(has_tag)
    log_p = ops.log_softmax(ops.matmul(states[-1][:, 0], w_label), axis=-1)  # (batch, label_names)
    label_loss = -ops.mean(ops.take_along_axis(log_p, labels[:, None], axis=1))
    return tag_loss + label_loss
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-two-tasks-loss", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(two_tasks_loss)

# %%
progress()
