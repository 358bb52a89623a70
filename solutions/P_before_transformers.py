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
# with a state that remembers. In this notebook you build these readers, and measure on the same tasks what each of
# them can do and what it cannot. At the end you know, in numbers, which problem attention solves.
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
from autograde.student import (
    answer,
    check,
    distance_curves,
    heat_maps,
    lines,
    load_backend,
    number_table,
    progress,
    seed_dots,
    with_recorded,
)

load_backend()

# %% tags=["setup"]
import math
import time

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import Tensor

rng = np.random.default_rng(15)  # for the pictures

# %% [markdown]
# The simplest reader counts words: a **bag of words** is one number per word of the vocabulary. It is fast, and often
# good enough to tell spam from letters. The picture shows all that it knows about three sentences.

# %%
from bertlab.data import small_world

bites = ["dog bites man", "man bites dog", "the man bites the other man and the dog"]
kinds = sorted({word for text in bites for word in text.split()})
counts = np.array([[text.split().count(word) for word in kinds] for text in bites])
heat_maps(
    [counts],
    titles=["three bags of words"],
    rows=bites,
    columns=kinds,
    numbers=True,
    alt="Three rows of counts; those of dog bites man and man bites dog are the same",
)

# %% [markdown]
# The first two sentences are one bag. Three more limits, in numbers: such a vector is nearly all zeros; two different
# words are always at right angles, whether they mean the same or not; and a word has one number for all its senses.
# The texts are of the course's *small world*, a tiny language of 125 words with known laws
# (`bertlab.data.small_world`).

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
# *You shall know a word by the company it keeps* (Firth 1957): words with similar neighbours have similar meanings.
# So let a model guess each word from its neighbours; all that helps to guess ends up in the words' vectors. The
# **continuous bag of words** does it in the simplest way. It looks up a vector for each word $c$ of the context $C$,
# two words on each side, takes the mean, and scores all words with a second matrix:
#
# $$\bar v = \frac{1}{|C|} \sum_{c \in C} E[c] \qquad P(w \mid C) = \text{softmax}(\bar v\, W_\text{out})[w]
# \qquad \text{loss} = -\log P(w \mid C), \text{ mean over the batch}$$
#
# At the edge of a sentence a context has fewer words; it is filled up with padding, which must not count: $|C|$ is
# the number of real neighbours. Training runs inside of `tf.function`, as in Keras's `fit`, and needs gradients, so
# compute with `ops` only. `ops.log_softmax` may be used: the logarithm of a softmax, finite for large scores too.

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
# **See it.** First the two things that all trainings of this notebook need: the contexts of every word, and a loop
# that changes some weights so that a loss falls.

# %%
STEPS, BATCH, WIDTH = 400, 32, 32


def contexts(ids, window=2):
    """Each word of the sentences with its neighbours: context and is_real (words, 2 * window), target (words,)."""
    padded = np.pad(ids, ((0, 0), (window, window)), constant_values=PAD)
    shifts = [shift for shift in range(2 * window + 1) if shift != window]
    around = np.stack([padded[:, shift : shift + ids.shape[1]] for shift in shifts], axis=-1)
    real = ids < PAD
    return around[real].astype("int32"), (around[real] < PAD).astype("int32"), ids[real].astype("int32")


def train(loss_of, weights, data, rate=1e-2, steps=STEPS, batch=BATCH, seed=1):
    """Changes the weights, step by step, with Adam. loss_of: some rows of each array of `data` → their loss."""
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(rate, steps), clipnorm=1.0)
    optimizer.build(weights)
    data, order = [tf.constant(array) for array in data], np.random.default_rng(seed)
    variables = [weight.value for weight in weights]

    def step(chosen):
        with tf.GradientTape() as tape:
            loss = loss_of(*(tf.gather(array, chosen) for array in data))
        optimizer.apply(tape.gradient(loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO), weights)
        return loss

    step = tf.function(step, autograph=False)
    for _ in range(steps):
        loss = step(tf.constant(order.integers(len(data[0]), size=batch)))
    return float(loss)


def new_weight(*shape, size=0.1):
    return keras.Variable(keras.random.normal(shape, stddev=size))


def small(*shape):
    """A random matrix that changes the length of a vector little."""
    return (rng.normal(size=shape) / shape[0] ** 0.5).astype("float32")


def turn(units):
    """A random matrix that changes no length at all: orthogonal, as Keras begins U."""
    return np.linalg.qr(rng.normal(size=(units, units)))[0].astype("float32")


def as_keras_begins(kind):
    """The initial weights W, U and b of a recurrent layer of Keras: "SimpleRNN" or "LSTM"."""
    layer = getattr(keras.layers, kind)(WIDTH)
    layer.build((None, None, WIDTH))
    return layer.get_weights()


from bertlab.training.runs.recorded import recorded_runs

recorded = {}  # experiment → reader → question → a value for each seed
for run in recorded_runs("before_transformers"):
    of_reader = recorded.setdefault(run["experiment"], {}).setdefault(run["reader"], {})
    of_reader.setdefault(run.get("question", ""), []).append(run["value"])

# %% [markdown]
# Guess first: how close will the vectors of *dog* and *cat* be after some seconds? And *dog* and *runs*, which are
# often neighbours?

# %%
def learn_words():
    """The loss on held-out sentences before and after 400 steps, and a vector for each word."""
    keras.utils.set_random_seed(1)
    table, w_out = new_weight(PAD + 1, WIDTH), new_weight(WIDTH, PAD + 1)
    data, held_out = contexts(ids[:18_000]), [tf.constant(array) for array in contexts(ids[18_000:])]

    def loss(*rows):
        return cbow_loss(table.value, w_out.value, *rows)

    before = float(loss(*held_out))
    train(loss, [table, w_out], data, batch=256)
    return before, float(loss(*held_out)), ops.convert_to_numpy(table)[:PAD]


begin = time.perf_counter()
first_loss, last_loss, vectors = learn_words()
print(f"loss on held-out sentences {first_loss:.3f} → {last_loss:.3f} nats, {time.perf_counter() - begin:.0f} seconds")

unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
cosines = unit @ unit.T
shown = "dog cat horse dogs cats king judge kings runs falls talks works near behind wild busy".split()
places = [number_of[word] for word in shown]
heat_maps(
    [one_hot[places] @ one_hot[places].T, cosines[np.ix_(places, places)]],
    titles=["cosines of one-hot vectors", "cosines of your vectors"],
    rows=shown,
    columns=shown,
    alt="Left the identity matrix: all words are at right angles. Right: blocks of high cosines, of words that can "
    "replace each other",
)
for word in ("dog", "king", "runs", "busy", "bank"):
    nearest = np.argsort(-cosines[number_of[word]])[1:6]
    print(f"{word:6} → {', '.join(f'{WORDS[n]} {cosines[number_of[word], n]:.2f}' for n in nearest)}")

# %% [markdown]
# Nobody said that *dog* and *cat* are both animals; they have the same neighbours. *Dog* and *runs* are often
# neighbours and are not alike at all: CBOW's vectors show which words can *replace* each other. But look at *bank*:
# one vector for both of its senses. Such vectors are called *static*; BERT computes new ones in each sentence.
#
# **From CBOW to BERT.** In the small world the smallest loss that a reader can reach is known. CBOW sees four words,
# without their order:

# %%
few = small_world.sample(seed=1, count=80)
floors = small_world.floors(few)
bert = [run["loss"] for run in recorded_runs("small_world") if run["step"] == 1500]
floor_of_bert = recorded_runs("small_world")[0]["floor"]
print(f"knows only how frequent each word is        {floors['without context']:.2f} nats per word")
print(f"your CBOW: two words on each side           {last_loss:.2f}")
print(f"the best reader of all words without order  {floors['order-free']:.2f}")
print(f"the best reader of both sides, in order     {floors['both-sided']:.2f}")
spread_of_bert = f"{np.mean(bert):.2f} ± {np.std(bert, ddof=1):.2f}"
print(f"a BERT of two layers, two words hidden      {spread_of_bert}, recorded; its floor is {floor_of_bert:.2f}")

# %% [markdown]
# BERT's masked language modelling is the same exercise with a better reader: guess a word from its neighbours, but
# from *all* of them instead of four, with positions instead of a bag, and with attention, which gives each neighbour
# a weight of its own, instead of a mean. (A lecture calls it "a sophisticated version" of CBOW: so it is.) The
# recorded runs are made by `python -m benchmarks.training.small_world`.
#
# ---
# # Reading word by word
#
# ## P.2 A step of a recurrent network · 2 points · ~5 minutes · Elman (1990)
#
# An average forgets the order. A **recurrent neural network** (RNN) reads as we do, from left to right, with a
# *hidden state* $h$, a vector that sums up what has been read so far. Each step makes a new state of the next word
# and the old state, with the same weights at every step:
#
# $$h_t = \tanh(x_t W + h_{t-1} U + b) \qquad h_0 = 0$$
#
# Without $\tanh$ all steps together would be one linear map; it also keeps the numbers of the state within ±1,
# however long the text is. Training needs the gradients, so compute with `ops`, as in P.1; the same holds for P.3.

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
# **See it.** Your step, in a loop over a sentence of the lectures, with random weights and vectors. It agrees with
# Keras's layer. Then *France* becomes *Korea*: how long does the state remember which of the two it has read?

# %%
text = "XYZ went to France in 2019 when there were no cases of COVID and there he met the president of that country"
lexicon = {word: rng.normal(size=WIDTH).astype("float32") for word in [*text.split(), "Korea"]}


def as_vectors(text):
    return ops.convert_to_tensor(np.stack([lexicon[word] for word in text.split()]))


def read_rnn(x, w, u, b):
    """All states of an RNN over x (tokens, d), with your step: (tokens, units)."""
    h, states = ops.zeros((1, u.shape[0])), []
    for word in ops.split(x, x.shape[0]):
        h = rnn_step(word, h, w, u, b)
        states.append(h)
    return ops.concatenate(states)


w, u, b = 0.3 * small(WIDTH, WIDTH), turn(WIDTH), np.zeros(WIDTH, "float32")
sentence, other = as_vectors(text), as_vectors(text.replace("France", "Korea"))
france = text.split().index("France")


def forgotten(read):
    """The length of the difference that *Korea* instead of *France* makes to each state from there on."""
    return np.linalg.norm(np.array(read(sentence) - read(other)), axis=1)[france:]


# %%
theirs = keras.layers.SimpleRNN(WIDTH, return_sequences=True)
theirs.build((None, None, WIDTH))
theirs.set_weights([w, u, b])
difference = float(ops.max(ops.abs(read_rnn(sentence, w, u, b) - theirs(sentence[None])[0])))
print(f"largest difference from keras.layers.SimpleRNN: {difference:.1e}")
remembers = {
    f"RNN, U × {size:g}": forgotten(lambda x, size=size: read_rnn(x, w, size * u, b)) for size in (0.5, 0.9, 1.0)
}
distance_curves(
    remembers,
    title="France in the state",
    x="words after France",
    y="difference of the states",
    alt="Three falling curves on a logarithmic axis: with half of U the difference falls to a millionth within the "
    "sentence, with the whole U slowly",
)
for name, left in remembers.items():
    print(f"{name:12} 17 words later {left[17] / left[0]:.1e} of the difference is left")

# %% [markdown]
# All that a later word can know about *France* is in this one vector, and every step replaces it. With $U$ half as
# large almost nothing of the difference reaches *that country*, 17 words later. (The lectures call it the
# *information bottleneck*: one state has to hold everything that will be needed later.)
#
# ## P.3 A step with gates: the LSTM · 4 points · ~10 minutes · Hochreiter & Schmidhuber (1997)
#
# An RNN replaces its whole state at each step: what it wants to keep has to survive a matrix product and a $\tanh$,
# hundreds of times. A **long short-term memory** (LSTM) has a second state, the *cell* $c$, that is only scaled and
# added to. Three **gates**, numbers between 0 and 1 for each number of the cell, decide: what is written (*input*),
# what is kept (*forget*; Gers, Schmidhuber & Cummins 2000) and what is shown (*output*). All four parts are computed
# at once and then split into four equal parts, in the order of Keras:
#
# $$[\,i;\; f;\; g;\; o\,] = x_t W + h_{t-1} U + b$$
#
# $$c_t = \sigma(f) \odot c_{t-1} + \sigma(i) \odot \tanh(g) \qquad h_t = \sigma(o) \odot \tanh(c_t)$$
#
# (Another order works as well, but with other weights: a published model has to be read in the order in which it was
# trained. The forget gate's bias usually *begins* at 1, so that a new LSTM remembers; that is a matter of the initial
# weights, and nothing to add in the step.) Gradients must pass from both results.

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
# **See it.** The same experiment with your LSTM, with the forget gate's bias at 1, as in Keras, and at 3.

# %%
def read_lstm(x, w, u, b):
    """All states of an LSTM over x (tokens, d), with your step: (tokens, units)."""
    h = c = ops.zeros((1, u.shape[0]))
    states = []
    for word in ops.split(x, x.shape[0]):
        h, c = lstm_step(word, h, c, w, u, b)
        states.append(h)
    return ops.concatenate(states)


theirs = keras.layers.LSTM(WIDTH, return_sequences=True)
theirs.build((None, None, WIDTH))
w4, u4, b4 = theirs.get_weights()
difference = float(ops.max(ops.abs(read_lstm(sentence, w4, u4, b4) - theirs(sentence[None])[0])))
print(f"largest difference from keras.layers.LSTM: {difference:.1e}")
print("Keras begins the four parts of the bias with", [float(part[0]) for part in np.split(b4, 4)])

remembers |= {
    f"LSTM, forget bias {size}": forgotten(lambda x, size=size: read_lstm(x, 0.3 * w4, u4, size * b4)) for size in (1, 3)
}
distance_curves(
    remembers,
    title="France in the state",
    x="words after France",
    y="difference of the states",
    alt="The three curves of the RNN and two of the LSTM: with forget bias 1 it falls, with bias 3 it stays level",
)
for size in (1, 3):
    kept = 1 / (1 + math.exp(-size))
    print(f"forget gate σ({size}) = {kept:.2f} of the cell is kept at each step, after 17 steps {kept**17:.3f}")

# %% [markdown]
# A cell of which 95 % is kept at each step still knows the country at the end of the sentence, one of which 73 % is
# kept hardly. And one thing that the lectures do not say: an RNN whose $U$ changes no length also remembers, *at the
# beginning*. Not the name of the network decides, but the factor per step.
#
# ## P.4 What distance does to a gradient · 3 points · ~8 minutes
#
# Why is it hard to *learn* that *that country* is *France*? Learning follows gradients: how strongly does the last
# state $h_n$ depend on the word $k$ steps before? The chain rule multiplies one matrix for each step. With rows as
# vectors and $D_t = \text{diag}(1 - h_t^2)$, the slope of $\tanh$:
#
# $$\frac{\partial h_n}{\partial x_{n-k}} = W D_{n-k} \cdot U D_{n-k+1} \cdot U D_{n-k+2} \cdots U D_n$$
#
# A product of $k$ similar factors shrinks or grows like a power: *vanishing* and *exploding* gradients (Hochreiter
# 1991; Bengio, Simard & Frasconi 1994). Write a function that measures it for any reader, also for LSTMs and
# attention, without a formula. The derivative of a vector with respect to a matrix has three axes, (units, tokens,
# d); for each word take the *Frobenius norm* of its part, the root of the sum of all squares.
#
# A `GradientTape` records what is computed while it is open; of a tensor that is no variable it has to be told with
# `tape.watch`. Then `tape.jacobian(result, x)` is the derivative. (With `persistent=True` for the tape and
# `experimental_use_pfor=False` for the Jacobian it takes a hundredth of a second, otherwise seconds.) The check hands
# you the reader below.


# %% tags=["setup"]
def last_state(x, w, u, b):
    """The last state of an RNN that reads x (tokens, d); without exercise P.2."""
    h = ops.zeros((1, u.shape[0]))
    for word in ops.split(ops.matmul(x, w) + b, x.shape[0]):  # x W + b of all words at once
        h = ops.tanh(word + ops.matmul(h, u))
    return h[0]


# %% nbgrader={"grade": false, "grade_id": "gradient-by-distance", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gradient_by_distance(read, x: Tensor) -> Tensor:
    """The length of the gradient of what a reader returns, for each word, by distance from the end.

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
# **See it.** Three RNNs with $U$ times 0.9, 1 and 1.1, which read 60 words so short that $\tanh$ is almost straight;
# and the last one again with words of the usual size.

# %%
units = 16
w_small = (rng.normal(size=(units, units)) / units**0.5).astype("float32")
u_small, b_small = turn(units), np.zeros(units, "float32")
short_words = ops.convert_to_tensor(1e-5 * rng.normal(size=(60, units)).astype("float32"))
usual_words = ops.convert_to_tensor(rng.normal(size=(60, units)).astype("float32"))


def of_rnn(size, x):
    return gradient_by_distance(lambda x: last_state(x, w_small, size * u_small, b_small), x)


growth = {f"U × {size}": of_rnn(size, short_words) for size in (0.9, 1.0, 1.1)}
growth["U × 1.1, words of usual size"] = of_rnn(1.1, usual_words)
distance_curves(
    growth,
    title="How strongly the last state depends on a word",
    x="words between",
    y="length of the gradient",
    alt="On a logarithmic axis: a falling line for 0.9, a flat one for 1, a rising one for 1.1, and a steeply falling "
    "one for words of usual size",
)
for name, values in growth.items():
    values = np.array(values)
    print(f"{name:30} gradient at distance 50 / at distance 0: {values[50] / values[0]:.1e}")

# %% [markdown]
# Straight lines on a logarithmic axis: powers, $0.9^{50} = 0.005$ and $1.1^{50} = 117$. With words of usual size the
# slopes $1 - h^2$ of $\tanh$ are below 1, and the gradient vanishes although $U$ grows.
#
# **Can it be learned?** *XYZ went to France …, met somebody from Korea …, of that country*: which country came first?
# Each row has a country at its beginning, another one somewhere later, and a question at the end. There are eight
# countries, so guessing is right in 12.5 % and a reader who knows both, but not their order, in 50 %. Your own RNN
# and LSTM try it at a distance of 16 words.

# %%
COUNTRIES, OTHERS = 8, 24


def recall_rows(distance, count, seed):
    """Rows of distance + 1 words (the first is a country, another one is later, the last asks), and the answers."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(COUNTRIES, COUNTRIES + OTHERS, size=(count, distance + 1))
    ids[:, 0] = rng.integers(COUNTRIES, size=count)
    later = rng.integers(1, distance, size=count)
    ids[np.arange(count), later] = (ids[:, 0] + rng.integers(1, COUNTRIES, size=count)) % COUNTRIES
    ids[:, -1] = COUNTRIES + OTHERS
    return ids.astype("int32"), ids[:, 0].astype("int32")


def last_rnn(x, w, u, b):
    """The last state of rows x (batch, tokens, d), with your step."""
    h = ops.zeros((x.shape[0], u.shape[0]))
    for word in ops.unstack(x, axis=1):
        h = rnn_step(word, h, w, u, b)
    return h


def last_lstm(x, w, u, b):
    h = c = ops.zeros((x.shape[0], u.shape[0]))
    for word in ops.unstack(x, axis=1):
        h, c = lstm_step(word, h, c, w, u, b)
    return h


def learn_recall(last, distance, *start):
    """The accuracy of a reader on 1,000 new rows after 400 steps, and its words and weights."""
    keras.utils.set_random_seed(1)
    words, out = new_weight(COUNTRIES + OTHERS + 1, WIDTH), new_weight(WIDTH, COUNTRIES)
    weights = [words, out, *map(keras.Variable, start)]

    def scores(ids):
        table, out, *own = (weight.value for weight in weights)
        return ops.matmul(last(ops.take(table, ids, axis=0), *own), out)

    def loss(ids, answers):
        return ops.mean(keras.losses.sparse_categorical_crossentropy(answers, scores(ids), from_logits=True))

    train(loss, weights, recall_rows(distance, 20_000, 0))
    new, answers = recall_rows(distance, 1000, 1)
    accuracy = float(np.mean(np.argmax(scores(tf.constant(new)), axis=-1) == answers))
    return accuracy, [weight.value for weight in (words, *weights[2:])]


def farthest(reader):
    """Up to which of the recorded distances every seed is right in 90 %; 0 if at none."""
    right = sorted(recorded["recall"].get(reader, {}).items())
    return max((distance for n, (distance, _) in enumerate(right) if min(min(v) for _, v in right[: n + 1]) >= 0.9), default=0)


# %%
keras.utils.set_random_seed(1)
mine = {
    "rnn": {16: learn_recall(last_rnn, 16, *as_keras_begins("SimpleRNN"))[0]},
    "lstm": {16: learn_recall(last_lstm, 16, *as_keras_begins("LSTM"))[0]},
}
with_recorded(
    recorded["recall"],
    mine,
    title="Which country came first?",
    x="words ago",
    y="accuracy after 400 steps",
    alt="Accuracy by distance: recorded ones in grey, a dot for each seed and a line through the means; attention stays at "
    "1, the recurrent ones fall; two marks for your RNN and LSTM at distance 16",
)
print("yours, 16 words ago:", {name: value[16] for name, value in mine.items()})
print("recorded by `python -m benchmarks.training.before_transformers`, mean ± standard deviation of three seeds,")
print("and up to which distance each seed is right in 90 % (0: at none that was tried):")
for start, right in recorded["recall"].items():
    cells = (f"{distance}: {np.mean(v):.2f} ± {np.std(v, ddof=1):.2f}" for distance, v in right.items())
    print(f"  {start:14} {farthest(start):2}   {'   '.join(cells)}")

# %% [markdown]
# Look at the spread: near its limit a reader finds the way within 400 steps with one seed and not with another. So
# count the words at which *every* seed is right. CBOW knows both countries, but never which came first. With half of
# an orthogonal $U$ a word has $0.5^{32} = 2 \cdot 10^{-10}$ of its weight after 32 words, and no seed finds it there.
# The RNN with the whole $U$ is reliable farther than the LSTM as Keras begins it, which keeps $\sigma(1) = 73\,\%$ of
# its cell at each step; and the LSTM with a forget bias of 3, which keeps 95 %, is ahead of both.
#
# ⚠ A lecture gives RNNs a "short" context and LSTMs a "medium" one. Here the RNN is between two LSTMs that differ in
# one initial number: not the name decides, but the factor per step. Gates make this factor a thing that can be
# *learned*, for each number of the cell, word by word.
#
# **And attention?** One layer with one head, which you build in notebook 03: the last word compares itself with all
# others and takes a weighted sum of their vectors. The same 400 steps, at a distance of 32 words. The picture has its
# weights for four new rows.

# %%
def attention_weights(x, queries, keys):
    """The weights of the last word of each row over all words: (batch, tokens)."""
    scores = ops.einsum("bd,btd->bt", ops.matmul(x[:, -1], queries), ops.matmul(x, keys))
    return ops.softmax(scores / WIDTH**0.5)


def last_attention(x, positions, queries, keys, values):
    x = x + positions
    return ops.einsum("bt,btd->bd", attention_weights(x, queries, keys), ops.matmul(x, values))


start = 0.1 * small(33, WIDTH), small(WIDTH, WIDTH), small(WIDTH, WIDTH), small(WIDTH, WIDTH)
accuracy, (words, positions, queries, keys, values) = learn_recall(last_attention, 32, *start)
print(f"attention, 32 words ago: right in {accuracy:.1%}")
new, answers = recall_rows(32, 4, 2)
names = "France Korea Japan Spain Peru Chad Cuba Mali".split()
heat_maps(
    [attention_weights(ops.take(words, new, axis=0) + positions, queries, keys)],
    titles=["weights of the question (last column) over its row"],
    rows=[f"{names[row[0]]}, later {names[next(i for i in row[1:] if i < COUNTRIES)]}" for row in new],
    columns=["first", *[""] * 31, "question"],
    alt="Four rows of weights over 33 words: nearly all of the weight is on the first word, the country",
)

# %% [markdown]
# From the question to the country it is one step, over any number of words. In the lecture's sentence it is the way
# from *that country* to *France*.
#
# ## P.5 What a layer costs · 3 points · ~8 minutes · Vaswani et al. (2017), table 1
#
# An RNN needs the state of the word before: a text of 512 words takes 512 steps, one after the other, however many
# cores there are. Attention computes all words of a layer at once (within a layer, not across layers: layer 2 needs
# layer 1). And between two words that are far apart an RNN has as many steps as words between them; attention has
# one. Table 1 of *Attention Is All You Need* has these three costs of a layer for $n$ words of $d$ numbers:
#
# | layer | operations | steps one after the other | longest path |
# |---|---|---|---|
# | attention | $n^2 \cdot d$ | 1 | 1 |
# | recurrence | $n \cdot d^2$ | $n$ | $n$ |
# | convolution of width $k$ | $k \cdot n \cdot d^2$ | 1 | $\log_k n$ layers |
#
# A *convolution* joins $k$ neighbours. A second layer joins $k$ such groups, with gaps between them, so that $L$
# layers reach $k^L$ words: the path is the smallest whole $L \ge 1$ with $k^L \ge n$.

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
# **See it.** Your numbers, then a stopwatch: the three kinds of layer on this machine, for texts of 32 to 512 words.

# %%
d, k = 512, 3
for n in (32, 512, 4096):
    print(f"{n} words:")
    for name, (operations, steps, path) in costs(n, d, k).items():
        print(f"  {name:12} {operations / 1e6:10,.0f} million operations {steps:6} steps, path {path}")
few_words = costs(511, d, k)
print("511 words: attention has fewer operations:", few_words["attention"][0] < few_words["recurrence"][0])


# %%
def milliseconds(layer, x):
    """The fastest of seven runs, in milliseconds per 1,000 words."""
    run = tf.function(layer, autograph=False, reduce_retracing=True)
    run(x), run(x)
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        run(x).numpy()
        times.append(time.perf_counter() - begin)
    return 1000 * min(times) / (x.shape[0] * x.shape[1] / 1000)


attend = keras.layers.MultiHeadAttention(4, 32)
layers = {
    "rnn": keras.layers.SimpleRNN(128, return_sequences=True),
    "lstm": keras.layers.LSTM(128, return_sequences=True),
    "attention": lambda x: attend(x, x),
}
lengths = (32, 64, 128, 256, 512)
texts = [ops.convert_to_tensor(rng.normal(size=(2, n, 128)).astype("float32")) for n in lengths]
speed = {name: [milliseconds(layer, x) for x in texts] for name, layer in layers.items()}
lines(
    lengths,
    speed,
    title="Two texts at a time, 128 numbers per word, on this machine",
    x="words of a text",
    y="milliseconds per 1,000 words",
    alt="Milliseconds per 1,000 words of an RNN, an LSTM and attention, by the length of the text",
    log=True,
)

# %% [markdown]
# Operations are not time. On a processor with few cores the three layers are within some factors of one another (and
# other programs on the machine disturb the picture). On a GPU with thousands of cores each step of a recurrence
# leaves nearly all of them idle, and the number of steps counts. But $n^2$ comes back in the end: with more words
# than numbers per word attention has the most operations, and BERT stops at 512 tokens. (⚠ A lecture calls
# transformers strong on long documents and says that LSTMs struggle beyond 512 to 1024 tokens. An LSTM has no such
# limit: LSTM language models use about 200 words of context, Khandelwal et al. 2018; 512 is BERT's own.) The
# "9.3–21.3× faster" of another lecture ⚠ is a whole convolutional translator against Google's LSTMs when they
# *generate*, on three GPUs (Gehring et al. 2017, section 5.3).
#
# ---
# # Two ideas that BERT kept
#
# ## P.6 Features of a pair of sentences · 3 points · ~7 minutes · InferSent (Conneau et al. 2017)
#
# Before BERT a sentence's vector was often trained on another task and then used for all. **InferSent** learned it
# from *natural language inference*: does the second sentence follow from the first, contradict it, or neither? Both
# are read by the same network (a BiLSTM: one LSTM from the left, one from the right); the vector is the *largest*
# value of each number over the words, so that one word can speak for the sentence, at any position. How should a
# classifier compare two vectors $u$ and $v$? It gets them, how they differ and what they share:
#
# $$[\,u;\; v;\; |u - v|;\; u \odot v\,]$$
#
# Padding has no say: its numbers must never be the largest. As in P.1, gradients must pass through. (BERT reads the
# two sentences as one text instead, so that their words can look at each other. Sentence-BERT, Reimers & Gurevych
# 2019, came back to pairs of vectors, because they can be stored and searched.)

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
# **See it.** A tiny inference task in the small world, with a linear classifier on the features of your function: all
# four blocks, and only the first two. For speed the states are the words' vectors themselves.

# %%
first, second, labels = small_world.inference_pairs(seed=0, count=6000)
for number in range(3):
    print(f"{['follows', 'contradicts', 'neither'][number]:12} {first[number]}  |  {second[number]}")
pairs = small_world.word_ids(first).astype("int32"), small_world.word_ids(second).astype("int32"), labels.astype("int32")


def learn_inference(blocks, train_rows=5000):
    """The accuracy on held-out pairs, with the first so many blocks of the features."""
    keras.utils.set_random_seed(1)
    words, out = new_weight(PAD + 1, WIDTH, size=0.5), new_weight(blocks * WIDTH, 3)

    def scores(x, y):
        is_real = [ops.cast(ids < PAD, "int32") for ids in (x, y)]
        states = [ops.take(words.value, ids, axis=0) for ids in (x, y)]
        features = pair_features(states[0], is_real[0], states[1], is_real[1])
        return ops.matmul(features[:, : blocks * WIDTH], out.value)

    def loss(x, y, label):
        return ops.mean(keras.losses.sparse_categorical_crossentropy(label, scores(x, y), from_logits=True))

    train(loss, [words, out], [rows[:train_rows] for rows in pairs])
    x, y, label = (rows[train_rows:] for rows in pairs)
    return float(np.mean(np.argmax(scores(tf.constant(x), tf.constant(y)), axis=-1) == label))


for blocks, name in ((2, "[u; v]"), (4, "[u; v; |u − v|; u ⊙ v]")):
    print(f"{name:24} {learn_inference(blocks):.1%} of the held-out pairs")

# %% [markdown]
# A linear layer can only add up what $u$ says and what $v$ says; whether they *agree* is a product or a difference,
# and has to be handed to it.
#
# InferSent's authors report that "models learned on NLI can perform better than models trained in unsupervised
# conditions or on other supervised tasks". The recorded runs ask frozen vectors of a BiLSTM four questions about
# other sentences: as it begins (untrained, with random weights), and after it has learned inference. Beside them a
# bag of words.

# %%
print(f"{'':12}" + "".join(f"{name:>16}" for name in recorded["transfer"]["bag"]))
for reader, asked in recorded["transfer"].items():
    print(f"{reader:12}" + "".join(f"{np.mean(v):>9.1%} ± {np.std(v, ddof=1):.1%}" for v in asked.values()))

# %% [markdown]
# Learning inference did not make these vectors better at everything. The scene, which no hypothesis asks for, is
# fainter than in the untrained network; in the other questions the two differ by about as much as their seeds.
# (Random networks are a strong baseline; Wieting & Kiela 2019.) A bag of words wins where words decide, and is at 50
# % where their order does. The authors' sentence says *can*: a vector keeps what its task needed, and the next task
# may need something else.
#
# ## P.7 Two tasks at two depths · 3 points · ~8 minutes · Søgaard & Goldberg (2016)
#
# Two tasks that share a network, and each trains it: **multi-task learning** (Caruana 1997). If the tasks have the
# same layers and only the last matrix is their own, it is *hard sharing*. BERT's pre-training is such a pair: hidden
# words and next sentences. Must both be read from the last layer? Søgaard & Goldberg found for stacked LSTMs that
# low-level tasks, such as parts of speech, are better supervised at *lower* layers: the layers above then build on
# them.
#
# So: the **tags** of words are predicted from layer number `layer`, the **label** of the sentence from the first
# position of the last layer (where BERT has [CLS]). Each loss is a mean of its own, over the tagged positions, over
# the sentences; the two are added:
#
# $$\text{loss} = \underset{\text{tagged}}{\text{mean}} -\log P(\text{tag} \mid S^{(\text{layer})}_t)\; +
# \;\underset{\text{sentences}}{\text{mean}} -\log P(\text{label} \mid S^{(L)}_1)$$
#
# Positions without a tag, such as padding, have −1 and do not count. It runs inside of `tf.function`, and its
# gradients must reach the layers.

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

# %% [markdown]
# **See it.** *Who acts?* Of two nouns, is the one that acts first in the alphabet? *The cat fears the dog* and *the
# dog fears the cat* have the same words and different labels. There are 200 labelled sentences only, and the tags are
# the words' relations in the sentence's tree (subject, object, …). The network is two layers of attention, which you
# build in notebooks 03 and 04; here they come from the library. Your loss trains it, with the tags read from layer 1.

# %%
from bertlab.layers.encoder import Encoder

FIRST = PAD + 1  # the id of the position in front of the sentence, which is classified
acting, who = small_world.who_acts(seed=0, count=100)
tests, answers = small_world.who_acts(seed=9, count=500)
relations = sorted({name for sentence in small_world.sample(0, 1000) for name in sentence.relations})


def with_first(sentences):
    return np.pad(small_world.word_ids(sentences, 13), ((0, 0), (1, 0)), constant_values=FIRST).astype("int32")


tags = np.full((len(acting), 14), -1, "int32")
for row, sentence in zip(tags, acting):
    row[1 : 1 + len(sentence)] = [relations.index(name) for name in sentence.relations]
print(acting[0], "| label", who[0], "|", " ".join(acting[0].relations))


def learn_two_tasks(layer):
    """The accuracy of the labels on 1,000 new sentences; the tags are read from this layer."""
    keras.utils.set_random_seed(1)
    words, positions = new_weight(FIRST + 1, WIDTH), new_weight(14, WIDTH)
    w_tag, w_label = new_weight(WIDTH, len(relations)), new_weight(WIDTH, 2)
    encoder = Encoder(2, 4, 2 * WIDTH, dropout=0.0, initializer_range=WIDTH**-0.5)
    encoder(ops.zeros((1, 2, WIDTH)))

    def states(ids):
        x, found = ops.take(words.value, ids, axis=0) + positions.value, []
        for one in encoder.layers_:
            x = one(x, attention_mask=ops.not_equal(ids, PAD)[:, None])
            found.append(x)
        return ops.stack(found)  # (layers, batch, tokens, hidden)

    def loss(ids, tags, labels):
        return two_tasks_loss(states(ids), w_tag.value, w_label.value, tags, labels, layer)

    weights = [words, positions, w_tag, w_label, *encoder.trainable_variables]
    train(loss, weights, (with_first(acting), tags, who.astype("int32")), rate=3e-3, steps=250)
    guesses = np.argmax(states(tf.constant(with_first(tests)))[-1][:, 0] @ w_label.value, axis=-1)
    return float(np.mean(guesses == answers))


together = {"tags at layer 1": learn_two_tasks(1)}
seed_dots(
    {way: values[""] for way, values in recorded["tasks"].items()},
    together,
    title="Who acts? 200 labelled sentences",
    y="accuracy",
    alt="Dots of five recorded seeds for each of three ways, with mean and standard deviation, and a mark for your run",
)
print("yours:", together)
for way, values in recorded["tasks"].items():
    print(f"{way:16} {np.mean(values['']):.3f} ± {np.std(values[''], ddof=1):.3f}, recorded")

# %% [markdown]
# The same 200 labels train a better reader when the tags come with them: with the tags at layer 1 in each of the five
# recorded seeds. Whether they are read from layer 1 or from the last one cannot be told from these seeds: the
# difference is smaller than their spread, and with two layers bottom and top are near each other. (Recorded by the
# command above.)
#
# ---
# # What attention changes
#
# **Gradient against distance.** Your function once more, on the readers of the task with the countries as they begin,
# before training: two RNNs and two LSTMs with your steps, and one layer of attention. Guess first: which of the five
# lines are straight, and which one does not fall at all?

# %%
x = ops.convert_to_tensor(0.1 * rng.normal(size=(64, WIDTH)).astype("float32"))
queries, keys, values = (ops.convert_to_tensor(small(WIDTH, WIDTH)) for _ in range(3))


def attention_of_the_last(x):
    """The last word looks at all words (notebook 03): a weighted sum of their values."""
    scores = ops.matmul(ops.matmul(x[-1:], queries), ops.transpose(ops.matmul(x, keys))) / WIDTH**0.5
    return ops.matmul(ops.softmax(scores), ops.matmul(x, values))[0]


(w, u, b), (w4, u4, b4) = as_keras_begins("SimpleRNN"), as_keras_begins("LSTM")
readers = {
    "RNN, small U": lambda x: read_rnn(x, w, 0.5 * u, b)[-1],
    "RNN, orthogonal U": lambda x: read_rnn(x, w, u, b)[-1],
    "LSTM, forget bias 1": lambda x: read_lstm(x, w4, u4, b4)[-1],
    "LSTM, forget bias 3": lambda x: read_lstm(x, w4, u4, 3 * b4)[-1],
    "attention": attention_of_the_last,
}

# %%
by_distance = {name: np.array(gradient_by_distance(read, x)) for name, read in readers.items()}
distance_curves(
    by_distance,
    title="How strongly the last state depends on a word, as the readers begin",
    x="words between",
    y="length of the gradient",
    alt="On a logarithmic axis five lines: the RNN with a small U falls steeply, the LSTM with forget bias 1 less, the RNN "
    "with an orthogonal U slowly; the LSTM with forget bias 3 rises a little, attention is level",
)
for name, values_of in by_distance.items():
    print(f"{name:20} mean of distances 41-50 / of distances 1-10: {values_of[41:51].mean() / values_of[1:11].mean():.1e}")

# %% [markdown]
# The gradients of recurrent readers are powers of the distance: straight lines, whose slope the initial weights
# choose. (The LSTM with bias 3 even rises: besides the 95 % of the cell that are kept there is a second way, through
# $U$.) Attention's gradient depends on what a word *is*, not on how far away it is. And the line is not everything:
# the gradient of the LSTM with bias 3 arrives from 64 words away, and yet it is not reliable there; its one state
# also holds something of all 64 words. Attention has no such state. One step between any two words, and nothing to
# squeeze them through: that is the point, and it costs $n^2$.
#
# **The lectures' table, measured.** A lecture compares four kinds of reader in seven rows, with ticks and crosses.
# Here is the table with a number in every cell (± is the standard deviation of three recorded seeds; the rest is
# computed on this machine). One row first needs a count: the words of one part of the built-in texts that another
# part does not have.

# %%
import re
from itertools import islice

from bertlab.checkpoints import load_tokenizer
from bertlab.data.documents import load_documents

documents = islice(load_documents("builtin"), 300)
lines_of_text = [line for document in documents for paragraph in document.paragraphs for line in paragraph][:2000]
halves = [re.findall(r"[a-z]+", " ".join(part).lower()) for part in (lines_of_text[:1000], lines_of_text[1000:])]
seen = set(halves[0])
unknown_words = np.mean([word not in seen for word in halves[1]])
tokenizer = load_tokenizer("bertlab-mini")
tokens = [token for word in halves[1] for token in tokenizer.tokenize(word)]
unknown_tokens = np.mean([token == "[UNK]" for token in tokens])
print(f"{len(halves[1]):,} words: {unknown_words:.1%} are unknown as words, {unknown_tokens:.2%} of their tokens are unknown")

# %% [markdown]
# For all five columns the numbers of that row are the same: what is unknown depends on how a text is cut, not on what
# reads it. An LSTM on tokens knows every word; a transformer on whole words does not (⚠ the lecture gives
# transformers the best
# "OOV robustness").

# %%
def spread(values, percent=True):
    """Mean ± standard deviation."""
    values = np.array(values) * (100 if percent else 1)
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


kinds_of_reader = ["bag", "cbow", "rnn", "lstm", "attention"]
one_text = costs(512, 512, 3)
steps_of = {"bag": 1, "cbow": 1, "rnn": one_text["recurrence"][1], "lstm": one_text["recurrence"][1]}
steps_of["attention"] = one_text["attention"][1]
million = {name: cost[0] / 1e6 for name, cost in costs(4096, 512, 3).items()}
operations = {
    "bag": f"{4096 / 1e6:.3f}",
    "cbow": f"{4096 * 512 / 1e6:.0f}",
    "rnn": f"{million['recurrence']:,.0f}",
    "lstm": f"{4 * million['recurrence']:,.0f}",  # four parts
    "attention": f"{million['attention']:,.0f}",
}
classes = [column.tobytes() for column in np.ascontiguousarray(small_world.automaton().writes.T[:PAD] > 0)]
by_chance = np.mean([(classes.count(one) - 1) / (PAD - 1) for one in classes if classes.count(one) > 3])
mine_of = {"bag": bags[0, :PAD], "cbow": vectors[ids[0][ids[0] < PAD]].mean(axis=0)}
mine_of |= {"rnn": np.array(readers["RNN, orthogonal U"](x)), "lstm": np.array(readers["LSTM, forget bias 1"](x))}
mine_of["attention"] = np.array(attention_of_the_last(x))
words_of = {reader: spread(v[""]) for reader, v in recorded["words"].items()} | {"bag": f"{by_chance:.1%} (chance)"}
number_table(
    ["bag of words", "CBOW", "RNN", "LSTM", "attention"],
    {
        "word order: *who acts?*, %": [spread(recorded["order"][reader][""]) for reader in kinds_of_reader],
        "context: words back, every seed": [str(farthest(reader)) for reader in kinds_of_reader],
        "parallel: steps for 512 words": [str(steps_of[reader]) for reader in kinds_of_reader],
        "… ms per 1,000 words, this machine": ["–", "–", *(f"{speed[reader][-1]:.1f}" for reader in kinds_of_reader[2:])],
        "zeros in a sentence's vector, %": [f"{100 * np.mean(mine_of[reader] == 0):.0f}" for reader in kinds_of_reader],
        "meaning: nearest words of the same class, %": [words_of[reader] for reader in kinds_of_reader],
        "unknown, as words / as tokens, %": [f"{100 * unknown_words:.1f} / {100 * unknown_tokens:.2f}"] * 5,
        "a document of 4,096 words, million operations": [operations[reader] for reader in kinds_of_reader],
    },
)

# %% [markdown]
# Behind the ticks of the lecture:
#
# - *Word order.* A bag is right on exactly half of these pairs, because it cannot be otherwise. All others read the order.
# - *Context.* Readers as Keras begins them, after 400 steps; 64 words was the longest that was tried. The numbers
#   belong to this task and these initial weights, not to the names at the top.
# - *Parallel.* Recurrence is not slow because of its arithmetic but because its steps wait for one another.
# - *Meaning.* All vectors of the last four columns were learned by guessing words, 400 steps long (attention 1,200, with
#   [MASK]). Static or not, meaning comes from the task, and even the simplest reader gets it.
# - *Long documents.* ⚠ The lecture gives transformers the best mark. With 4,096 words attention has the most operations
#   of all, and BERT does not read them at all.
#
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what
# is wrong about it; try them all. Nothing is graded.

# %%
answer("cbow-and-bert", "")

# %%
answer("why-attention-is-faster", "")

# %% [markdown]
# ---
# # Recap
#
# Counts forget order and meaning; CBOW's vectors know which words can replace each other, and are the same in every
# sentence. A recurrent network reads in order, with one state that has to hold everything, one step after the other;
# how far it remembers and learns is a power of the distance. Gates make the factor a thing that can be learned.
# Attention has one step between any two words, and pays with $n^2$.
#
# The step to BERT was then a short one. Dai & Le (2015) trained an LSTM as a language model first and on the task
# afterwards; ULMFiT (Howard & Ruder 2018) did it in three stages (general text, the task's text, the task); ELMo used
# the states of two LSTMs as vectors. BERT kept the recipe and exchanged the reader. All of them are in [Before
# BERT](../before_bert.md).
#
# **To think about**
#
# 1. CBOW's mean with a learned weight for each position of the window: what does it gain, and what has attention more?
# 2. An LSTM's forget gates are all 1 and its input gates all 0 from some word on. What does it remember, and what can it
#    still learn?
# 3. A BiLSTM reads from both sides. Does it solve the problem of this notebook?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. It knows the order within the window. But its weights are the same in every sentence; attention computes them from
#    the words, and its window is the whole sentence.
# 2. The cell stays as it is, over any distance, and gradients pass unchanged. But nothing new comes in, and where gates
#    are exactly 0 or 1 their own gradients are 0: it can learn from what it holds, not when to open again.
# 3. No. It gives each word a left and a right side, which is why ELMo and the taggers of the time use it. But between
#    *France* and *country* there are 17 steps in either direction, and each state of a first layer knows one side only.
#
# </details>
#
# **Next:** if you come from notebook 02, notebook 03 builds attention. If you have done the core, notebook 09 reads vectors out of
# a BiLSTM of language models (ELMo) and out of BERT.

# %%
progress()
