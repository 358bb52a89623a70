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
# # 05 · BERT
#
# You have the embeddings (02), attention (03) and the encoder (04). In this notebook they become one model. You follow
# the algorithm *ETransformer* line by line, add the parts that are new in BERT, count every parameter, and at the end
# load published, trained weights into your own layers and let them fill in masked words.
#
# By the end you will have built
#
# - `FinalLayers` and `ETransformer`: lines 1–12 of the algorithm;
# - `Pooler`, `Bert`, `MlmHead`, `NspHead`: the model that was published in 2018;
# - `parameter_count`: where 110 million comes from;
# - `published_name`, `load_published`, `fill_in`: published weights in your layers.
#
# 75 to 90 minutes, 36 points. Everything runs on this machine, without a network; with one, a single setting loads the
# BERT of 2018.
#
# **Notation.** In the first part that of *Formal Algorithms for Transformers* (Phuong & Hutter 2022) with row vectors:
# $\ell$ tokens, $d_e$ numbers per token, $L$ layers, $N_V$ tokens in the vocabulary. From section 5.3 on that of the
# BERT paper (Devlin et al. 2019): $L$ layers, hidden size $H$, $A$ heads, vocabulary size $V$, and $F$ numbers between
# the two halves of the feed-forward network. All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has
# otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, blocks, check, guess_bars, heat_maps, load_backend, progress, shares, show_guess

load_backend()

# %% tags=["setup"]
import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

from mybert.attention import padding_mask
from mybert.embeddings import BertEmbeddings
from mybert.encoder import Encoder, LayerNorm, gelu

rng = np.random.default_rng(11)  # for the pictures

# %% [markdown]
# The whole model in one picture, from the bottom up. You already have the four lower boxes.

# %%
blocks(
    [
        ["token ids   ·   segments   ·   attention mask"],
        ["BertEmbeddings (02)"],
        ["encoder layer 1 (03, 04)"],
        ["…   encoder layer L"],
        ["MlmHead\na token for each [MASK]", "Pooler, NspHead\ndoes B follow A?"],
    ],
    alt="Boxes from bottom to top: ids, segments and mask; embeddings; encoder layers 1 to L; above them two heads "
    "side by side, MlmHead, which predicts a token for each [MASK], and Pooler with NspHead, which predicts whether B "
    "follows A",
)

# %% [markdown]
# ---
# # The algorithm, all twelve lines
#
# > 1: **function** ETransformer($x$; $\mathcal{W}$)<br>
# > 2: $\ell \leftarrow \text{length}(x)$<br>
# > 3: **for** $t \in [\ell]$: $e_t \leftarrow W_e[x[t], :] + W_p[t, :]$<br>
# > 4: $X \leftarrow$ stack row-wise $[e_1, \dots, e_\ell]$<br>
# > 5: **for** $l = 1, \dots, L$ **do**<br>
# > 6: &nbsp;&nbsp; $X \leftarrow X + \text{MHAttention}(X \mid \mathcal{W}_l)$<br>
# > 7: &nbsp;&nbsp; $X \leftarrow \text{LayerNormPerRow}(X \mid \gamma_l^1, \beta_l^1)$<br>
# > 8: &nbsp;&nbsp; $X \leftarrow X + \left(\text{GELU}(X W_l^{\text{mlp1}} +_{(\text{rows})} b_l^{\text{mlp1}})\,
# > W_l^{\text{mlp2}} +_{(\text{rows})} b_l^{\text{mlp2}}\right)$<br>
# > 9: &nbsp;&nbsp; $X \leftarrow \text{LayerNormPerRow}(X \mid \gamma_l^2, \beta_l^2)$<br>
# > 10: $X \leftarrow \text{GELU}(X W_f +_{(\text{rows})} b_f)$<br>
# > 11: $X \leftarrow \text{LayerNormPerRow}(X \mid \gamma, \beta)$<br>
# > 12: **return** $P = \text{softmax}_\text{row}(X W_u)$
#
# ⚠ The lecture indents lines 10 and 11 like lines 6 to 9 and writes $\gamma_l, \beta_l$ in line 11, as if they belonged
# to the loop. Its own list of parameters has *one* $W_f, b_f, \gamma, \beta$: these lines come after the loop, once.
# And $W_f \in \mathbb{R}^{d_e \times d_f}$ is followed by $W_u \in \mathbb{R}^{d_e \times N_V}$, which is only possible
# if $d_f = d_e$, as in BERT.
#
# ## 5.1 From vectors to words · 3 points · ~7 minutes · ETransformer, lines 10–12
#
# After $L$ layers there is one vector per token. One more dense layer with GELU and a LayerNorm prepare it for the
# prediction. Then $W_u$, the *unembedding*, has one column per token of the vocabulary: the dot product with that
# column is the score of that token. Softmax turns each row into a probability distribution:
#
# $$X \in \mathbb{R}^{\ell \times d_e} \;\to\; P \in (0, 1)^{\ell \times N_V}$$
#
# Name the parts `self.dense` ($W_f, b_f$), `self.norm` ($\gamma, \beta$, your `LayerNorm`) and `self.unembedding`
# ($W_u$, made with `self.add_weight`; the algorithm has no bias there). `**kwargs` holds Keras's own arguments, such as
# `name` and `trainable`: hand them on to `super().__init__` here and in all classes below. As in 2.8, the check of a
# layer makes one of its calls inside of `tf.function`, where a tensor has no numbers yet and the batch size is unknown.

# %% nbgrader={"grade": false, "grade_id": "final-layers", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FinalLayers(keras.layers.Layer):
    """Turns vectors into distributions over the vocabulary: lines 10-12 of ETransformer, with d_f = d_e.

    call: x (batch, tokens, d_e)
    returns (batch, tokens, vocab_size): every row sums to 1, and no number is negative
    """

    def __init__(self, vocab_size: int, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        ### END SOLUTION

    def build(self, x_shape):
        ### BEGIN SOLUTION
        d_e = x_shape[-1]
        self.dense = keras.layers.Dense(d_e)
        self.norm = LayerNorm()
        self.dense.build(x_shape)
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(d_e, self.vocab_size), name="unembedding")
        ### END SOLUTION

    def call(self, x: Tensor) -> Tensor:
        # line 10   line 11   line 12
        ### BEGIN SOLUTION
        x = gelu(self.dense(x))
        x = self.norm(x)
        return ops.softmax(ops.matmul(x, self.unembedding), axis=-1)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-final-layers", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(FinalLayers)

# %% [markdown]
# ## 5.2 ETransformer · 5 points · ~10 minutes · ETransformer, lines 1–12
#
# Lines 2–4 look up the token and the position; your `Encoder` is lines 5–9; `FinalLayers` is the rest. Segments and
# mask come in 5.4: here all texts of a batch have the same length. The algorithm has no dropout, your `Encoder` has:
# leave it or set its rate to 0, both are right here.
#
# Name the parts `self.token` ($W_e$) and `self.position` ($W_p$), both `keras.layers.Embedding`, `self.encoder` and
# `self.final`.

# %% nbgrader={"grade": false, "grade_id": "etransformer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ETransformer(keras.layers.Layer):
    """The encoder-only transformer, lines 1-12.

    call: x (batch, tokens) integers, the token ids; at most `max_length` tokens
    returns (batch, tokens, vocab_size): P, for each token a distribution over the vocabulary
    """

    def __init__(
        self, vocab_size: int, d_e: int, num_layers: int, num_heads: int, d_mlp: int, max_length: int, **kwargs
    ):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)
        ### END SOLUTION

    def call(self, x: Tensor) -> Tensor:
        # lines 2-4   lines 5-9   lines 10-12
        ### BEGIN SOLUTION
        places = ops.arange(ops.shape(x)[1])
        e = self.token(x) + self.position(places)
        e = self.encoder(e)
        return self.final(e)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-etransformer", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(ETransformer)

# %% [markdown]
# **See it.** The lecture's sentence, *The cat sat*, has the ids (21, 11987, 5438), and its `[MASK]` has the id 50001:
# so the vocabulary has at least 50,002 tokens. A freshly initialized model gives every token about the same
# probability, $1 / 50002 = 0.00002$. No probability is exactly 0, since a softmax returns none (⚠ a lecture's picture has
# 0 % for *Zyzzyva*), and the classes are tokens, not "all English words". ⚠ Another lecture predicts the *next* word among
# 50,257: that is GPT-2. BERT predicts hidden words, among 30,522 tokens.

# %%
keras.utils.set_random_seed(5)
lecture = ETransformer(vocab_size=50002, d_e=16, num_layers=2, num_heads=2, d_mlp=64, max_length=512)
p = lecture(ops.convert_to_tensor([[21, 11987, 5438]]))
print("P", p.shape, "  rows sum to", np.round(ops.sum(p, axis=-1).numpy(), 4))
print(f"smallest {float(ops.min(p)):.6f}   largest {float(ops.max(p)):.6f}   1/50002 = {1 / 50002:.6f}")

# %% [markdown]
# **See it.** *Dog bites man* and *man bites dog* contain the same words. The two rows of each map are the model's
# distribution for the middle word, *bites*, in the two orders. Left: with $W_p$ set to zero. Right: with positions.
# (All weights are random.) Without positions the two sentences are the same *set*, and the two rows are equal.

# %%
words = ["bites", "dog", "man", "the", "is", "old"]
keras.utils.set_random_seed(7)
toy = ETransformer(vocab_size=len(words), d_e=16, num_layers=2, num_heads=2, d_mlp=32, max_length=8)
orders = ops.convert_to_tensor([[words.index(word) for word in text.split()] for text in ("dog bites man", "man bites dog")])
toy(orders)  # creates the weights
for weight in toy.weights:  # initial weights are so small that all outputs are nearly the same
    weight.assign(weight + 0.7 * rng.normal(size=weight.shape))
middle = []
for size in (0.0, 1.0):
    toy.position.embeddings.assign(size * rng.normal(size=toy.position.embeddings.shape))
    middle.append(toy(orders)[:, 1])
heat_maps(
    middle,
    titles=["no positions", "with positions"],
    rows=["dog BITES man", "man BITES dog"],
    columns=words,
    numbers=True,
    per_line=2,
    alt="Two heat maps of two rows. Without positions both rows are equal; with positions they differ",
)

# %% [markdown]
# ---
# # From ETransformer to BERT
#
# | | ETransformer | BERT |
# |---|---|---|
# | embeddings | $W_e + W_p$ | + segment A or B, then LayerNorm and dropout (notebook 02) |
# | mask | none: one text | padding hidden in every layer |
# | lines 10–12 | part of the model | a *head*, for pre-training only |
# | $W_u$ | a separate matrix | the token table $W_e$ again (*tied*), and an output bias |
# | for the whole text | | the pooler, and a second head on it |
#
# ## 5.3 The pooler · 2 points · ~3 minutes
#
# A classifier needs one vector, not $\ell$ of them. BERT puts `[CLS]` in front of every text. It has no meaning of its
# own, but in every layer it may look at all the others, so its vector can collect information about the whole text. The
# pooler reads that one vector. Do not use `ops.stop_gradient`: the gradient flows through the pooler back to `[CLS]`.
#
# $$\text{pooled} = \tanh(h_{\text{[CLS]}} W + b) \qquad (B, T, H) \to (B, H)$$
#
# Name its `Dense` ($H \to H$) `self.dense`.

# %% nbgrader={"grade": false, "grade_id": "pooler", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Pooler(keras.layers.Layer):
    """One vector for the whole text, computed from its first token, [CLS].

    call: hidden (batch, tokens, hidden)
    returns (batch, hidden)
    """

    def build(self, hidden_shape):
        ### BEGIN SOLUTION
        batch, _, size = hidden_shape
        self.dense = keras.layers.Dense(size)
        self.dense.build((batch, size))
        ### END SOLUTION

    def call(self, hidden: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        first = hidden[:, 0]
        return ops.tanh(self.dense(first))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-pooler", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(Pooler)

# %% [markdown]
# ## 5.4 BERT · 6 points · ~10 minutes · ETransformer, lines 1–9, as BERT has them
#
# You have all the parts: `BertEmbeddings`, `padding_mask`, `Encoder`, `Pooler`. The call takes what your `pack` of
# notebook 01 returns:
#
# $$\underbrace{\text{token ids},\ \text{segments},\ \text{attention mask}}_{(B, T)\text{ integers}} \;\to\;
# \underbrace{\text{hidden}}_{(B, T, H)},\; \underbrace{\text{pooled}}_{(B, H)}$$
#
# The ones and zeros of `attention_mask` are not yet the mask that attention needs: that one also has an axis for the
# queries (3.6). Pass `training` on to the embeddings and the encoder, which contain the dropout, and give both the rate
# `dropout`. Name the parts `self.embeddings`, `self.encoder`, `self.pooler`. (The check builds your model some twenty
# times. That takes up to a minute; a line shows how far it is.)

# %% nbgrader={"grade": false, "grade_id": "bert", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Bert(keras.layers.Layer):
    """BERT without its pre-training heads.

    call: token_ids, token_type_ids, attention_mask (batch, tokens) integers; attention_mask is 1
    for a token of the text and 0 for padding
    returns two tensors: hidden (batch, tokens, hidden_size) and pooled (batch, hidden_size)
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        num_layers: int,
        num_heads: int,
        intermediate_size: int,
        max_positions: int = 512,
        dropout: float = 0.1,
        **kwargs,
    ):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout=dropout)
        self.pooler = Pooler()
        ### END SOLUTION

    def call(
        self, token_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor, training: bool | None = None
    ) -> tuple[Tensor, Tensor]:
        # 1. embeddings   2. mask   3. encoder   4. pooler
        ### BEGIN SOLUTION
        x = self.embeddings(token_ids, token_type_ids, training=training)  # (B, T, H)
        visible = padding_mask(attention_mask)  # (B, 1, T)
        hidden = self.encoder(x, attention_mask=visible, training=training)  # (B, T, H)
        return hidden, self.pooler(hidden)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-bert", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(Bert)

# %% [markdown]
# **See it.** Five tokens, alone and with three [PAD] behind them. The maps show how much the hidden states of the five
# change when padding is added. With your mask they do not change (apart from rounding). With a mask of ones the padding
# is read like text, and every token changes.

# %%
keras.utils.set_random_seed(3)
small = Bert(vocab_size=30, hidden_size=16, num_layers=2, num_heads=4, intermediate_size=64, max_positions=16)
alone = ops.convert_to_tensor([[1, 12, 7, 25, 2]])
padded = ops.concatenate([alone, ops.zeros((1, 3), "int32")], axis=1)
ones, real = ops.ones_like(padded), ops.cast(padded > 0, "int32")
small(alone, alone * 0, ops.ones_like(alone))  # creates the weights
for weight in small.weights:
    weight.assign(weight + 0.3 * rng.normal(size=weight.shape))
target, _ = small(alone, ops.zeros_like(alone), ops.ones_like(alone))
moved = [ops.abs(small(padded, ops.zeros_like(padded), mask)[0][0, :5] - target[0]) for mask in (real, ones)]
heat_maps(
    moved,
    titles=["padding hidden", "padding seen"],
    rows=["[CLS]", "a", "b", "c", "[SEP]"],
    largest=float(ops.max(moved[1])),
    alt="Two heat maps of changes of the hidden states. On the left, with the padding hidden, all is zero; on the "
    "right, with the padding seen, most cells have changed",
)
print("largest change:", " hidden %.1e" % float(ops.max(moved[0])), " seen %.2f" % float(ops.max(moved[1])))

# %% [markdown]
# ---
# # Two heads for pre-training
#
# ## 5.5 Masked words: the tied head · 4 points · ~6 minutes · ETransformer, lines 10–12, as BERT has them
#
# Lines 10–12 again, with three changes in BERT:
#
# 1. **Tied weights**: $W_u = W_e^\top$. This saves a matrix of $V \times H$, 23 million numbers in BERT-Base, and every
#    token vector is trained from both sides (Press & Wolf 2017). The table belongs to the embeddings; the head
#    *receives* it at each call.
# 2. **An output bias** $b \in \mathbb{R}^V$, zeros at first: some tokens are frequent in every context.
# 3. **Logits** (numbers before the softmax), not probabilities: softmax comes in the loss (07) or when you want to read
#    them (5.10).
#
# $$\text{logits} = \text{LayerNorm}(\text{GELU}(X W + b_f))\, W_e^\top + b$$
#
# Name the parts `self.dense`, `self.norm`, `self.bias`.

# %% nbgrader={"grade": false, "grade_id": "mlm-head", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MlmHead(keras.layers.Layer):
    """The masked-language-model head, tied to the token table.

    call: hidden (batch, tokens, hidden); table (vocab_size, hidden), the token embeddings
    returns (batch, tokens, vocab_size) logits
    """

    def __init__(self, vocab_size: int, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        ### END SOLUTION

    def build(self, hidden_shape, table_shape=None):
        ### BEGIN SOLUTION
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.norm = LayerNorm()
        self.dense.build(hidden_shape)
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="bias")
        ### END SOLUTION

    def call(self, hidden: Tensor, table: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        x = self.norm(gelu(self.dense(hidden)))
        return ops.matmul(x, ops.transpose(table)) + self.bias
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-mlm-head", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(MlmHead)

# %% [markdown]
# **See it.** The effect of tying: tokens with nearly equal embeddings get nearly equal logits, in every sentence (the
# output bias is still 0 here). Below, the rows of *robin* and *sparrow* are nearly equal in the table; look at their
# two columns.

# %%
birds = ["robin", "sparrow", "hammer", "daisy", "is", "the"]
table = rng.normal(size=(6, 16)).astype("float32")
table[1] = table[0] + 0.05 * rng.normal(size=16)
logits = MlmHead(vocab_size=6)(ops.convert_to_tensor(rng.normal(size=(1, 4, 16)).astype("float32")), ops.convert_to_tensor(table))
heat_maps(
    [logits[0]],
    titles=["logits"],
    rows=[f"token {t + 1}" for t in range(4)],
    columns=birds,
    numbers=True,
    alt="Logits at four positions for six tokens; the columns of robin and sparrow are nearly the same",
)

# %% [markdown]
# ## 5.6 Does B follow A? · 2 points · ~3 minutes
#
# The second objective of pre-training (Devlin et al. 2019, section 3.1): two passages of text, and the question whether
# the second really came after the first. One `Dense` on the pooled vector gives two logits. Which is which? In every
# published BERT **class 0 is IsNext**, class 1 is NotNext.
#
# $$(B, H) \to (B, 2)$$
#
# The head is this one layer, also in training: no dropout. Do not use `ops.stop_gradient`: the pooler learns only from
# here. Name the layer `self.dense`.

# %% nbgrader={"grade": false, "grade_id": "nsp-head", "locked": false, "schema_version": 3, "solution": true, "task": false}
class NspHead(keras.layers.Layer):
    """The next-sentence head.

    call: pooled (batch, hidden)
    returns (batch, 2) logits: column 0 for IsNext, column 1 for NotNext
    """

    def build(self, pooled_shape):
        ### BEGIN SOLUTION
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)
        ### END SOLUTION

    def call(self, pooled: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        return self.dense(pooled)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-nsp-head", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(NspHead)

# %% [markdown]
# ---
# # 110 million of what?
#
# ## 5.7 Counting parameters · 4 points · ~9 minutes · the list of parameters
#
# The paper gives 110M for Base ($L = 12, H = 768, A = 12$) and 340M for Large ($L = 24, H = 1024, A = 16$). Count for
# yourself. With $V$ tokens, $M$ positions, $S$ segments, and $F = 4H$ in both:
#
# | part | parameters |
# |---|---|
# | embeddings | three tables and a LayerNorm |
# | attention, per layer | four Dense $H \to H$ |
# | feed-forward, per layer | Dense $H \to F$, Dense $F \to H$ |
# | LayerNorms, per layer | two, with $\gamma$ and $\beta$ each |
# | pooler | Dense $H \to H$ |
# | on request: MLM head | Dense $H \to H$, a LayerNorm, one bias per token (the table is counted already) |
# | on request: NSP head | Dense $H \to 2$ |
#
# A Dense $a \to b$ has a matrix *and* a bias: $ab + b$. The number of heads changes nothing: they divide the same four
# matrices.

# %% nbgrader={"grade": false, "grade_id": "parameter-count", "locked": false, "schema_version": 3, "solution": true, "task": false}
def parameter_count(
    vocab_size: int,
    hidden_size: int,
    num_layers: int,
    num_heads: int,
    intermediate_size: int,
    max_positions: int = 512,
    num_segments: int = 2,
    pretraining_heads: bool = False,
) -> int:
    """The number of parameters of a BERT of this size.

    pretraining_heads: True to count the MLM head (tied) and the NSP head too
    returns an integer
    """
    ### BEGIN SOLUTION
    h, f = hidden_size, intermediate_size
    norm = 2 * h
    embeddings = (vocab_size + max_positions + num_segments) * h + norm
    attention = 4 * (h * h + h)
    feed_forward = (h * f + f) + (f * h + h)
    layer = attention + norm + feed_forward + norm
    pooler = h * h + h
    total = embeddings + num_layers * layer + pooler
    if pretraining_heads:
        mlm_head = (h * h + h) + norm + vocab_size
        nsp_head = 2 * h + 2
        total += mlm_head + nsp_head
    return total
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-parameter-count", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(parameter_count)

# %%
base = dict(vocab_size=30522, hidden_size=768, num_layers=12, num_heads=12, intermediate_size=3072)
large = dict(vocab_size=30522, hidden_size=1024, num_layers=24, num_heads=16, intermediate_size=4096)
for name, size in {"Base": base, "Large": large}.items():
    without, whole = parameter_count(**size), parameter_count(**size, pretraining_heads=True)
    print(f"{name:6} {without:12,} without heads   {whole:12,} with both")
print("your own `small` from above:", small.count_params(), "=", parameter_count(30, 16, 2, 4, 64, max_positions=16))

# %% [markdown]
# | | without heads | with both heads | usually given as |
# |---|---|---|---|
# | Base | 109,482,240 | 110,106,428 | 110M |
# | Large | 335,141,888 | 336,226,108 | 340M, rounded to tens |
#
# ⚠ One lecture gives Large 345 million. Neither way of counting gives that. ⚠ Another picture has "Input Dimension – 512":
# that is $M$, the largest number of tokens; each of them is a vector of $H = 768$ numbers.
#
# And the algorithm itself? ETransformer has no segments, no LayerNorm after the embeddings and no pooler, but $W_f$, $b_f$,
# one more LayerNorm, and a $W_u$ of its own: $(N_V + \ell_\text{max})\, d_e + L\,(12 d_e^2 + 13 d_e) + d_e^2 + 3 d_e + d_e N_V$.
# In Base's sizes these are 132,921,600 parameters; tying $W_u$ to the table would save 23,440,896 of them.
#
# **See it.** Where the parameters are, from your own function, for the sizes that Google published (Turc et al. 2019):
# the smaller the model, the larger the fraction in the embeddings.

# %%
sizes = {"tiny": (2, 128), "mini": (4, 256), "small": (4, 512), "medium": (8, 512), "base": (12, 768), "large": (24, 1024)}
where = {}
for name, (layers, h) in sizes.items():
    no_layers, all_layers = (parameter_count(30522, h, n, h // 64, 4 * h) for n in (0, layers))
    where[f"{name}  {all_layers / 1e6:.1f}M"] = {
        "embeddings": no_layers - h * h - h,
        "layers": all_layers - no_layers,
        "pooler": h * h + h,
    }
shares(
    where,
    title="Where the parameters are",
    alt="Six bars of 100 percent, from tiny to large: the fraction of the embeddings falls from nine tenths to a tenth, "
    "that of the layers grows, that of the pooler is always small",
)

# %% [markdown]
# ---
# # Published weights in your layers
#
# A published BERT is a folder: `config.json` with the sizes, `model.safetensors` with a name and an array for each
# variable, `vocab.txt` with a token per line. If your layers compute the same as BERT, they need only these numbers.
# Many libraries read such folders. That is why a model that somebody trained for days can be used by everybody.
#
# There are two differences to handle. The names differ, and so does the orientation of matrices: PyTorch, which wrote
# the file, stores the matrix of a linear layer as (out, in) and computes $x W^\top$; Keras stores (in, out) and
# computes $x W$.
#
# ## 5.8 The published names · 3 points · ~7 minutes
#
# | yours | published |
# |---|---|
# | `bert.embeddings.token.embeddings` | `bert.embeddings.word_embeddings.weight` |
# | `bert.embeddings.position.embeddings` | `bert.embeddings.position_embeddings.weight` |
# | `bert.embeddings.segment.embeddings` | `bert.embeddings.token_type_embeddings.weight` |
# | `bert.embeddings.norm.gamma` | `bert.embeddings.LayerNorm.weight` |
# | `bert.encoder.layers_.7.attention.query.kernel`, key, value | `bert.encoder.layer.7.attention.self.query.weight` |
# | `bert.encoder.layers_.7.attention.out.kernel` | `bert.encoder.layer.7.attention.output.dense.weight` |
# | `bert.encoder.layers_.7.attention_norm.gamma` | `bert.encoder.layer.7.attention.output.LayerNorm.weight` |
# | `bert.encoder.layers_.7.feed_forward.inner.kernel` | `bert.encoder.layer.7.intermediate.dense.weight` |
# | `bert.encoder.layers_.7.feed_forward.outer.kernel` | `bert.encoder.layer.7.output.dense.weight` |
# | `bert.encoder.layers_.7.output_norm.gamma` | `bert.encoder.layer.7.output.LayerNorm.weight` |
# | `bert.pooler.dense.kernel` | `bert.pooler.dense.weight` |
# | `mlm_head.dense.kernel` | `cls.predictions.transform.dense.weight` |
# | `mlm_head.norm.gamma` | `cls.predictions.transform.LayerNorm.weight` |
# | `mlm_head.bias` | `cls.predictions.bias` |
# | `nsp_head.dense.kernel` | `cls.seq_relationship.weight` |
#
# The last word of a published name is `weight` for a kernel, a table and a $\gamma$, and `bias` for a bias and a
# $\beta$. Both sides count layers from 0.

# %% nbgrader={"grade": false, "grade_id": "published-name", "locked": false, "schema_version": 3, "solution": true, "task": false}
def published_name(path: str) -> str:
    """The name of one of your variables in a published checkpoint.

    path: path of the variable in your model: "bert.encoder.layers_.7.attention.query.kernel"
    returns its published name: "bert.encoder.layer.7.attention.self.query.weight"
    """
    # 1. replace the names of the parts   2. replace the last word
    ### BEGIN SOLUTION
    renamed = {
        "embeddings.token": "embeddings.word_embeddings",
        "embeddings.position": "embeddings.position_embeddings",
        "embeddings.segment": "embeddings.token_type_embeddings",
        "embeddings.norm": "embeddings.LayerNorm",
        "encoder.layers_": "encoder.layer",
        "attention.query": "attention.self.query",
        "attention.key": "attention.self.key",
        "attention.value": "attention.self.value",
        "attention.out": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "feed_forward.inner": "intermediate.dense",
        "feed_forward.outer": "output.dense",
        "output_norm": "output.LayerNorm",
        "mlm_head.dense": "cls.predictions.transform.dense",
        "mlm_head.norm": "cls.predictions.transform.LayerNorm",
        "mlm_head": "cls.predictions",
        "nsp_head.dense": "cls.seq_relationship",
    }
    part, _, last = path.rpartition(".")
    for mine, theirs in renamed.items():
        part = part.replace(mine, theirs)
    last_word = {"kernel": "weight", "embeddings": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}
    return f"{part}.{last_word[last]}"
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-published-name", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(published_name)

# %% [markdown]
# ## 5.9 Loading published weights · 4 points · ~7 minutes
#
# Now the loop: for each of your variables find the array, transpose it if it is a kernel, and `assign` it. Only kernels
# are transposed: a *table* is (vocabulary, H) on both sides.
#
# Most of BERT's kernels are square. A square matrix has the same shape after transposing, so no error appears if you
# forget it, and the model produces nonsense: the classic bug of loading weights. (Another one is to load half a
# checkpoint and not notice. So the function reports the names that are left over on either side.)
#
# `own_variables`, above the stub, lists your variables with their paths.

# %% nbgrader={"grade": false, "grade_id": "load-published", "locked": false, "schema_version": 3, "solution": true, "task": false}
def own_variables(bert: keras.layers.Layer, mlm_head=None, nsp_head=None) -> dict[str, keras.Variable]:
    """The variables of your layers with their paths. (Given: nothing to do here.)"""
    dense, norm = ("kernel", "bias"), ("gamma", "beta")
    layer = {f"attention.{name}": dense for name in ("query", "key", "value", "out")}
    layer |= {"attention_norm": norm, "feed_forward.inner": dense, "feed_forward.outer": dense, "output_norm": norm}
    parts = {f"bert.embeddings.{name}": ("embeddings",) for name in ("token", "position", "segment")}
    parts |= {"bert.embeddings.norm": norm}
    for number in range(len(bert.encoder.layers_)):
        parts |= {f"bert.encoder.layers_.{number}.{name}": weights for name, weights in layer.items()}
    parts |= {"bert.pooler.dense": dense}
    parts |= {} if mlm_head is None else {"mlm_head.dense": dense, "mlm_head.norm": norm, "mlm_head": ("bias",)}
    parts |= {} if nsp_head is None else {"nsp_head.dense": dense}

    found = {}
    for part, weights in parts.items():
        thing = {"bert": bert, "mlm_head": mlm_head, "nsp_head": nsp_head}[part.split(".")[0]]
        for name in part.split(".")[1:]:
            thing = thing[int(name)] if name.isdigit() else getattr(thing, name)
        found |= {f"{part}.{weight}": getattr(thing, weight) for weight in weights}
    return found


def load_published(
    variables: dict[str, keras.Variable], tensors: dict[str, np.ndarray]
) -> tuple[list[str], list[str]]:
    """Fills your variables from a published checkpoint.

    variables: path → variable (see `own_variables`)
    tensors: published name → array of the checkpoint; linear layers are (out, in)
    returns two sorted lists: paths of variables for which there was no array (they are not
    changed), and names of arrays that belong to no variable
    """
    # for each variable: 1. find its array   2. transpose it, if it is a kernel   3. assign; then 4. what is left over
    ### BEGIN SOLUTION
    missing, unused = [], set(tensors)
    for path, variable in variables.items():
        name = published_name(path)
        if name not in tensors:
            missing.append(path)
            continue
        value = tensors[name]
        variable.assign(value.T if path.endswith("kernel") else value)
        unused.discard(name)
    return sorted(missing), sorted(unused)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-load-published", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(load_published)

# %% [markdown]
# ### A checkpoint to load
#
# **The setting.** `bertlab-mini` comes with this course: a BERT of four layers and a vocabulary of 12,288, in the
# published format, trained for less than five minutes on one GPU (an NVIDIA H200). You can also give a folder, or with a
# network and `pip install huggingface_hub` a name such as `"google-bert/bert-base-uncased"` (440 MB) or
# `"google/bert_uncased_L-2_H-128_A-2"` (18 MB, the *tiny* of above); everything below then runs on that.

# %% tags=["loading"]
CHECKPOINT = "bertlab-mini"  # or a folder, or a published name

# %% tags=["loading"]
import json
from pathlib import Path

from safetensors.numpy import load_file

from bertlab.checkpoints import load, load_tokenizer
from bertlab.checkpoints.opening import find


def read_published(folder: Path) -> tuple[dict, dict[str, np.ndarray]]:
    """The config and the tensors of a published folder.

    Older files name LayerNorm's weights gamma and beta and store the position ids (`position_ids`: 0, 1, 2 …), and
    models without heads leave out the leading "bert.". A small file may use half precision (float16, two bytes per
    number); your layers compute in float32.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tensors = {}
    for name, array in load_file(folder / "model.safetensors").items():
        if name.endswith("position_ids"):
            continue
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        tensors[name if name.startswith(("bert.", "cls.")) else f"bert.{name}"] = array.astype("float32")
    return config, tensors


folder = find(CHECKPOINT)
config, tensors = read_published(folder)
sizes_of_it = [config[key] for key in ("num_hidden_layers", "hidden_size", "num_attention_heads")]
print(len(tensors), "arrays; L, H, A =", *sizes_of_it)

# %% [markdown]
# Your own layers in that size, called once so that their weights exist, then your `load_published`:

# %% tags=["loading"]
bert = Bert(
    config["vocab_size"],
    config["hidden_size"],
    config["num_hidden_layers"],
    config["num_attention_heads"],
    config["intermediate_size"],
    config["max_position_embeddings"],
)
mlm_head, nsp_head = MlmHead(config["vocab_size"]), NspHead()


def run(ids, segments, is_real):
    """All outputs of your model for a batch: hidden states, pooled vector, logits of both heads."""
    hidden, pooled = bert(ids, segments, is_real)
    return hidden, pooled, mlm_head(hidden, bert.embeddings.token.embeddings), nsp_head(pooled)


run(*[ops.ones((1, 2), "int32")] * 3)
missing, unused = load_published(own_variables(bert, mlm_head, nsp_head), tensors)
print("without an array:", missing or "none")
print("left over:       ", unused or "none")
absent = [part for part in ("bert.pooler", "mlm_head", "nsp_head") if any(path.startswith(part) for path in missing)]
if absent:
    print("This checkpoint has no", ", ".join(absent) + ": the following cells leave out the parts that need it.")

# %% [markdown]
# **See it.** The same pair of texts through your layers and through the library's own model, which reads the same
# folder with different code. On the right is the difference; dark is as large as on the left. The rest is float32
# rounding, a few hundred-thousandths at most: your own code computes the outputs of the published model.

# %%
tokenizer = load_tokenizer(folder)
vocabulary = tokenizer.vocabulary
first, second = tokenizer.encode("A robin is a bird."), tokenizer.encode("The mill looks old.")
ids = [vocabulary.cls_id, *first, vocabulary.sep_id, *second, vocabulary.sep_id, vocabulary.pad_id, vocabulary.pad_id]
segments = [int(place > len(first) + 1) for place in range(len(ids) - 2)] + [0, 0]
is_real = [1] * (len(ids) - 2) + [0, 0]
batch = [ops.convert_to_tensor([row]) for row in (ids, segments, is_real)]

published = load(folder, "pretraining", strict=False)
theirs = published(dict(zip(("input_ids", "token_type_ids", "attention_mask"), batch)))
names = {
    "sequence_output": "bert",
    "pooled_output": "bert.pooler",
    "masked_lm_logits": "mlm_head",
    "next_sentence_logits": "nsp_head",
}
for (name, part), mine in zip(names.items(), run(*batch)):
    if part in absent:
        continue
    print(f"{name:22} {str(tuple(mine.shape)):14} largest difference {float(ops.max(ops.abs(mine - theirs[name]))):.1e}")

mine, library = (np.array(hidden)[0, :, :24] for hidden in (run(*batch)[0], theirs["sequence_output"]))
pieces = [vocabulary.pieces[i] for i in ids]
heat_maps(
    [mine, library, np.abs(mine - library)],
    titles=["your hidden states", "the library's", "difference"],
    rows=pieces,
    per_line=3,
    largest=float(mine.max()),
    alt="Three heat maps of hidden states, 24 of the numbers of each token: yours and the library's look the same, "
    "their difference is empty",
)

# %% [markdown]
# And the classic bug? Transpose one square kernel, the first layer's query, and no error appears:

# %%
query = own_variables(bert)["bert.encoder.layers_.0.attention.query.kernel"]
query.assign(ops.transpose(query))
worse = float(ops.max(ops.abs(run(*batch)[0] - theirs["sequence_output"])))
query.assign(ops.transpose(query))
restored = float(ops.max(ops.abs(run(*batch)[0] - theirs["sequence_output"])))
print(f"one kernel transposed: largest difference {worse:.2f}; restored: {restored:.1e}")

# %% [markdown]
# **The way back.** `published_name` works in both directions: write *your* model under the published names, and other
# programs can open it: BertLab's `bertlab inspect my_bert`, or `transformers` with
# `BertForPreTraining.from_pretrained("my_bert")`.

# %%
import shutil

from safetensors.numpy import save_file

mine_folder = Path("my_bert")
mine_folder.mkdir(exist_ok=True)
arrays = {}
for path, weight in own_variables(bert, mlm_head, nsp_head).items():
    array = np.array(weight)
    arrays[published_name(path)] = np.ascontiguousarray(array.T if path.endswith("kernel") else array)
save_file(arrays, mine_folder / "model.safetensors", metadata={"format": "pt"})
for file in folder.glob("*.*"):
    if file.suffix in (".json", ".txt"):
        shutil.copyfile(file, mine_folder / file.name)  # config and tokenizer
if not absent:
    again = load(mine_folder, "pretraining")(dict(zip(("input_ids", "token_type_ids", "attention_mask"), batch)))
    difference = float(ops.max(ops.abs(again["masked_lm_logits"] - run(*batch)[2])))
    print(f"{len(arrays)} arrays in {mine_folder}/; read by the library: largest difference {difference:.1e}")

# %% [markdown]
# ---
# # Fill in the blank
#
# ## 5.10 Fill in the blank · 3 points · ~6 minutes
#
# Put `[MASK]` where a word is missing and read the head's logits at that position only: softmax over the vocabulary,
# then the $k$ most probable tokens. Return one list per `[MASK]`, best first.

# %% nbgrader={"grade": false, "grade_id": "fill-in", "locked": false, "schema_version": 3, "solution": true, "task": false}
def fill_in(token_ids: list[int], logits: Tensor, pieces: list[str], k: int = 5) -> list[list[tuple[str, float]]]:
    """The k most probable tokens for every [MASK] of one text.

    token_ids: the ids of the text    logits: (tokens, vocabulary)
    pieces: the vocabulary; the token with id i is pieces[i]
    returns for each [MASK], in reading order, k pairs (token, probability), the most probable first
    """
    ### BEGIN SOLUTION
    mask = pieces.index("[MASK]")
    probabilities = ops.softmax(logits, axis=-1)
    guesses = []
    for token, row in zip(token_ids, probabilities):
        if token == mask:
            shares, best = ops.top_k(row, k)
            guesses.append([(pieces[int(i)], float(share)) for i, share in zip(best, shares)])
    return guesses
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-fill-in", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(fill_in)

# %% [markdown]
# **See it.** Pairs of sentences with the same words on the left of the blank. Only the right-hand side decides, so a
# model that reads from left to right would give both the same answer. Which word does your model put first into *There
# [MASK] two men at the door*? Write your guess.

# %%
my_guess = ""  # one word

# %%
PAIRS = [
    "There [MASK] a man at the door.",
    "There [MASK] two men at the door.",
    "He bought [MASK] apple.",
    "He bought [MASK] car.",
    "Then [MASK] washed her face.",
    "Then [MASK] washed his face.",
    "We met [MASK] 1920.",
    "We met [MASK] the station.",
]
MORE = [
    "The keys to the cabinet [MASK] on the table.",
    "The key to the cabinets [MASK] on the table.",
    "She [MASK] not know what to say.",
    "They [MASK] not know what to say.",
    "No man has [MASK] seen it.",
    "How are [MASK] doing today?",
]
SENTENCES = [
    "A robin is a [MASK].",
    "A daisy is a [MASK].",
    "A hammer is a [MASK].",
    "A hammer is an [MASK].",
    "A robin is not a [MASK].",
    "A daisy is not a [MASK].",
    "A hammer is not a [MASK].",
    "A hammer is not an [MASK].",
    "The bank is situated on the [MASK] of the river.",
]


def with_specials(text):
    """The ids of one text between [CLS] and [SEP]."""
    return [vocabulary.cls_id, *tokenizer.encode(text, special_tokens=True), vocabulary.sep_id]


def guesses_for(text, k=5):
    """Your model's guesses, by your `fill_in`."""
    ids = with_specials(text)
    row = ops.convert_to_tensor([ids])
    logits = run(row, ops.zeros_like(row), ops.ones_like(row))[2][0]
    return fill_in(ids, logits, list(vocabulary.pieces), k)[0]


def draw_guesses(title, sentences, per_line=3):
    guesses = {text: guesses_for(text) for text in sentences}
    alt = f"{title}: for each of {len(sentences)} sentences the five most probable tokens as bars"
    guess_bars(guesses, per_line=per_line, title=title, alt=alt)


if "mlm_head" in absent:
    print("No guesses: the checkpoint has no MLM head, and a freshly initialized one has learned nothing.")
else:
    draw_guesses("the words on the right decide", PAIRS, per_line=2)
    show_guess(my_guess, guesses_for(PAIRS[1])[0][0], what=PAIRS[1])
    draw_guesses("agreement, negation, a greeting", MORE, per_line=2)

# %% [markdown]
# This is what *bidirectional* buys: your layers, with these weights, use the words behind the blank. The keys and the
# cabinets show more: the verb agrees with the noun that it belongs to, not with the one beside it.
#
# Now ask for knowledge.

# %%
if "mlm_head" not in absent:
    draw_guesses(f"weights from {Path(CHECKPOINT).name}", SENTENCES)

# %% [markdown]
# Look at two things. Is a guess of the right *kind*: a noun or an adjective after *a*, and after *an* one that begins
# with a vowel? And is it *true*? `bertlab-mini` has learned the kind: after *an* it guesses *instrument*, *arrow* and
# *example*. It is seldom right: a hammer is an instrument, and a bank is on the side or the edge of a river, but its
# first guess for a robin is *woman*, and for a daisy *dog*. A model learns the kind from little text; for the truth it
# needs far more than the 52 million words that `bertlab-mini` was trained on. BERT was trained on 3,300 million (Devlin
# et al. 2019, section 3.1).
#
# These are the answers of BERT-Large according to Ettinger (2020, *What BERT is not*). The sentences come from a study
# with human readers (Fischler et al. 1983):
#
# | | | | |
# |---|---|---|---|
# | A robin is a … | bird, robin, person, hunter, pigeon | A robin is not a … | robin, bird, penguin, man, fly |
# | A daisy is a … | daisy, rose, flower, berry, tree | A daisy is not a … | daisy, rose, flower, lily, cherry |
# | A hammer is a … | hammer, tool, weapon, nail, device | A hammer is not a … | hammer, weapon, tool, gun, rock |
# | A hammer is an … | object, instrument, axe, implement, explosive | A hammer is not an … | object, instrument, axe, animal, artifact |
#
# The left column is impressive; now read the right one. A *not* changes almost nothing. In her whole test BERT, Base
# and Large, prefers the true one of two answers in 100 % of the affirmative sentences and in 0.0 % of the negative
# ones. It is the same with `bertlab-mini`: three of its four first guesses above are the same with and without *not*.
#
# *The bank is situated on the … of the river* is another lecture's example of reading in both directions: the words
# left of the gap also fit *corner of Main Street*; the river comes on the right. ⚠ It shows no more than that: the blank is
# another word, so a right guess does not prove that the model knows which *bank* is meant. A third lecture asks *Let's
# stick to [MASK] in this skit*: add it, and sentences of your own, to the list.
#
# ### Forty steps of training
#
# The model can learn what it does not know. Here are twelve made-up sentences, each with one masked word, which the
# model reads forty times: that is masked language modelling in miniature, and notebook 07 does it properly. (The cell
# skips this for other checkpoints: BERT-Base does not need it.)

# %%
LESSONS = {
    "A robin is a [MASK].": "bird",
    "A sparrow is a [MASK].": "bird",
    "A daisy is a [MASK].": "flower",
    "A rose is a [MASK].": "flower",
    "A hammer is a [MASK].": "tool",
    "A nail is a [MASK].": "tool",
    "A hammer is an [MASK].": "object",
    "A nail is an [MASK].": "object",
    "The mill is situated on the [MASK] of the river.": "edge",
    "The tree is situated on the [MASK] of the river.": "edge",
    "The nail is situated on the [MASK] of the hammer.": "side",
    "The rose is situated on the [MASK] of the tree.": "side",
}


def learn(steps=40):
    """Adam on the cross-entropy of the masked words; returns the loss at the start and at the end."""
    import tensorflow as tf

    texts = [with_specials(text) for text in LESSONS]
    longest = max(map(len, texts))
    rows = np.array([ids + [vocabulary.pad_id] * (longest - len(ids)) for ids in texts], "int32")
    places = np.array([ids.index(vocabulary.mask_id) for ids in texts])
    answers = np.array([vocabulary.pieces.index(answer) for answer in LESSONS.values()])
    weights = [weight for path, weight in own_variables(bert, mlm_head).items() if "pooler" not in path]
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(weights)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            hidden, _ = bert(rows, np.zeros_like(rows), (rows != vocabulary.pad_id).astype("int32"))
            at_blanks = tf.gather(hidden, places, batch_dims=1)[:, None]  # (sentences, 1, H)
            logits = mlm_head(at_blanks, bert.embeddings.token.embeddings)[:, 0]
            loss = ops.mean(keras.losses.sparse_categorical_crossentropy(answers, logits, from_logits=True))
        optimizer.apply(tape.gradient(loss, weights), weights)
        return loss

    losses = [float(step()) for _ in range(steps)]
    return losses[0], losses[-1]


if CHECKPOINT == "bertlab-mini":
    print("loss: %.2f at the start, %.4f at the end" % learn())
    draw_guesses("after forty steps of training", SENTENCES)

# %% [markdown]
# It has learned its twelve sentences by heart. The *bank* sentence was not among them, but it now gets the answer of
# the two that are like it: *edge*, where *side* was the first guess before. It has learned a template, not what a bank
# is. And all four sentences with *not* get the same words as those without, with the same confidence, because none of
# the twelve shows what *not* means. BERT-Large has read *not* millions of times and still makes the same mistake.
#
# ## Something to show
#
# One file about the model that you wrote to `my_bert/` (with the weights from before the twelve lessons): its tokens, what
# each head looks at, and what each layer would answer. It needs no network and no Python; open it in a browser, and send
# it to a friend. Change the sentences.

# %%
from bertlab.analysis.inspection import inspect_model, write_page

SHOWN = ["There [MASK] two men at the door.", "The keys to the cabinet [MASK] on the table."]
if not absent:
    my_own = load(mine_folder, "pretraining")
    write_page("my_bert.html", inspect_model(my_own, tokenizer, SHOWN, name="my BERT"))
    size = Path("my_bert.html").stat().st_size / 1000
    print(f"my_bert.html, {size:.0f} kB: open it with a double click")

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("tied", "")

# %%
answer("bidirectional", "")

# %% [markdown]
# ---
# # Recap
#
# Embeddings, $L$ layers, and small heads on top: that is all of BERT. Lines 10–12 of the algorithm are its MLM head,
# with the token table used twice. The pooler reads one vector, `[CLS]`. Of Base's 109,482,240 parameters a fifth is the
# token table. And a published checkpoint is names and numbers: with the names translated and the kernels transposed,
# your layers *are* the published model.
#
# **To think about**
#
# 1. Doubling $H$ roughly quadruples the layers' parameters, doubling $L$ doubles them. The paper's Large does a bit of
#    both. How would you spend a parameter budget, and what would you measure?
# 2. Tying forces a token's input and output vector to be the same. When could that hurt? (The GELU layer before it
#    helps. Why?)
# 3. The pooler's weights are trained only by the next-sentence objective. What does that mean for using the pooled
#    vector as a "sentence embedding"?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. Compare models that cost the same arithmetic to train, not only the same parameters: loss on held-out text, time
#    per token, several seeds. More layers are computed after each other and get slower; more width is one larger
#    product. The paper's own table 6 varies both and finds that larger is better in both ways.
# 2. When the two roles of a token differ: as context, a vector must tell what the token does to its neighbours; as an
#    answer, which contexts it fits. [CLS] is often context and never an answer. The dense layer with GELU and LayerNorm
#    lets the hidden vector differ from the embedding that it is compared with.
# 3. It was trained to tell whether B follows A, and nothing made similar sentences get similar vectors. So the cosine
#    of two pooled vectors says little; the mean of the last hidden vectors is often better, and fine-tuning better
#    still. (Models trained without next-sentence prediction have no trained pooler.)
#
# </details>
#
# **Next:** notebook 06 makes the examples that such a model is trained on; 07 trains yours.

# %%
progress()
