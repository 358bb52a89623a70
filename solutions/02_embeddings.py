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
# # 02 · Embeddings
#
# Notebook 01 turned text into integers, but their size means nothing: token 11987 is not "more" than token 21. Here
# every token becomes a vector that can be learned. The attention of the next notebook cannot tell *dog bites man* from
# *man bites dog*, so the vector must also contain the position of the token.
#
# By the end you will have built
#
# - `token_embeddings`, `learned_positions`, `input_embeddings`: lines 3–4 of the algorithm *ETransformer*;
# - `sinusoids` and `cosine_similarities`: positions that need no training, and a way to look at them;
# - `segment_ids`: which sentence a token belongs to;
# - `BertEmbeddings`: the first layer of your own BERT, which notebook 05 fills with published weights.
#
# 70 to 85 minutes, 27 points. Everything runs on this machine, without a network.
#
# **Notation.** As in *Formal Algorithms for Transformers* (Phuong & Hutter 2022), but with row vectors: each token is a
# row of a matrix. *ETransformer* is their name for the algorithm of BERT. $N_V$ tokens in the vocabulary, $\ell$ tokens
# in the text, $d_e$ numbers per token, at most $\ell_\text{max}$ positions. All terms are in the
# [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, check, heat_maps, lines, load_backend, progress, show_guess, sum_of_rows, tables

load_backend()

# %% tags=["setup"]
import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

rng = np.random.default_rng(2)  # for the pictures

# %% [markdown]
# Here is what BERT reads. Each token of two packed sentences becomes the sum of three vectors: *which token* it is,
# *which sentence* it is in, *at which position* it is (Devlin et al. 2019, figure 2). At the end of this notebook your
# own layer computes exactly this.

# %%
pieces = "[CLS] my dog is cute [SEP] he likes play ##ing [SEP]".split()
sentence_of = ["A"] * 6 + ["B"] * 5
sum_of_rows(
    {
        "": pieces,
        "token": [f"E {piece}" for piece in pieces],
        "segment": [f"E {name}" for name in sentence_of],
        "position": [f"E {place}" for place in range(len(pieces))],
    },
    alt="Eleven tokens; under each a token vector plus segment vector A (the first six) or B (the last five) plus "
    "position vector 0 to 10",
)

# %% [markdown]
# ---
# # Token embeddings: a vector for every token
#
# Why should the vectors of such a table mean anything? Because training moves them. A word is known by the company it
# keeps (Firth 1957, the *distributional hypothesis*): words with the same neighbours get similar vectors, whether one
# counts the neighbours or predicts them (word2vec, Mikolov et al. 2013). But a row of a table is *static*: *bank* has
# one vector, for the river's and for the one with the money. It takes the layers above to tell them apart.
#
# ## 2.1 One row for every token · 3 points · ~8 minutes · ETransformer, line 3
#
# All vectors are the rows of one matrix, $W_e \in \mathbb{R}^{N_V \times d_e}$: row $v$ belongs to the token with id
# $v$. To look up a token is to select a row. But you can also *write the look-up as a matrix product*: make a vector of
# zeros with a single 1 at index $v$ (a *one-hot* vector), and multiply.
#
# $$(0 \;\; 0 \;\; 1 \;\; 0)\begin{pmatrix}1&2\\3&4\\5&6\\7&8\end{pmatrix} = (5 \quad 6)$$
#
# Why does this matter? It shows that an embedding is nothing new: it is a linear layer without a bias on a one-hot
# input. Its gradient is that of any matrix product: 0 for all rows that were not used. Write the look-up this way, as a
# product.
#
# (The algorithm counts rows from 1; a vocabulary file counts from 0, and so do you. There may be more axes in front,
# for a batch of sentences; the result keeps them.)

# %% nbgrader={"grade": false, "grade_id": "token-embeddings", "locked": false, "schema_version": 3, "solution": true, "task": false}
def token_embeddings(token_ids: Tensor, w_e: Tensor) -> Tensor:
    """Looks up the rows of a table for some ids, as a product with one-hot vectors.

    token_ids: (..., tokens) integers from 0 to N_V - 1    w_e: (N_V, d_e)
    returns (..., tokens, d_e)
    """
    # 1. one-hot vectors (..., tokens, N_V)   2. times the table
    ### BEGIN SOLUTION
    row_numbers = ops.arange(w_e.shape[0])
    is_it_this_row = ops.equal(ops.expand_dims(token_ids, -1), row_numbers)  # (..., tokens, N_V)
    one_hot = ops.cast(is_it_this_row, w_e.dtype)
    return ops.matmul(one_hot, w_e)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-token-embeddings", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(token_embeddings)

# %% [markdown]
# **See it.** Three tokens of a vocabulary of six. If the table is the identity matrix, your own function returns the
# one-hot rows.

# %%
small = ["the", "cat", "sat", "on", "a", "mat"]
told = ["the", "cat", "sat"]
ids = ops.convert_to_tensor([small.index(word) for word in told])
table = ops.convert_to_tensor(rng.uniform(0, 1, size=(6, 4)).astype("float32"))
heat_maps(
    [token_embeddings(ids, ops.eye(6)), table, token_embeddings(ids, table)],
    titles=["one-hot rows", "× table", "= vectors"],
    rows=[told, small, told],
    columns=[small, list("abcd"), list("abcd")],
    numbers=True,
    alt="One-hot rows of the, cat, sat; a table of six rows; the product, which is the table's first three rows",
)

# %% [markdown]
# What does it cost? With BERT's 30,522 tokens and 768 numbers, a product takes 23,440,896 multiplications per token,
# nearly all of them by zero. So a library *gathers* instead: it copies 768 numbers. The result is the same, and so is
# the gradient.

# %%
large = ops.convert_to_tensor(rng.normal(size=(30522, 768)).astype("float32"))
cat_sat = ops.convert_to_tensor([21, 11987, 5438])  # "The cat sat" in the lecture
print("multiplications per token:", large.shape[0] * large.shape[1])
gathered = ops.take(large, cat_sat, axis=0)
difference = float(ops.max(ops.abs(token_embeddings(cat_sat, large) - gathered)))
print(f"largest difference to gathering: {difference:.1g}")

# %% [markdown]
# ---
# # Positions: attention ignores the order
#
# ## 2.2 Back in order · 2 points · ~6 minutes
#
# Self-attention mixes every token with every other. You build it properly in notebook 03. Here is its simplest form, as
# one lecture introduces it, without anything to learn. Each output is a weighted average of all tokens. The weights
# come from dot products: *softmax*, which you build in notebook 03, turns a row of them into weights that are positive
# and sum to 1.
#
# $$Y = \text{softmax}_\text{row}(X X^\top)\, X$$
#
# Nothing in this formula depends on the *position* of a token: if you shuffle the rows of $X$, the rows of $Y$ are the
# same vectors, shuffled in the same way. Attention is an operation on **sets**. To see this, you need a function that
# reverses a shuffle. Somebody made `shuffled = x[order]`, so row $r$ of `shuffled` is token `order[r]`. Put the rows
# back in their original order.
#
# $$\text{order} = (2, 0, 1):\quad (a, b, c) \;\xrightarrow{\text{shuffle}}\; (c, a, b) \;\xrightarrow{\text{unshuffle}}\; (a, b, c)$$

# %% nbgrader={"grade": false, "grade_id": "unshuffle", "locked": false, "schema_version": 3, "solution": true, "task": false}
def unshuffle(y: Tensor, order: Tensor) -> Tensor:
    """Puts shuffled tokens back into their original order.

    y: (..., tokens, d); row r belongs to token order[r]
    order: (tokens,) integers, each of 0 … tokens - 1 exactly once
    returns (..., tokens, d): row t belongs to token t
    """
    ### BEGIN SOLUTION
    return ops.take(y, ops.argsort(order), axis=-2)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-unshuffle", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(unshuffle)

# %% [markdown]
# **See it.** *dog bites man* and *man bites dog*: the order (2, 1, 0) turns one into the other. Attention gives the
# same three vectors for both; put back in order, the outputs are equal.

# %%
def bare_attention(x):
    """The lecture's first self-attention: there is nothing to learn in it."""
    return ops.matmul(ops.softmax(ops.matmul(x, ops.transpose(x)), axis=-1), x)


x = ops.convert_to_tensor(rng.normal(size=(3, 5)).astype("float32"))
order = ops.convert_to_tensor([2, 1, 0])
straight, turned = bare_attention(x), bare_attention(ops.take(x, order, axis=0))
heat_maps(
    [straight, turned, unshuffle(turned, order)],
    titles=["dog bites man", "man bites dog", "the same, put back"],
    rows=["1st row", "2nd row", "3rd row"],
    numbers=True,
    alt="Three matrices of outputs: the second is the first upside down, the third equals the first",
)
difference = float(ops.max(ops.abs(straight - unshuffle(turned, order))))
print(f"largest difference after putting back: {difference:.1g}, the rounding of float32")

# %% [markdown]
# So the vectors themselves must contain who bit whom. The simplest way: give every position its own vector and add it
# to the token's vector before anything is mixed. Any two different vectors would distinguish two positions; the
# question is which ones work well.
#
# ## 2.3 Clocks: sinusoidal positions · 4 points · ~12 minutes · Vaswani et al. 2017, section 3.5
#
# How do you write a number as a vector of numbers between −1 and 1? With clocks. A second hand shows exactly where you
# are within a minute, but not in which minute; an hour hand is less exact but goes round slowly. Take $d_e / 2$ hands,
# each slower than the one before, and write down the two coordinates of the tip of each hand:
#
# $$P[p, 2i] = \sin\!\left(\frac{p}{10000^{2i/d_e}}\right) \qquad P[p, 2i+1] = \cos\!\left(\frac{p}{10000^{2i/d_e}}\right)
# \qquad p = 0, 1, \dots \quad i = 0, \dots, \tfrac{d_e}{2} - 1$$
#
# ⚠ One lecture counts from 1 where the paper counts from 0, twice: the positions ($p = 1, \dots, T$) and the pairs
# ($2 \cdot 1/d$ in the first row). Then the fastest hand is slower than the paper's, and no row is
# $(0, 1, 0, 1, \dots)$. Count from 0.

# %% nbgrader={"grade": false, "grade_id": "sinusoids", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sinusoids(length: int, d_e: int) -> Tensor:
    """A fixed vector for each position: sines and cosines of decreasing frequency.

    length: number of positions    d_e: size of each vector, even
    returns (length, d_e) float32: row p is (sin, cos, sin, cos, …)
    """
    # 1. angles (length, d_e / 2)   2. sine and cosine of each, alternating
    ### BEGIN SOLUTION
    position = ops.expand_dims(ops.arange(length, dtype="float32"), axis=1)
    pair = ops.arange(d_e // 2, dtype="float32")
    angles = position / 10000 ** (2 * pair / d_e)  # (length, d_e / 2)
    hands = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)  # (length, d_e / 2, 2)
    return ops.reshape(hands, (length, d_e))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-sinusoids", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(sinusoids)

# %% [markdown]
# **See it.** Your table for 100 positions of 64 numbers. On the left are the fast hands, on the right hands so slow
# that they have hardly moved. Each row identifies a position, like an address.

# %%
clock = sinusoids(100, 64)
tables(
    [clock],
    titles=["sinusoidal positions"],
    rows="position p",
    columns="column",
    alt="A hundred rows by 64 columns; the left columns alternate fast from row to row, the right ones hardly change",
)
lines(
    range(40),
    {f"column {column}": clock[:40, column] for column in (0, 10, 20)},
    title="Three hands",
    x="position p",
    y="sine",
    alt="Sines of three columns over 40 positions, each slower than the one before",
)

# %% [markdown]
# How slow is the slowest hand? Hand $i$ goes round once in $2\pi \cdot 10000^{2i/d_e}$ positions. The paper gives the
# range "from $2\pi$ to $10000 \cdot 2\pi$". ⚠ The first is exact; the second is the value for $i = d_e/2$, but the last
# hand has $i = d_e/2 - 1$:

# %%
for d in (64, 512, 768):
    slowest = 2 * np.pi * 10000 ** ((d - 2) / d)
    print(f"d_e = {d:3}: periods from {2 * np.pi:.2f} to {slowest:,.0f} positions")
print(f"10000 · 2π = {20000 * np.pi:,.0f}")

# %% [markdown]
# Why sine *and* cosine? Because with both, moving $k$ positions ahead rotates every hand by a fixed angle, the same
# from every start (Vaswani et al. 2017 give this as the reason for their choice). A linear layer can learn "three
# positions later". Check it on your own table: one matrix maps every row to that row.

# %%
steps = 3
angles = steps / 10000 ** (np.arange(0, 64, 2) / 64)
turn = np.zeros((64, 64), "float32")
for i, angle in enumerate(angles):
    turn[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
moved = ops.matmul(clock[:-steps], turn)
print(f"largest difference to the rows 3 further on: {float(ops.max(ops.abs(moved - clock[steps:]))):.1g}")

# %% [markdown]
# ## 2.4 Who is near whom? · 3 points · ~7 minutes
#
# Positions that are close should have similar vectors. The usual measure of *similar* for vectors is the cosine of the
# angle between them: 1 for the same direction, 0 at right angles, −1 for opposite directions. The length of the vectors
# has no effect.
#
# $$C[s, t] = \frac{x_s \cdot x_t}{\lVert x_s \rVert\, \lVert x_t \rVert} \qquad \lVert x \rVert = \sqrt{\textstyle\sum_j x_j^2}$$
#
# You will need it again whenever you ask what a vector is similar to.

# %% nbgrader={"grade": false, "grade_id": "position-similarity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine_similarities(x: Tensor) -> Tensor:
    """The cosine of the angle between every two rows.

    x: (..., n, d), no row all zeros
    returns (..., n, n)
    """
    # 1. scale every row to length 1   2. multiply every row with every row
    ### BEGIN SOLUTION
    lengths = ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True))
    unit = x / lengths
    return ops.matmul(unit, ops.swapaxes(unit, -1, -2))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-position-similarity", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(cosine_similarities)

# %% [markdown]
# **See it.** The similarity of every position to every other: your sinusoids, beside a table of random numbers, which
# is what learned positions are before training. The sinusoids show stripes along the diagonal: the similarity of two
# positions depends only on their distance, because $\sin a \sin b + \cos a \cos b = \cos(a - b)$.

# %%
random_table = ops.convert_to_tensor(rng.normal(size=(100, 64)).astype("float32"))
near = cosine_similarities(clock)
tables(
    [near, cosine_similarities(random_table)],
    titles=["sinusoids", "learned, before training"],
    rows="position s",
    columns="position t",
    alt="Left: similarity falls off from the diagonal in stripes; right: a dark diagonal on even noise",
)
distances = np.arange(40)
lines(
    distances,
    {f"from position {start}": near[start, start : start + 40] for start in (0, 30)},
    title="Similarity depends on distance, wherever you start",
    x="distance",
    y="cosine",
    alt="Two curves of cosine against distance that lie on each other, falling in waves from 1 to about a half",
)

# %% [markdown]
# **Trained tables.** What does training make of such tables? The course's packaged model, `bertlab-mini`, has a token
# table of 12,288 rows and a learned position table of 128. *Your* function tells which rows are alike. Guess first:
# which words are nearest to *seven*, to *monday*, to *mother*?

# %%
from bertlab.checkpoints import load, load_tokenizer

trained = load("bertlab-mini", "encoder").embeddings
spelled = load_tokenizer("bertlab-mini").vocabulary.pieces
row_of = {piece: row for row, piece in enumerate(spelled) if piece.isalpha() and len(piece) > 1}
known_words = list(row_of)  # whole words only
token_table = ops.take(trained.token.embeddings, list(row_of.values()), axis=0)  # (words, 256)


def nearest(vector, leave_out, k=5):
    """The words whose rows have the largest cosine with a vector."""
    pairs = ops.stack([token_table, ops.broadcast_to(vector, token_table.shape)], axis=1)  # (words, 2, 256)
    cosines = np.array(cosine_similarities(pairs)[:, 0, 1])
    order = [known_words[row] for row in np.argsort(-cosines) if known_words[row] not in leave_out]
    return order[:k]


def vector_of(word):
    return token_table[known_words.index(word)]


for word in ("seven", "monday", "mother", "france", "red", "doctor"):
    print(f"{word:8} → {', '.join(nearest(vector_of(word), {word}))}")

# %% [markdown]
# Nobody told the model what a number or a weekday is: these words occur beside the same words, so training gave them
# similar rows. Even *differences* of rows mean something: the step from *go* to *went*, added to *come*, leads to …

# %%
QUESTIONS = "go went come|man woman king|france paris germany|good better bad|walk walked play|boy boys girl"
for question in QUESTIONS.split("|"):
    a, b, c = question.split()
    unit = [vector_of(word) / ops.norm(vector_of(word)) for word in (a, b, c)]
    print(f"{a} : {b} = {c} : {nearest(unit[1] - unit[0] + unit[2], {a, b, c}, k=1)[0]}")

# %% [markdown]
# (The three words of a question are left out, as is usual; otherwise the nearest is often one of them.) And the
# positions? Sinusoids are given; BERT's table had to learn that 17 is near 18.

# %%
learned = trained.position.embeddings  # (128, 256)
near_learned = cosine_similarities(learned)
tables(
    [near, cosine_similarities(random_table), near_learned],
    titles=["sinusoids", "learned, before training", "learned, after training"],
    rows="position s",
    columns="position t",
    alt="Three maps of cosines: stripes along the diagonal; noise; stripes along the diagonal again",
)
distance = np.arange(20)
mean_at = [float(ops.mean(ops.diagonal(near_learned[:100, :100], offset=step))) for step in distance]
lines(
    distance,
    {"sinusoids": near[0, :20], "learned, after training": mean_at},
    title="Near positions are alike",
    x="distance",
    y="cosine",
    alt="Two falling curves of cosine against distance: sinusoids slowly, learned positions fast",
)

# %% [markdown]
# Training has found stripes of its own: near positions are alike, and the similarity depends on the distance there,
# too. The learned positions fall off faster: a word's neighbours matter most.
#
# **Does it work for longer texts than the training texts?** One lecture hopes so ("periods restart") and adds at once
# that it "doesn't really work". Try it: the cell trains the simplest possible model, a linear one, to predict the
# position from the first 50 rows of your table, then gives it the next 50. The table continues without an error, but
# the model has not learned what these rows mean. (Press, Smith & Lewis 2022 measured the same on language models: a few
# dozen tokens beyond the longest training text, models with sinusoids fail.) How far off will its worst prediction be on
# the first 50 positions, and on the next 50? Write your guess for the next 50.

# %%
my_guess = ""  # in positions, for example "5"

# %%
addresses = np.asarray(sinusoids(100, 64), "float64")
seen, all_places = np.arange(50), np.arange(100)
with_bias = np.concatenate([addresses, np.ones((100, 1))], axis=1)
reader = np.linalg.lstsq(with_bias[:50], seen, rcond=1e-6)[0]  # least squares on the first 50
reading = with_bias @ reader
lines(
    all_places[::3],
    {"the true position": all_places[::3], "the prediction": reading[::3]},
    title="A linear model trained on positions 0 to 49",
    x="position",
    y="predicted position",
    alt="The prediction follows the true position up to 49 and departs from it soon after",
)
error = np.abs(reading - all_places)
print(f"largest error on positions 0 to 49: {error[:50].max():.2f}; on 50 to 99: {error[50:].max():.1f}")
show_guess(my_guess, f"{error[50:].max():.0f}", what="largest error on positions 50 to 99")

# %% [markdown]
# ## 2.5 A table that ends · 3 points · ~6 minutes · ETransformer, line 3
#
# The other way needs no formula: one vector per position, $W_p \in \mathbb{R}^{\ell_\text{max} \times d_e}$, random at
# first and learned like all other weights (Gehring et al. 2017 did it for translation with convolutions; ⚠ the
# "9.3–21.3× faster" of a lecture is how fast their whole model writes, not the effect of its positions). Vaswani et al.
# tried both and found "nearly identical results" (their table 3, row E). BERT learns its positions, with
# $\ell_\text{max} = 512$. Compute with `ops`, not with NumPy, here and in 2.7, so that gradients reach the tables.
#
# The price: there is no row 512, and training cannot add one. Your function must refuse a longer text *with an error*,
# because nothing else does so reliably: a slice beyond the end is no error in Python, and a gather beyond the end is an
# error on a CPU but silently gives zeros on a GPU (see the documentation of `tf.gather`).

# %% nbgrader={"grade": false, "grade_id": "learned-positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def learned_positions(length: int, w_p: Tensor) -> Tensor:
    """The vectors of the first positions; a table of l_max rows has no more than l_max positions.

    length: number of positions, at least 1    w_p: (l_max, d_e)
    returns (length, d_e); raises ValueError if length is greater than l_max
    """
    ### BEGIN SOLUTION
    longest = w_p.shape[0]
    if length > longest:
        raise ValueError(f"{length} tokens, but positions were learned for {longest} only")
    return w_p[:length]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-learned-positions", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(learned_positions)

# %% [markdown]
# **See it.** A table of four positions, asked for four and for six.

# %%
w_p = ops.convert_to_tensor(rng.normal(size=(4, 3)).astype("float32"))
for length in (4, 6):
    try:
        print(length, "tokens:", learned_positions(length, w_p).shape)
    except ValueError as error:
        print(length, "tokens refused:", error)

# %% [markdown]
# **Other ways to encode positions.** *Concatenate instead of add*: one could use $[e_t; p_t]$. It is less different
# than it looks: the next layer's product would be $[e; p]\,[W_1; W_2] = eW_1 + pW_2$ (the weights stacked), and adding
# is the case $W_1 = W_2$; adding needs less width and works about as well in practice. *Relative positions*: add to the
# attention scores something that depends only on $t - s$ (Shaw, Uszkoreit & Vaswani 2018). *Syntax*: count the steps in
# a dependency tree instead of words (Wang et al. 2019). BERT does none of these: it adds positions once, below the first
# layer. (Relative positions act in every layer.)
#
# ---
# # Segments: two sentences in one sequence
#
# ## 2.6 Sentence A or sentence B? · 3 points · ~9 minutes
#
# BERT reads two sentences at once, packed into one sequence: `[CLS] A [SEP] B [SEP]`. A third vector encodes which of
# the two sentences a token belongs to: $E_A$ for everything up to *and including* the first `[SEP]`, $E_B$ for
# everything after it up to and including the second; only padding follows. Your `pack` of notebook 01 made these segment
# ids (`token_type_ids`) from the two separate sentences. Here you have only the sequence of ids, a whole batch of them, and
# you need no loop: **how many `[SEP]` come before this token?**
#
# Short sequences are filled up with `[PAD]`. Long sequences are cut off, some of them before their second `[SEP]`, some even
# before their first. Padding belongs to segment 0, as in the published tokenizer. This holds after the second `[SEP]`, and
# in a sequence without a second sentence.

# %% nbgrader={"grade": false, "grade_id": "segment-ids", "locked": false, "schema_version": 3, "solution": true, "task": false}
def segment_ids(token_ids: Tensor, sep_id: int, pad_id: int) -> Tensor:
    """The sentence each token belongs to: 0 for the first and for padding, 1 for the second.

    token_ids: (batch, tokens) integers    sep_id, pad_id: the ids of [SEP] and [PAD]
    returns (batch, tokens) int32
    """
    # 1. where is a separator?   2. how many come before each token?   3. B, unless it is padding
    ### BEGIN SOLUTION
    is_separator = ops.cast(ops.equal(token_ids, sep_id), "int32")
    before = ops.cumsum(is_separator, axis=-1) - is_separator
    in_second = ops.logical_and(ops.equal(before, 1), ops.not_equal(token_ids, pad_id))
    return ops.cast(in_second, "int32")
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-segment-ids", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(segment_ids)

# %% [markdown]
# **See it.** The picture from the beginning, now with your own segment ids, and two `[PAD]` at the end.

# %%
known = "[PAD] [UNK] [CLS] [SEP] [MASK] my dog is cute he likes play ##ing".split()
vocabulary = {piece: place for place, piece in enumerate(known)}
line = [*pieces, "[PAD]", "[PAD]"]
token_ids = ops.convert_to_tensor([[vocabulary[piece] for piece in line]])
token_type_ids = segment_ids(token_ids, vocabulary["[SEP]"], vocabulary["[PAD]"])
sum_of_rows(
    {
        "": line,
        "token": [f"E {piece}" for piece in line],
        "segment": [f"E {'AB'[int(segment)]}" for segment in token_type_ids[0]],
        "position": [f"E {place}" for place in range(len(line))],
    },
    alt="Thirteen tokens with their segments: A for the first six, B for the next five, A again for the two [PAD]",
)
print("ids     ", *(f"{int(i):2}" for i in token_ids[0]))
print("segments", *(f"{int(i):2}" for i in token_type_ids[0]))

# %% [markdown]
# ---
# # The sum
#
# ## 2.7 The sum of the three embeddings · 3 points · ~6 minutes · ETransformer, lines 3–4
#
# > 3: **for** $t \in [\ell]$: $e_t \leftarrow W_e[x[t], :] + W_p[t, :]$<br>
# > 4: $X \leftarrow$ stack row-wise $[e_1, e_2, \dots, e_\ell]$
#
# BERT adds one more term, $W_s[s[t], :]$ with $W_s \in \mathbb{R}^{2 \times d_e}$ and segment ids $s$ (`token_type_ids`
# everywhere in published code). Compute it for a whole batch at once, with your own functions and `ops`: gradients must
# reach all three tables. Tokens and segments are both look-ups, so one of your functions serves two of the three terms.

# %% nbgrader={"grade": false, "grade_id": "input-embeddings", "locked": false, "schema_version": 3, "solution": true, "task": false}
def input_embeddings(token_ids: Tensor, token_type_ids: Tensor, w_e: Tensor, w_s: Tensor, w_p: Tensor) -> Tensor:
    """Token + segment + position for every token of a batch.

    token_ids, token_type_ids: (batch, tokens) integers    w_e: (N_V, d_e)    w_s: (2, d_e)
    w_p: (l_max, d_e), with at least as many rows as a sentence has tokens
    returns (batch, tokens, d_e)
    """
    ### BEGIN SOLUTION
    tokens = token_embeddings(token_ids, w_e)
    segments = token_embeddings(token_type_ids, w_s)
    positions = learned_positions(token_ids.shape[-1], w_p)
    return tokens + segments + positions
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-input-embeddings", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(input_embeddings)

# %% [markdown]
# **See it.** *dog bites man* and *man bites dog* once more, with positions added before attention: put back in order,
# the two now differ. That difference is all that any later layer can know about word order.
#
# ⚠ A lecture adds $p$ to the query, the key and the value instead. It is the same only here, where all three are the
# token's own vector; with matrices, as in notebook 03, $(x + p) W = x W + p W$, which is not $x W + p$.

# %%
w_e = ops.convert_to_tensor(rng.normal(size=(3, 5)).astype("float32"))
w_s, w_p = ops.zeros((2, 5)), ops.convert_to_tensor(rng.normal(size=(8, 5)).astype("float32"))
one_sentence = ops.convert_to_tensor([[0, 0, 0]])
straight, turned = (
    bare_attention(input_embeddings(ops.convert_to_tensor([ids]), one_sentence, w_e, w_s, w_p)[0])
    for ids in ([0, 1, 2], [2, 1, 0])
)
heat_maps(
    [straight, unshuffle(turned, order), ops.abs(straight - unshuffle(turned, order))],
    titles=["dog bites man", "man bites dog, put back", "difference"],
    rows=["dog", "bites", "man"],
    numbers=True,
    alt="Outputs for the two sentences with positions, put in the same order, and their difference, which is no "
    "longer zero",
)

# %% [markdown]
# ## 2.8 BERT's first layer · 6 points · ~18 minutes · ETransformer, lines 3–4, as in BERT
#
# As a Keras layer, with two more steps after the sum:
#
# $$\text{Dropout}\big(\text{LayerNorm}(W_e[x] + W_s[s] + W_p[0 \dots \ell - 1])\big)$$
#
# *LayerNorm* shifts and scales each token's vector to mean 0 and variance 1, then applies a learned scale and shift;
# you build it yourself in notebook 04 and use `keras.layers.LayerNormalization` until then. ⚠ Its small constant ε
# (*epsilon*) is 0.001 in Keras and $10^{-12}$ in BERT, and here the difference matters: BERT draws its tables with a
# standard deviation of 0.02, cut off at twice that, which leaves 0.0176; so the variance of a sum of three is about
# $3 \cdot 0.0176^2 = 0.00093$, just as small as Keras's ε. *Dropout* sets a random fraction of the numbers to 0 during
# training, and does nothing afterwards; the argument `training` switches between the two.
#
# Name the sub-layers `self.token`, `self.segment`, `self.position` (`keras.layers.Embedding`) and `self.norm`: the
# check puts its own weights into them, and notebook 05 will put BERT's. Create everything in `__init__`, use it in
# `call`. Give each table its *own* initializer, `keras.initializers.TruncatedNormal(stddev=0.02)`: a shared one gives
# all three the same numbers. (The layer need not refuse a text longer than `max_positions`, as 2.5 does: `Embedding` is
# a gather, so a CPU reports it and a GPU stays silent.) `**kwargs` holds Keras's own arguments, such as `name` and
# `trainable`: hand them on to `super().__init__`.
#
# Keras trains a model inside of `tf.function`. There a tensor has a shape, but no numbers yet: do without `if` or `for`
# over a tensor, `len(...)`, `float(...)` and `.numpy()`. The batch size is not known there either, and `x.shape[0]` is
# None: take sizes from `ops.shape(x)`. The check of a layer, here and in later notebooks, makes one of its calls there.

# %% nbgrader={"grade": false, "grade_id": "bert-embeddings", "locked": false, "schema_version": 3, "solution": true, "task": false}
class BertEmbeddings(keras.layers.Layer):
    """Dropout(LayerNorm(token + segment + position)).

    call: token_ids, token_type_ids (batch, tokens) integers; training True during training
    returns (batch, tokens, hidden_size)
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        max_positions: int = 512,
        num_segments: int = 2,
        dropout: float = 0.1,
        **kwargs,
    ):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)

        def table(rows, name):
            small = keras.initializers.TruncatedNormal(stddev=0.02)
            return keras.layers.Embedding(rows, hidden_size, embeddings_initializer=small, name=name)

        self.token = table(vocab_size, "token")
        self.segment = table(num_segments, "segment")
        self.position = table(max_positions, "position")
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12, name="norm")
        self.drop = keras.layers.Dropout(dropout)
        ### END SOLUTION

    def call(self, token_ids: Tensor, token_type_ids: Tensor, training: bool | None = None) -> Tensor:
        # 1. look up and add   2. normalise   3. dropout
        ### BEGIN SOLUTION
        places = ops.arange(ops.shape(token_ids)[-1])
        x = self.token(token_ids) + self.segment(token_type_ids) + self.position(places)
        return self.drop(self.norm(x), training=training)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-bert-embeddings", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(BertEmbeddings)

# %% [markdown]
# **See it.** Your layer, freshly initialized, on the eleven tokens and two `[PAD]`: its output without and with
# `training=True`. In the second picture the numbers that dropout set to zero are the lightest cells.

# %%
keras.utils.set_random_seed(2)
layer = BertEmbeddings(vocab_size=len(vocabulary), hidden_size=24, dropout=0.3)
calm, busy = (ops.abs(layer(token_ids, token_type_ids, training=training)[0]) for training in (False, True))
heat_maps(
    [calm, busy],
    titles=["inference: the size of each number", "training, with dropout 0.3"],
    rows=line,
    per_line=1,
    alt="Sizes of the numbers of 13 token vectors; in training about three in ten are zero and the others larger",
)
out = layer(token_ids, token_type_ids)
means, spreads = ops.mean(out, axis=-1), ops.std(out, axis=-1)
print(f"each vector: mean 0 within {float(ops.max(ops.abs(means))):.0e}, standard deviation", end=" ")
print(f"from {float(ops.min(spreads)):.4f} to {float(ops.max(spreads)):.4f}")
zeros = [float(ops.mean(ops.cast(shown == 0, "float32"))) for shown in (calm, busy)]
print(f"zeros: {zeros[0]:.0%} in inference, {zeros[1]:.0%} in training")

# %% [markdown]
# How large is it in BERT-Base? $30522 \cdot 768$ for the tokens, $512 \cdot 768$ for the positions, $2 \cdot 768$ for
# the segments, and $2 \cdot 768$ for LayerNorm's scale and shift: 23,837,184, more than a fifth of the whole model. (⚠
# A lecture illustrates $W_p$ by entries such as −78.6 and 799.7; 0.0176 is their typical size at the start.) Count your
# own:

# %%
base = BertEmbeddings(vocab_size=30522, hidden_size=768)
base(token_ids, token_type_ids)
print(f"{base.count_params():,} parameters, {base.count_params() / 109_482_240:.1%} of BERT-Base")

# %% [markdown]
# The output is the sum of three tables with random numbers of the same size. So two tokens that share one of the
# three terms have a cosine of about 1/3; with two terms in common it is about 2/3. Even before any training, BERT can see two things:
# which tokens are in the same sentence and which tokens are equal. Find the two `[SEP]` (one term in common) and the
# two `[PAD]` (two).

# %%
wide = BertEmbeddings(vocab_size=len(vocabulary), hidden_size=512)
heat_maps(
    [cosine_similarities(wide(token_ids, token_type_ids)[0])],
    titles=["cosine after your layer, untrained"],
    rows=line,
    columns=line,
    alt="Cosines of 13 embedded tokens: a darker block for each sentence, the two [PAD] belong to the first; one "
    "darker cell where the two [SEP] meet",
)

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("one-hot-product", "")

# %%
answer("last-position", "")

# %% [markdown]
# ---
# # Recap
#
# A token is a row of a table; looking it up is a product with a one-hot vector. Attention sees a set, so the vector
# must contain the position: with sinusoids, which need no training, or with a learned table, which has a last row. A
# third vector encodes the sentence. Their sum, normalised, is all that the layers above receive.
#
# **To think about**
#
# 1. The token table has 30,522 rows, the segment table 2. Which row of which table gets the most gradient in one step,
#    and what does that mean for rare tokens?
# 2. Add the same vector to *all* positions. Does LayerNorm remove it? What if the vector is constant,
#    $(c, c, \dots, c)$?
# 3. A model was trained on sentences of at most 128 tokens, with a position table of 512 rows. What are the rows 128 to
#    511 worth?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. Row 0 of the segment table: a row's gradient is the sum over all tokens that used it, and every token of a first
#    segment uses that one. A rare token's row gets a gradient only in the few steps in which the token occurs, so it
#    stays close to its random start (Adam takes full steps all the same, which helps).
# 2. LayerNorm works on each token's own numbers: it subtracts their mean and rescales them. A constant vector
#    $(c, \dots, c)$ only moves the mean, so it disappears completely; any other vector remains, at a somewhat
#    different scale.
# 3. Nothing: they never got a gradient, so they are what the random start made of them (weight decay may have made them
#    smaller). A longer text would add noise to its later tokens. That is why BERT trains the last tenth of its steps
#    with 512 tokens.
#
# </details>
#
# **Next:** notebook 03 lets the vectors look at each other: attention.

# %%
progress()
