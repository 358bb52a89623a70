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
# # 13 · The decoder
#
# BERT is one half of the Transformer. In this notebook you build the other half: the decoder, which *writes*. You put
# both halves together as in the paper of 2017, train the model to translate a small language, and look at how one
# sentence reads another. Then you drop the encoder, and what remains is a GPT.
#
# By the end you will have built
#
# - `shift_right`: what a decoder reads while it is trained;
# - `CrossAttention` and `DecoderLayer`: one sequence that reads another;
# - `Transformer`: encoder and decoder from your own parts, and a translator that you train;
# - `greedy` and `sample`: two ways to choose the next token;
# - `gpt_count`: where GPT-2's 124 million come from; and your own layers with the outputs of a GPT-2.
#
# 80 to 100 minutes, 34 points, the run included. Everything runs on this machine, without a network. It uses your parts of notebooks 02,
# 03, 04 and 07; where one is missing, the library's is used.
#
# **Notation.** As in notebook 03: the tokens $Z$ of the sentence that is being written, the tokens $H$ of the sentence
# that is being read. In shapes: batch, tokens (of the target), source tokens, hidden. All terms are in the
# [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, check, curves, heat_maps, load_backend, progress, stacked_boxes

load_backend()

from autograde.student.drawings_decoder import TranslationCurves, exact_by_length, reading_and_writing, setting_bars
from autograde.boundary.weights_file import TRANSLATION
from autograde.student.trained_weights import check_weights, download_weights, hand_in, weights_path
from autograde.student.training_run import Run, ready
from autograde.student.translation_run import END, FILE, NOTEBOOK, PAD, START
from autograde.student.translation_run import TranslationData, choose_translation, translation_folder
from bertlab import checkpoints
from bertlab.config import BertConfig
from bertlab.data import small_world
from bertlab.families import Gpt2Config, TransformerConfig
from bertlab.generation import mask_predict
from bertlab.models import PreTrainingModel, outline
from bertlab.training.runs.recorded import recorded_runs

# %% tags=["setup"]
import warnings

import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

from mybert.attention import MultiHeadAttention, attention_scores, causal_mask, padding_mask, softmax_rows
from mybert.embeddings import sinusoids
from mybert.encoder import EncoderLayer, FeedForward, LayerNorm
from mybert.pretraining import clip_gradients, learning_rate, mlm_loss

warnings.filterwarnings("ignore", "You are using a softmax over axis")  # of one score: at the first token that is right
MASKED_SCORE = -1e9  # the score of a key that may not be seen
rng = np.random.default_rng(13)  # for the pictures


class ReluFeedForward(keras.layers.Layer):
    """The network of 2017, your `relu_ffn` of 4.5, as a layer; its parts have the names of your FeedForward's."""

    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size, name="inner")
        self.outer = keras.layers.Dense(x_shape[-1], name="outer")
        self.inner.build(x_shape)
        self.outer.build((*x_shape[:-1], self.intermediate_size))

    def bend(self, x):
        return ops.relu(x)

    def call(self, x):
        return self.outer(self.bend(self.inner(x)))


class ReluEncoderLayer(EncoderLayer):
    """An encoder layer of 2017: your EncoderLayer with the network of 2017."""

    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(num_heads, intermediate_size, dropout, **kwargs)
        network = ReluFeedForward(intermediate_size)
        self.feed_forward = network

# %% [markdown]
# **Before you begin**, a question that a lecture opens with: in broad strokes, how does a model do language modelling
# with attention? What goes in, what comes out, what happens between? Take two minutes, and write it down.
#
# <details><summary>The answer</summary>
#
# Tokens go in as ids; each gets a vector, and its position is added. Then come layers, each of which lets every token
# look at the tokens before it (attention under a causal mask) and transforms each token alone (the network), with
# residual connections and LayerNorm around both. The vector of each token is multiplied with the table of the
# vocabulary, and softmax makes it a distribution over the *next* token. The loss is −log of the probability of the true
# next token, at all positions at once.
#
# </details>
#
# This is the layer that you will build, beside the one that you have. Read both from below.

# %%
attend, cross, transform = "self-attention", "cross-attention to the source", "feed-forward network"
encoder_boxes = ["fork", attend, "+", "LayerNorm", "fork", transform, "+", "LayerNorm"]
decoder_boxes = ["fork", f"masked {attend}", "+", "LayerNorm", "fork", cross, "+", "LayerNorm", *encoder_boxes[4:]]
stacked_boxes(
    {"encoder layer (04)": encoder_boxes, "decoder layer": decoder_boxes},
    alt="Two stacks of boxes. Encoder layer: self-attention, plus, LayerNorm, feed-forward network, plus, LayerNorm. "
    "Decoder layer: masked self-attention, plus, LayerNorm, cross-attention to the source, plus, LayerNorm, "
    "feed-forward network, plus, LayerNorm. A line leads around each part to its plus",
)

# %% [markdown]
# The original Transformer (Vaswani et al. 2017) has six of the left and six of the right, with 8 heads and 512 numbers
# per token. It was made to translate: English to German, English to French. *How are you?* goes in on the left,
# *Comment ça va ?* comes out on the right, one token after the other.
#
# ---
# # Training a writer
#
# ## 13.1 What the decoder reads · 2 points · ~4 minutes
#
# A model that writes predicts the next token from those before it. To train it one could let it write, and correct it
# afterwards; but then each token has to wait for the one before. *Teacher forcing* is faster: the decoder reads the
# *right* target, one token late, and predicts it at all positions at once.
#
# $$\text{reads:}\quad \text{[START]},\, y_1,\, y_2,\, \dots,\, y_{n-1} \qquad\qquad
# \text{predicts:}\quad y_1,\, y_2,\, y_3,\, \dots,\, y_n$$
#
# So what the decoder reads is the target, moved one position to the right, with [START] in front. The last token is
# dropped: there is nothing to predict after it. The causal mask hides the rest: at position $t$ the decoder sees $y_1
# \dots y_{t-1}$, and not $y_t$, which it has to predict.

# %% nbgrader={"grade": false, "grade_id": "shift-right", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_right(ids: Tensor, start: int) -> Tensor:
    """The input of a decoder in training: the target, one position later.

    ids: (batch, tokens) integers, the targets    start: the id of the token in front of every target
    returns (batch, tokens) integers: `start`, then all tokens but the last
    """
    ### BEGIN SOLUTION
    first = ops.full_like(ids[:, :1], start)
    return ops.concatenate([first, ids[:, :-1]], axis=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-shift-right", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(shift_right)

# %% [markdown]
# **See it.** The lecture's phrase. Below each position what the decoder reads, above it what it has to predict. A
# target is followed by [END], so that the model learns where to stop, and by padding, which has no loss.

# %%
target = ["Comment", "ça", "va", "?", "[END]", "[PAD]"]
words = ["[PAD]", "[START]", "[END]", *target[:4]]
ids = ops.convert_to_tensor([[words.index(word) for word in target]])
reads = [words[int(i)] for i in shift_right(ids, words.index("[START]"))[0]]
reading_and_writing(reads, target)

# %% [markdown]
# This is language modelling for the whole sequence in one pass: the loss of 7.2, at every real position instead of at
# 15 % of them. ⚠ It is called ***causal* language modelling**, because each token is predicted from those that
# *precede* it. A lecture has "*casual* language modelling" and explains it as an informal tone, with Meena and DialoGPT
# as examples. Both write from left to right, as every GPT does, and were trained on conversations; tone is a matter of
# the training text.
#
# ---
# # One layer
#
# ## 13.2 Cross-attention as a layer · 5 points · ~15 minutes · Attention, lines 1–6, with two sequences
#
# In 3.11 you wrote cross-attention for one head. Now with heads, as a Keras layer: the layer of 3.10 with *two* inputs.
# The queries come from the tokens $Z$ of the target, keys and values from the tokens $H$ of the source:
#
# $$Q = Z W_q + b_q \qquad K = H W_k + b_k \qquad V = H W_v + b_v$$
#
# The target and the source have different lengths $\ell_z$ and $\ell_h$, so reshape each with its own length:
#
# $$Q: (B, A, \ell_z, d) \qquad K, V: (B, A, \ell_h, d) \qquad S: (B, A, \ell_z, \ell_h)
# \qquad \text{result}: (B, \ell_z, H)$$
#
# `attention_mask`, if given, hides tokens *of the source*, its padding; it has no axis for the heads. A query that may
# see no key gives the same weight to all, as in 3.8. Name the four `Dense` layers (all $H \to H$) `self.query`,
# `self.key`, `self.value` and `self.out`; `build` gets both shapes. `**kwargs` holds Keras's own arguments, such as
# `name` and `trainable`: hand them on to `super().__init__` here and in the classes below. As in 2.8, one call of the
# check is made inside of `tf.function`, where the batch size is unknown: take sizes from `ops.shape`. Compute with
# `ops`: gradients must reach both inputs and all four layers.

# %% nbgrader={"grade": false, "grade_id": "cross-attention-layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class CrossAttention(keras.layers.Layer):
    """Attention of one sequence to another, with `num_heads` heads of hidden / num_heads numbers each.

    call: z (batch, tokens, hidden) for the queries; h (batch, source_tokens, hidden) for keys and values;
    attention_mask None or booleans (batch, 1 or tokens, source_tokens), True where a query may see a key
    returns (batch, tokens, hidden)
    """

    def __init__(self, num_heads: int, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.num_heads = num_heads
        ### END SOLUTION

    def build(self, z_shape, h_shape):
        ### BEGIN SOLUTION
        hidden = z_shape[-1]
        for name, shape in (("query", z_shape), ("key", h_shape), ("value", h_shape), ("out", z_shape)):
            projection = keras.layers.Dense(hidden, name=name)
            projection.build(shape)
            setattr(self, name, projection)
        ### END SOLUTION

    def split_heads(self, x: Tensor) -> Tensor:
        """(batch, any tokens, hidden) to (batch, heads, the same tokens, hidden / heads)."""
        ### BEGIN SOLUTION
        batch, tokens, hidden = ops.shape(x)
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))
        ### END SOLUTION

    def call(self, z: Tensor, h: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        # 1. project and split   2. scores, mask, weights   3. heads side by side again   4. mix with self.out
        ### BEGIN SOLUTION
        q, k, v = self.split_heads(self.query(z)), self.split_heads(self.key(h)), self.split_heads(self.value(h))
        scores = attention_scores(q, k)
        if attention_mask is not None:
            scores = ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)
        found = ops.matmul(softmax_rows(scores), v)
        side_by_side = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(z))
        return self.out(side_by_side)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-cross-attention-layer", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(CrossAttention)

# %% [markdown]
# **See it.** A new layer, three target tokens, six source tokens of which the last two are padding. For each pair: how
# much does the result of the target token change if the source token changes? Without the mask all six count; with it
# the padding does not.

# %%
z, x, h = (ops.convert_to_tensor(rng.normal(size=(1, n, 16)).astype("float32")) for n in (3, 5, 6))
is_real = padding_mask(ops.convert_to_tensor([[1, 1, 1, 1, 0, 0]]))
source_words = ["How", "are", "you", "?", "[PAD]", "[PAD]"]
target_words = ["[START]", "Comment", "ça", "va", "?"]


def changes(function, x):
    """The change of each row of function(x) when a token of x changes: (rows, tokens)."""
    before, columns = function(x), []
    for token in range(x.shape[1]):
        other = np.array(x)
        other[:, token] += 1.0 + np.arange(x.shape[2]) / x.shape[2]
        columns.append(ops.sqrt(ops.sum(ops.square(function(ops.convert_to_tensor(other)) - before)[0], axis=-1)))
    return np.stack(columns, axis=1)


keras.utils.set_random_seed(13)
layer = CrossAttention(num_heads=2)
heat_maps(
    [changes(lambda x: layer(z, x), h), changes(lambda x: layer(z, x, attention_mask=is_real), h)],
    titles=["without a mask", "with the mask of the source"],
    rows=target_words[:3],
    columns=source_words,
    row_axis="target (query)",
    column_axis="source (key)",
    alt="Two heat maps of three target tokens by six source tokens: without a mask all cells are dark, with it the last "
    "two columns, the padding, are white",
)

# %% [markdown]
# ## 13.3 A decoder layer · 5 points · ~12 minutes · Vaswani et al. 2017, section 3.1
#
# Three sub-layers, each with dropout on its result, a residual connection and a LayerNorm behind it (post-LN, as in
# 4.9):
#
# $$\begin{aligned}
# X &\leftarrow \text{LayerNorm}(X + \text{SelfAttention}(X)) &&\text{under the causal mask: what I have written so far}\\
# X &\leftarrow \text{LayerNorm}(X + \text{CrossAttention}(X, H)) &&\text{under the mask of the source: what I am translating}\\
# X &\leftarrow \text{LayerNorm}(X + \text{FFN}(X)) &&\text{each token alone}
# \end{aligned}$$
#
# The two masks do not mix. The *causal* mask belongs to self-attention: no token may see a later token of the target.
# The *source* mask belongs to cross-attention, and there every target token may see the whole source, since it is there
# from the beginning. The layer makes the causal mask itself, with your `causal_mask`, to which you add the axis of the
# batch in front. Padding of the target needs no mask: it comes behind the text, and no token sees those behind it.
#
# Name the parts `self.attention` (your `MultiHeadAttention`), `self.attention_norm`, `self.cross_attention` (your
# `CrossAttention`), `self.cross_norm`, `self.feed_forward` (`ReluFeedForward` from the top of this notebook: the
# network of 4.5 as a layer; your `FeedForward` of 4.6 has GELU) and `self.output_norm`, and the dropout `self.dropout`.
# The norms are your `LayerNorm`; dropout is `keras.layers.Dropout(rate)`, to which you pass `training`. In `build`,
# build each part for its inputs; or delete `build`, and Keras does it at the first call.

# %% nbgrader={"grade": false, "grade_id": "decoder-layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderLayer(keras.layers.Layer):
    """One decoder layer of 2017: masked self-attention, cross-attention, network; each added and normalised.

    call: x (batch, tokens, hidden), the target; h (batch, source_tokens, hidden), the encoder's output;
    source_mask None or booleans (batch, 1, source_tokens), True where the source may be seen; training True, False, None
    returns (batch, tokens, hidden)
    """

    def __init__(self, num_heads: int, intermediate_size: int, dropout: float = 0.1, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.cross_attention = CrossAttention(num_heads)
        self.cross_norm = LayerNorm()
        self.feed_forward = ReluFeedForward(intermediate_size)
        self.output_norm = LayerNorm()
        self.dropout = keras.layers.Dropout(dropout)
        ### END SOLUTION

    def build(self, x_shape, h_shape):
        ### BEGIN SOLUTION
        for part in (self.attention, self.attention_norm, self.cross_norm, self.feed_forward, self.output_norm):
            part.build(x_shape)
        self.cross_attention.build(x_shape, h_shape)
        ### END SOLUTION

    def call(
        self, x: Tensor, h: Tensor, source_mask: Tensor | None = None, training: bool | None = None
    ) -> Tensor:
        # 1. what I have written   2. what I am translating   3. each token alone
        ### BEGIN SOLUTION
        not_later = ops.expand_dims(causal_mask(x.shape[1]), axis=0)
        attended = self.attention(x, attention_mask=not_later)
        x = self.attention_norm(x + self.dropout(attended, training=training))
        crossed = self.cross_attention(x, h, attention_mask=source_mask)
        x = self.cross_norm(x + self.dropout(crossed, training=training))
        transformed = self.feed_forward(x)
        return self.output_norm(x + self.dropout(transformed, training=training))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-decoder-layer", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(DecoderLayer)

# %% [markdown]
# **See it.** Guess first: which cells are white, if a token of the target changes? And if a token of the source
# changes?

# %%
layer = DecoderLayer(num_heads=2, intermediate_size=32)
layer(x, h)
heat_maps(
    [
        changes(lambda t: layer(t, h, source_mask=is_real), x) > 1e-6,
        changes(lambda s: layer(x, s, source_mask=is_real), h) > 1e-6,
    ],
    titles=["a token of the target changes", "a token of the source changes"],
    rows=target_words,
    columns=[target_words, source_words],
    row_axis="result at",
    column_axis="changed",
    alt="Left a lower triangle: a result depends on its own and earlier target tokens. Right: every result depends on all "
    "four source tokens, on the padding none",
)

# %% [markdown]
# ---
# # The whole model
#
# ## 13.4 The Transformer · 5 points · ~15 minutes · Vaswani et al. 2017, figure 1
#
# $$\begin{aligned}
# H &= \text{encoder layers, one after the other, on } \sqrt{d}\, E[\text{source}] + P\\
# X &= \text{decoder layers, one after the other, on } \sqrt{d}\, E[\text{target}] + P, \text{ all of which read } H\\
# \text{logits} &= X E^\top
# \end{aligned}$$
#
# - One table $E$ has the vectors of source and target, and its transpose makes the logits (section 3.4): three uses of
#   the same numbers. Its entries begin small, with a variance of $1/d$, so that the logits do (the training below draws
#   them; the check puts in its own); for the input each vector is multiplied by $\sqrt d$.
# - $P$ are the sinusoids of notebook 02, added after that, in the encoder *and* in the decoder. `sinusoids(length, d)`
#   has a row for each position.
# - Every decoder layer reads the *last* output of the encoder, not that of the encoder layer with its own number.
# - The id 0 is padding. Only the encoder layers and the cross-attention need a mask, that of the *source*:
#   `padding_mask` of 3.6.
#
# Name the parts `self.token` (`keras.layers.Embedding`; its table is `self.token.embeddings`), and the lists
# `self.encoder_layers` (of `ReluEncoderLayer`, from the top of this notebook) and `self.decoder_layers`. Each layer
# gets the model's `dropout` and, when it is called, `training`; the model drops nothing else. (The paper also drops
# from the sums with the positions.) `encode` and `decode` are for the pictures below; the check calls only the model.

# %% nbgrader={"grade": false, "grade_id": "transformer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Transformer(keras.Model):
    """The encoder-decoder of 2017: `num_layers` encoder layers and as many decoder layers.

    call: source (batch, source_tokens) integers, 0 for padding; target (batch, tokens) integers; training
    returns the logits of the next token after each token of the target, (batch, tokens, vocab_size)
    """

    def __init__(
        self, vocab_size: int, hidden_size: int, num_layers: int, num_heads: int, intermediate_size: int,
        dropout: float = 0.1, **kwargs,
    ):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.token = keras.layers.Embedding(vocab_size, hidden_size, name="token")
        sizes = (num_heads, intermediate_size, dropout)
        self.encoder_layers = [ReluEncoderLayer(*sizes) for _ in range(num_layers)]
        self.decoder_layers = [DecoderLayer(*sizes) for _ in range(num_layers)]
        ### END SOLUTION

    def embed(self, ids: Tensor) -> Tensor:
        """(batch, any tokens) to (batch, the same tokens, hidden): vectors times √d, plus positions."""
        ### BEGIN SOLUTION
        vectors = self.token(ids) * self.hidden_size**0.5
        return vectors + sinusoids(ids.shape[1], self.hidden_size)
        ### END SOLUTION

    def encode(self, source: Tensor, training: bool | None = None) -> tuple[Tensor, Tensor]:
        """The encoder's output (batch, source_tokens, hidden) and the mask of the source (batch, 1, source_tokens)."""
        ### BEGIN SOLUTION
        mask = padding_mask(ops.cast(ops.not_equal(source, 0), "int32"))
        h = self.embed(source)
        for layer in self.encoder_layers:
            h = layer(h, attention_mask=mask, training=training)
        return h, mask
        ### END SOLUTION

    def decode(self, target: Tensor, h: Tensor, source_mask: Tensor, training: bool | None = None) -> Tensor:
        """The logits (batch, tokens, vocab_size) for a target and what `encode` returned."""
        ### BEGIN SOLUTION
        x = self.embed(target)
        for layer in self.decoder_layers:
            x = layer(x, h, source_mask=source_mask, training=training)
        return ops.matmul(x, ops.transpose(self.token.embeddings))
        ### END SOLUTION

    def call(self, source: Tensor, target: Tensor, training: bool | None = None) -> Tensor:
        ### BEGIN SOLUTION
        h, mask = self.encode(source, training)
        return self.decode(target, h, mask, training)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-transformer", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(Transformer)

# %% [markdown]
# How large is the paper's base model? It has 6 + 6 layers, 8 heads, 512 and 2,048 numbers, and a vocabulary of about
# 37,000 tokens for English and German together. The paper's table 3 has 65 million. Yours:

# %%
paper = Transformer(37_000, 512, num_layers=6, num_heads=8, intermediate_size=2048)
paper(ops.ones((1, 2), "int32"), ops.ones((1, 2), "int32"))
print(f"{paper.count_params():,} parameters; of these in the table {37_000 * 512:,}")
print(f"an encoder layer {paper.encoder_layers[0].count_params():,}, a decoder layer {paper.decoder_layers[0].count_params():,}")
del paper  # a quarter of a gigabyte

# %% [markdown]
# ---
# # A translator
#
# A translation is seldom word for word. In four languages, from a phrasebook that was written for this course:

# %%
from autograde.student.small_tasks import phrasebook

for phrase in phrasebook():
    if phrase["en"] in ("How are you?", "The dog sees the cat.", "I gave her the book.", "I miss you."):
        print("\n".join(f"{language}  {phrase[language]}" for language in ("en", "fr", "de", "ko")) + "\n")

# %% [markdown]
# *Comment ça va ?* says "how it goes". German puts *gegeben* at the end, and Korean every verb: 봐요 (sees), 주었어요 (gave). A
# Korean noun has its role glued on: 개가 (the dog, who sees), 고양이를 (the cat, whom it sees). And *Tu me manques* is
# "you are missing to me": who misses has become the object. So a translator cannot write a word for each word that it
# reads; it has to look at the right place of the source for each word that it writes.
#
# Sixty sentences teach no model to translate. The *small world* is a language of 125 English words; the *mirror language* has other words, its verbs at the end, and
# endings for number and case (`bertlab.data.small_world`). Every sentence has exactly one translation, so a translation
# is right or wrong, and nobody has to judge it.

# %%
settings = choose_translation()
data = TranslationData(settings)
print(settings)
for sentence, row in list(zip(data.sentences, data.targets))[:3]:
    print(f"{sentence}\n   {data.text(row)}\n   as tokens: {' '.join(data.tokens[i] for i in row if i != PAD)}")

# %% [markdown]
# The endings are tokens of their own, as WordPiece cuts them. *bank* has two translations, one beside a river and one
# for money, and only the rest of the sentence tells which.
#
# **The run.** It uses your parts of notebook 07: the loss is `mlm_loss`, with a weight of 1 at every real token of the
# target; gradients are clipped, and the learning rate rises and falls. Every batch has new sentences, and none of the
# 1,500 held-out ones. The run needs about a minute on two processor cores, shows how long it still takes, and resumes
# where it was last saved; the ■ button stops it after its current step.
#
# The curve on the right is the fraction of held-out sentences of 9 to 16 words whose translation is *exactly* right,
# every token of it. One pass is enough to find it: if the most probable token is right at every position after the
# *right* beginning, then a model that writes token after token makes the same choices.

# %%
import tensorflow as tf


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    """Your learning_rate in the form that Keras expects."""

    def __call__(self, step):
        step = ops.cast(step, "float32")
        return learning_rate(step, settings.peak, settings.warmup_steps, settings.steps)


def fresh_run():
    """Your model, new or as last saved, and its optimizer. Every matrix begins with a variance of 1 / hidden size."""
    keras.utils.set_random_seed(settings.seed)
    model = Transformer(**settings.model)
    source, target = data.batch(0)
    model(ops.convert_to_tensor(source), ops.convert_to_tensor(target))  # makes the weights
    for weight in model.trainable_variables:
        if len(weight.shape) == 2:
            weight.assign(keras.random.normal(weight.shape, stddev=settings.model["hidden_size"] ** -0.5))
    optimizer = keras.optimizers.Adam(Schedule(), beta_2=0.98, epsilon=1e-9)
    optimizer.build(model.trainable_variables)
    return Run(translation_folder(settings), settings, model, optimizer)


def translation_loss(model, source, target, training=None):
    """The mean loss of the real tokens of the targets, and for each sentence whether all of its tokens are right."""
    logits = model(source, shift_right(target, START), training=training)
    real = ops.not_equal(target, PAD)
    right = ops.logical_or(ops.equal(ops.cast(ops.argmax(logits, axis=-1), target.dtype), target), ops.logical_not(real))
    return mlm_loss(logits, target, ops.cast(real, "float32")), ops.all(right, axis=1)


def train_step(model, optimizer, source, target):
    variables = model.trainable_variables
    with tf.GradientTape() as tape:
        loss, _ = translation_loss(model, source, target, training=True)
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
    optimizer.apply(clip_gradients(gradients), variables)
    return loss


def judge(evaluate):
    """The metrics on the held-out sentences: loss, the fraction that is right of the long ones, and which are right."""
    parts = [slice(first, first + 500) for first in range(0, len(data.sources), 500)]
    losses, right = zip(*[evaluate(data.sources[part], data.targets[part]) for part in parts])
    right = np.concatenate(right)
    return {"loss": float(np.mean(losses)), "long": float(right[data.is_long].mean()), "right": right}


NEEDED = ("shift-right", "cross-attention-layer", "decoder-layer", "transformer")
if ready(*NEEDED):
    run = fresh_run()
    step_of = tf.function(lambda *rows: train_step(run.model, run.optimizer, *rows), jit_compile=settings.compiled)
    evaluate = tf.function(lambda *rows: translation_loss(run.model, *rows))
    live = TranslationCurves()
    if run.history:
        live.draw(run.history)
    for step in run.steps():
        loss = step_of(*map(ops.convert_to_tensor, data.batch(step)))
        if run.is_time_to_judge(step):
            figures = judge(lambda *rows: evaluate(*map(ops.convert_to_tensor, rows)))
            run.record(step, loss, {name: figures[name] for name in ("loss", "long")})
            live.draw(run.history)
    figures = judge(lambda *rows: evaluate(*map(ops.convert_to_tensor, rows)))
    print(f"held out, 9 to 16 words: {figures['long']:.1%} of {data.is_long.sum()} translations are exactly right")
    print(hand_in(run, weights_path(NOTEBOOK, FILE), TRANSLATION))

# %% [markdown]
# **How it is graded.** The last line wrote `translator_weights.safetensors`: hand it in together with this notebook.
# The grader puts the weights into the course's own Transformer, of which the checks above say that yours is the same,
# and translates 300 sentences of 9 to 16 words that nobody has seen. There are 2 points if 20 % of the translations are
# right in every token, 2 more from 40 %, and 2 more from 60 %. Weights of another vocabulary, and untrained ones, are
# refused.

# %%
print(download_weights(weights_path(NOTEBOOK, FILE)))

# %% nbgrader={"grade": true, "grade_id": "translation-run", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
print(check_weights(weights_path(NOTEBOOK, FILE), TRANSLATION))

# %% [markdown]
# ---
# # Writing
#
# After training nobody gives the model the target. It writes: it reads the source and what it has written so far, and
# the logits at the *last* position score the next token. A lecture draws this last step for one word: logits → log
# softmax → arg max → 5 → *am*.

# %%
output_vocabulary = ["a", "thanks", "I", "student", "[END]", "am"]
logits = ops.convert_to_tensor([0.3, -1.2, 1.1, 0.4, -0.7, 2.9])  # for the second word of "I am a student"
log_probs = ops.log_softmax(logits)
best = int(ops.argmax(log_probs))
print("log_probs", np.round(log_probs.numpy(), 2), "→ arg max", best, "→", output_vocabulary[best])

# %% [markdown]
# ## 13.5 Write it: greedy decoding · 4 points · ~10 minutes
#
# The softmax changes no order, so the arg max of the logits is the same. To take the most probable token each time is
# *greedy* decoding:
#
# 1. The row begins with `start`.
# 2. The model reads the source and the whole row; take the token with the largest logit at the last position.
# 3. Is it `end`, or has the row got `most` new tokens? Then stop. Otherwise the token is appended to the row: back to
#    2.
#
# `model(source, target)` takes tensors of integers with an axis for the batch in front, here of size 1
# (`ops.convert_to_tensor([row])`), and returns logits (1, tokens, vocabulary). The check has a small model of its own,
# `TinyWriter`, whose next token depends on the source, on the last token and on its position; it never writes `start`.
# Return what was written, without `start` and without `end`.

# %% tags=["setup"]
class TinyWriter(keras.Model):
    """A very small model with the call of Transformer: the next token depends on the last one, on its position, and on
    the set of the source's tokens."""

    def __init__(self, vocab_size=9, positions=40, **kwargs):
        super().__init__(**kwargs)
        self.follow = self.add_weight(shape=(vocab_size, vocab_size), name="follow")
        self.place = self.add_weight(shape=(positions, vocab_size), name="place")
        self.about = self.add_weight(shape=(vocab_size, vocab_size), name="about")

    def call(self, source, target, training=None):
        after = ops.take(self.follow, target, axis=0) + self.place[: target.shape[1]]  # (B, U, V)
        return after + ops.sum(ops.take(self.about, source, axis=0), axis=1, keepdims=True)

# %% nbgrader={"grade": false, "grade_id": "greedy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def greedy(model: keras.Model, source: list[int], start: int, end: int, most: int) -> list[int]:
    """The tokens that a model writes if it always takes the most probable one.

    model: called with a source (1, source_tokens) and a target (1, tokens); returns logits (1, tokens, vocabulary)
    source: the ids of the source    start, end: ids    most: the largest number of tokens to write
    returns a list of ids without `start` and `end`, at most `most`
    """
    ### BEGIN SOLUTION
    read, row = ops.convert_to_tensor([source]), [start]
    while len(row) <= most:
        logits = model(read, ops.convert_to_tensor([row]))
        best = int(ops.argmax(logits[0, -1]))
        if best == end:
            break
        row.append(best)
    return row[1:]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-greedy", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(greedy)

# %% [markdown]
# **See it.** Your model, your decoding, three held-out sentences; then a sentence of your own. (Only words of the small
# world: the model has no others.)

# %%
my_sentence = "the small dog near the banks does not follow any cats ."
if ready(*NEEDED, "greedy"):
    long_ones = [data.sentences[i] for i in np.flatnonzero(data.words >= 12)[:3]]
    for sentence in [*map(str, long_ones), my_sentence]:
        written = data.text(greedy(run.model, data.ids(sentence), START, END, 30))
        right = data.translation(sentence)
        print(f"{sentence}\n   {written}   {'✓' if written == right else '✗ expected ' + right}")

# %% [markdown]
# **One language reads another.** The cross-attention of your trained model. A row is a token that the decoder reads,
# and at which it writes the next one; a column is a word of the source. At the start of this notebook these weights
# were random. Look for the column of the word that the *next* token translates: the picture runs against the diagonal,
# since the mirror language turns phrases round.

# %%
def cross_weights(model, source, target):
    """The weights of cross-attention in every layer: a list of (heads, target tokens, source tokens)."""
    h, mask = model.encode(source)
    x, found = model.embed(target), []
    not_later = ops.expand_dims(causal_mask(target.shape[1]), axis=0)
    for layer in model.decoder_layers:
        z = layer.attention_norm(x + layer.attention(x, attention_mask=not_later))  # what cross-attention reads
        cross = layer.cross_attention
        q, k = cross.split_heads(cross.query(z)), cross.split_heads(cross.key(h))
        found.append(softmax_rows(attention_scores(q, k))[0])
        x = layer(x, h, source_mask=mask)
    return found


if ready(*NEEDED, "greedy"):
    source = data.ids(my_sentence)
    written = greedy(run.model, source, START, END, 30)
    row = [START, *written]
    maps = cross_weights(run.model, ops.convert_to_tensor([source]), ops.convert_to_tensor([row]))
    steps = [f"{data.tokens[a]} → {data.tokens[b]}" for a, b in zip(row, [*written, END])]
    heat_maps(
        [np.mean(maps[0], axis=0), np.mean(maps[1], axis=0)],
        titles=["layer 1, mean of the heads", "layer 2, mean of the heads"],
        rows=steps,
        columns=[data.tokens[i] for i in source],
        per_line=2,
        largest=1,
        row_axis="reads → writes",
        column_axis="source",
        alt="Two heat maps of a trained translator's cross-attention: each written token attends mostly to the source word "
        "that it translates, against the diagonal",
    )

# %% [markdown]
# **One vector, or all of them?** Before attention a recurrent network read the source, and the decoder got its last
# state: one vector, however long the sentence (Sutskever, Vinyals & Le 2014). A lecture calls this the *information
# bottleneck* of a hidden state; attention was invented to remove it (Bahdanau, Cho & Bengio 2014). How much does it
# matter? Grey: recorded runs of two models of your model's size, 600 steps each, three seeds. They are alike but for
# what the decoder sees of the source: all vectors of the encoder, or only their mean. Yours is drawn over them.

# %%
recorded = recorded_runs("mirror_language")
exact_by_length(recorded, data.by_length(figures["right"]) if ready(*NEEDED) else None)
print("recorded with: python -m benchmarks.training.mirror_language")

# %% [markdown]
# The mean of all vectors is enough for most short sentences, and not for long ones: the more words, the more endings
# and the more order have to be in the same 64 numbers. With attention the decoder asks for each token what it needs,
# and the length does not matter here.
#
# ## 13.6 Draw it: temperature, top-k, top-p · 4 points · ~12 minutes
#
# A translation has one right answer, or a few. A story has not, and greedy decoding writes the same dull one every
# time, or repeats itself. So the next token is *drawn* from the distribution, and three numbers make the draw more
# careful:
#
# 1. **Temperature** $T$: divide the logits by $T$. $T < 1$ makes probable tokens more probable, $T > 1$ the others.
# 2. **Top-k** (Fan, Lewis & Dauphin 2018): keep the $k$ most probable tokens; all others get probability 0.
# 3. **Top-p**, or *nucleus* (Holtzman et al. 2020): of those that are left, sorted from the most probable on, keep the
#    fewest whose probabilities add up to at least $p$. The token that reaches $p$ is kept.
#
# In this order. Divide the probabilities of the kept tokens by their sum, so that they are a distribution again: before
# top-p, and before the draw. By hand, with probabilities 0.5, 0.3, 0.15, 0.05: $p = 0.6$ keeps two tokens, drawn with
# 0.625 and 0.375; $k = 3$ keeps three, with 0.526, 0.316 and 0.158. `None` means: do not cut. The temperature is above
# 0, and may be so near to it that the divided logits are in the thousands.

# %% nbgrader={"grade": false, "grade_id": "sample", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sample(
    logits: np.ndarray, temperature: float, top_k: int | None, top_p: float | None, rng: np.random.Generator
) -> int:
    """Draws the next token.

    logits: (vocabulary,), a NumPy array    temperature: above 0
    top_k: how many tokens are kept, or None    top_p: the probability that the kept ones reach, or None
    rng: the source of chance
    returns the id of the token
    """
    # 1. temperature   2. sort, and keep k   3. probabilities   4. keep the nucleus   5. draw
    ### BEGIN SOLUTION
    scores = logits / temperature
    order = np.argsort(-scores)
    if top_k is not None:
        order = order[:top_k]
    p = np.exp(scores[order] - scores[order[0]])
    p = p / np.sum(p)
    if top_p is not None:
        needed = np.searchsorted(np.cumsum(p), top_p) + 1
        order, p = order[:needed], p[:needed]
    return int(rng.choice(order, p=p / np.sum(p)))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-sample", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(sample)

# %% [markdown]
# **See it.** A language model does not have to be a Transformer. This one has counted in 3,000 sentences of the small
# world which word follows which three words, and gives every other word a little probability, too. The bars are the
# distribution after *the dogs* at the beginning of a sentence, estimated from 2,000 draws of your `sample`.

# %%
vocabulary = ["[END]", *small_world.WORDS]
number_of = {word: number for number, word in enumerate(vocabulary)}
counts = {}  # the last three words → how often each word came next, and 0.01
for heard in small_world.sample(3, 3000):
    walk = [0, 0, 0, *(number_of[word] for word in heard.words), 0]
    for place in range(3, len(walk)):
        after = counts.setdefault(tuple(walk[place - 3 : place]), np.full(len(vocabulary), 0.01))
        after[walk[place]] += 1


def next_logits(last_three):
    after = counts.get(last_three, np.ones(len(vocabulary)))
    return np.log(after / after.sum())


SETTINGS = {
    "as it is": (1.0, None, None),
    "temperature 0.5": (0.5, None, None),
    "top-k 10": (1.0, 10, None),
    "top-p 0.7": (1.0, None, 0.7),
}
the_dogs, draws = (0, number_of["the"], number_of["dogs"]), {}
for label, setting in SETTINGS.items():
    drawn = [sample(next_logits(the_dogs), *setting, np.random.default_rng(seed)) for seed in range(2000)]
    draws[label] = np.bincount(drawn, minlength=len(vocabulary)) / len(drawn)
setting_bars(vocabulary, draws, before="the dogs")

# %% [markdown]
# And whole sentences. `small_world.read` refuses what the grammar does not allow, so correct sentences can be counted,
# and so can different ones. Guess first: which setting writes the most correct sentences? And what does $k = 1$ write,
# which is greedy decoding?

# %%
def write(setting, seed):
    """A sentence of at most 20 words; each word depends on the three before it."""
    chance, row = np.random.default_rng(seed), [0, 0, 0]
    while len(row) < 23:
        row.append(sample(next_logits(tuple(row[-3:])), *setting, chance))
        if row[-1] == 0:
            break
    return " ".join(vocabulary[number] for number in row if number)


def is_correct(text):
    try:
        return bool(small_world.read(text))
    except ValueError:
        return False


for label, setting in (SETTINGS | {"temperature 2": (2.0, None, None), "top-k 1": (1.0, 1, None)}).items():
    texts = [write(setting, seed) for seed in range(200)]
    correct = sum(is_correct(text) for text in texts)
    print(f"{label:16} {correct:3} of 200 are correct, {len(set(texts)):3} are different; the first: {texts[0]}")

# %% [markdown]
# As it is the model writes few correct sentences, although it is right most of the time: every word that never came
# next has a little probability, and over 120 such words add up. Once such a word is drawn, the model has never seen the
# three words that it continues. The three settings cut this *tail* or make it smaller (Holtzman et al. 2020). And
# greedy decoding writes one and the same sentence, here not even a correct one: the most probable word each time is not
# the most probable sentence.
#
# **★ More ways**, not graded. *Beam search* keeps the few best rows instead of one, adds log-probabilities (never
# multiplies them), and lets finished rows wait; it divides by the length, or short rows would win. *Kept keys and
# values*: a token never sees those behind it, so its key and value do not change when the row grows; compute them once
# and only the new token's query each time. Without that, writing $\ell$ tokens costs $\ell$ passes over up to $\ell$
# tokens. The library has both (`bertlab translate`, `bertlab generate`).
#
# ---
# # Without the encoder: GPT
#
# Take the decoder layer and remove the cross-attention, since there is no source. There remain masked self-attention
# and a network: *your encoder layer of notebook 04 under a causal mask*. So a GPT is a stack of encoder layers with
# another mask. GPT (Radford et al. 2018) is post-LN, GPT-2 (Radford et al. 2019) is pre-LN, 4.10. BERT came between
# them, and is built on GPT: BERT-Base has as many layers, heads and numbers per token; it "was chosen to have the same
# model size as OpenAI GPT for comparison purposes" (Devlin et al. 2019, section 3).
#
# ## 13.7 Count a GPT · 3 points · ~8 minutes
#
# | part | how many |
# |---|---|
# | token table | $V \times H$; its transpose makes the logits, without a bias |
# | positions, learned | $P \times H$ |
# | each of $L$ layers | attention: 4 Dense $H \to H$; network: Dense $H \to 4H$ and $4H \to H$; 2 LayerNorms |
# | one more LayerNorm | after the last layer, only in pre-LN |
#
# There are no segments, no LayerNorm of the embeddings and no pooler. A Dense $a \to b$ has $ab + b$ parameters, a
# LayerNorm $2H$.

# %% nbgrader={"grade": false, "grade_id": "gpt-count", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gpt_count(
    vocab_size: int, hidden_size: int, num_layers: int, max_positions: int, pre_norm: bool = True
) -> int:
    """The number of parameters of a GPT-2, or with `pre_norm=False` of a GPT.

    returns the number of all parameters, with those of the tables
    """
    ### BEGIN SOLUTION
    h = hidden_size
    tables = (vocab_size + max_positions) * h
    attention = 4 * (h * h + h)
    network = (h * 4 * h + 4 * h) + (4 * h * h + h)
    layer = attention + network + 2 * 2 * h
    last_norm = 2 * h if pre_norm else 0
    return tables + num_layers * layer + last_norm
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-gpt-count", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(gpt_count)

# %%
print(f"GPT,   2018: {gpt_count(40_478, 768, 12, 512, pre_norm=False):,} parameters")
print(f"GPT-2, 2019: {gpt_count(50_257, 768, 12, 1024):,} (small), {gpt_count(50_257, 1600, 48, 1024):,} (XL)")
bert_base = 30_522 * 768 + (512 + 2) * 768 + 2 * 768 + 12 * (12 * 768**2 + 13 * 768) + 768**2 + 768
print(f"BERT-Base:   {bert_base:,}; the layers of all three small ones: {12 * (12 * 768**2 + 13 * 768):,}")

# %% [markdown]
# The layers are the same; the tables make the difference. ⚠ A lecture on BERT has an output layer of 50,257: that is
# GPT-2's vocabulary. BERT has 30,522 tokens. And GPT's left-to-right objective with BERT's size is *comparable* to GPT,
# not the same: GPT had other data, another input and another fine-tuning (Devlin et al. 2019, section 5.1).
#
# **See it: your layers with the outputs of a GPT-2.** The next cell writes a folder in the format in which GPT-2 is
# published (`config.json`, `model.safetensors`), with random weights of a small size, and reads it again: once with the
# library, once with your `PreNormEncoderLayer` and your `LayerNorm`. GPT-2 has query, key and value side by side in one
# matrix, the tanh version of GELU (4.4), and an ε of 10⁻⁵.
#
# | GPT-2's name | yours | | GPT-2's name | yours |
# |---|---|---|---|---|
# | `wte.weight`, `wpe.weight` | tables | | `h.0.ln_2` | `output_norm` |
# | `h.0.ln_1` | `attention_norm` | | `h.0.mlp.c_fc` | `feed_forward.inner` |
# | `h.0.attn.c_attn` | `query`, `key`, `value` | | `h.0.mlp.c_proj` | `feed_forward.outer` |
# | `h.0.attn.c_proj` | `out` | | `ln_f` | the last LayerNorm |

# %%
import tempfile
from pathlib import Path

from mybert.encoder import PreNormEncoderLayer
from safetensors.numpy import load_file


class GptFeedForward(ReluFeedForward):
    def bend(self, x):
        return ops.gelu(x, approximate=True)


class GptLayer(PreNormEncoderLayer):
    def __init__(self, num_heads, intermediate_size, **kwargs):
        super().__init__(num_heads, intermediate_size, **kwargs)
        self.feed_forward = GptFeedForward(intermediate_size)
        self.attention_norm, self.output_norm = LayerNorm(epsilon=1e-5), LayerNorm(epsilon=1e-5)


config = Gpt2Config(
    vocab_size=50, hidden_size=32, num_layers=3, num_heads=4, intermediate_size=128, max_position_embeddings=16,
    initializer_range=0.2,
)
keras.utils.set_random_seed(13)
folder = Path(tempfile.mkdtemp())
checkpoints.save(PreTrainingModel(config), folder)
theirs, tensors = checkpoints.load(folder, "pretraining"), load_file(folder / "model.safetensors")
tensors = {name.removeprefix("transformer."): array for name, array in tensors.items()}

ids = rng.integers(0, 50, (2, 12))
x = ops.convert_to_tensor(tensors["wte.weight"][ids] + tensors["wpe.weight"][: ids.shape[1]])
not_later = ops.broadcast_to(causal_mask(ids.shape[1]), (2, ids.shape[1], ids.shape[1]))
for number in range(config.num_layers):
    block = GptLayer(config.num_heads, config.intermediate_size)
    block(x)  # makes the weights
    for part, called in (
        (block.attention_norm, "ln_1"), (block.attention.out, "attn.c_proj"), (block.output_norm, "ln_2"),
        (block.feed_forward.inner, "mlp.c_fc"), (block.feed_forward.outer, "mlp.c_proj"),
    ):
        part.set_weights([tensors[f"h.{number}.{called}.{kind}"] for kind in ("weight", "bias")])
    kernels, biases = (np.split(tensors[f"h.{number}.attn.c_attn.{kind}"], 3, axis=-1) for kind in ("weight", "bias"))
    for part, weights in zip((block.attention.query, block.attention.key, block.attention.value), zip(kernels, biases)):
        part.set_weights(weights)
    x = block(x, attention_mask=not_later)
last_norm = LayerNorm(epsilon=1e-5)
last_norm(x)
last_norm.set_weights([tensors["ln_f.weight"], tensors["ln_f.bias"]])
mine = ops.matmul(last_norm(x), ops.transpose(tensors["wte.weight"]))
published = theirs({"input_ids": ops.convert_to_tensor(ids)})["masked_lm_logits"]
print(f"logits {tuple(mine.shape)} with a standard deviation of {float(ops.std(published)):.2f}")
print(f"the largest difference between yours and the library's: {float(ops.max(ops.abs(mine - published))):.1e}")

# %% [markdown]
# ---
# # Three kinds of model
#
# | | encoder only | decoder only | encoder–decoder |
# |---|---|---|---|
# | examples | BERT, RoBERTa, ELECTRA | GPT, GPT-2, LLaMA | Transformer of 2017, T5, Marian |
# | who sees whom | every token all others | every token those before it | the source as in an encoder; the target those before it, and all of the source |
# | objective | fill blanks, at 15 % of the positions | the next token, at every position | the next token of the target |
# | made for | classifying, tagging, finding a span, vectors, ranking | continuing a text | translating, summarizing, rewriting |
#
# With your masks, a source of four tokens and a target of three:

# %%
n, m = 4, 3
both = np.zeros((n + m, n + m), bool)
both[:n, :n], both[n:, :n], both[n:, n:] = True, True, np.array(causal_mask(m))
names = [f"s{i + 1}" for i in range(n)] + [f"t{i + 1}" for i in range(m)]
heat_maps(
    [np.ones((n + m, n + m)), np.array(causal_mask(n + m)), both],
    titles=["encoder only", "decoder only", "encoder–decoder"],
    rows=names,
    columns=names,
    row_axis="query",
    column_axis="key",
    per_line=3,
    alt="Three masks of seven tokens. Encoder only: all dark. Decoder only: a lower triangle. Encoder-decoder: the four source "
    "tokens see each other, the three target tokens see the source and the target tokens up to themselves",
)

# %% [markdown]
# How much do they cost, and how much do they learn from a text? The same width and number of layers for all three (6 +
# 6 for the encoder–decoder), a text of 512 tokens (256 + 256 for a pair), parameters with the heads of the
# pre-training. And how well can one read at all? In the small world the loss of the best possible reader is known.

# %%
sizes = dict(vocab_size=30_522, hidden_size=768, num_heads=12, intermediate_size=3072, max_position_embeddings=512)
kinds = {
    "encoder only": (BertConfig(num_layers=12, **sizes), 0.15 * 512),
    "decoder only": (Gpt2Config(num_layers=12, **sizes), 511),
    "encoder-decoder": (TransformerConfig(num_layers=6, decoder_layers=6, **sizes), 256),
}
for label, (kind, predicted) in kinds.items():
    print(f"{label:16} {outline.parameter_count(kind):13,} parameters; {predicted:4.0f} predictions in 512 tokens")
for reader, nats in small_world.floors(small_world.sample(1, 300), ["both-sided", "left-to-right"]).items():
    print(f"the best {reader} reader of the small world: {nats:.2f} nats per word, perplexity {np.exp(nats):.1f}")

# %% [markdown]
# At every position a causal model has something to learn; a masked model has it at 15 % of them. In exchange the masked
# model sees both sides of a blank, and in the small world even the best reader from left to right cannot come near
# that.
#
# **And if one asks BERT to write?** ⚠ A lecture calls BERT a framework "to understand *and generate*" language. It has
# no decoder, and it was never trained to continue a text. One can put masks behind a beginning, fill all, mask the
# least certain ones again, and so on (*mask-predict*, Ghazvininejad et al. 2019). The length has to be given: BERT
# cannot decide where to end.

# %%
reader, tokenizer = checkpoints.load("bertlab-mini", "pretraining"), checkpoints.load_tokenizer("bertlab-mini")
list_of_tokens = tokenizer.vocabulary.pieces
number = {name: list_of_tokens.index(name) for name in ("[CLS]", "[MASK]", "[SEP]", "[PAD]", "[UNK]")}
beginning = [list_of_tokens.index(word) for word in "the old man".split()]
row = [number["[CLS]"], *beginning, *[number["[MASK]"]] * 8, number["[SEP]"]]
for turns in (1, 4, 8):
    [filled] = mask_predict(reader, [row], number["[MASK]"], turns, never=tuple(number.values()))
    print(f"{turns} turns: {' '.join(list_of_tokens[i] for i in filled[1:-1])}".replace(" ##", ""))

# %% [markdown]
# With one turn each token is chosen without knowing the others; with more it fits better. It is still no writer.
#
# So what does BERT do for tasks in which something is written?
#
# - *Summaries*. **Extractive**: choose sentences of the text. BERT can do that: a [CLS] in front of every sentence, and
#   a score for each of their vectors (BertSumExt, Liu & Lapata 2019). **Abstractive**: write new sentences. ⚠ A lecture
#   lists it as an application of BERT. It needs a decoder: BertSumAbs (the same paper) puts a new one behind BERT.
# - *Conversation*. BERT **ranks** given answers, a task of pairs as in notebook 08; writing one needs a decoder.
# - *Translation*. BERT compares a source with a translation; the writing is a decoder's.
# - *Questions about a text*. A span of the text is found (notebook 08); an answer in other words would be written.
#
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("teacher-forcing", "")

# %%
answer("decoder-reads", "")

# %% [markdown]
# ---
# # Recap
#
# A decoder layer has three sub-layers: self-attention under a causal mask, cross-attention to the encoder's last
# output, and the network. In training it reads the right target, one token late, and all positions are computed at
# once; when it writes, each token waits for the one before. Greedy decoding takes the most probable token, sampling
# draws one. Without cross-attention the decoder layer is an encoder layer with a causal mask, and a stack of them is a
# GPT.
#
# **To think about**
#
# 1. In training the decoder always reads a right beginning; when it writes, it reads its own. What can go wrong, and
#    for which lengths?
# 2. The encoder reads the source once, the decoder reads it again at every token. What of cross-attention can be kept
#    from one token to the next?
# 3. BERT packs two sentences into one row (notebook 08), and every token sees both. Could a translator do the same,
#    without an encoder? Which mask?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. One wrong token leads to beginnings that the model has never read, and further mistakes follow from it (*exposure
#    bias*). The longer the target, the more occasions there are. That a translation is exactly right needs *all* tokens
#    right: with 98 % for each of 20 tokens it is $0.98^{20} = 67\,\%$.
# 2. Keys and values of the source: they depend on $H$ only. Of self-attention, keys and values of the tokens so far; of
#    both, only the query is new.
# 3. Yes: source and target in one row, the source under a full mask, the target under a causal one: the third mask
#    above, in a single stack. It is called a *prefix* language model (Raffel et al. 2020 compare it). A GPT does nearly
#    the same, with a causal mask on the source too.
#
# </details>
#
# # What came after
#
# The half that this course is about became the tool for reading, the other half the tool for everything that is
# written. A few stations, to read on:
#
# | year | what | changed |
# |---|---|---|
# | 2019 | GPT-2 | pre-LN, 50,257 byte-level tokens, 1.5 billion parameters |
# | 2020 | T5 (Raffel et al.) | encoder–decoder; every task is text to text; relative positions |
# | 2020 | GPT-3 (Brown et al.) | 175 billion parameters; tasks are described in the prompt, without fine-tuning |
# | 2021 | rotary positions (Su et al.) | queries and keys are turned by an angle that depends on the position |
# | 2022 | InstructGPT (Ouyang et al.) | fine-tuned on instructions and on what people prefer |
# | 2022 | FlashAttention (Dao et al.) | the same numbers without ever storing the $\ell \times \ell$ scores |
# | 2023 | LLaMA (Touvron et al.) | RMSNorm, gated network, rotary positions, no biases |
# | 2024 | ModernBERT (Warner et al.) | the same changes, in an encoder of 8,192 tokens |
#
# All of them are made of the parts that you have written: attention with a mask, a network for each token, residual
# connections, a normalisation, a table. ModernBERT is in the library, too.
#
# **This was the last notebook.** You have built a tokenizer, an encoder, a pre-training, heads, and now the decoder:
# the Transformer, both halves of it.

# %%
progress()
