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
# # 11 · Objectives and relatives
#
# BERT was trained to fill in blanks and to say which sentence follows. Is that the best one can do? The models that came
# after it kept the encoder, which you have built, and changed what it is *asked*, what it may *see*, and what it *shares*.
# In this notebook you write what each of them changed. Then you compare them, which is harder than it looks.
#
# By the end you will have built
#
# - `visible`, `ltr_loss`: three kinds of reader, and a model that reads from left to right;
# - `AlbertEncoder`, `order_pair`: ALBERT, from your own encoder layer;
# - `corrupt`, `electra_loss`: ELECTRA, which looks for fakes;
# - `permutation_masks`: XLNet, which reads in any order;
# - `what_ppl_says`: the rule by which two models may be compared;
# - RoBERTa, DistilBERT and ALBERT carried by *your* layers, with the outputs of the library's models.
#
# About 85 minutes, 28 points. Everything runs on this machine, without a network and without a GPU. You need notebooks 05
# to 07; what you have not passed there is replaced by the library's version.
#
# **Notation.** $B$ texts in a batch, $T$ tokens, $P$ predictions in a text, $V$ the vocabulary, $H$ the hidden size, $L$
# layers; $E$ is the width of ALBERT's tables. All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has
# otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, check, heat_maps, load_backend, progress

load_backend()

from autograde.student.drawings_encoder import curves
from autograde.student.drawings_objectives import beside_records, dots, family_table, marked_words, who_reads_whom

# %% tags=["setup"]
import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import Tensor

from mybert.attention import padding_mask
from mybert.bert import Bert, MlmHead
from mybert.embeddings import BertEmbeddings
from mybert.encoder import Encoder, EncoderLayer
from mybert.pretraining import gather_positions, mlm_loss

# %% [markdown]
# Three kinds of reader. In each picture the lower row of dots are the tokens that a layer reads, the upper row those that
# it writes; a line means that the upper one may see the lower one. That is all that distinguishes BERT from GPT inside of
# a layer: which lines exist.

# %%
words = "the old man fed his dog".split()
place = np.arange(len(words))
who_reads_whom(
    {
        "both-sided (BERT)": np.ones((6, 6), bool),
        "left-to-right (GPT)": place[:, None] >= place,
        "prefix of 3 (UniLM)": (place[:, None] >= place) | (place < 3),
    },
    words,
    alt="Three pictures of six words. On the left every word is joined to every word; in the middle each word to itself and "
    "those before it; on the right the first three words also to each other",
)

# %% [markdown]
# ---
# # Who may see whom?
#
# ## 11.1 Three masks · 3 points · ~8 minutes
#
# A mask says for each query (row $i$) and key (column $j$) whether the one may see the other. With tokens counted from 0:
#
# | kind | query $i$ may see key $j$ if | reads like this |
# |---|---|---|
# | `"both-sided"` | always | BERT, RoBERTa, ALBERT, ELECTRA |
# | `"left-to-right"` | $j \le i$ | GPT; each half of ELMo, the second one from right to left |
# | `"prefix"` | $j \le i$ or $j < p$ | UniLM's third kind (Dong et al. 2019): the first $p$ tokens are given, the others to be written |
#
# In all three no query may see a key that is padding. Queries that are padding follow the same rule; nobody reads their
# results. `prefix` is $p$, the same for all texts of the batch; the other two kinds do not use it.

# %% nbgrader={"grade": false, "grade_id": "visible", "locked": false, "schema_version": 3, "solution": true, "task": false}
def visible(kind: str, is_real: Tensor, prefix: int = 0) -> Tensor:
    """The mask of a kind of reader: True where a query may see a key.

    kind: "both-sided", "left-to-right" or "prefix"
    is_real: (batch, tokens) integers, 1 for a token of the text, 0 for padding
    prefix: number of tokens at the beginning that all see, for the kind "prefix"
    returns (batch, tokens, tokens) booleans; rows are queries, columns are keys
    """
    # 1. positions of queries (a column) and of keys (a row)   2. the rule   3. and not padding
    ### BEGIN SOLUTION
    places = ops.arange(ops.shape(is_real)[1])
    query, key = places[:, None], places[None, :]
    past = key <= query
    if kind == "both-sided":
        seen = ops.ones_like(past)
    elif kind == "left-to-right":
        seen = past
    else:
        seen = ops.logical_or(past, key < prefix)
    real = ops.cast(is_real, "bool")[:, None, :]
    return ops.logical_and(seen, real)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-visible", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(visible)

# %% [markdown]
# **See it: what arrives where.** A mask is about one layer. What reaches a word after several? Below are *your* encoder
# layers with random weights, under your masks; a dark cell means that the result for a word (row) changes if the input
# vector of another (column) is changed. Above there is one layer, below there are two.
#
# ELMo is the fourth reader: two stacks, one in each direction, that are joined only at the top. Each cell of its picture
# would be dark, too. But in which half of the vector? No number inside of ELMo depends on both sides.

# %%
def influence(layers, mask, hidden=32):
    """The change of each word's result (row) if one word's input vector is another one (column)."""
    keras.utils.set_random_seed(11)
    encoder = Encoder(layers, 4, 4 * hidden, dropout=0.0)
    x, other = (keras.random.normal((1, len(words), hidden)) for _ in range(2))
    one_word = ops.eye(len(words))[:, :, None]  # text j has another vector at word j alone
    y = encoder(x * (1 - one_word) + other * one_word, attention_mask=ops.repeat(mask, len(words), axis=0))
    change = ops.max(ops.abs(y - encoder(x, attention_mask=mask)), axis=-1)  # (changed word, word)
    return np.array(change).T


all_real = ops.ones((1, len(words)), "int32")
readers = {kind: visible(kind, all_real, 3) for kind in ("both-sided", "left-to-right", "prefix")}
reached = [influence(layers, mask) > 1e-4 for layers in (1, 2) for mask in readers.values()]
heat_maps(
    [cells.astype(int) for cells in reached],
    titles=[f"{kind}, {layers} layer{'s' * (layers > 1)}" for layers in (1, 2) for kind in readers],
    rows=words,
    columns=words,
    per_line=3,
    row_axis="changes",
    column_axis="if this one changes",
    alt="Six maps of which word reaches which: after one layer and after two they are the same, full for both-sided, a "
    "triangle for left-to-right, a triangle with a full block of the first three words for prefix",
)

# %% [markdown]
# A second layer opens no new way: who cannot see the future in one layer cannot see it in a hundred. (These three rules are
# *transitive*: who sees $j$ sees all that $j$ sees.) So from left to right the next word cannot reach its own prediction by any
# detour. In a both-sided reader every word reaches every vector: that is why BERT has to hide words, and GPT need not.
#
# ## 11.2 The next word, everywhere · 3 points · ~8 minutes
#
# A left-to-right reader is asked at *every* position for the token that comes next. Nothing is hidden from the input; the
# mask does the hiding. With logits $z_t$ at position $t$, and $r_t = 1$ for real tokens:
#
# $$\text{loss} = \frac{\sum_{b}\sum_{t=0}^{T-2} r_{b,t+1} \cdot \bigl(-\log \text{softmax}(z_{b,t})[x_{b,t+1}]\bigr)}
# {\sum_{b}\sum_{t=0}^{T-2} r_{b,t+1} + 10^{-5}}$$
#
# The last position has no next token, and the first token is asked by nobody. A prediction counts if the token that it
# asks for is real. All that is a shift and your `mlm_loss(logits, labels, weights)` of notebook 07, which is imported above;
# it expects weights of float32. The training below calls your function inside of `tf.function`.

# %% nbgrader={"grade": false, "grade_id": "ltr-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ltr_loss(logits: Tensor, ids: Tensor, is_real: Tensor) -> Tensor:
    """The mean loss of predicting each next token.

    logits: (batch, tokens, vocabulary)    ids: (batch, tokens) integers, what the model read
    is_real: (batch, tokens) integers, 1 for a token of the text, 0 for padding
    returns a scalar: the mean over all real tokens but the first ones
    """
    # logits at t belong to the token at t + 1
    ### BEGIN SOLUTION
    return mlm_loss(logits[:, :-1], ids[:, 1:], ops.cast(is_real[:, 1:], "float32"))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-ltr-loss", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(ltr_loss)

# %% [markdown]
# **See it: two objectives and their floors.** Real text has an unknown amount of chance in it, so nobody knows how low a
# loss could be. In the *small world* one can compute it: 125 words, sentences from a
# grammar, and the exact probability of every word in every context. The best possible reader of each kind has a loss that no
# model can beat: its **floor**.
#
# The next two cells train one model of 2 × 64 from left to right, with your `ltr_loss`, and another one on masked words, two
# of each sentence, with your `mlm_loss`; your `visible` is all that differs inside of the model. Each reads 25,600 sentences
# once. Guess first: which loss will be lower, and what do you learn from that about the models?

# %%
from bertlab.data import small_world
from bertlab.training.recipes.optimizer import muon
from bertlab.training.runs.recorded import recorded_runs

PIECES = ("[PAD]", "[CLS]", "[MASK]", *small_world.WORDS)
MASK, STEPS, BATCH = PIECES.index("[MASK]"), 400, 64


def as_ids(sentences):
    """[CLS] and the words of each sentence, padded: (sentences, tokens)."""
    ids = small_world.word_ids(sentences, small_world.LONGEST) + 3
    ids[ids == len(PIECES)] = 0
    return np.pad(ids, ((0, 0), (1, 0)), constant_values=1).astype("int32")


def with_masks(ids, chance):
    """The ids with two words of each sentence hidden, where, and which."""
    drawn = np.where(ids >= 3, chance.random(ids.shape), 2.0)
    positions = np.sort(np.argsort(drawn, axis=1)[:, :2], axis=1).astype("int32")
    hidden = ids.copy()
    np.put_along_axis(hidden, positions, MASK, axis=1)
    return hidden, positions, np.take_along_axis(ids, positions, axis=1)


class Reader(keras.Model):
    """Your embeddings, encoder and head; the mask says what kind of reader it is."""

    def __init__(self, hidden=64):
        super().__init__()
        self.embeddings = BertEmbeddings(len(PIECES), hidden, small_world.LONGEST + 1, dropout=0.0)
        self.encoder = Encoder(2, 4, 4 * hidden, dropout=0.0)
        self.head = MlmHead(len(PIECES))

    def call(self, ids, seen, positions=None):
        x = self.encoder(self.embeddings(ids, ops.zeros_like(ids)), attention_mask=seen)
        return self.head(x if positions is None else gather_positions(x, positions), self.embeddings.token.embeddings)


def next_words(model, ids):
    real = ops.cast(ids > 0, "int32")
    return ltr_loss(model(ids, visible("left-to-right", real)), ids, real)


def hidden_words(model, ids, positions, labels):
    seen = visible("both-sided", ops.cast(ids > 0, "int32"))
    return mlm_loss(model(ids, seen, positions), labels, ops.ones(ops.shape(labels)))


train, held_out = small_world.sample(11, STEPS * BATCH), small_world.sample(1, 1000)
masked_ids, _, _ = with_masks(as_ids(held_out), np.random.default_rng(1))
world_ids, hidden = small_world.word_ids(held_out, small_world.LONGEST), masked_ids[:, 1:] == MASK
chances = np.take_along_axis(small_world.conditionals(world_ids, hidden), world_ids[..., None], axis=-1)[..., 0]
floors = {
    "left to right": small_world.floors(held_out, ["left-to-right"])["left-to-right"],
    "masked": float(-np.log(chances[hidden]).mean()),
}


def learn(loss_of, asked, seed=11):
    """Trains a new reader; the held-out loss after each 50 steps."""
    keras.utils.set_random_seed(seed)
    model, chance = Reader(), np.random.default_rng(seed)
    model(as_ids(train[:1]), visible("both-sided", ops.ones((1, small_world.LONGEST + 1), "int32")))
    for weight in model.trainable_weights:
        if len(weight.shape) == 2:  # a standard deviation of 1 / √H, as small models need it
            weight.assign(keras.random.truncated_normal(weight.shape, stddev=64**-0.5))
    rate = keras.optimizers.schedules.CosineDecay(0.0, STEPS - 30, warmup_target=5e-3, warmup_steps=30)
    optimizer = muon(rate, model, beta_2=0.98)  # the library's: learns faster than Adam here
    optimizer.build(model.trainable_weights)

    @tf.function
    def step(*batch):
        with tf.GradientTape() as tape:
            loss = loss_of(model, *batch)
        gradients = tape.gradient(loss, model.trainable_weights)
        optimizer.apply([tf.convert_to_tensor(gradient) for gradient in gradients], model.trainable_weights)

    judge = tf.function(lambda *batch: loss_of(model, *batch))
    ids, judged = as_ids(train), [ops.convert_to_tensor(part) for part in asked(as_ids(held_out), np.random.default_rng(1))]
    losses = {}
    for number in range(1, STEPS + 1):
        step(*map(ops.convert_to_tensor, asked(ids[(number - 1) * BATCH : number * BATCH], chance)))
        if number % 50 == 0:
            losses[number] = float(judge(*judged))
    return losses


# %%
records = [row for row in recorded_runs("small_world_objectives") if "loss" in row]
yours = {
    "left to right": learn(next_words, lambda ids, chance: (ids,)),
    "masked": learn(hidden_words, with_masks),
}
beside_records(yours, floors, records)
for name, losses in yours.items():
    print(f"{name:14} after {STEPS} steps {losses[STEPS]:.3f}   floor {floors[name]:.3f}   above it {losses[STEPS] - floors[name]:.3f} nats")

# %% [markdown]
# The grey curves are runs of the library's models over 800 steps, three seeds each, made by
# `python -m benchmarks.training.small_world_objectives`. The masked reader has the lower floor because it sees more: here
# the words on the right are worth as much as the distance of the two dashed lines. **So a lower loss does not mean a better
# model.** Compare the distance to the own floor instead: here the left-to-right reader is nearer to its own
# after the same number of sentences: it is asked at every word, the masked one at two per sentence. The BERT paper saw the
# same on real text: masked learning begins more slowly, and is ahead soon all the same (Devlin et al. 2019, appendix C.1).
#
# ---
# # ALBERT: the same work with fewer numbers
#
# ## 11.3 Narrow tables, one layer · 5 points · ~14 minutes · Lan et al. 2020, section 3.1
#
# Two observations. *The table is the largest matrix.* BERT-Base has $V \times H = 30{,}522 \times 768$ numbers in it. A token
# by itself needs fewer: with a table of width $E$ and one projection to $H$ it is $V E + E H$,
#
# $$30{,}000 \cdot 768 = 23{,}040{,}000 \qquad\text{against}\qquad 30{,}000 \cdot 128 + 128 \cdot 768 = 3{,}938{,}304$$
#
# *The layers do similar things.* So let them be the same layer: $x \leftarrow \text{Layer}(x)$, $L$ times, with one set of
# weights.
#
# $$x = \text{LayerNorm}_E(\text{token} + \text{segment} + \text{position})\,W + b \qquad W \in \mathbb{R}^{E \times H}
# \qquad\text{then } L \text{ times}\quad x \leftarrow \text{EncoderLayer}(x)$$
#
# All three tables and their LayerNorm have width $E$; the projection comes after them, has a bias and no activation. Build
# it from your own parts: `BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=…)` of notebook 02,
# `EncoderLayer(num_heads, intermediate_size, dropout)` of notebook 04, and `padding_mask` of notebook 03 for the mask.
# Name the parts `self.embeddings`, `self.projection`, `self.layer`: the check puts weights into them. Pass `training` on to
# the embeddings and to every pass. ALBERT has no dropout, so the default rate is 0.

# %% nbgrader={"grade": false, "grade_id": "albert-encoder", "locked": false, "schema_version": 3, "solution": true, "task": false}
class AlbertEncoder(keras.layers.Layer):
    """ALBERT without its heads.

    call: token_ids, token_type_ids, attention_mask (batch, tokens) integers; attention_mask is 1
    for a token of the text and 0 for padding
    returns (batch, tokens, hidden_size)
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        num_layers: int,
        num_heads: int,
        intermediate_size: int,
        max_positions: int = 512,
        dropout: float = 0.0,
        **kwargs,
    ):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.embeddings = BertEmbeddings(vocab_size, embedding_size, max_positions, dropout=dropout)
        self.projection = keras.layers.Dense(hidden_size)
        self.layer = EncoderLayer(num_heads, intermediate_size, dropout)
        self.num_layers = num_layers
        ### END SOLUTION

    def call(
        self, token_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor, training: bool | None = None
    ) -> Tensor:
        # 1. embeddings of width E   2. to width H   3. the same layer, num_layers times, each time under the mask
        ### BEGIN SOLUTION
        seen = padding_mask(attention_mask)
        x = self.projection(self.embeddings(token_ids, token_type_ids, training=training))
        for _ in range(self.num_layers):
            x = self.layer(x, attention_mask=seen, training=training)
        return x
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-albert-encoder", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(AlbertEncoder)

# %% [markdown]
# **See it: smaller, and faster?** ⚠ "Smaller memory", says a lecture. Your `AlbertEncoder` beside your `Bert`, with 1 to 4
# layers of the same width: numbers to store, and milliseconds for four texts of 64 tokens.

# %%
import time

SIZES = dict(vocab_size=4096, hidden_size=192, num_heads=4, intermediate_size=768, max_positions=64, dropout=0.0)
ids = ops.convert_to_tensor(np.random.default_rng(11).integers(5, 4096, (4, 64)), "int32")


def milliseconds(model, *inputs, times=15):
    """The fastest of some compiled calls: what other programs take away is left out."""
    call = tf.function(lambda *given: model(*given))
    call(*inputs)
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call(*inputs)
        taken.append(1000 * (time.perf_counter() - begin))
    return min(taken)


numbers = {"BERT": [], "ALBERT": []}
taken = {"BERT": [], "ALBERT": []}
for layers in (1, 2, 4):
    for name, model in {
        "BERT": Bert(num_layers=layers, **SIZES),
        "ALBERT": AlbertEncoder(num_layers=layers, embedding_size=32, **SIZES),
    }.items():
        taken[name].append(milliseconds(model, ids, ops.zeros_like(ids), ops.ones_like(ids)))
        numbers[name].append(model.count_params() / 1e6)
curves(
    (1, 2, 4),
    {"million parameters": numbers, "milliseconds": taken},
    x="layers",
    alt="Left: BERT's parameters grow with the number of layers, ALBERT's stay the same. Right: the milliseconds of both "
    "grow alike",
)
for row in range(3):
    print(*(f"{name} {numbers[name][row]:5.2f} M, {taken[name][row]:5.1f} ms" for name in numbers), sep="    ")

# %% [markdown]
# Fewer *numbers*, not less *arithmetic*: four passes cost as much as four layers. The file becomes smaller, the
# optimizer's memory, and the gradients that machines send each other in training. The memory of the activations, which
# training keeps for every pass, does not. (ALBERT-xxlarge, with $H = 4096$, has fewer parameters than
# BERT-Large and is about three times as slow to train: Lan et al. 2020, table 2.)
#
# **Is it ALBERT?** The library's ALBERT of the same size (with BERT's GELU; the published ones use the tanh approximation of
# 4.4) gives its weights away by name. Your layers take them and compute the same:

# %%
from bertlab.families.albert import AlbertConfig
from bertlab.models import PreTrainingModel as LibraryModel

keras.utils.set_random_seed(11)
theirs = LibraryModel(
    AlbertConfig(
        vocab_size=60, embedding_size=16, hidden_size=32, num_layers=3, num_heads=4, intermediate_size=64,
        max_position_embeddings=12, hidden_act="gelu", initializer_range=0.2,
    ),
    next_sentence=False,
)  # fmt: skip
some, segments, real = (ops.convert_to_tensor(row, "int32") for row in ([[2, 7, 40, 9, 3, 0]], [[0, 0, 0, 1, 1, 0]], [[1] * 5 + [0]]))


def own_parts(layer, prefix=""):
    """The weights of an encoder layer of yours or of the library's, by the names that both use."""
    parts = ("attention.query", "attention.key", "attention.value", "attention.out", "attention_norm")
    found = {}
    for path in (*parts, "feed_forward.inner", "feed_forward.outer", "output_norm"):
        part = layer
        for name in path.split("."):
            part = getattr(part, name)
        for name in ("gamma", "beta") if path.endswith("norm") else ("kernel", "bias"):
            found[f"{prefix}{path}.{name}"] = getattr(part, name)
    return found


backbone = theirs.backbone
mine = AlbertEncoder(60, 16, 32, num_layers=3, num_heads=4, intermediate_size=64, max_positions=12)
mine(some, segments, real)
for name, weight in own_parts(mine.layer).items():
    weight.assign(own_parts(backbone.encoder.layers_[0])[name])
for table in ("token", "position", "segment"):
    getattr(mine.embeddings, table).embeddings.assign(getattr(backbone.embeddings, table).embeddings)
mine.embeddings.norm.set_weights(backbone.embeddings.norm.get_weights())
mine.projection.set_weights(backbone.embeddings.projection.get_weights())
expected = backbone(dict(input_ids=some, token_type_ids=segments, attention_mask=real))["sequence_output"]
print(f"largest difference of the hidden states: {float(ops.max(ops.abs(mine(some, segments, real) - expected))):.1e}")

# %% [markdown]
# ## 11.4 In order or not · 3 points · ~8 minutes · Lan et al. 2020, section 3.1
#
# BERT's second task, which sentence follows, can be solved by topic: the wrong sentence comes from another document
# (6.7), and shared words give it away. ALBERT asks for something that the words alone do not tell: two *consecutive*
# sentences, and the question is whether they are in their order.
#
# $$(A, B, \text{label}) = \begin{cases} (s_i,\; s_{i+1},\; 0) & \text{with probability } \tfrac12 \quad\text{(in order)}\\
# (s_{i+1},\; s_i,\; 1) & \text{with probability } \tfrac12 \quad\text{(exchanged)}\end{cases}$$

# %% nbgrader={"grade": false, "grade_id": "order-pair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def order_pair(document: list[str], i: int, rng: np.random.Generator) -> tuple[str, str, int]:
    """Two consecutive sentences, in their order (label 0) or exchanged (label 1), each in half of the calls.

    document: its sentences, in order    i: the first of the two, below len(document) - 1
    rng: the only source of chance
    returns A, B and the label
    """
    ### BEGIN SOLUTION
    first, second = document[i], document[i + 1]
    if rng.random() < 0.5:
        return first, second, 0
    return second, first, 1
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-order-pair", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(order_pair)

# %% [markdown]
# **See it: what does one sentence tell?** 6.7 measured that shared words solve most of the first task, and nothing of this
# one: an overlap is the same in either order. What about the sentences themselves? One that begins with *this*, *it* or
# *these* refers to something before it, so it must be the second one. Guess how often that is right. (Real text again: the
# manuals of the installed packages, cut into sentences; the pairs are your `order_pair`'s.)

# %%
from itertools import islice

from bertlab.data.documents import load_documents

documents = []
for document in islice(load_documents("builtin"), 600):
    sentences = [sentence for part in document.paragraphs for sentence in part]
    documents += [sentences] * (len(sentences) > 3)
chance = np.random.default_rng(11)
pairs = [order_pair(one, int(chance.integers(len(one) - 1)), chance) for one in (documents[d] for d in chance.integers(len(documents), size=6000))]


def refers(text):
    return text.lower().startswith(("this ", "it ", "these ", "that ", "they ", "such "))


RULES = {  # whether a rule puts this sentence second
    "one that begins with this, it, these … is second": (refers, refers),
    "the longer one is second": (len, len),
}
for name, (of_a, of_b) in RULES.items():
    decided = [(of_a(a) > of_b(b), label) for a, b, label in pairs if of_a(a) != of_b(b)]
    right = np.mean([int(exchanged) == label for exchanged, label in decided])
    print(f"{name}: {right:.1%} right of {len(decided)} pairs that it decides (± {50 / np.sqrt(len(decided)):.1f} points by chance)")

# %% [markdown]
# Each sentence is the second one of one pair and the first one of the next. *This returns a list* comes after something, and
# something comes after it: by itself it is next to no evidence. The model has to see how the two belong together. That is what the task
# was made for. RoBERTa drew another conclusion and left a second task out.
#
# ---
# # ELECTRA: find the fakes
#
# ## 11.5 Corrupt, and label · 4 points · ~12 minutes · Clark et al. 2020, section 2
#
# A masked model learns from 15 % of the tokens, and from input with [MASK], which no task has. ELECTRA uses two models. A
# small **generator** is a masked model: it guesses the hidden tokens. Its guesses are put into the text, and the
# **discriminator**, the model that one keeps, says for *every* token whether it is the original or a replacement.
#
# The generator does not take its best guess; it **draws** from its probabilities, each position by itself:
#
# $$\hat x_{t} \sim \text{softmax}(z_p) \quad\text{for the } p\text{-th chosen position } t \qquad
# \text{label}_t = \begin{cases} 1 & \hat x_t \ne x_t\\ 0 & \hat x_t = x_t\end{cases}$$
#
# Tokens that were not chosen stay, with the label 0. So does a drawn token that happens to be the original: nobody could
# tell it from one that was never touched.
#
# `logits[p]` belongs to `positions[p]`, which may be in any order. A model's logits may be large: subtract the largest of a row
# before `exp` (3.3). `rng.choice(len(row), p=row)` wants probabilities that sum to 1 in float64: compute them with NumPy from
# `logits.astype("float64")`.

# %% nbgrader={"grade": false, "grade_id": "corrupt", "locked": false, "schema_version": 3, "solution": true, "task": false}
def corrupt(
    ids: list[int], positions: list[int], logits: np.ndarray, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Replaces the chosen tokens by guesses that are drawn from the generator's probabilities.

    ids: the original tokens (nothing is masked)    positions: the chosen ones, counted from 0
    logits: (chosen, vocabulary), a NumPy array of float32    rng: the only source of chance
    returns two lists as long as ids: the new ids, and for each 1 where it differs from the original, else 0
    """
    # 1. softmax of each row   2. one draw for each position, into a copy   3. compare with the original
    ### BEGIN SOLUTION
    logits = logits.astype("float64")
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    chances = powers / powers.sum(axis=-1, keepdims=True)
    corrupted = list(ids)
    for position, row in zip(positions, chances):
        corrupted[position] = int(rng.choice(len(row), p=row))
    return corrupted, [int(before != after) for before, after in zip(ids, corrupted)]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-corrupt", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(corrupt)

# %% [markdown]
# **See it: a bad forger and a perfect one.** Below, a sentence of the small world with a third of its words chosen. The first
# generator knows nothing and draws any word. The second one knows how often each word occurs. The third is perfect: the
# small world's exact probabilities, given all words that are not chosen. (Red: replaced. A box: chosen, but the guess was
# right.)

# %%
count = len(small_world.WORDS)
used = np.bincount(small_world.word_ids(train[:2000]).ravel(), minlength=count + 1)[:count]
GENERATORS = {
    "any word": lambda ids, hidden: np.zeros((*ids.shape, count)),
    "by frequency": lambda ids, hidden: np.log(used + 1e-9) + np.zeros((*ids.shape, count)),
    "exact": lambda ids, hidden: np.log(small_world.conditionals(ids, hidden)[..., :count] + 1e-30),
}


def forged(sentence, logits_of, chance):
    """The corrupted words of a sentence, the labels, and the chosen places."""
    ids = small_world.word_ids([sentence])
    chosen = np.sort(chance.permutation(len(sentence))[: max(1, len(sentence) // 3)])
    hidden = np.isin(np.arange(ids.shape[1]), chosen)[None]
    logits = logits_of(ids, hidden)[0, chosen].astype("float32")
    new, replaced = corrupt(ids[0].tolist(), chosen.tolist(), logits, chance)
    return [small_world.WORDS[i] for i in new], replaced, chosen


sentence = small_world.read("the small dog near the banks does not follow any cats .")
shown = {"original": (sentence.words, [0] * len(sentence), [])}
shown |= {name: forged(sentence, logits_of, np.random.default_rng(30)) for name, logits_of in GENERATORS.items()}
marked_words(shown)
for name, logits_of in GENERATORS.items():
    chance, chosen_words, replaced_words = np.random.default_rng(11), 0, 0
    for one in held_out[:200]:
        _, replaced, chosen = forged(one, logits_of, chance)
        chosen_words, replaced_words = chosen_words + len(chosen), replaced_words + sum(replaced)
    print(f"{name:13} {replaced_words / chosen_words:4.0%} of the chosen words of 200 sentences are replaced; the others were guessed right")

# %% [markdown]
# A forger who knows nothing makes fakes that grammar gives away. The perfect one makes sentences that *are* sentences of the
# language: no discriminator can find those fakes, and there is nothing left to learn. That is why ELECTRA's generator is
# small, a quarter to a half of the discriminator's width (Clark et al. 2020, section 3.2).
#
# ## 11.6 Its loss · 4 points · ~10 minutes · Clark et al. 2020, section 2
#
# The discriminator has one number per token, a score $s_t$; $\sigma(s_t)$ is its probability of "replaced". Both models are
# trained together:
#
# $$\text{loss} = \underbrace{\text{mlm\_loss}(z, \text{label}, w)}_{\text{generator}} \;+\; 50 \cdot
# \underbrace{\frac{\sum_{b,t} r_{bt}\,\bigl[-y_{bt} \log \sigma(s_{bt}) - (1 - y_{bt}) \log(1 - \sigma(s_{bt}))\bigr]}
# {\sum_{b,t} r_{bt}}}_{\text{discriminator}}$$
#
# with $y = 1$ for replaced tokens and $r = 1$ for real ones: *all* of them count, replaced or not. The factor 50 is the
# paper's: a yes or no has a far smaller loss than a choice among a whole vocabulary. No gradient passes through the draw, so
# the generator is not trained to deceive; it is no GAN.
#
# For large scores $\sigma$ is rounded to 0 or 1, and the logarithm of 0 is $-\infty$. Use
# $-\log \sigma(s) = \text{softplus}(-s)$ and $-\log(1 - \sigma(s)) = \text{softplus}(s)$: `ops.softplus`.

# %% nbgrader={"grade": false, "grade_id": "electra-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def electra_loss(
    generator_logits: Tensor, labels: Tensor, weights: Tensor, scores: Tensor, replaced: Tensor, is_real: Tensor
) -> Tensor:
    """ELECTRA's loss: the generator's, and 50 times the discriminator's mean over all real tokens.

    generator_logits: (batch, predictions, vocabulary)    labels: (batch, predictions) integers
    weights: (batch, predictions)    scores: (batch, tokens) of the discriminator
    replaced, is_real: (batch, tokens) integers, 0 or 1
    returns a scalar
    """
    # 1. a loss for each token, by its label   2. the mean over the real ones   3. both models
    ### BEGIN SOLUTION
    real = ops.cast(is_real, scores.dtype)
    sign = 1.0 - 2.0 * ops.cast(replaced, scores.dtype)
    found = ops.sum(real * ops.softplus(sign * scores)) / ops.sum(real)
    return mlm_loss(generator_logits, labels, weights) + 50.0 * found
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-electra-loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(electra_loss)

# %% [markdown]
# **See it: how many tokens teach?** One sentence of twelve words, three objectives: the size of the gradient that your
# losses send to each position's output. Masked: 15 % of the tokens, so two. Left to right: all but the last. ELECTRA's
# discriminator: all.

# %%
tokens, three = len(sentence), np.random.default_rng(3)
ids = ops.convert_to_tensor(small_world.word_ids([sentence]), "int32")
chosen, every_word = ops.convert_to_tensor([[2, 8]]), ops.ones((1, tokens), "int32")
gold, fake = ops.take_along_axis(ids, chosen, axis=1), ops.one_hot([2], tokens, dtype="int32")  # word 2 is replaced
logits = ops.convert_to_tensor(three.normal(size=(1, tokens, count)).astype("float32"))
scores = ops.convert_to_tensor(three.normal(size=(1, tokens)).astype("float32"))
with tf.GradientTape(persistent=True) as tape:
    tape.watch([logits, scores])
    guesses = gather_positions(logits, chosen)
    losses = {
        "masked": mlm_loss(guesses, gold, ops.ones((1, 2))),
        "left to right": ltr_loss(logits, ids, every_word),
        "ELECTRA": electra_loss(guesses, gold, ops.ones((1, 2)), scores, fake, every_word),
    }
sent = {name: tape.gradient(loss, scores if name == "ELECTRA" else logits) for name, loss in losses.items()}
sizes = np.stack([np.sqrt(np.square(np.array(grad)).reshape(tokens, -1).sum(axis=1)) for grad in sent.values()])
heat_maps(
    [sizes / sizes.max(axis=1, keepdims=True)],
    titles=["size of the gradient at each position, each row relative to its largest"],
    rows=list(sent),
    columns=list(sentence.words),
    alt="Three rows of twelve words: masked has two cells that are not empty, left to right eleven, ELECTRA twelve",
)
for name, row in zip(sent, sizes):
    print(f"{name:14} {int((row > 1e-9).sum()):2} of {tokens} positions teach")

# %% [markdown]
# More positions, but each answers an easier question: a yes or no (one bit at most) instead of one word among all. The gain
# was measured by the paper: ELECTRA-small, trained on one GPU for four days, has 79.9 on GLUE's development sets, a BERT of
# the same size 75.1 (Clark et al. 2020, table 1).
#
# ---
# # XLNet: any order
#
# ## 11.7 An order as a mask · 3 points · ~9 minutes · Yang et al. 2019, sections 2.2 and 2.3
#
# Left-to-right predicts every token but sees one side; masked sees both sides but needs [MASK], and the hidden tokens do not
# see each other. XLNet predicts the tokens one after the other, as GPT does, but in a *random order*: 3 → 2 → 4 → 1 means that
# token 3 comes first, then token 2, which may use token 3, then token 4 … Over many orders each token sees every other one.
#
# The tokens are not moved, and keep their positions. The order is only in the mask. And it needs two of them:
#
# - the **content** mask: the vector *of* a token, for later ones to use. It sees tokens whose turn is earlier, *and itself*.
# - the **query** mask: the vector that *predicts* a token. It sees tokens whose turn is earlier, *not itself*.
#
# $$\text{content}_{ij} = [\,\text{turn}(j) \le \text{turn}(i)\,] \qquad \text{query}_{ij} = [\,\text{turn}(j) < \text{turn}(i)\,]$$
#
# `order[0]` is the position whose turn comes first: for the example `[2, 1, 3, 0]`, counted from 0. $\text{turn}(j)$ is the place of
# position $j$ in that list: here position 0 has the last turn, 3. Mind which of the two a formula wants.

# %% nbgrader={"grade": false, "grade_id": "permutation-masks", "locked": false, "schema_version": 3, "solution": true, "task": false}
def permutation_masks(order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The masks of both streams: True where position i (row) may see position j (column).

    order: (tokens,) integers, a NumPy array: the positions in the order of prediction
    returns two NumPy arrays of booleans (tokens, tokens): content, query
    """
    # 1. the turn of each position   2. two comparisons
    ### BEGIN SOLUTION
    turn = np.argsort(order)
    content = turn[None, :] <= turn[:, None]
    query = turn[None, :] < turn[:, None]
    return content, query
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-permutation-masks", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(permutation_masks)

# %% [markdown]
# **See it.** The masks of 3 → 2 → 4 → 1, and the mean of the query masks over all 24 orders of four tokens. On average each
# token sees each other one in half of the orders, on either side.

# %%
from itertools import permutations

content, query = permutation_masks(np.array([2, 1, 3, 0]))
every = np.mean([permutation_masks(np.array(order))[1] for order in permutations(range(4))], axis=0)
heat_maps(
    [content.astype(float), query.astype(float), every],
    titles=["content, 3 → 2 → 4 → 1", "query, 3 → 2 → 4 → 1", "query, mean of all orders"],
    rows=["1", "2", "3", "4"],
    columns=["1", "2", "3", "4"],
    per_line=3,
    numbers=True,
    largest=1,
    alt="Three four by four maps: the content mask with its diagonal filled, the query mask with an empty diagonal, and the "
    "mean of all query masks, one half everywhere but on the diagonal",
)

# %% [markdown]
# What is it worth to see more? In the small world that can be computed: the loss of the best reader at a word, if the other
# words are visible each with some probability. The first predictions of an order have almost nothing to go by. XLNet
# therefore predicts only the last ones of each order, one token in six.

# %%
shares = (0.0, 0.25, 0.5, 0.75, 1.0)
some_ids = small_world.word_ids(held_out[:400], small_world.LONGEST)
is_word, chance = some_ids < count, np.random.default_rng(11)
best = []
for share in shares:
    unseen = is_word & (chance.random(some_ids.shape) >= share)
    exactly = small_world.conditionals(some_ids, unseen)
    best.append(float(-np.log(np.take_along_axis(exactly, some_ids[..., None], axis=-1)[..., 0][is_word]).mean()))
curves(
    shares,
    {"The best reader's loss at a word (nats)": {
        "each other word visible with this probability": best,
        "left to right: all before, none after": [floors["left to right"]] * len(shares),
    }},
    x="probability",
    alt=f"The floor falls from {best[0]:.2f} nats with nothing visible to {best[-1]:.2f} with everything; the left-to-right floor "
    f"of {floors['left to right']:.2f} lies between",
)  # fmt: skip
print("floor:", ", ".join(f"{share:.0%} visible {value:.2f}" for share, value in zip(shares, best)), f"| left to right {floors['left to right']:.2f}")

# %% [markdown]
# **★ The two streams.** In each layer a token has two vectors. The *content* vector $h_i$ begins as the token's embedding, the
# *query* vector $g_i$ as one learned vector that is the same for all: it knows *where* it is, through relative positions, and
# not *what* is there. Both use the same weights, and keys and values always come from $h$:
#
# $$g_i \leftarrow \text{Attention}(Q = g_i,\; KV = h_j : \text{turn}(j) < \text{turn}(i)) \qquad
# h_i \leftarrow \text{Attention}(Q = h_i,\; KV = h_j : \text{turn}(j) \le \text{turn}(i))$$
#
# The last $g_i$ predicts the token; for a task one keeps $h$ and forgets $g$. Why not one stream? A single vector would have to
# *be* the token for those that come later and *not know* it for its own prediction. BERT's way out is [MASK]: it spends the input
# of the token on it, and then the hidden tokens cannot see each other. Two streams cost up to twice the arithmetic in
# pre-training. (`bertlab.layers.relative` has them; `bertlab pretrain` with the family `xlnet` trains them.)
#
# ---
# # RoBERTa and DistilBERT: the same model
#
# Two of the best known relatives changed nothing that you have built.
#
# | | RoBERTa (Liu et al. 2019) | DistilBERT (Sanh et al. 2019) |
# |---|---|---|
# | layers | BERT's | BERT's, half as many |
# | segments | one | none |
# | positions | counted from 2: rows 0 and 1 of 514 are never used by a token (padding has id 1) | BERT's |
# | pooler, second task | neither trained (no next-sentence prediction) | none |
# | vocabulary | 50,265 byte-level BPE tokens | BERT's |
# | LayerNorm's ε | 10⁻⁵ | 10⁻¹² |
# | training | masks drawn again each time (*dynamic*), full sentences across documents, batches of 8,000, ten times the text, up to 500,000 steps | soft targets of a BERT (notebook 12), no second task, large batches |
#
# **See it.** The library writes a small model of each family into a folder, in the published format and under the published
# names (their weights are random: what counts is that the outputs agree). A table of names is all that *your* `Bert` of notebook
# 05 needs to carry them. The columns that it does not have are zeros, and RoBERTa's table of positions is cut.

# %%
import tempfile
from pathlib import Path

from safetensors.numpy import load_file

from bertlab.checkpoints import save
from bertlab.families.distilbert import DistilBertConfig
from bertlab.families.roberta import RobertaConfig

NAMES = {
    "roberta": {
        "first": "roberta.embeddings.", "norm": "LayerNorm",
        "layer": "roberta.encoder.layer.{i}.",
        "attention.query": "attention.self.query", "attention.key": "attention.self.key",
        "attention.value": "attention.self.value", "attention.out": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm", "feed_forward.inner": "intermediate.dense",
        "feed_forward.outer": "output.dense", "output_norm": "output.LayerNorm",
    },
    "distilbert": {
        "first": "distilbert.embeddings.", "norm": "LayerNorm",
        "layer": "distilbert.transformer.layer.{i}.",
        "attention.query": "attention.q_lin", "attention.key": "attention.k_lin",
        "attention.value": "attention.v_lin", "attention.out": "attention.out_lin",
        "attention_norm": "sa_layer_norm", "feed_forward.inner": "ffn.lin1",
        "feed_forward.outer": "ffn.lin2", "output_norm": "output_layer_norm",
    },
}  # fmt: skip


def carry(bert, tensors, family):
    """Fills your Bert from a folder of another family."""
    names = NAMES[family]
    embeddings, first = bert.embeddings, names["first"]
    embeddings.token.embeddings.assign(tensors[first + "word_embeddings.weight"])
    rows = tensors[first + "position_embeddings.weight"]
    embeddings.position.embeddings.assign(rows[2:] if family == "roberta" else rows)
    segment = tensors.get(first + "token_type_embeddings.weight", np.zeros((1, rows.shape[1]), "float32"))
    embeddings.segment.embeddings.assign(np.concatenate([segment, np.zeros_like(segment)]))  # one segment, or none
    embeddings.norm.gamma.assign(tensors[first + names["norm"] + ".weight"])
    embeddings.norm.beta.assign(tensors[first + names["norm"] + ".bias"])
    for i, layer in enumerate(bert.encoder.layers_):
        for path, weight in own_parts(layer).items():
            part, _, last = path.rpartition(".")
            array = tensors[names["layer"].format(i=i) + names[part] + (".weight" if last in ("kernel", "gamma") else ".bias")]
            weight.assign(array.T if last == "kernel" else array)


shape = dict(vocab_size=60, hidden_size=32, num_layers=2, num_heads=4, intermediate_size=64, initializer_range=0.2)
relatives = {
    "roberta": RobertaConfig(max_position_embeddings=14, layer_norm_eps=1e-12, **shape),  # published: ε = 10⁻⁵
    "distilbert": DistilBertConfig(max_position_embeddings=12, **shape),
}
for family, config in relatives.items():
    keras.utils.set_random_seed(11)
    theirs = LibraryModel(config, next_sentence=False)
    with tempfile.TemporaryDirectory() as folder:
        tensors = load_file(Path(save(theirs, folder)) / "model.safetensors")
    mine = Bert(60, 32, 2, 4, 64, max_positions=12)
    mine(some, segments, real)
    carry(mine, tensors, family)
    ids = ops.where(real > 0, some, config.pad_token_id)
    their_states = theirs.backbone({"input_ids": ids, "attention_mask": real})["sequence_output"]
    own_states, _ = mine(ids, ops.zeros_like(ids), real)
    difference = float(ops.max(ops.abs(own_states - their_states)[0, :5]))
    print(f"{family:11} {len(tensors)} arrays under names such as {sorted(tensors)[-6]}; largest difference {difference:.1e}")

# %% [markdown]
# So "a better BERT" often means the same layers with another *recipe*. RoBERTa's gain came from batches, text, steps and
# dynamic masks; ELECTRA's and XLNet's authors, who compared with BERT, had to compare with it again.
#
# ---
# # Which one is better?
#
# ## 11.8 What perplexity says · 3 points · ~8 minutes
#
# The perplexity is $e^{\text{mean loss per token}}$, "as unsure as among so many equal choices" (7.11). Two of them may be compared
# only if both models answered the *same question*: the same held-out text, and the same words visible to predict from. A masked
# model's perplexity is far lower than a left-to-right one's, and says nothing about which is better: you have seen their floors.
#
# If the question is the same but the *vocabularies* differ, the unit differs: long tokens are harder to guess than short
# ones, and there are fewer of them. Spread the loss of the whole text over its characters instead:
#
# $$\text{bits per character} = \frac{\log_2(\text{perplexity}) \cdot \text{tokens}}{\text{characters}}$$

# %% nbgrader={"grade": false, "grade_id": "what-ppl-says", "locked": false, "schema_version": 3, "solution": true, "task": false}
def what_ppl_says(first: dict, second: dict) -> list[float]:
    """The bits per character of two models, or an empty list where their perplexities cannot be compared.

    first, second: "text", the name of the held-out text; "sees", the words from which a token is predicted;
    "perplexity" per token; "tokens" and "characters" of that text
    returns [bits per character of the first, of the second], or [] if text or visible words differ
    """
    ### BEGIN SOLUTION
    if first["text"] != second["text"] or first["sees"] != second["sees"]:
        return []
    return [float(np.log2(run["perplexity"]) * run["tokens"] / run["characters"]) for run in (first, second)]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-what-ppl-says", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(what_ppl_says)

# %% [markdown]
# **See it: comparable perplexities tell much.** Table 6 of the BERT paper: six models of different sizes, with one
# vocabulary, one text and one masking. Perplexity against accuracy on two tasks of fine-tuning. (⚠ The last row is
# BERT-Large; 110 and 340 million are its and BERT-Base's rounded numbers.)

# %%
TABLE_6 = (  # L, H, A, perplexity of the masked words, MNLI, MRPC, SST-2 (Devlin et al. 2019, table 6)
    (3, 768, 12, 5.84, 77.9, 79.8, 88.4),
    (6, 768, 3, 5.24, 80.6, 82.2, 90.7),
    (6, 768, 12, 4.68, 81.9, 84.8, 91.3),
    (12, 768, 12, 3.99, 84.4, 86.7, 92.9),
    (12, 1024, 16, 3.54, 85.7, 86.9, 93.3),
    (24, 1024, 16, 3.23, 86.6, 87.8, 93.7),
)
ppl, mnli, mrpc, sst2 = np.array([row[3:] for row in TABLE_6]).T
mlm_of = [dict(text="books", sees="both sides, 15 % hidden", perplexity=p, tokens=1000, characters=4500) for p in ppl]
bits = [what_ppl_says(mlm_of[0], other)[1] for other in mlm_of]
curves(
    bits,
    {"Accuracy after fine-tuning": {"MNLI (393,000 examples)": mnli, "MRPC (3,600)": mrpc, "SST-2 (67,000)": sst2}},
    x="bits per character, with 4.5 characters per token",
    alt="Six models: accuracy on MNLI, MRPC and SST-2 falls along nearly straight lines as the bits per character rise",
)
for name, score in {"MNLI": mnli, "MRPC": mrpc, "SST-2": sst2}.items():
    of_bits, of_ppl = np.corrcoef(bits, score)[0, 1], np.corrcoef(ppl, score)[0, 1]
    print(f"{name:6} correlation with the bits {of_bits:.3f}, with the perplexity {of_ppl:.3f}")

# %% [markdown]
# Larger models have a lower perplexity, and do better on *every* task, MRPC with its 3,600 examples included: pre-training pays
# for the size, and small data sets profit too. That was new in 2018. (SST-2 is 92.9 here and 92.7 in the next table, for the
# same model: so much is noise.)
#
# ## Does it matter that BERT reads both ways?
#
# Table 5 of the paper takes BERT's parts away, with the same text, fine-tuning and size each time:
#
# | Devlin et al. 2019, table 5 (development sets) | MNLI-m | QNLI | MRPC | SST-2 | SQuAD F1 |
# |---|---|---|---|---|---|
# | BERT-Base | 84.4 | 88.4 | 86.7 | 92.7 | 88.5 |
# | no next-sentence task | 83.9 | 84.9 | 86.5 | 92.6 | 87.9 |
# | left to right, no next-sentence task | 82.1 | 84.3 | 77.5 | 92.1 | 77.8 |
# | … with a BiLSTM on top | 82.1 | 84.1 | 75.7 | 91.6 | 84.9 |
#
# ⚠ "Comparable to GPT", says a lecture of the third row. In the direction only: GPT was trained on less text, with other inputs
# and another fine-tuning. One side is enough for a class of a whole sentence (SST-2), where the last token has read everything. It
# is not enough for a span (SQuAD), where the model must know at each word what follows. A BiLSTM on top repairs the span and not
# MRPC: **the halves must meet inside of the model, not above it.** That is also the difference to ELMo. The paper calls reading
# both ways in depth "strictly more powerful" than joining two readers; two stacks of half the width would indeed be the same size,
# and no number in them depends on both sides.
#
# **See it in the small world.** The same question, recorded. Each objective had 800 steps of 64 sentences; then all were fine-tuned on 40 labelled
# sentences: is *bank* or *plant* meant as in the country or as in town? The model answers at the word itself. A reader from left to
# right cannot know it where nothing before the word tells: its best possible accuracy is the dashed line. (Made by
# `python -m benchmarks.training.small_world_objectives`; three seeds each; 1,000 judged sentences.)

# %%
judged = [row for row in recorded_runs("small_world_objectives") if "accuracy" in row]
found = {}
for row in judged:
    found.setdefault(row["objective"], []).append(100 * row["accuracy"])
dots(
    found,
    title="The sense of bank and plant, after fine-tuning on 40 sentences",
    y="right of 1,000 (%)",
    line=("best left-to-right reader", 79.3),
)
for name, values in found.items():
    print(f"{name:24} {np.mean(values):5.1f} ± {np.std(values, ddof=1):.1f}   ({', '.join(f'{value:.1f}' for value in values)})")

# %% [markdown]
# The left-to-right model is as good as a left-to-right reader can be, and no better: no training brings it above its line. (The
# line is an expectation; luck in the undecided sentences moves a run by about a point.) A BiLSTM on top brings the right side in.
# Is BERT better than that? The means say so; but its three seeds are up to four points apart,
# and by two standard errors the two are *not* told apart, nor is BERT from XLNet. With only the first seed you would have
# written something else. It is also one small language, one size and one task.
#
# ## The family table, corrected
#
# A lecture ends with a table of four relatives. Several of its cells are rounded, or from another version of a paper
# ([errata](../errata.md)). Here is the table again: parameters counted, milliseconds measured by the next cells, and the rest
# with its source.
#
# | | objective | text | training as published | GLUE as published | source |
# |---|---|---|---|---|---|
# | BERT | masked tokens, next sentence | 3.3 billion words, 16 GB | 4 days; 16 TPU chips (base), 64 (large) | 79.6, 82.1 (test, one model, without WNLI) | Devlin et al. 2019, A.2, table 1 |
# | RoBERTa | masked tokens, masks drawn again | ⚠ 160 GB; 16 GB in the run of 100,000 steps | ⚠ one day on 1,024 V100 for *those* 100,000 steps; the published model 500,000 | 88.5 (test, ensemble) | Liu et al. 2019, 5 |
# | DistilBERT | soft targets, masked tokens, cosine | as BERT | ⚠ 90 hours on 8 V100 | 77.0, where BERT-Base has 79.5 (development) | Sanh et al. 2019, 3, table 1 |
# | XLNet | tokens in a random order | ⚠ 32.89 billion *tokens* | ⚠ 5.5 days on 512 TPU v3 chips (2.5 in the first version on arXiv) | by task only | Yang et al. 2019, 3.1 |
# | ALBERT | masked n-grams, sentence order | as BERT | 64 to 512 TPU v3 chips | 89.4 (test, ensemble of xxlarge) | Lan et al. 2020, 4.1, 5 |
# | ELECTRA | replaced tokens | as BERT (base); as XLNet (large) | small: 4 days on one V100 | 79.9 small, 85.1 base (development) | Clark et al. 2020, table 1 |
#
# ⚠ The lecture also has improvements "by 2–20 %" and "2–15 %": percentages of what is not said, and no paper has them. The
# GLUE column does not rank the models either: test or development sets, one model or an ensemble, with WNLI or without. RoBERTa's
# parameters are not BERT's 110 and 340 million; the cell counts them.

# %%
from bertlab.families import family
from bertlab.models import Backbone
from bertlab.models.outline import outline

FAMILIES = {
    "bert": ("base", "large"),
    "roberta": ("base", "large"),
    "distilbert": ("base",),
    "xlnet": ("base", "large"),
    "albert": ("base", "large", "xxlarge"),
    "electra": ("small", "base", "large"),
}


def counted(config):
    """The parameters of an encoder without heads; no memory is taken for them."""
    return sum(int(np.prod(weight.shape)) for weight in outline(lambda: Backbone(config)).trainable_variables)


counts = {f"{name}-{size}": counted(family(name).config.named(size)) for name, sizes in FAMILIES.items() for size in sizes}
small_shape = dict(vocab_size=4096, num_layers=4, hidden_size=128, num_heads=4, intermediate_size=512)
row = ops.convert_to_tensor(np.random.default_rng(11).integers(5, 4096, (1, 128)), "int32")
speed = {}
for name in FAMILIES:
    narrow = {"embedding_size": 32} if name in ("albert", "electra") else {}
    shape = small_shape | narrow | ({"num_layers": 2} if name == "distilbert" else {})
    backbone = Backbone(family(name).config(**shape))
    speed[name] = milliseconds(lambda ids, model=backbone: model({"input_ids": ids})["sequence_output"], row, times=60)
family_table(counts, speed)

# %% [markdown]
# The milliseconds are those of encoders of 4 layers of width 128 (DistilBERT: 2), one text of 128 tokens, on this machine: the
# fastest of 60 calls, and still they differ a little from run to run. Expect this: half the layers take about half the time,
# shared layers and narrow tables save numbers and next to no time, and XLNet's relative positions cost.
#
# **And the quality?** From the recorded comparison of the library: models of 2 × 128, the same text and the same number of
# operations (3·10¹²) for each objective, then the task `package` (ten classes, 1,000 judged rows), two seeds
# (`python -m benchmarks.training.objectives --flops 3e12`). The next cell prints for each two whether they can be told apart: is the
# difference of the means larger than two standard errors, of seeds and sampling together?

# %%
TITLES = {"none": "no pre-training", "masked": "BERT", "order": "ALBERT", "replaced": "ELECTRA", "permutation": "XLNet"}
scores = {}
for row in recorded_runs("objectives"):
    scores.setdefault(TITLES[row["objective"]], []).append(100 * row["task_accuracy"])
dots(scores, title="Accuracy on package after the same computation", y="right of 1,000 (%)")


def error_of(values):
    """The standard error of a mean of runs (percent), each judged on the same 1,000 rows."""
    p = np.mean(values) / 100
    return np.sqrt(np.var(values, ddof=1) / len(values) + 1e4 * p * (1 - p) / 1000)


for name, values in scores.items():
    alike = [
        other
        for other, theirs in scores.items()
        if other != name and abs(np.mean(values) - np.mean(theirs)) < 2 * np.hypot(error_of(values), error_of(theirs))
    ]
    print(f"{name:16} {np.mean(values):5.1f} ± {np.std(values, ddof=1):.1f}    not told apart from: {', '.join(alike) or 'none'}")

# %% [markdown]
# At this budget BERT, ALBERT and no pre-training are one group: nobody may rank them from these runs. XLNet is above all,
# ELECTRA below all, and both only *at the very beginning* of pre-training: the published models read more than a thousand times as
# much. In the papers, with their computation, the order is another one. That is the lesson of the table: **an objective is not
# good or bad; it is good or bad for a budget.**
#
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("lower-loss", "")

# %%
answer("shared-layers", "")

# %% [markdown]
# ---
# # Recap
#
# A reader is a mask: both-sided, left-to-right, prefix, or a random order. The loss of each has a floor of its own, so losses of
# different readers say nothing about each other. ALBERT shares numbers, not work. ELECTRA asks every token an easier question. XLNet
# reads in any order, with a second stream that does not know what it predicts. RoBERTa and DistilBERT are your `Bert`.
#
# | | asks | at how many tokens | sees | second task |
# |---|---|---|---|---|
# | BERT | which token was it? | 15 % | both sides, with [MASK] | next sentence |
# | RoBERTa | which token was it? | 15 %, others each time | both sides, with [MASK] | none |
# | ALBERT | which tokens were they? | 15 % | both sides, with [MASK] | order of two segments |
# | ELECTRA | is it the original? | all | both sides, no [MASK] | none |
# | XLNet | which token comes here? | one in six | those earlier in a random order | none |
# | GPT | which token comes next? | all | the left side | none |
#
# **To think about**
#
# 1. Hide the diagonal of the both-sided mask, so that no token sees itself. Why is that not enough to train without [MASK]?
# 2. ELECTRA's discriminator has an accuracy of 86 %. Is that good?
# 3. ALBERT's layer is applied 12 times. Could one apply it 24 times after the training?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. In the first layer a token does not see itself, but its neighbours see it. In the second layer it reads them, and
#    gets itself back (notebook 06). The left-to-right mask and XLNet's are safe because who is seen sees no more than the seer.
# 2. If 14 % of the tokens are replaced, "never replaced" has 86 %. Compare its loss with that of knowing the share alone.
# 3. It runs, since no weight depends on the number of passes. But the layer was trained so that its twelfth result is what the
#    head reads; nothing made the next twelve stay there. (Models whose result does stay, a fixed point, are trained for it: Bai,
#    Kolter & Koltun 2019, *Deep Equilibrium Models*.)
#
# </details>
#
# **Next:** notebook 12 makes a small model learn from a large one: DistilBERT's other half, the soft targets. Notebook 13 turns
# the left-to-right reader into a writer.

# %%
progress()
