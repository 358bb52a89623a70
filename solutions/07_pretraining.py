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
# # 07 · Pre-training
#
# You have written a tokenizer, embeddings, attention, an encoder, two heads and the code that makes masked sentences.
# All weights of the model are still random. In this notebook it learns. You write the loss and one step of training,
# and then you start the training and watch the loss go down in a curve that is drawn from your own code.
#
# By the end you will have built
#
# - `etraining_loss`, `mlm_loss`, `nsp_loss`: the numbers to minimise;
# - `gather_positions`, `PreTrainingModel`: your layers, put together;
# - `clip_gradients`, `train_step`, `learning_rate`, `adamw_step`: the training step;
# - `masked_accuracy`, `perplexity`, `tokens_and_flops`: how good it is, and what it costs;
# - a BERT that comes close to the best possible reader of a small language, and one of English, whose weights you hand in.
#
# 95 minutes and the run, 46 points, the training run included. Everything works on this machine, without a network and
# without a GPU; with a GPU, the same cells train a larger model on more text.
#
# **Notation.** ETraining is the algorithm of *Formal Algorithms for Transformers* (Phuong & Hutter 2022): $\ell$
# tokens, vocabulary size $N_V$, $\tilde T$ the masked positions. For batches BERT's letters: $B$ sequences in a batch
# (the *rows*), $T$ tokens, $P$ predictions in a sequence, hidden size $H$, vocabulary size $V$. In BERT a *masked
# position* is any position chosen for prediction, also where the token was replaced by another one or left unchanged.
# All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, check, heat_maps, lines, load_backend, progress

load_backend()

from autograde.student.drawings_training import FloorCurve, LiveCurves, clipped_arrows, two_scores, valley
from autograde.student.mixed_precision import build
from autograde.student.trained_weights import check_weights, download_weights, hand_in
from autograde.student.training_run import (
    Run,
    blank_lines,
    choose_settings,
    initialise,
    passed_or_borrowed,
    prepare,
    ready,
    run_folder,
)

# %% tags=["setup"]
import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import Tensor

from mybert.bert import Bert, MlmHead, NspHead

# %% [markdown]
# This picture shows one sequence of a batch: in each cell the loss of predicting the original token at a masked position,
# below it the input token. At all other positions there is nothing to predict, and the loss is 0. (These two losses are
# invented; at the end such a picture comes from your model.)

# %%
words = "[CLS] the [MASK] sat [SEP] it [MASK] [SEP] [PAD]".split()
guessed = np.array([[0, 0, 2.1, 0, 0, 0, 5.497, 0, 0]])
heat_maps(
    [guessed],
    titles=["the loss uses two positions of nine"],
    rows=["loss"],
    columns=words,
    numbers=True,
    alt="A sequence of nine tokens; only the two [MASK] tokens have a loss, 2.10 and 5.50, all others 0",
)

# %% [markdown]
# ---
# # The losses
#
# ## 7.1 The loss of ETraining · 3 points · ~6 minutes · ETraining, line 9
#
# > 7: $\tilde T \leftarrow \{t \in [\ell] : \tilde x_n[t] = \text{mask\_token}\}$<br>
# > 8: $P_\theta \leftarrow \text{ETransformer}(\tilde x_n \mid \theta)$ &nbsp;&nbsp;
# > $P_\theta \in (0,1)^{\ell \times N_V}$, each row sums to 1<br>
# > 9: $\text{loss}_\theta \leftarrow -\sum_{t \in \tilde T} \log P_\theta[t, x_n[t]]$
#
# The input of the model was $\tilde x$ with masked tokens; the loss uses the probability that the model gave to the
# original token $x[t]$. A probability of 1 gives loss 0, a probability near 0 gives a large loss: use the probability
# as it is, however small.
#
# **Example.** "The cat sat" is $x = (21, 11987, 5438)$; positions 1 and 3 were masked. If the model gives "The" (id 21)
# a probability of $P[1, 21] = 0.0041$, its part of the loss is $-\log 0.0041 = 5.497$: a natural logarithm. The lecture
# counts positions from 1; in code, $\tilde T = \{1, 3\}$ is `[0, 2]`.


# %% nbgrader={"grade": false, "grade_id": "etraining-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def etraining_loss(p: Tensor, x: Tensor, positions: Tensor) -> Tensor:
    """Line 9 of ETraining, for one sentence.

    p: (tokens, vocabulary) probabilities for each token    x: (tokens,) the original ids, int
    positions: (masked,) the masked positions, int, counted from 0, in any order; there may be none
    returns a scalar: the sum over the masked positions
    """
    # 1. rows and original ids at the masked positions   2. the probability of each   3. minus the sum of logarithms
    ### BEGIN SOLUTION
    rows = ops.take(p, positions, axis=0)
    gold = ops.take(x, positions)
    chances = ops.take_along_axis(rows, ops.expand_dims(gold, 1), axis=1)
    return -ops.sum(ops.log(chances))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-etraining-loss", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(etraining_loss)

# %%
of_the_lecture = np.full((3, 6000), 1e-4, "float32")
of_the_lecture[0, 21] = 0.0041
the_cat_sat = ops.convert_to_tensor([21, 4987, 5438])  # a vocabulary of 6,000 tokens, to keep the matrix small
only_the_first = etraining_loss(ops.convert_to_tensor(of_the_lecture), the_cat_sat, ops.convert_to_tensor([0]))
print(f"−log 0.0041 = {float(only_the_first):.3f}")

# %% [markdown]
# The lecture derives line 9 from the *cross-entropy* with a one-hot vector $y$, a 1 at the original token:
# $-\sum_k y_k \log \hat y_k = -\log \hat y_{21}$. All other terms are 0. So of each row of $P$, such as
# $(0.001, 0.0007, \dots, 0.0041, \dots, 0.0003)$, one number enters the loss, and the product with a one-hot vector is a
# look-up, as in 2.1.
#
# ## 7.2 BERT's masked language model loss · 4 points · ~8 minutes · ETraining, line 9, for a batch
#
# A model computes in batches, and it returns *logits*: any real numbers, which log softmax turns into logarithms of
# probabilities. Each sequence has $P$ predictions; a sequence that needs fewer is padded, and `weights` marks which
# ones count (1) and which are padding (0). BERT's loss, called *cross-entropy*, is the mean over those that count:
#
# $$\text{loss} = \frac{\sum_{b,p} w_{bp} \cdot \bigl(-\log \text{softmax}(\text{logits}_{bp})[\text{label}_{bp}]\bigr)}
# {\sum_{b,p} w_{bp} + 10^{-5}}$$
#
# There are two differences to line 9: a mean instead of a sum, so that a batch with more predictions does not make a
# larger step; and the $10^{-5}$ (it is in the published code), so that a batch without any prediction has loss 0 and
# not 0/0. Use `ops.log_softmax` or `ops.logsumexp`, not the logarithm of a softmax: a probability that was rounded to 0
# has the logarithm $-\infty$. Compute with `ops`, not with NumPy: training needs the gradient.
#
# The run below calls the losses and the model inside of `tf.function`. There a tensor has a shape, but no numbers yet:
# do without `if` or `for` over a tensor, `len(...)`, `float(...)` and `.numpy()`. The check makes one of its calls there,
# here and up to 7.8.


# %% nbgrader={"grade": false, "grade_id": "mlm-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mlm_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """The mean loss of a batch's predictions, without padding.

    logits: (batch, predictions, vocabulary)    labels: (batch, predictions) int, the original ids
    weights: (batch, predictions) float32, 1 for a prediction, 0 for padding
    returns a scalar
    """
    # 1. one loss per prediction   2. their weighted sum   3. divide by the sum of the weights + 0.00001
    ### BEGIN SOLUTION
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.squeeze(ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1), axis=-1)  # (B, P)
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-mlm-loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(mlm_loss)

# %% [markdown]
# **See it.** One prediction, three tokens, and the logit of the correct one varies from −6 to 6. More confidence in the
# correct token hardly lowers the loss: from 3 on there is little left to gain. More confidence in a wrong token does
# raise it: below −3 every further step costs as much as the last.

# %%
sweep = np.linspace(-6, 6, 25, dtype="float32")
one_blank = [
    float(mlm_loss(ops.convert_to_tensor([[[value, 0.0, 0.0]]]), ops.zeros((1, 1), "int32"), ops.ones((1, 1))))
    for value in sweep
]
lines(
    sweep,
    {"mlm_loss": one_blank, "ln 3: no idea": np.full(len(sweep), np.log(3))},
    title="The loss of one prediction",
    x="logit of the correct token (the others: 0)",
    y="loss",
    alt="The loss falls in a straight line while the logit of the correct token is low, crosses ln 3 at logit 0, and "
    "flattens out towards 0",
)

# %% [markdown]
# ## 7.3 The next-sentence loss · 2 points · ~4 minutes · BERT, section 3.1, task 2
#
# The second objective: does sentence B follow sentence A? There are two logits per sequence, and a well-known trap: in
# BERT **0 is IsNext** and 1 is NotNext (a comment in the published code states it). The label is the index of the
# correct column. Here too the loss must be finite for any logits: use `ops.log_softmax` as in 7.2, then the mean over
# the pairs.


# %% nbgrader={"grade": false, "grade_id": "nsp-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nsp_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean loss of a batch of pairs.

    logits: (batch, 2), column 0 for IsNext    labels: (batch,) int, 0 for IsNext and 1 for NotNext
    returns a scalar
    """
    ### BEGIN SOLUTION
    log_p = ops.log_softmax(logits, axis=-1)
    return -ops.mean(ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-nsp-loss", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(nsp_loss)

# %% [markdown]
# ---
# # The model
#
# ## 7.4 Only the masked positions · 3 points · ~8 minutes · ETraining, line 7: the indices T̃
#
# The MLM head multiplies a token's vector with the whole vocabulary. In BERT-Base that is $768 \times 30{,}522$
# products per token, more than three encoder layers need. Only 15 % of the tokens are predicted, so computing it for
# all would waste 85 %. So select the vectors of the masked positions first (the gradient must reach them):
#
# $$(B, T, H),\ (B, P) \longrightarrow (B, P, H) \qquad \text{out}[b, p] = \text{hidden}[b, \text{positions}[b, p]]$$


# %% nbgrader={"grade": false, "grade_id": "gather-positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gather_positions(hidden: Tensor, positions: Tensor) -> Tensor:
    """Selects the vectors at the given positions of each sequence.

    hidden: (batch, tokens, hidden)    positions: (batch, predictions) int
    returns (batch, predictions, hidden)
    """
    ### BEGIN SOLUTION
    return ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-gather-positions", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(gather_positions)

# %% [markdown]
# **See it.** Two sequences of six tokens; each number shows the sequence and the token it came from. The second
# sequence has only one prediction and is padded with position 0.

# %%
numbered = np.array([[[10 * row + token] for token in range(6)] for row in range(2)], "float32")
wanted = np.array([[1, 4], [3, 0]], "int32")
taken = gather_positions(ops.convert_to_tensor(numbered), ops.convert_to_tensor(wanted))
heat_maps(
    [numbered[..., 0].astype(int), np.asarray(taken)[..., 0].astype(int)],
    titles=["hidden: sequence and token", f"selected at {wanted.tolist()}"],
    rows=["sequence 0", "sequence 1"],
    numbers=True,
    alt="Left a table of two rows, 0 to 5 and 10 to 15; right the selected numbers: 1 and 4 from the first row, 13 and 10 "
    "from the second",
)

# %% [markdown]
# ## 7.5 Everything you built, in one model · 5 points · ~12 minutes · ETraining, line 8, and BERT's second head
#
# `Bert` (notebook 05) returns two tensors: a vector for every token, and the pooled vector of [CLS]. The first goes to
# `MlmHead`, only at the masked positions and together with the table of the token embeddings (the weights are tied);
# the second goes to `NspHead`.
#
# ```
# token_ids, token_type_ids, attention_mask ─▶ bert ─▶ hidden ─▶ gather_positions ─▶ mlm_head ─▶ (B, P, V)
#                                                  └─▶ pooled ─────────────────────▶ nsp_head ─▶ (B, 2)
# ```
#
# Pass `training` on to `self.bert`: dropout acts inside of it, for both results, and nowhere else. (If you select from
# the logits of `MlmHead` instead of from its input, the numbers are the same: that is allowed, but it takes longer.)
#
# Name the parts `self.bert`, `self.mlm_head` and `self.nsp_head`: the check, and later the grader, put weights into
# them. As in notebook 05, `MlmHead(vocab_size)` and `NspHead()` make the heads. The table is
# `self.bert.embeddings.token.embeddings`.


# %% nbgrader={"grade": false, "grade_id": "pretraining-model", "locked": false, "schema_version": 3, "solution": true, "task": false}
class PreTrainingModel(keras.Model):
    """BERT with its two pre-training heads.

    call: token_ids, token_type_ids, attention_mask (batch, tokens) int, 1 in the mask for a real token;
    positions (batch, predictions) int; training
    returns MLM logits (batch, predictions, vocabulary) and next-sentence logits (batch, 2)
    """

    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        ### BEGIN SOLUTION
        self.bert = Bert(
            vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout, name="bert"
        )
        self.mlm_head = MlmHead(vocab_size, name="mlm_head")
        self.nsp_head = NspHead(name="nsp_head")
        ### END SOLUTION

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        ### BEGIN SOLUTION
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        table = self.bert.embeddings.token.embeddings
        logits = self.mlm_head(gather_positions(hidden, positions), table)
        return logits, self.nsp_head(pooled)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-pretraining-model", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(PreTrainingModel)

# %% [markdown]
# ### First test: the loss of an untrained model
#
# A freshly initialized model has no reason to prefer any of the $V$ tokens, so each gets a probability of about $1/V$,
# and the loss of a prediction is about $-\log \frac1V = \ln V$. If your first loss is far from that, stop: something is
# wrong *before* any training. (Much larger: the initial weights are too large. Much smaller: the input contains the
# answer.) For the pairs the loss may be much larger than $\ln 2 = 0.693$: the two random logits of a pooled vector may
# differ by two or three, and since every sequence begins with the same [CLS], they differ in nearly the same way in all
# sequences.
#
# The data are made as in notebook 06: real text, pairs, 15 % of the tokens predicted, of which 80 % become [MASK]. The
# text is the prose of Python's own documentation, which is already on this machine; its vocabulary of 4,096 tokens
# comes with the course. The names are shorter than in 6.6: `token_ids` (there `input_ids`), `positions`, `labels`,
# `weights` (`masked_lm_positions`, `masked_lm_ids`, `masked_lm_weights`) and `next_sentence` (`next_sentence_labels`).

# %%
settings = choose_settings()  # a small run without a GPU, a larger one with a GPU
data = prepare(settings)
print(settings)
print(data)
blank_lines(data, rows=3)


# %%
def tensors(batch):
    return {name: ops.convert_to_tensor(array) for name, array in batch.items()}


def reads(batch):
    return batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"]


keras.utils.set_random_seed(7)
model = PreTrainingModel(**settings.model)
first = tensors(data.batch(0))
logits, next_logits = model(*reads(first))
pieces = settings.model["vocab_size"]
print(
    f"first MLM loss {float(mlm_loss(logits, first['labels'], first['weights'])):.3f}    ln {pieces} = {np.log(pieces):.3f}"
)
print(f"first NSP loss {float(nsp_loss(next_logits, first['next_sentence'])):.3f}    ln 2 = {np.log(2):.3f}")

# %% [markdown]
# ---
# # One step
#
# ## 7.6 Clip the gradient · 3 points · ~7 minutes · BERT's optimizer: global clipping at 1.0
#
# Now and then the gradient of a batch is ten times as long as usual, and one such step can destroy the progress of an
# hour. BERT limits the *length* (the norm) of the gradient: all its tensors together are one long vector $g$, and if
# $\lVert g \rVert$ is greater than 1, the whole vector is scaled to length 1. Its direction stays (Pascanu, Mikolov &
# Bengio 2013). The limit is $c$ in the formula and `max_norm` in the code; BERT has $c = 1$.
#
# $$\lVert g \rVert = \sqrt{\sum_i \sum_{\text{all entries}} g_i^2} \qquad g_i \leftarrow g_i \cdot \frac{c}{\max(\lVert g \rVert,\, c)}$$


# %% nbgrader={"grade": false, "grade_id": "clip-gradients", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clip_gradients(gradients: list[Tensor], max_norm: float = 1.0) -> list[Tensor]:
    """Scales gradients down to a common length of at most `max_norm`.

    gradients: a list of tensors of any shapes
    returns a list of tensors of the same shapes
    """
    ### BEGIN SOLUTION
    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))
    factor = max_norm / ops.maximum(length, max_norm)
    return [gradient * factor for gradient in gradients]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-clip-gradients", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(clip_gradients)

# %% [markdown]
# **See it.** Twelve gradients of two numbers each (each number a separate tensor) as arrows, before and after. Every
# arrow keeps its direction; those within the circle keep their length too.

# %%
angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
lengths = np.tile([0.5, 1.2, 1.9], 4)
before = np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=1).astype("float32")
after = [clip_gradients([ops.convert_to_tensor(x), ops.convert_to_tensor(y)]) for x, y in before]
clipped_arrows(before, np.array([[float(x), float(y)] for x, y in after]))

# %% [markdown]
# ## 7.7 One step of training · 5 points · ~10 minutes · ETraining, lines 8–10
#
# > 8: $P_\theta \leftarrow \text{ETransformer}(\tilde x_n \mid \theta)$<br>
# > 9: $\text{loss}_\theta \leftarrow \dots$<br>
# > 10: $\theta \leftarrow \theta - \eta \cdot \nabla \text{loss}_\theta$
#
# In BERT the loss is the **sum** of `mlm_loss` and `nsp_loss` (two tasks that train one encoder: *multi-task
# learning*), and the gradient is clipped to length 1 before the optimizer makes its step. A `GradientTape` records what
# the model computes and then computes the gradient backwards.
#
# There is a trap that few people know: the gradient of an embedding table is a list of rows (`IndexedSlices`), one for
# every look-up. A token that occurs ten times in the batch is in the list ten times, and the length of the *list* is
# not the length of the gradient. `tf.convert_to_tensor(gradient)` adds the rows of the same token up and returns a
# tensor of the table's shape. (`ops.convert_to_tensor` does not: it returns the list as it is.) Other gradients are
# tensors already; for them it changes nothing.
#
# The model is called with `training=True`, so that its dropout acts. The run below compiles your step with
# `tf.function`, so it must work with tensors, as in 7.2: no `if` or `for` over a tensor, no `float(...)` and no
# `.numpy()`.
#
# To test your step there is a model that is as small as possible: its tokens do not look at each other, but it is
# called like yours. The check sets its weights, lets `train_step` make a step or two of gradient descent, with and
# without momentum, also inside of `tf.function`, and compares the weights afterwards. It also counts the calls of the
# model: one per step.


# %% tags=["setup"]
class TinyModel(keras.Model):
    """A very small model with the call of PreTrainingModel: a table, its transpose, and two logits from all real tokens.

    Outside of training its vectors are half as long: a dropout without chance. It counts its calls, in a variable that
    is not trained, like the state of a Dropout layer's random numbers.
    """

    def __init__(self, vocab_size, hidden_size, **kwargs):
        super().__init__(**kwargs)
        self.table = keras.layers.Embedding(vocab_size, hidden_size, name="table")
        self.segment = keras.layers.Embedding(2, hidden_size, name="segment")
        self.table.build(None)
        self.segment.build(None)
        self.nsp_head = keras.layers.Dense(2, name="nsp_head")
        self.bias = self.add_weight(shape=(vocab_size,), initializer="zeros", name="bias")
        self.calls = self.add_weight(shape=(1,), initializer="zeros", trainable=False, name="calls")

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        self.calls.assign_add([1.0])
        hidden = self.table(token_ids) + self.segment(token_type_ids)  # (B, T, H)
        hidden = hidden if training else hidden / 2
        chosen = tf.gather(hidden, positions, batch_dims=1)  # (B, P, H)
        together = ops.einsum("bth,bt->bh", hidden, ops.cast(attention_mask, hidden.dtype))  # without padding
        return chosen @ ops.transpose(self.table.embeddings) + self.bias, self.nsp_head(together)


# %% nbgrader={"grade": false, "grade_id": "train-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_step(model: keras.Model, optimizer: keras.optimizers.Optimizer, batch: dict) -> Tensor:
    """One training step: model, loss, gradients, clipping to length 1, optimizer.

    batch: token_ids, token_type_ids, attention_mask (batch, tokens), positions, labels, weights
    (batch, predictions), next_sentence (batch,)
    returns the loss before the step, a scalar
    """
    # 1. inside the tape: run the model (training=True), add both losses   2. gradients   3. clip   4. apply
    ### BEGIN SOLUTION
    variables = model.trainable_variables
    with tf.GradientTape() as tape:
        logits, next_logits = model(
            batch["token_ids"], batch["token_type_ids"], batch["attention_mask"], batch["positions"], training=True
        )
        loss = mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
    optimizer.apply(clip_gradients(gradients), variables)
    return loss
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-train-step", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(train_step)

# %% [markdown]
# ### Second test: overfit one batch
#
# A classic test (Karpathy, *A Recipe for Training Neural Networks*, 2019): take **one** small batch and train on it
# again and again, without dropout. A model that can learn at all knows it by heart after a few dozen steps, and the
# loss goes to nearly 0. If it does not, no amount of data will help: a gradient is missing, or the labels do not belong
# to the inputs.

# %%
keras.utils.set_random_seed(7)
by_heart = PreTrainingModel(**settings.model | {"dropout": 0.0})
eight = tensors({name: array[:8] for name, array in data.batch(0).items()})
by_heart(*reads(eight))
adam = keras.optimizers.Adam(1e-3)
adam.build(by_heart.trainable_variables)
one_step = tf.function(lambda: train_step(by_heart, adam, eight))
curve = [float(one_step()) for _ in range(60)]
lines(
    np.arange(len(curve)),
    {"loss on the one batch": curve, "ln V + ln 2": np.full(len(curve), np.log(pieces) + np.log(2))},
    title="Overfitting eight sequences",
    x="step",
    y="loss (MLM + NSP)",
    alt=f"The loss on one batch of eight sequences falls from {curve[0]:.1f} to {curve[-1]:.2f} within 60 steps",
)
print(f"from {curve[0]:.2f} to {curve[-1]:.3f}")

# %% [markdown]
# ---
# # The learning rate
#
# ## 7.8 Up, then down · 3 points · ~8 minutes · ETraining, line 10: η
#
# Adam divides each step by the root of a running mean of squared gradients. In the first steps this estimate is bad,
# and the last layers of a post-LN stack have large gradients (notebook 04). So BERT begins carefully: the learning rate
# rises linearly for 10,000 steps (*warm-up*), then falls linearly to 0 at step 1,000,000 (Devlin et al. 2019, appendix
# A.2). With $s$ steps already made, $w$ of warm-up and $S > w$ in total:
#
# $$\eta(s) = \eta_\text{max} \cdot \max\!\left(0,\ \min\!\left(\frac{s + 1}{w},\ \frac{S - s}{S - w}\right)\right)$$
#
# `step` is a tensor of one number or of many, so use `ops.minimum`, not `if`. With $w = 0$ there is no warm-up: avoid the
# division by 0. (In the published script the decay begins at step 0, so its rate makes a small jump where
# the warm-up ends. Ours has no jump.)


# %% nbgrader={"grade": false, "grade_id": "learning-rate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def learning_rate(step: Tensor, peak: float, warmup_steps: int, total_steps: int) -> Tensor:
    """Linear warm-up, then linear decay to 0.

    step: number of steps already made, a float32 tensor of any shape
    returns the learning rate of the next step, of the same shape
    """
    ### BEGIN SOLUTION
    rising = (step + 1) / max(warmup_steps, 1)
    falling = (total_steps - step) / (total_steps - warmup_steps)
    return peak * ops.clip(ops.minimum(rising, falling), 0, 1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-learning-rate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(learning_rate)

# %%
steps = np.linspace(0, 1_000_000, 201, dtype="float32")
published = learning_rate(ops.convert_to_tensor(steps), 1e-4, 10_000, 1_000_000)
lines(
    steps,
    {"BERT's learning rate": np.asarray(published)},
    title="10,000 steps up, 990,000 down",
    x="step",
    y="learning rate",
    alt="The rate rises to 0.0001 within the first hundredth of the run and then falls in a straight line to 0",
)

# %% [markdown]
# ## 7.9 AdamW · 4 points · ~12 minutes · Kingma & Ba 2015, algorithm 1; Loshchilov & Hutter 2019, algorithm 2
#
# Line 10 of ETraining subtracts $\eta$ times the gradient: *gradient descent*. One rate for all weights is a poor choice:
# a token that is in every sentence has gradients that are a thousand times as large as those of a rare one. **Adam** keeps
# two running averages for every weight, of its gradient $g$ and of the gradient's square, and divides one by the root of
# the other: each weight moves by about $\eta$, however large its gradients are. In step $t = 1, 2, \dots$
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2$$
#
# $$\hat m = \frac{m}{1 - \beta_1^t} \qquad \hat v = \frac{v}{1 - \beta_2^t} \qquad
# w \leftarrow w - \eta \left( \frac{\hat m}{\sqrt{\hat v} + \varepsilon} + \lambda\, w \right)$$
#
# Both averages begin at 0, so that they are too small at first; the hats correct that (*bias correction*). $\varepsilon$
# avoids a division by 0. The last term is the W in AdamW, *weight decay*: each weight also loses $\eta \lambda$ of
# itself, so that weights which nothing needs shrink towards 0. BERT has $\beta_1 = 0.9$, $\beta_2 = 0.999$,
# $\varepsilon = 10^{-6}$, $\lambda = 0.01$. (Its published code leaves the bias correction out; the warm-up hides that.)
#
# **Example.** A first step ($t = 1$, $m = v = 0$) with $\eta = 0.1$. Both weights are 2, their gradients 0.5 and −3. Then
# $\hat m = g$ and $\hat v = g^2$, so that $\hat m / \sqrt{\hat v}$ is 1 and −1: the weights become
# $2 - 0.1 \cdot (1 + 0.02) = 1.898$ and $2 - 0.1 \cdot (-1 + 0.02) = 2.098$.


# %% tags=["setup"]
BETA_1, BETA_2, EPSILON, DECAY = 0.9, 0.999, 1e-6, 0.01  # BERT's


# %% nbgrader={"grade": false, "grade_id": "adamw-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def adamw_step(weight: Tensor, gradient: Tensor, m: Tensor, v: Tensor, step: int, rate: float) -> tuple:
    """One step of AdamW.

    weight, gradient, m, v: float32 tensors of the same shape; the averages are those before the step
    step: 1 in the first step    rate: the learning rate of this step
    returns the new weight, the new m and the new v
    """
    # 1. both averages   2. both without their bias   3. the weight
    ### BEGIN SOLUTION
    m = BETA_1 * m + (1 - BETA_1) * gradient
    v = BETA_2 * v + (1 - BETA_2) * gradient**2
    m_hat, v_hat = m / (1 - BETA_1**step), v / (1 - BETA_2**step)
    weight = weight - rate * (m_hat / (ops.sqrt(v_hat) + EPSILON) + DECAY * weight)
    return weight, m, v
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-adamw-step", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(adamw_step)

# %% [markdown]
# **See it.** A narrow valley: the loss is $\frac12 (x^2 + 50 y^2)$, so that the gradient is fifty times as large across as
# along. Gradient descent with a rate of 0.035 swings from side to side; with more than 0.04 it would swing further in
# every step. Your AdamW divides each gradient by its own size, so that both coordinates move equally fast; its average of
# the gradients carries it a little too far, and it comes back.

# %%
steep = np.array([1.0, 50.0], "float32")
plain, adaptive = [np.array([-2.0, 0.8], "float32")], [np.array([-2.0, 0.8], "float32")]
m = v = ops.zeros(2)
for step in range(1, 61):
    plain.append(plain[-1] - 0.035 * steep * plain[-1])
    place = ops.convert_to_tensor(adaptive[-1])
    place, m, v = adamw_step(place, ops.convert_to_tensor(steep) * place, m, v, step, rate=0.1)
    adaptive.append(np.asarray(place))
valley({"gradient descent": np.stack(plain), "your AdamW": np.stack(adaptive)}, steep)

# %% [markdown]
# **Which weights decay.** Not everything should be small: LayerNorm's $\gamma$ starts at 1 and sets the scale of a whole
# layer, and biases and $\beta$ only shift. BERT excludes them (`optimization.py` of google-research/bert: "LayerNorm",
# "layer_norm", "bias"). In Keras a weight has a path such as `bert/encoder/layer_0/attention/query/kernel`, whose *last*
# part is the kind of weight. The run below uses this function.


# %% tags=["setup"]
def decays(name: str) -> bool:
    """Whether weight decay applies to the weight with this path: to all but bias, gamma and beta."""
    return name.split("/")[-1] not in ("bias", "gamma", "beta")


# %%
decaying = sum(int(np.prod(v.shape)) for v in model.trainable_variables if decays(v.path))
print(f"{decaying:,} of {model.count_params():,} parameters decay: {decaying / model.count_params():.1%}")

# %% [markdown]
# ---
# # How good is it?
#
# ## 7.10 How many blanks are right · 3 points · ~6 minutes
#
# A loss of 4.2 means little to a human. The *accuracy*, the fraction of predictions whose best guess is the original
# token, means more.


# %% nbgrader={"grade": false, "grade_id": "masked-accuracy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_accuracy(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """The fraction of predictions in which the largest logit belongs to the original token, without padding.

    logits: (batch, predictions, vocabulary)    labels: (batch, predictions) int
    weights: (batch, predictions) float32, 1 for a prediction, 0 for padding; at least one is 1
    returns a scalar float32
    """
    ### BEGIN SOLUTION
    hits = ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), "float32")
    return ops.sum(hits * weights) / ops.sum(weights)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-masked-accuracy", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(masked_accuracy)

# %% [markdown]
# ## 7.11 Perplexity over many batches · 2 points · ~5 minutes
#
# $e^{\text{loss}}$ is easier to imagine than the loss: a model with perplexity 70 is as unsure as somebody who rolls a
# die with 70 faces. An untrained model has perplexity $V$. For many batches with losses $l_i$, each a mean over $c_i$
# predictions (not all $c_i$ are 0), first compute one mean over all predictions, *then* apply $\exp$:
#
# $$\text{perplexity} = \exp\!\left(\frac{\sum_i c_i\, l_i}{\sum_i c_i}\right)$$


# %% nbgrader={"grade": false, "grade_id": "perplexity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def perplexity(losses: Tensor, counts: Tensor) -> Tensor:
    """Perplexity of many batches together.

    losses: (batches,) the mean loss of each    counts: (batches,) float32, the number of predictions of each
    returns a scalar
    """
    ### BEGIN SOLUTION
    return ops.exp(ops.sum(losses * counts) / ops.sum(counts))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-perplexity", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(perplexity)

# %% [markdown]
# ## 7.12 What does it cost? · 3 points · ~8 minutes
#
# A training is a number of **phases**, each with so many steps and sequences of one length: BERT made 900,000 steps with
# 128 tokens and 100,000 with 512, all with 256 sequences in a batch. How many tokens does a training read, and how many
# operations does it need? A weight costs a token two operations, a product and a sum; the backward pass costs twice the
# forward pass, so 6 operations in all. One encoder layer with $d_\text{mid} = 4H$ has $12 H^2$ weights in its matrices
# (four of $H \times H$ in attention, two of $H \times 4H$). And attention compares each token with the $\ell$ tokens of its
# sequence: $H$ products and sums for each score, and as many for the weighted sum of the values. For one token and one
# layer:
#
# $$6 \cdot 12 H^2 + 12 H \ell = 72 H^2 + 12 H \ell \quad \text{operations}$$
#
# The embeddings are looked up, which costs none. The heads, biases, LayerNorm and softmax are left out here. BERT-Base
# needs more operations than NumPy's 64-bit integers can count: use Python's `int`.
#
# **Example.** One step with 2 sequences of 3 tokens, 1 layer, $H = 2$: 6 tokens, and $6 \cdot (288 + 72) = 2160$ operations.


# %% nbgrader={"grade": false, "grade_id": "tokens-and-flops", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tokens_and_flops(
    phases: list[tuple[int, int]], batch: int, num_layers: int, hidden_size: int
) -> tuple[int, int]:
    """The number of tokens that a training reads, and of the operations that the encoder needs for them.

    phases: for each phase its number of steps and the length of its sequences    batch: sequences in a step
    returns the number of tokens and the number of operations, both over all phases
    """
    ### BEGIN SOLUTION
    tokens, flops = 0, 0
    for steps, length in phases:
        read = steps * batch * length
        tokens += read
        flops += read * num_layers * (72 * hidden_size**2 + 12 * hidden_size * length)
    return tokens, flops
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-tokens-and-flops", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(tokens_and_flops)

# %% [markdown]
# **See it.** BERT's text has $3.3 \cdot 10^9$ words (and more tokens than words). ⚠ The paper's "40 epochs", and a lecture's
# "128,000 words" in a batch, count every step as one of the long ones: $256 \cdot 512 = 131{,}072$ *tokens*; in nine steps
# of ten it is $256 \cdot 128 = 32{,}768$. The second number in each line is what the paper's count would give.

# %%
phases = [(900_000, 128), (100_000, 512)]
for name, layers, hidden_size in (("BERT-Base", 12, 768), ("BERT-Large", 24, 1024)):
    tokens, flops = tokens_and_flops(phases, 256, layers, hidden_size)
    all_long, _ = tokens_and_flops([(1_000_000, 512)], 256, layers, hidden_size)
    passes = f"at most {tokens / 3.3e9:.0f} passes over the text, not {all_long / 3.3e9:.0f}"
    print(f"{name:10} {tokens:.3g} tokens: {passes}; {flops:.2g} operations")

lengths = [16, 64, 128, 256, 512, 1024, 2048, 4608]
of_a_token = [tokens_and_flops([(1, length)], 1, 12, 768)[1] / length for length in lengths]
each = of_a_token[1] / (lengths[1] - lengths[0]) - of_a_token[0] / (lengths[1] - lengths[0])  # of a token compared with
attention = [each * length / total for length, total in zip(lengths, of_a_token)]
lines(
    lengths,
    {"attention": attention, "one half": np.full(len(lengths), 0.5)},
    title="BERT-Base: attention's scores and weighted sums",
    x="tokens in a sequence",
    y="fraction of the operations",
    alt="The fraction of attention in the operations of BERT-Base: "
    + ", ".join(f"{share:.0%} at {length} tokens" for share, length in zip(attention, lengths)),
)

# %% [markdown]
# ---
# # A short run: a language whose best loss is known
#
# How low can the loss go? On English nobody knows: even the best model cannot guess every hidden word, and how many it
# could is unknown. So first a language of 125 words, made by a grammar ([the small world](../small_world.md)): *the dogs near
# the river often follow a cat .* Its grammar gives the exact probability of every word in every context, and so the loss
# of the best possible reader: the **floor**. Two words of each sentence are hidden, and no sentence comes twice.
#
# Your model has 2 layers of 64 here, your `train_step` makes 1,500 steps, and the curve grows while it does: about half a
# minute on two processor cores. There are no pairs, so the next-sentence label is always the same. The optimizer is a
# newer one, *Muon* (Jordan et al. 2024), with the rate 3e-3 and initial weights of standard deviation 1/8. The grey curves are
# recorded runs of the library's model (`python -m benchmarks.training.small_world`).

# %%
from autograde.student.small_world_run import MODEL, STEPS, exact_and_yours, optimizer_for, prepare_small_world

NEEDED = ("mlm-loss", "nsp-loss", "gather-positions", "pretraining-model", "clip-gradients", "train-step")
if ready(*NEEDED):
    world = prepare_small_world()
    keras.utils.set_random_seed(1)
    small = PreTrainingModel(**MODEL)
    small(*reads(tensors(world.batch(0))))
    muon = optimizer_for(small)  # it draws the initial weights, too
    small_step = tf.function(lambda batch: train_step(small, muon, batch))
    small_guess = tf.function(lambda *inputs: small(*inputs, training=False))
    held_out, floor_curve, held_out_losses = tensors(world.held_out), FloorCurve(world.floor), {}
    for step in range(STEPS):
        small_step(tensors(world.batch(step)))
        if (step + 1) % 100 == 0:
            blanks, _ = small_guess(*reads(held_out))
            held_out_losses[step + 1] = float(mlm_loss(blanks, held_out["labels"], held_out["weights"]))
            floor_curve.draw(held_out_losses)
    print(f"your model {held_out_losses[STEPS]:.3f}, the floor {world.floor:.3f}: {held_out_losses[STEPS] / world.floor - 1:+.1%}")

# %% [markdown]
# **See it.** The exact probabilities of one hidden word, from the grammar, and those of your model, from sentences alone. The
# number of the verb depends on the first noun, not on the nearest one. Write other sentences of this language into the
# list (its words are on [the page of the small world](../small_world.md)).

# %%
if ready(*NEEDED):
    for text, hidden in (
        ("the dogs near the river follow a cat .", 5),
        ("the dog near the rivers follows a cat .", 5),
        ("no dog ever runs .", 2),
        ("the rich bank behind the store pays the lawyer .", 1),
    ):
        exact_and_yours(text, hidden, lambda batch: small_guess(*reads(tensors(batch)))[0])

# %% [markdown]
# ---
# # The long run
#
# ## 7.13 Train it · 6 points · seconds to hours
#
# Now English. The next cells train your model, from your layers, with your step, and regularly evaluate it on *held-out*
# text, on which it is never trained. You need 7.2 to 7.7 for it; what else it uses and you have not passed, it borrows from
# the course, and prints what.
#
# | | without a GPU | with a GPU (`choose_settings()` finds it) |
# |---|---|---|
# | model | 2 layers, hidden size 128, 2 heads | 6 layers, hidden size 256, 4 heads |
# | batch | 64 sequences of 32 tokens | 256 sequences of 128 tokens |
# | steps | 1,500, about five minutes | 1,500: 49 million tokens; on an A100, H100 or H200 6,000: 197 million |
# | arithmetic | 6.5·10¹² operations | 1.4·10¹⁵ operations, or 5.5·10¹⁵ |
# | layers compute in | float32 | float16 (T4, V100) or bfloat16 (A100, L4, H100, H200) |
#
# Before the first step the cell shows how long the run takes at least, if the GPU is a T4, L4, A100, H100 or H200. On a Colab
# T4 its 1,500 steps take at least 79 seconds: 53 ms each, computed from what the compiled step moves and multiplies and
# from the card's data sheet, not measured. After 20 steps the cell shows how long the run still takes on your machine,
# with any GPU. A run that was begun on one GPU continues on another with the same number of steps.
#
# In 16 bits a GPU is several times as fast as in float32. The weights, the losses and
# the optimizer stay in float32. float16 has no number below 6·10⁻⁸, so there the gradients inside of the model are
# computed many times as large, at first $2^{15}$ times; before your `train_step` clips them they have their right length
# again (Micikevicius et al. 2018). bfloat16 has numbers as small as those of float32 and needs no factor. If your layers
# cannot compute in 16 bits, the cell reports it and the run uses float32.
#
# All points of the run need no more than 1,500 steps. **If you have the time**, `choose_settings(steps=20_000)` trains
# on 655 million tokens, at least 17 minutes on a T4 (computed, too); it is a run of its own, from new weights. With
# a network, `choose_settings(text="hf:Salesforce/wikitext/wikitext-103-raw-v1")` trains on Wikipedia (103 million
# words: several gigabytes of memory, and `pip install datasets`).
#
# **If the runtime is interrupted**, start the notebook again and run it up to this point: the run resumes where it was
# last saved. The first line that it prints is the folder; on Colab that is your Drive, if you opened it in the first
# cell. Without the Drive, Colab deletes the run when it disconnects.
#
# **How it is graded.** The cell after the run writes `pretraining_weights.safetensors`, and prints its path and how far
# these weights were trained. Hand it in together with the notebook. The grader loads the weights into *your*
# `PreTrainingModel` and lets it predict masked tokens. The text is the same for all runs: a part of the
# documentation of Python from which no run is trained, with masks that you have not seen: 256 sequences of 32 tokens.
# Only the positions at which your model sees [MASK] count, about 1,000; at the others it could copy what it sees.
# The grader also computes the *gain from the context*: the mean loss of your predictions at the other masked
# positions, minus that at their own. It is 0 for a model that predicts the same everywhere, or copies. (In a run of the
# small model it was 0.01 after 160 steps, 0.2 after 500 and 1.5 after 1,500.)
# All points need a loss below that of a model that knows only the token frequencies, about 6.4 (an untrained model has
# 8.3). You get 2 points if the gain from the context is at least 0.02; 2 points if it is at least 0.05; 2 points for a
# loss of at most 6.35, at least 6 % accuracy (the frequencies give 3 %) and a gain of at least 0.1. You need no GPU for
# any of the points. Weights that no step has trained are refused, and those of the packaged model too. A loss below 2 is better than any honest run of this size: your instructor looks at
# it. (`progress()` counts the 40 points of the checks; these six come from the grader.)

# %%
parts = passed_or_borrowed(globals(), "learning-rate", "masked-accuracy", "perplexity")
schedule = dict(peak=settings.peak, warmup_steps=settings.warmup_steps, total_steps=settings.steps)


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    """Your learning_rate in the form that Keras expects."""

    def __call__(self, step):
        return parts.learning_rate(ops.cast(step, "float32"), **schedule)


def fresh_run():
    """Your model, new or as last saved, and an optimizer that excludes some weights from weight decay."""

    def make():
        keras.utils.set_random_seed(settings.seed)
        model = PreTrainingModel(**settings.model)
        return model, model(*reads(tensors(data.batch(0))))

    model = build(make, settings.precision)  # its layers compute in 16 bits on a GPU that can
    initialise(model, settings)  # 0.02 · √(768 / hidden size), see below
    optimizer = keras.optimizers.AdamW(Schedule(), weight_decay=0.01, beta_2=0.98, epsilon=1e-6)
    optimizer.exclude_from_weight_decay(var_list=[v for v in model.trainable_variables if not decays(v.path)])
    optimizer.build(model.trainable_variables)
    return Run(run_folder(settings), settings, model, optimizer)


# %% [markdown]
# The initial weights matter as much as the training. BERT draws every matrix from a normal distribution of standard
# deviation 0.02, truncated at two standard deviations (Devlin et al.'s code, `initializer_range`). That fits a hidden
# size of 768; for a smaller one `initialise` multiplies it by $\sqrt{768 / H}$, so that the first activations are as
# large as BERT-Base's. Try it: without that line the loss of the same run is still on its plateau at the end.
#
# The loop itself is short. `run.steps()` yields the numbers of the steps that are still to be made; `run.record`
# records the metrics, draws, and saves. The ■ button stops the run after its current step and saves it, too.


# %%
def judge(guess):
    """The metrics of a model on the held-out batches, by your own functions."""
    losses, counts, hits, next_losses = [], [], [], []
    for batch in map(tensors, data.held_out):
        logits, next_logits = guess(*reads(batch))
        losses.append(mlm_loss(logits, batch["labels"], batch["weights"]))
        counts.append(ops.sum(batch["weights"]))
        hits.append(parts.masked_accuracy(logits, batch["labels"], batch["weights"]) * counts[-1])
        next_losses.append(nsp_loss(next_logits, batch["next_sentence"]))
    uncertainty = float(parts.perplexity(ops.stack(losses), ops.stack(counts)))
    return {
        "perplexity": uncertainty,
        "loss": float(np.log(uncertainty)),
        "accuracy": float(sum(hits) / sum(counts)),
        "next sentence": float(np.mean(next_losses)),
    }


if ready(*NEEDED):
    run = fresh_run()
    fast_step = tf.function(lambda batch: train_step(run.model, run.optimizer, batch), jit_compile=settings.compiled)
    guess = tf.function(lambda *inputs: run.model(*inputs, training=False))
    curves = LiveCurves(pieces, data.unigram_loss, reference="tiny-published-recipe")
    for step in run.steps():
        loss = fast_step(tensors(data.batch(step)))
        if run.is_time_to_judge(step):
            run.record(step, loss, judge(guess))
            curves.draw(run.history)
    print(run.speed())

# %% [markdown]
# **Reading the curves.** The loss drops at once from $\ln V$ to about 6.4: the model has learned which tokens are
# frequent (the dotted line is the loss of a *unigram* model, which knows *only* that). Then it stays there for a while
# and predicts "the" or a comma for every masked word. If the run is long enough, it then goes below the line: the model
# begins to use the neighbours. The grey curve is a recorded run of the library's model of the same size, on 18 MB of
# text (`bertlab/training/reference_curves`); compare the shape, not the height. The next-sentence loss stays near
# $\ln 2$ for a long time: sequences of 32 tokens contain little evidence.
#
# **Speed.** Tokens per second determine how long a run takes; the *fraction of the peak speed* shows whether it could be
# faster. The peak speed is measured on this machine with one large matrix product. A model stays below it because of
# small matrices and of all operations that are not matrix products.

# %%
if ready(*NEEDED):
    print(hand_in(run))
    two_scores(judge(guess), fresh={"loss": float(np.log(pieces)), "accuracy": 1 / pieces}, unigram=data)

# %% [markdown]
# **See it.** The picture of the beginning, from your model: three sequences that it was never trained on. The darker a
# cell, the larger the loss of that prediction. The title lists for each your model's prediction, in brackets the
# original token, and the loss. (One chosen token in five is not masked: it is unchanged, or another token replaces it.)

# %%
if ready(*NEEDED):
    batch = tensors(data.held_out[0])
    blanks = guess(*reads(batch))[0]  # (B, P, V)
    for row in (1, 4, 5):
        ids, where, truth, real = (
            np.array(batch[name][row]) for name in ("token_ids", "positions", "labels", "weights")
        )
        ids, places = ids[np.array(batch["attention_mask"][row]) > 0], np.flatnonzero(real)
        lost = np.zeros((1, len(ids)))
        for place in places:
            one = slice(place, place + 1)
            label = ops.convert_to_tensor(truth[None, one])
            lost[0, where[place]] = mlm_loss(blanks[row : row + 1, one], label, ops.ones((1, 1)))
        best = np.array(ops.argmax(blanks[row], axis=-1))
        told = ", ".join(f"{data.pieces[best[p]]} ({data.pieces[truth[p]]}) {lost[0, where[p]]:.1f}" for p in places)
        heat_maps(
            [lost],
            titles=[f"prediction (original) and loss: {told}"],
            rows=["loss"],
            columns=[data.pieces[i] for i in ids],
            largest=9,
            alt=f"{len(ids)} held-out tokens with the losses of the predictions, on average {lost.sum() / len(places):.1f}; "
            f"prediction (original) and loss: {told}",
        )

# %%
print(download_weights())

# %% nbgrader={"grade": true, "grade_id": "pretraining-run", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
print(check_weights())

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("first-loss", "")

# %%
answer("warm-up", "")

# %% [markdown]
# ---
# # Recap
#
# The loss is minus the logarithm of the probability of the original token, averaged over the predictions; the same for
# the pairs. The gradient is clipped as a whole; the learning rate rises and falls; weights decay, except scales and
# shifts. That is all of pre-training, and on a language whose best loss is known it comes close to it. The rest is time: BERT-Base saw 1,000,000 batches of 256 sequences (nine in ten
# of them of 128 tokens, the rest of 512), in 4 days on 16 TPU chips (the large model: 64 chips; Devlin et al. 2019,
# appendix A.2). Cheaper: Izsak, Berchansky & Levy (2021, *How to Train BERT with an Academic Budget*) come close in one day
# on one server with eight GPUs, with sequences of 128 tokens, batches of 4,096 and no next-sentence task; Geiping &
# Goldstein (2023, *Cramming*) in one day on one GPU.
#
# Did the second half of the steps help? After 1,000,000 steps instead of 500,000
# BERT-Base is almost 1.0 point better on MNLI (appendix C.1). *Using* BERT is cheap: one GPU, or a CPU for short texts.
#
# **To think about**
#
# 1. ETraining sums over $\tilde T$, BERT divides by the number of predictions. With plain gradient descent, which
#    learning rates make the two the same? And with Adam?
# 2. Clip each tensor by itself, or all as one: which of the two keeps the direction of the step, and why should that
#    matter?
# 3. Your loss is below the dotted line, but "the" is still the most frequent prediction. Is that a contradiction?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. With plain gradient descent the step of the mean times the number of predictions is the step of the sum, so
#    $\eta_\text{sum} = \eta_\text{mean} / |\tilde T|$: a fixed rate is possible only if all batches have equally many.
#    Adam divides by the gradient's own size, so a constant factor changes nothing but the effect of its ε, and
#    clipping.
# 2. All as one: every tensor is multiplied by the same factor, so the step still points downhill and is only shorter.
#    If each is clipped by itself, the long ones shrink against the short ones, and the step no longer has the
#    gradient's direction.
# 3. No. The loss measures the probability of the original token, accuracy only which token is first. A token whose
#    probability rises from 0.001 to 0.05 lowers the loss a lot, and *the* may still be first with 0.08.
#
# </details>
#
# **Next:** notebook 08 takes the encoder you have trained (or a published one), puts a new head on it, and teaches it a
# task in minutes.

# %%
progress()
