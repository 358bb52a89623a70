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
# In notebook 08 each task changed the whole encoder. There is another way: leave the encoder as it is, compute its
# vectors *once*, and train a small model on them. The vectors are then *features*, as word vectors were before. ELMo
# was used in this way, some months before BERT; and BERT can be, too. Which of its layers would you take?
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
# | the head | one linear layer | any model, for example a BiLSTM, a tree, a rule |
#
# The BERT paper gives two reasons for features (section 5.3): not every task is easily written as a Transformer encoder,
# and after *one* expensive pass over the data many cheap experiments can be made with the same vectors.
#
# **The question.** In a vector of which layer does a tagger find most? The lectures show this table (Devlin et al.
# 2019, table 7): F1 of names on CoNLL-2003's development set. The vectors of BERT-Base are kept, and a BiLSTM of two
# layers with 768 units is trained on them. The last bar will be yours.

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
    numbers=True,
    alt="Seven bars of F1: embeddings 91.0, the others between 94.9 and 96.4; the eighth bar, yours, is empty",
)

# %% [markdown]
# Other systems in that table, on the test set: ELMo 92.2 (development 95.7), CVT 92.6 (*cross-view training*: a BiLSTM
# that also learns from unlabelled text while it learns the task, Clark et al. 2018), CSE 93.1 (*contextual string
# embeddings*: two language models of characters, Akbik et al. 2018), BERT-Base fine-tuned 92.4 (96.4), BERT-Large 92.8
# (96.6).
#
# ---
# # Which layers?
#
# ## 9.1 Six ways to take layers · 4 points · ~10 minutes · Devlin et al. 2019, table 7
#
# An encoder with $L$ layers has $L + 1$ vectors for each token: the embeddings, which know nothing of the other tokens,
# and one of each layer. `states` is the list of all of them, $h^{(0)}, h^{(1)}, \dots, h^{(L)}$, each for a whole
# batch. Make one vector per token of it:
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
# **See it: compute once, try often.** The task is `names` of notebook 08a: persons, places and organizations, 196
# labelled sentences and 96 to judge. The encoder is `bertlab-mini` in *your* layers. It reads each sentence once; as in
# the paper, a word's vector is that of its first token. Then a linear head is trained on the vectors of each way, some
# seconds each. The encoder has four layers, so that `"all-sum"` and `"last4-sum"` are the same here.
#
# Guess first: which way has the lowest F1, and how far below the others?

# %%
from autograde.student.fine_tuning import encode, new_bert
from autograde.student.kept_vectors import every_state, score_of, tagged_words, tags_from, train_tagger, word_task
from autograde.student.starting_points import published

begin = published("bertlab-mini")
bert = new_bert(begin)
names = word_task("names")
train, held_out = (tagged_words(sentences, begin) for sentences in (names.train, names.held_out))

start = time.perf_counter()
train_states, held_out_states = (every_state(bert, words.rows) for words in (train, held_out))
print(f"{len(train.tags) + len(held_out.tags)} sentences read once: {time.perf_counter() - start:.1f} seconds")


def kept(how):
    """The vectors of the words in one of the ways, to train on and to judge with."""
    found = []
    for words, states in ((train, train_states), (held_out, held_out_states)):
        taken = take_layers([ops.convert_to_tensor(state) for state in states], how)
        found.append(words.vectors_of(taken))
    return found


linear = {}
for how in ("embeddings", "second-to-last", "last", "last4-sum", "last4-concat"):
    start = time.perf_counter()
    vectors, judged = kept(how)
    tagger = train_tagger(vectors, train.tags, len(names.tags), epochs=15, rate=1e-2)
    linear[how] = 100 * score_of(names, held_out.tags, tags_from(tagger, judged))
    seconds = time.perf_counter() - start
    print(f"{how:16} {vectors.shape[-1]:5} numbers per word   F1 {linear[how]:.1f} %   {seconds:.0f} seconds")

# %% [markdown]
# The embeddings alone know no context: a linear head on them can only learn which words are names. The other ways are
# close to one another, and one seed cannot rank them: the table at the end has five.
#
# The time is the other point. Fine-tuning goes through the whole encoder, forwards and backwards, for every example of
# every epoch; here it is passed once, and what remains is a small head. Anyone who wants to try fifty heads computes
# the vectors once (`bertlab encode`, and `bertlab train-features`). Vectors can also be kept for other programs:
# for search, for clusters, for plots. In this use BERT is a *text representation*.
#
# ## 9.2 Weights that the task learns · 4 points · ~10 minutes · Peters et al. 2018, equation 1
#
# A sum gives every layer the same weight. ELMo lets the task choose: one number $w_j$ for each layer, learned together
# with the head. A softmax turns them into shares, which are positive and add up to 1, and one more number $\gamma$
# scales the whole:
#
# $$\text{mix} = \gamma \sum_{j} s_j\, h^{(j)} \qquad s = \text{softmax}(w)$$
#
# $w$ and $\gamma$ are the same for all tokens and all sentences. For $K$ layers these are $K + 1$ numbers to learn. With
# $w = (0, \ln 2, 0)$ the shares are $\tfrac14, \tfrac12, \tfrac14$; three layers with the numbers 4, 8 and 0 and
# $\gamma = 3$ give $3 \cdot (1 + 4 + 0) = 15$. In a new layer all shares are equal and $\gamma = 1$: it begins with the
# mean. (⚠ A lecture's figure multiplies by weights and adds; softmax and $\gamma$ are missing there.)
#
# The layers come as one tensor, with an axis for them before the last one. Name the two weights `self.w` and
# `self.gamma`: the check puts numbers into them. In training Keras does not know the batch size in advance.


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
# **See it: what each task asks for.** Four tasks on the same encoder, each with a linear head on *your* `ScalarMix` of
# the embeddings and all four layers:
#
# - `letter`: which letter does the word begin with?
# - `relations`: what is the word in the sentence's tree: subject, object, determiner, …?
# - `names`: as above;
# - `sense`: is *bank* or *plant* meant as in the country or as in town? Other words are not judged.
#
# Three of them are made from the small world. Guess first: which layer will get the largest share for each?

# %%
from bertlab.training.runs.recorded import recorded_runs

LAYERS = ["embeddings", "layer 1", "layer 2", "layer 3", "layer 4"]
FOUR_TASKS = ("letter", "relations", "names", "sense")


def learned_shares(name):
    """The learned shares, one for each state of the encoder, and the score on held-out sentences."""
    task = word_task(name)
    words, judged = (tagged_words(sentences, begin) for sentences in (task.train, task.held_out[:100]))
    stacked = [
        np.stack([one.vectors_of(state) for state in every_state(bert, one.rows)], axis=2) for one in (words, judged)
    ]
    mix = ScalarMix(len(LAYERS))
    tagger = train_tagger(stacked[0], words.tags, len(task.tags), mix=mix, epochs=30, rate=1e-2, mix_rate=5.0)
    return np.array(ops.softmax(mix.w)), score_of(task, judged.tags, tags_from(tagger, stacked[1]))


shares = {}
for name in FOUR_TASKS:
    shares[name], score = learned_shares(name)
    print(f"{name:10} score on held-out sentences {score:.3f}")
heat_maps(
    [np.array(list(shares.values()))],
    titles=["learned shares"],
    rows=list(shares),
    columns=LAYERS,
    numbers=True,
    alt="Four tasks by five layers: "
    + "; ".join(f"{name} takes most from {LAYERS[int(np.argmax(share))]}" for name, share in shares.items()),
)

# %% [markdown]
# And the same with five seeds each, recorded (`python -m benchmarks.training.layer_features`): a share means something
# only if other seeds find the same.

# %%
records = recorded_runs("layer_features")
mixes = [row for row in records if row["layers"] == "all-mix" and row["head"] == "linear"]
of_seeds = {
    name: np.array([[row[f"share_{layer}"] for layer in range(5)] for row in mixes if row["task"] == name])
    for name in FOUR_TASKS
}
number_table(
    LAYERS,
    {
        f"{name}, {len(found)} seeds": [
            f"{mean:.2f} ± {sd:.2f}" for mean, sd in zip(found.mean(axis=0), found.std(axis=0, ddof=1))
        ]
        for name, found in of_seeds.items()
    },
)

# %% [markdown]
# The letters of a word are found at the bottom, where the word itself is; its part in the sentence in the middle; its
# sense, for which the whole sentence must be read, at the top. *Same vectors, other questions, other layers.* ELMo's
# authors found the same order in two layers: the lower one was better for parts of speech, the upper one for senses
# (Peters et al. 2018, tables 5 and 6). So each task has its own best layer, and a weighted sum is a safe choice.
#
# ---
# # ELMo: two language models
#
# ## 9.3 Forwards and backwards · 4 points · ~12 minutes · Peters et al. 2018, section 3.1
#
# What does *stick* mean? It depends: *Let's stick to the plan*, *the dog fetched a stick*. ELMo (*embeddings from
# language models*) gave a word a vector **in its sentence**, some months before BERT. It trains two language models:
# one reads from the left and predicts the next word, the other reads from the right and predicts the word before. Two
# marks, `start` and `end`, surround the sentence, so that also the first word, the last word and the ends themselves
# are predicted. In *Let's stick to*:
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
# **See it.** The lecture's sentence, *Let's stick to improvisation in this skit*, in your arrays. Below, three readers
# as lines between what is read and what is written: the two models of ELMo, and for later a layer that reads both.

# %%
from autograde.student.drawings_objectives import who_reads_whom

skit = "let's stick to improvisation in this skit".split()
marked = [*skit, "start", "end"]
arrays = both_ways(np.arange(len(skit))[None], np.ones((1, len(skit)), "int32"), len(skit), len(skit) + 1)
for name, row in zip(("forward  reads", "         predicts", "backward reads", "         predicts"), arrays):
    print(f"{name:20}" + "".join(f"{marked[number]:15}" for number in np.array(row)[0]))

# %%
shown = ["start", *skit[:3], "end"]
place = np.arange(len(shown))
who_reads_whom(
    {
        "forward model": place[:, None] >= place,
        "backward model": place[:, None] <= place,
        "layer 2 of a BiLSTM": np.ones((len(place), len(place)), bool),
    },
    shown,
    alt="Three pictures of who reads whom: the forward model each word and those on its left, the backward model those on its "
    "right, the second layer of a bidirectional LSTM all words",
)

# %% [markdown]
# ELMo's vector of *stick* is the forward model's state at *stick*, which knows *let's stick*, beside the backward
# model's state, which knows *stick to improvisation in this skit*: two halves side by side, from each of its layers,
# and then a `ScalarMix` for the task. ⚠ The lowest of its three layers is not a table of words: a small convolution
# makes it of the word's characters, so that no word is unknown.
#
# ## 9.4 Both losses · 4 points · ~12 minutes · Peters et al. 2018, section 3.1
#
# Each model has a vector at each position, and *one* matrix $W$ makes scores of all words from it: both models share it.
# ELMo maximises both log-likelihoods together. So the loss of one position is the **sum** of two, what the forward model
# pays for its target and what the backward model pays for its own:
#
# $$\text{loss} = \underset{\text{positions}}{\text{mean}}\;\bigl( -\log \text{softmax}(\overrightarrow{h_t}\, W)
# [\overrightarrow{x_t}]\; -\; \log \text{softmax}(\overleftarrow{h_t}\, W)[\overleftarrow{x_t}] \bigr)$$
#
# The mean is over all real positions of the batch, together; padding does not count. The backward arrays are in the
# order in which the backward model reads, as your `both_ways` returns them: position $t$ of the one has nothing to do
# with position $t$ of the other. A model that knew nothing would pay $2 \ln V$.
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
# **See it: the model that cheats.** Keras has a layer `Bidirectional`. Two of them, one on the other, with your
# `bilm_loss`: is that not a better ELMo, whose directions work together? Train both, on the small world, and look at
# the losses. Here the best possible loss is known. By the chain rule both directions have the same one: whether from
# the left or from the right, the probabilities of all words of a sentence multiply to the probability of the sentence.
# So the floor of the sum is twice that of one direction. Guess first: which model will have the lower loss?

# %%
from bertlab.data import small_world

START, END, FIRST = 1, 2, 3  # 0 is padding; the words come behind
VOCABULARY = FIRST + len(small_world.WORDS)
STEPS, BATCH, UNITS = 300, 64, 64


def arrays_of(ids):
    """Your four arrays, and which positions are real."""
    arrays = both_ways(ids, (ids < VOCABULARY).astype("int32"), START, END)
    return [ops.convert_to_tensor(array) for array in (*arrays, (arrays[1] > 0).astype("int32"))]


def lstm():
    return keras.layers.LSTM(UNITS, return_sequences=True)


class LanguageModel(keras.Model):
    """A table and an output matrix; the layers between them are the two models' or the cheater's."""

    def __init__(self):
        super().__init__()
        spread = keras.initializers.RandomNormal(stddev=0.1)
        self.table = keras.layers.Embedding(VOCABULARY, UNITS, embeddings_initializer=spread)
        self.w_out = self.add_weight(shape=(UNITS, VOCABULARY), name="w_out")


class TwoModels(LanguageModel):
    """ELMo: a forward and a backward model of two layers each, which share the table and the output matrix."""

    def __init__(self):
        super().__init__()
        self.ahead, self.back = [lstm(), lstm()], [lstm(), lstm()]

    def read(self, ids, layers):
        x = self.table(ids)
        for layer in layers:
            x = layer(x)
        return x

    def call(self, arrays):
        forward_ids, forward_targets, backward_ids, backward_targets, real = arrays
        ahead, back = self.read(forward_ids, self.ahead), self.read(backward_ids, self.back)
        return bilm_loss(ahead, back, self.w_out, forward_targets, backward_targets, real)

    def last_state(self, ids):
        """The vector that predicts the word behind these."""
        return self.read(ids, self.ahead)[:, -1]


class Cheater(LanguageModel):
    """A BiLSTM of two layers: the second one reads both directions of the first."""

    def __init__(self):
        super().__init__()
        self.first = keras.layers.Bidirectional(lstm())
        self.second = keras.layers.Bidirectional(lstm(), merge_mode=None)

    def both(self, ids):
        return self.second(self.first(self.table(ids), mask=ids > 0), mask=ids > 0)

    def call(self, arrays):
        forward_ids, forward_targets, _, _, real = arrays
        ids = ops.concatenate([forward_ids[:, :1], forward_targets], axis=1)  # start, words, end
        ahead, back = self.both(ids)
        # at each token, one half predicts the next token, the other half the one before; in the sentence's order
        return bilm_loss(ahead[:, :-1], back[:, 1:], self.w_out, forward_targets, forward_ids, real)

    def last_state(self, ids):
        return self.both(ids)[0][:, -1]


word_ids = small_world.word_ids(small_world.sample(9, STEPS * BATCH), small_world.LONGEST) + FIRST
unseen = small_world.sample(1, 500)
unseen_ids = small_world.word_ids(unseen, small_world.LONGEST) + FIRST
word_count = sum(len(sentence) for sentence in unseen)
floor = 2 * small_world.floors(unseen, ["left-to-right"])["left-to-right"] * word_count / (word_count + len(unseen))


# %%
def learn(kind):
    """A trained model, and its loss on held-out sentences after each 25 steps."""
    keras.utils.set_random_seed(1)
    model, data, judged = kind(), arrays_of(word_ids), arrays_of(unseen_ids)
    model([array[:2] for array in data])
    trained = model.trainable_variables
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, STEPS), clipnorm=1.0)
    optimizer.build(trained)

    def step(*arrays):
        with tf.GradientTape() as tape:
            loss = model(arrays)
        optimizer.apply(tape.gradient(loss, trained), trained)

    step = tf.function(step, autograph=False)
    judge, losses = tf.function(lambda *arrays: model(arrays), autograph=False), {}
    for number in range(1, STEPS + 1):
        step(*(array[(number - 1) * BATCH : number * BATCH] for array in data))
        if number % 25 == 0:
            losses[number] = float(judge(*judged))
    return model, losses


def next_word_loss(model, known=4):
    """The mean loss of the word behind the first four, in sentences that are cut there."""
    long = unseen_ids[unseen_ids[:, known] < VOCABULARY]
    ids = np.concatenate([np.full((len(long), 1), START), long[:, :known]], axis=1)
    log_p = ops.log_softmax(ops.matmul(model.last_state(ops.convert_to_tensor(ids)), model.w_out), axis=-1)
    return -float(np.mean(np.take_along_axis(np.array(log_p), long[:, known, None], axis=1)))


elmo, honest = learn(TwoModels)
cheater, cheating = learn(Cheater)
curves(
    list(honest),
    {
        "loss on held-out sentences (nats)": {
            "two models": list(honest.values()),
            "BiLSTM of two layers": list(cheating.values()),
            "floor": [floor] * len(honest),
        }
    },
    x="step",
    markers=False,
    alt="Two falling curves and a level line, the floor: the curve of the two models stays above it, that of the BiLSTM crosses it",
)
print(
    f"after {STEPS} steps: two models {honest[STEPS]:.2f}, BiLSTM {cheating[STEPS]:.2f}; no honest model is below {floor:.2f}"
)
for name, model in {"two models": elmo, "BiLSTM": cheater}.items():
    print(f"{name:11} the fifth word, when only four are there: {next_word_loss(model):.2f} nats")

# %% [markdown]
# The BiLSTM falls through the floor. No honest model can, so its loss is not a success but a proof that it **sees the
# answer**. Follow the lines of the third picture above: in layer 1, the backward half at *stick* has read *to*. Layer 2
# reads both halves at *stick*, and has to predict *to*. It needs no language for that, only a copy, and where the next
# word is really not there yet, the cheater knows less about it than the honest model. With one layer there would be no
# leak: each half predicts what it has not read.
#
# This is why ELMo has two models that never meet, and why it is called *shallowly* bidirectional. (⚠ A lecture says
# that it reads in both directions, and so does BERT. In ELMo no number depends on both sides: the halves are only side
# by side.) It is also why BERT hides words: a reader whose layers see both sides has to be asked for what is *not
# there*. A left-to-right model must choose what a vector may know: in *The bank approved the loan* the sense becomes
# clear only after *bank*.
#
# The next step of that time was ULMFiT (Howard & Ruder 2018): one LSTM language model, and *all* of it fine-tuned,
# slowly, with rates by layer (8.7). ELMo gave the vectors, ULMFiT the fine-tuning, GPT the Transformer; BERT took all
# three.
#
# ---
# # How alike are two vectors?
#
# ## 9.5 Cosines, centred · 3 points · ~7 minutes
#
# Features are also used without any training: which question in the archive is nearest to this one? The usual measure
# is the cosine of the angle between two vectors, 1 for the same direction, 0 for a right angle. But the vectors of a
# language model lie in a cone: even unrelated ones have a cosine far above 0 (Ethayarajh 2019), since they have a large
# part in common that carries no meaning. That part is the mean $m$ of many vectors. Subtract it first:
#
# $$\cos_m(x, y) = \frac{(x - m) \cdot (y - m)}{\lVert x - m \rVert\, \lVert y - m \rVert}$$
#
# With $m = (10, 0)$: the vectors $(11, 1)$, $(9, 1)$ and $(12, 2)$ have cosines of at least 0.99 with each other.
# Centred they are $(1, 1)$, $(-1, 1)$ and $(2, 2)$: the first and the third have the cosine 1, the first and the
# second 0.
#
# The mean is that of *many* vectors, and is given. The mean of the few vectors that are compared would be something
# else: of two vectors, each minus the mean of both, the cosine is always −1. No vector is equal to `mean`.


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

# %% [markdown]
# **See it: the common part.** Cosines of 300 words that were drawn from sentences about books and films, so most pairs
# have nothing to do with each other. Their mean over all pairs, layer by layer, without and with the mean subtracted:

# %%
from autograde.student.small_tasks import small_task

texts = [row.text for row in small_task("sentiment").train]
rows = encode(texts, begin, 40)
states = every_state(bert, rows)
is_word = rows["attention_mask"] * (np.arange(40) > 0)  # without [CLS]
means = [state[is_word == 1].mean(axis=0) for state in states]
drawn = np.random.default_rng(9).choice(is_word.sum(), 300, replace=False)


def mean_cosine(x, mean):
    """The mean over all pairs of different vectors."""
    cosines = np.array(centred_cosine(ops.convert_to_tensor(x), ops.convert_to_tensor(mean)))
    return round(float((cosines.sum() - len(x)) / (len(x) * (len(x) - 1))), 2) + 0.0  # no "-0"


chosen = [state[is_word == 1][drawn] for state in states]
plain = [mean_cosine(x, np.zeros_like(mean)) for x, mean in zip(chosen, means)]
centred = [mean_cosine(x, mean) for x, mean in zip(chosen, means)]
bars(
    LAYERS,
    {"cosine": plain, "centred cosine": centred},
    title="Mean cosine of two unrelated words",
    y="cosine",
    numbers=True,
    alt="For each layer two bars: the plain cosine is far above 0, the centred one is 0",
)

# %% [markdown]
# **See it: one word, two senses.** Two sentences of a lecture (*The bank approved the loan.* and *He sat by the bank
# and watched the river flow.*), others of ours, and the word *stick*. Each cell is the centred cosine of the word's
# vectors in two sentences. At layer 0 a vector knows its own word and its *position*, nothing else: so compare only
# sentences with the word at the same position. Here *stick* is always the fourth token. *Bank* is the second in six
# sentences and the fifth in two.

# %%
SENSES = {
    "bank": {
        "loan": "The bank approved the loan.",
        "money": "The bank paid him the money.",
        "lend": "The bank refused to lend the money.",
        "grass": "The bank was covered with grass and trees.",
        "steep": "The bank of the river was steep.",
        "water": "The bank rose high above the water.",
        "(5) river": "He sat by the bank and watched the river flow.",
        "(5) money": "He went to the bank and asked for the money.",
    },
    "stick": {
        "the plan": "Let's stick to the plan.",
        "improvisation": "Let's stick to improvisation in this skit.",
        "your work": "You must all stick to your work.",
        "took the": "He took the stick and went out.",
        "found a": "She found a stick in the garden.",
        "broke his": "He broke his stick against the door.",
    },
}
for word, sentences in SENSES.items():
    rows = encode(list(sentences.values()), begin, 16)
    where = np.argmax(rows["token_ids"] == begin.vocabulary[word], axis=1)
    of_word = [state[np.arange(len(where)), where] for state in every_state(bert, rows)]
    some = (0, 2, 4)
    heat_maps(
        [np.array(centred_cosine(ops.convert_to_tensor(of_word[n]), ops.convert_to_tensor(means[n]))) for n in some],
        titles=[f"{word}: {LAYERS[n]}" for n in some],
        rows=list(sentences),
        columns=list(sentences),
        numbers=True,
        per_line=3,
        alt=f"Three maps of the cosines of {word} in {len(sentences)} sentences: at the embeddings only the position makes a "
        "difference; at layers 2 and 4 there are two blocks, one for each sense",
    )

# %% [markdown]
# At the bottom all are the same word; a static vector, as word2vec's, stays there. At layer 4 there are two blocks, one
# for each sense. Look at the last two rows of *bank*: the two sentences have *different* senses, and yet their cosine
# is large in all layers, because the word is at the same position and between the same words. Beside the six others,
# each of the two is on average nearer to its own sense at layer 4. So a comparison of senses that does not control the
# position measures the position. Notebook 10 does this with more examples.
#
# **See it: the nearest sentence.** Duplicates, similar questions, retrieval: one vector for a text, the mean of its
# words' vectors at one layer, and then the largest cosine. No training at all.

# %%
QUERIES = (
    "The film was far too long and I fell asleep.",
    "She sang like an angel, and the whole house wept.",
    "I stopped reading after ten pages.",
)
asked = encode(list(QUERIES), begin, 40)


def pooled(state, is_word):
    return np.einsum("bth,bt->bh", state, is_word) / is_word.sum(axis=1, keepdims=True)


archive = pooled(states[4], is_word)
asked_vectors = pooled(every_state(bert, asked)[4], asked["attention_mask"] * (np.arange(40) > 0))
together = np.concatenate([asked_vectors, archive]).astype("float32")
for name, mean in {"plain": np.zeros(together.shape[1]), "centred": archive.mean(axis=0)}.items():
    cosines = np.array(centred_cosine(ops.convert_to_tensor(together), ops.convert_to_tensor(mean.astype("float32"))))
    cosines = cosines[: len(QUERIES), len(QUERIES) :]
    print(f"{name}: all cosines are between {cosines.min():.2f} and {cosines.max():.2f}")
    for query, row in zip(QUERIES, cosines):
        print(f"   {query:50} → {texts[int(row.argmax())]} ({row.max():.2f})")

# %% [markdown]
# The plain cosines are all far above 0: what 0.7 means depends on the model, so only the order may be read. And the
# nearest sentence shares topic and words, not the opinion: a model that was only pre-trained was never asked what makes
# two *sentences* alike. Training for it is another story (`bertlab tune-vectors`).
#
# ---
# # The lectures' table, ours beside the paper's
#
# Now the table of the beginning, for `bertlab-mini` on `names`. As in the paper, a BiLSTM of two layers reads the kept
# vectors (64 units in each direction; the paper's has 768). Train one yourself: choose a way, and see where your dot is
# among five recorded seeds.

# %%
TABLE = (
    "embeddings",
    "second-to-last",
    "last",
    "last4-sum",
    "last4-mix",
    "last4-concat",
    "embeddings-and-all-mix",
    "fine-tuned",
)
in_table = [row for row in records if row["task"] == "names" and row["layers"] in TABLE]
ours = {way: [100 * row["score"] for row in in_table if row["layers"] == way] for way in TABLE}
HOW = "second-to-last"  # or "embeddings", "last", "last4-sum", "last4-concat"

vectors, judged = kept(HOW)
start = time.perf_counter()
tagger = train_tagger(vectors, train.tags, len(names.tags), units=64, epochs=15, seed=9)
mine = 100 * score_of(names, held_out.tags, tags_from(tagger, judged))
print(f"{HOW}: F1 {mine:.1f} % in {time.perf_counter() - start:.0f} seconds")

# %%
seed_dots(
    {way.replace("-and-", "\nand "): values for way, values in ours.items()},
    {HOW: mine},
    title="Names: F1 on the same 96 sentences",
    y="F1 (%)",
    alt="Grey dots of five seeds for each way, and your own run; the embeddings are lowest, the other ways overlap",
)

# %%
number_table(
    ["bertlab-mini, names, F1 ± sd", "BERT-Base, CoNLL-2003, development F1"],
    {
        way: [f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}", f"{PAPER[way]:.1f}" if way in PAPER else "–"]
        for way, values in ours.items()
    }
    | {"all-mix": ["the same as last4-mix", f"{PAPER['all-mix']:.1f}"]},
)

# %% [markdown]
# (The recorded runs are made by `python -m benchmarks.training.layer_features`: five seeds, the same 196 sentences.
# `embeddings-and-all-mix` is ELMo's way, which counts the embeddings as a layer. The two columns have different models
# and different data: compare the order, not the numbers.)
#
# Which way may one call best? For each two the next cell asks whether the difference of the means is larger than two
# standard errors of the *paired* differences: the same seed draws the same initial weights and the same order of
# sentences.


# %%
def told_apart(one, other):
    """Whether the seeds' mean difference is larger than two standard errors, and its value."""
    differences = np.array(ours[one]) - np.array(ours[other])
    return abs(differences.mean()) > 2 * differences.std(ddof=1) / len(differences) ** 0.5


for way in TABLE:
    alike = [other for other in TABLE if other != way and not told_apart(way, other)]
    print(f"{way:24} not told apart from: {', '.join(alike) or 'none'}")

# %% [markdown]
# Three things can be said. The embeddings are below everything else: a BiLSTM can read the context by itself, and the
# encoder's layers still give it much more. The second-to-last layer is better than the last one, as in the paper: the
# last is nearest to the question of pre-training. And among sums, mixes and concatenations no order can be seen.
#
# One thing looks different: fine-tuning is the best row of the paper, and not here. We have 196 sentences, where CoNLL
# has 14,000, the fine-tuned model has a linear layer where the others have a BiLSTM, and nobody searched for its best
# rate. With few labels a small head on kept vectors is often the safer choice; that is all one may conclude. Nor do the
# seeds say what 96 *other* sentences would show (08b).
#
# ⚠ A lecture says that BERT-Large "utilizes cutting-edge technology to provide competitive results". The paper says
# that BERT-Large *performs competitively with* the best methods of its time; the features in the table are those of
# BERT-Base. The best of them is 0.3 below fine-tuning the same model (96.1 against 96.4).
#
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("lower-than-the-floor", "")

# %%
answer("which-layer", "")

# %% [markdown]
# ---
# # Recap
#
# A frozen encoder is read once; what is trained is a small head. The best layer depends on the task: letters are found at the
# bottom, structure in the middle, senses at the top, and a `ScalarMix` lets the task choose. ELMo makes its vectors
# from two language models that never meet. Let them meet below the top, and the loss falls through the floor, because
# the model reads the answer. Vectors have a large common part: subtract the mean before you compare directions, and
# compare words at equal positions.
#
# | | vector of a word | sees | used as | for a new task one trains |
# |---|---|---|---|---|
# | word2vec | one for each word | nothing else | features | a model of one's own |
# | ELMo | two halves, three layers | left and right, each half one side | features, with a `ScalarMix` | a model of one's own |
# | ULMFiT | an LSTM's state | the left side | – | everything, in stages |
# | GPT | a Transformer's state | the left side | – | everything |
# | BERT | a Transformer's state | both sides, in every layer | both | everything, or a head on kept vectors |
#
# **To think about**
#
# 1. `ScalarMix` gives one share to a layer, for all words. When would you want shares that depend on the word, and what
#    would you call the result?
# 2. A service answers a thousand different questions about each text that it receives. Features or fine-tuning?
# 3. Could you repair the cheater by hiding the word at which the loss is computed from *both* layers?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. When words of one sentence need different things, a name its letters and a pronoun its sentence. It would be attention, over
#    layers instead of positions.
# 2. Features: the text is read once, and each question costs a small head. A thousand fine-tuned models would read it a
#    thousand times. In between: adapters, and one encoder trained on all tasks at once.
# 3. Then each training example could ask for that word only, and the input has a blank there: you have invented the masked
#    language model.
#
# </details>
#
# **Next:** notebook 10 looks inside: what single heads attend to, and what a layer knows when nothing is trained on
# it. Notebook 11 asks what else one could have trained the encoder on.

# %%
progress()
