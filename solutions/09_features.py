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
# # 09 · Features and ELMo
#
# In notebook 08 each task changed the whole encoder. There is another way: leave the encoder as it is, compute its vectors
# *once*, and train a small model on them. The vectors are then *features*, as word vectors were before. ELMo was used in
# this way, a year before BERT; and BERT can be, too. Which of its layers would you take?
#
# By the end you will have built
#
# - `take_layers`, `ScalarMix`: six ways to make one vector of all layers, one of them with weights that the task learns;
# - `both_ways`, `bilm_loss`: ELMo's two language models, and a model that cheats, with a loss that no honest one can have;
# - `centred_cosine`: how alike two vectors are, in a space where all are alike;
# - the lectures' table of layers for *your* encoder, with the spread of the seeds, beside the paper's figures.
#
# About 65 minutes, 19 points. Everything runs on this machine, without a network and without a GPU. You need the encoder
# of notebook 05; what you have not passed there is replaced by the library's version.
#
# **Notation.** $B$ sentences in a batch, $T$ tokens, $W$ words, $H$ the hidden size, $L$ layers, $h^{(0)}$ the embeddings
# and $h^{(1)} \dots h^{(L)}$ what each layer returns, $V$ the vocabulary. All terms are in the
# [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, bars, check, curves, heat_maps, load_backend, number_table, progress, seed_dots

load_backend()

# %% tags=["setup"]
import time

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import Tensor

# %% [markdown]
# Two strategies for a pre-trained model:
#
# | | fine-tuning (08) | features (this notebook) |
# |---|---|---|
# | the encoder | is trained with the task | stays as it is |
# | for each task one keeps | a whole model | a small head |
# | its vectors are computed | at every step | once |
# | the head | one linear layer | anything, also what is no Transformer: a BiLSTM, a tree, a rule |
#
# The BERT paper gives two reasons for features (section 5.3): not every task is easily written as a Transformer encoder,
# and after *one* expensive pass over the data many cheap experiments can be made with the same vectors.
#
# **The question.** In a vector of which layer does a tagger find most? The lectures show this table (Devlin et al. 2019,
# table 7): F1 of names on CoNLL-2003's development set. The vectors of BERT-Base are kept, and a BiLSTM of two layers with
# 768 units is trained on them. The last bar will be yours.

# %%
PAPER = {  # Devlin et al. 2019, table 7: F1 on the development set
    "embeddings": 91.0,
    "second-to-last": 95.6,
    "last": 94.9,
    "last4-mix": 95.9,
    "last4-concat": 96.1,
    "all-mix": 95.5,
    "fine-tuned": 96.4,
}
bars(
    [*PAPER, "yours"],
    {"BERT-Base on CoNLL-2003": [*PAPER.values(), 0]},
    title="Which layers?",
    y="F1 (%)",
    alt="Seven bars of F1: embeddings 91.0, the others between 94.9 and 96.4; the eighth bar, yours, is empty",
)

# %% [markdown]
# Other systems in that table, on the test set: ELMo 92.2 (development 95.7), CVT 92.6 (*cross-view
# training*: a BiLSTM that also learns from unlabelled text while it learns the task, Clark et al. 2018), CSE 93.1
# (*contextual string embeddings*: two language models of characters, Akbik et al. 2018), BERT-Base fine-tuned 92.4 (96.4),
# BERT-Large 92.8 (96.6).
#
# ---
# # Which layers?
#
# ## 9.1 Six ways to take layers · 4 points · ~10 minutes · Devlin et al. 2019, table 7
#
# An encoder with $L$ layers has $L + 1$ vectors for each token: the embeddings, which know nothing of the other tokens, and
# one of each layer. `states` is the list of all of them, $h^{(0)}, h^{(1)}, \dots, h^{(L)}$, each for a whole batch. Make
# one vector per token of it:
#
# | `how` | which | numbers per token |
# |---|---|---|
# | `"embeddings"` | $h^{(0)}$ | $H$ |
# | `"second-to-last"` | $h^{(L-1)}$ | $H$ |
# | `"last"` | $h^{(L)}$ | $H$ |
# | `"last4-sum"` | the sum of the last four layers | $H$ |
# | `"last4-concat"` | the last four side by side, the lowest of them first | $4H$: for BERT-Base 3,072 |
# | `"all-sum"` | the sum of all $L$ layers, without the embeddings | $H$ |
#
# There are at least four layers. With five and one number per token, 50 from the embeddings and then 1, 2, 3, 4, 5:
# `"second-to-last"` is 4, `"last4-sum"` 14, `"last4-concat"` (2, 3, 4, 5) and `"all-sum"` 15.
#
# ⚠ The table's fourth and sixth line are *weighted* sums. The first version of the paper on arXiv calls the same figures
# sums. The weights come in 9.2.

# %% nbgrader={"grade": false, "grade_id": "take-layers", "locked": false, "schema_version": 3, "solution": true, "task": false}
def take_layers(states: list[Tensor], how: str) -> Tensor:
    """One vector for each token from the vectors of all layers.

    states: a list of tensors (batch, tokens, hidden), the embeddings and then the layers from the first to the last
    how: "embeddings", "second-to-last", "last", "last4-sum", "last4-concat" or "all-sum"
    returns (batch, tokens, width): the width is hidden, with "last4-concat" 4 * hidden
    """
    ### BEGIN SOLUTION
    if how == "embeddings":
        return states[0]
    if how == "second-to-last":
        return states[-2]
    if how == "last":
        return states[-1]
    if how == "last4-concat":
        return ops.concatenate(states[-4:], axis=-1)
    if how == "last4-sum":
        return sum(states[-4:])
    return sum(states[1:])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-take-layers", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(take_layers)

# %% [markdown]
# ## 9.2 Weights that the task learns · 4 points · ~10 minutes · Peters et al. 2018, equation 1
#
# A sum gives every layer the same weight. ELMo lets the task choose: one number $w_j$ for each layer, learned together with
# the head. A softmax turns them into shares, which are positive and add up to 1, and one more number $\gamma$
# scales the whole:
#
# $$\text{mix} = \gamma \sum_{j} s_j\, h^{(j)} \qquad s = \text{softmax}(w)$$
#
# $w$ and $\gamma$ are the same for all tokens and all sentences. For $K$ layers these are $K + 1$ numbers to learn. With
# $w = (0, \ln 2, 0)$ the shares are $\tfrac14, \tfrac12, \tfrac14$; three layers with the numbers 4, 8 and 0 and
# $\gamma = 3$ give $3 \cdot (1 + 4 + 0) = 15$. In a new layer all shares are equal and $\gamma = 1$: it begins with the
# mean. (⚠ A lecture's figure multiplies by weights and adds; softmax and $\gamma$ are missing there.)
#
# The layers come as one tensor, with an axis for them before the last one. Name the two weights `self.w` and `self.gamma`:
# the check puts numbers into them. In training Keras does not know the batch size in advance.

# %% nbgrader={"grade": false, "grade_id": "scalar-mix", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ScalarMix(keras.layers.Layer):
    """A weighted sum of layers, with a learned share for each.

    call: states (batch, tokens, layers, hidden)
    returns (batch, tokens, hidden)
    """

    def __init__(self, num_layers: int, **kwargs):
        # two weights: w, of shape (num_layers,), and gamma, of shape ()
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.w = self.add_weight(shape=(num_layers,), initializer="zeros", name="w")
        self.gamma = self.add_weight(shape=(), initializer="ones", name="gamma")
        ### END SOLUTION

    def call(self, states: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        shares = ops.softmax(self.w)
        return self.gamma * ops.sum(shares[:, None] * states, axis=-2)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-scalar-mix", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(ScalarMix)

# %% [markdown]
# ---
# # ELMo: two language models
#
# ## 9.3 Forwards and backwards · 4 points · ~12 minutes · Peters et al. 2018, section 3.1
#
# What does *stick* mean? It depends: *Let's stick to the plan*, *the dog fetched a stick*. ELMo (*embeddings from language
# models*) gave a word a vector **in its sentence**, one year before BERT. It trains two language models: one reads from the
# left and predicts the next word, the other reads from the right and predicts the word before. Two marks, `start` and `end`,
# surround the sentence, so that also the first word, the last word and the ends themselves are predicted. In *Let's stick
# to*:
#
# | | reads | predicts |
# |---|---|---|
# | forwards | start, let's, stick, to | let's, stick, to, end |
# | backwards | end, to, stick, let's | to, stick, let's, start |
#
# So the backward model is the same program on the turned sentence: at each position it predicts what it will read next.
# Sentences of a batch have different lengths and are padded at the end. Turn each sentence *within its own length*, or
# padding comes first. Example with 0 for padding, `start` 7 and `end` 8: the row 3 5 0 with two words gives
#
# $$\begin{array}{ll} \text{forward inputs: } & 7\;3\;5\;0 \\ \text{forward targets: } & 3\;5\;8\;0 \end{array} \qquad
# \begin{array}{ll} \text{backward inputs: } & 8\;5\;3\;0 \\ \text{backward targets: } & 5\;3\;7\;0 \end{array}$$
#
# Only `is_real` says what is padding: a word may have the id 0, and padding any id. These are NumPy arrays, not tensors:
# data is prepared before the training, and a loop over the rows is fine.

# %% nbgrader={"grade": false, "grade_id": "both-ways", "locked": false, "schema_version": 3, "solution": true, "task": false}
def both_ways(
    ids: np.ndarray, is_real: np.ndarray, start: int, end: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The tokens that a forward and a backward language model read and predict.

    ids: (batch, tokens) integers, the words of each sentence
    is_real: (batch, tokens) integers, 1 for a word, then 0 for padding; each row has a 1
    start, end: the ids of the two marks
    returns four arrays of int32, (batch, tokens + 1): forward inputs, forward targets, backward inputs, backward
    targets; 0 where a row has nothing
    """
    # for each row: 1. start, words, end   2. inputs and targets   3. the same of the turned row
    ### BEGIN SOLUTION
    arrays = tuple(np.zeros((len(ids), ids.shape[1] + 1), "int32") for _ in range(4))
    for row, (numbers, real) in enumerate(zip(ids, is_real)):
        sentence = [start, *numbers[real == 1], end]
        turned = sentence[::-1]
        parts = sentence[:-1], sentence[1:], turned[:-1], turned[1:]
        for array, part in zip(arrays, parts):
            array[row, : len(part)] = part
    return arrays
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-both-ways", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(both_ways)

# %% [markdown]
# ## 9.4 Both losses · 4 points · ~12 minutes · Peters et al. 2018, section 3.1
#
# Each model has a vector at each position, and *one* matrix $W$ makes scores of all words from it: both models share it.
# ELMo maximises both log-likelihoods together. So the loss of one position is the **sum** of two, what the forward model
# pays for its target and what the backward model pays for its own:
#
# $$\text{loss} = \underset{\text{positions}}{\text{mean}}\;\bigl( -\log \text{softmax}(\overrightarrow{h_t}\, W)
# [\overrightarrow{x_t}]\; -\; \log \text{softmax}(\overleftarrow{h_t}\, W)[\overleftarrow{x_t}] \bigr)$$
#
# The mean is over all real positions of the batch, together; padding does not count. The backward arrays are in the order in
# which the backward model reads, as your `both_ways` returns them: position $t$ of the one has nothing to do with
# position $t$ of the other. A model that knew nothing would pay $2 \ln V$.
#
# It trains a model inside of `tf.function`, and the gradients must reach both models and $W$: compute with `ops`.
# `ops.log_softmax` may be used; it is finite for large scores, too.

# %% nbgrader={"grade": false, "grade_id": "bilm-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bilm_loss(
    forward: Tensor, backward: Tensor, w_out: Tensor, forward_targets: Tensor, backward_targets: Tensor, is_real: Tensor
) -> Tensor:
    """The loss of a forward and a backward language model with one output matrix.

    forward: (batch, positions, d)    backward: (batch, positions, d)    w_out: (d, vocabulary)
    forward_targets: (batch, positions) integers    backward_targets: (batch, positions) integers
    is_real: (batch, positions) integers, 1 where there is a target, 0 for padding; there is a 1
    returns a scalar
    """
    # for each direction: scores, log softmax, at the targets; then the sum of both, and the mean over the real positions
    ### BEGIN SOLUTION
    counts = ops.cast(is_real, w_out.dtype)
    loss = 0.0
    for states, targets in ((forward, forward_targets), (backward, backward_targets)):
        log_p = ops.log_softmax(ops.matmul(states, w_out), axis=-1)  # (batch, positions, vocabulary)
        of_targets = ops.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
        loss = loss - ops.sum(of_targets * counts) / ops.sum(counts)
    return loss
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-bilm-loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(bilm_loss)

# %% [markdown]
# ---
# # How alike are two vectors?
#
# ## 9.5 Cosines, centred · 3 points · ~7 minutes
#
# Features are also used without any training: which question in the archive is nearest to this one? The usual measure is the
# cosine of the angle between two vectors, 1 for the same direction, 0 for a right angle. But the vectors of language models
# lie in a narrow cone: *any* two of them have a large cosine (Ethayarajh 2019), since they share a large part that carries
# no meaning. That part is the mean $m$ of many vectors. Subtract it first:
#
# $$\cos_m(x, y) = \frac{(x - m) \cdot (y - m)}{\lVert x - m \rVert\, \lVert y - m \rVert}$$
#
# With $m = (10, 0)$: the vectors $(11, 1)$, $(9, 1)$ and $(12, 2)$ have cosines of at least 0.99 with each other. Centred they
# are $(1, 1)$, $(-1, 1)$ and $(2, 2)$: the first and the third have the cosine 1, the first and the second 0.
#
# The mean is that of *many* vectors, and is given. The mean of the few vectors that are compared would be something else: of two
# vectors, each minus the mean of both, the cosine is always −1. No vector is equal to `mean`.

# %% nbgrader={"grade": false, "grade_id": "centred-cosine", "locked": false, "schema_version": 3, "solution": true, "task": false}
def centred_cosine(x: Tensor, mean: Tensor) -> Tensor:
    """The cosines of all pairs of vectors, after the mean of many vectors is subtracted.

    x: (n, d)    mean: (d,)
    returns (n, n)
    """
    ### BEGIN SOLUTION
    centred = x - mean
    unit = centred / ops.norm(centred, axis=-1, keepdims=True)
    return ops.matmul(unit, ops.transpose(unit))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-centred-cosine", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(centred_cosine)
