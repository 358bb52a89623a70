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
# # 08 · Fine-tuning
#
# Pre-training is expensive and done once; fine-tuning is cheap and done for every task. You take the encoder you have
# built, put *one small layer* on top, and train both on a few labelled examples. The tasks differ only in which vectors
# that layer reads and which positions the loss ignores.
#
# By the end you will have built
#
# - `ClassificationHead`, `choice_logits`, `SpanHead`: heads for a class, for one of several choices, and for a span;
# - `align_labels`, `tagging_loss`: labels for words, a loss on the first token of each word;
# - `best_span`: from logits to an answer, or to "no answer";
# - `f1_and_matthews`, `spearman`, `span_scores`: the metrics that leaderboards show;
# - `layer_rates`: a learning rate for each layer.
#
# You also run all four task types with your own layers, and compare training from random weights with training after
# pre-training.
#
# In the field's words: pre-training is the *upstream* task, yours the *downstream* task, and to use the weights of one for
# the other is *transfer learning*.
#
# 90 to 110 minutes, 34 points. Everything runs on this machine, without a network. All terms are in the
# [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, bars, check, heat_maps, lines, load_backend, progress, read_offs, span_bars

load_backend()

# %% tags=["setup"]
import re
import string
import textwrap
from collections import Counter

import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

# %% [markdown]
# These are the four task types of Devlin et al. 2019, figure 4. The input of BERT always has the same form; the types
# differ in which of the output vectors are used (marked ▲), and what is computed from them.

# %%
read_offs(
    {
        "sentence → class": ("[CLS] win cash prizes now [SEP]".split(), {0: "spam"}),
        "pair → class": ("[CLS] it rains [SEP] streets are wet [SEP]".split(), {0: "follows"}),
        "words → tags": ("[CLS] rowling lives in edin ##burgh [SEP]".split(), {1: "PER", 2: "O", 3: "O", 4: "LOC"}),
        "question + text → span": (
            "[CLS] who wrote it ? [SEP] it is by j . k . rowling [SEP]".split(),
            {9: "start", 13: "end"},
        ),
    },
    alt="Four sequences of tokens. For a sentence and for a pair only [CLS] is used; for tags the first token of every "
    "word; for a question the first and the last token of the answer",
)

# %% [markdown]
# ## Data and initial weights
#
# There are two settings. With their default values, everything is on this machine: four labelled tasks made from the
# documentation of the installed Python packages (the first run collects it, which takes a minute or two), and
# `bertlab-mini`, the small BERT of notebook 05.
#
# - `TASKS` names a task for each type: a built-in one, one of the table at the end of this notebook, or the path of
#   your own file or folder. Published tasks are read from `DATA_DIR` (with `SST-2/`, `MRPC/`, `conll2003/`, `SQuAD/` in
#   it), or from the network.
# - `CHECKPOINT` is a published BERT: the one in the package, a folder, or a name. With BERT-Base the cells below need a
#   GPU, and minutes.

# %%
TASKS = {"sentence": "package", "pair": "pairs", "tagging": "code-words", "question": "parameters"}  # built in
# TASKS |= {"sentence": "sst2", "pair": "mrpc", "tagging": "conll2003", "question": "squad2"}  # published: one, some or all
COLUMNS = {}  # the column names of your own file: {"sentence": {"text": "review", "label": "stars"}}
DATA_DIR = None  # for example "glue_data"; None: from the network (needs `pip install datasets`)
CHECKPOINT = "bertlab-mini"  # or a folder, or a published name such as "google-bert/bert-base-uncased"

# %%
from dataclasses import replace
from pathlib import Path

from bertlab.data.tasks.load import BUILTIN_TASKS, load_task


def task_of(shape: str, train: int, validation: int = 250):
    """The names of the labels, some training examples and some validation examples of a task of this type."""
    name = TASKS[shape]
    if name in BUILTIN_TASKS:
        task = load_task(name, most_train=max(train, 2 * validation), most_validation=validation)
        return task.labels, list(task.train)[:train], list(task.validation)[:validation]
    data_dir = None if Path(name).exists() else DATA_DIR
    task = load_task(name, data_dir=data_dir, columns=COLUMNS.get(shape), validation_share=0.2)
    if not task.train:
        raise ValueError(f"{name}: expected training examples, found none")
    splits = ((task.train, train), (task.validation, validation))
    mixed = ([rows[i] for i in np.random.default_rng(8).permutation(len(rows))[:count]] for rows, count in splits)
    return task.labels, *mixed  # shuffled, because published examples are often sorted


classes, sentences, held_out = task_of("sentence", train=1200, validation=500)
if TASKS["sentence"] == "package":  # five of its ten classes, so that training on two CPU cores is short
    subjects = ("fonttools", "jupyter", "matplotlib", "numpy", "sqlalchemy")  # fonts, notebooks, plots, arrays, databases
    number = {classes.index(name): number for number, name in enumerate(subjects)}
    of_these = ([replace(row, label=number[row.label]) for row in rows if row.label in number] for rows in (sentences, held_out))
    classes, (sentences, held_out) = subjects, of_these
print(f"{len(sentences)} labelled examples, {len(held_out)} held out, {len(classes)} classes: {', '.join(classes)}")
print(textwrap.fill(f"{classes[sentences[0].label]}: {sentences[0].text}", 100))

# %% [markdown]
# ### The encoder and its weights
#
# The encoder is your own `Bert`; your own `load_published` (or the library's version, if you have not passed it yet)
# loads the weights.

# %%
from autograde.student.starting_points import from_notebook_07, published
from mybert.bert import Bert, MlmHead
from mybert.pretraining import gather_positions, mlm_loss
from mybert.wordpiece import pack, tokenize

begin = published(CHECKPOINT)
SHORT, LENGTH = 32, 48  # tokens in an input: for a sentence, and for a pair
print("Your encoder starts from", begin)


def cut(text: str, start=begin) -> list[str]:
    """The tokens of a text, from the vocabulary of this checkpoint."""
    return tokenize(text, start.vocabulary, start.lower_case)


def encode(texts, length: int = LENGTH, start=begin) -> dict[str, np.ndarray]:
    """Splits texts, or pairs of texts, into tokens and packs them; a dict of three arrays (examples, length)."""
    pairs = [text if isinstance(text, tuple) else (text, None) for text in texts]
    in_pieces = [[None if text is None else cut(text, start) for text in pair] for pair in pairs]
    return arrays([pack(first, second, start.vocabulary, length) for first, second in in_pieces])


def arrays(packed: list[dict]) -> dict[str, np.ndarray]:
    """Stacks packed inputs into arrays."""
    return {name: np.array([row[name] for row in packed], "int32") for name in packed[0]}


def built(**sizes):
    """Your encoder, called once so that its weights exist."""
    bert = Bert(**sizes | {"dropout": 0.0})
    bert(*[ops.ones((1, 2), "int32")] * 3)
    return bert


def new_bert(start=begin):
    """Your encoder with the weights of this checkpoint."""
    bert = built(**start.sizes)
    start.fill(bert)
    return bert


print(" ".join(cut("Fine-tuning changes pretrained weights.")))

# %% [markdown]
# ### One training function for all tasks
#
# It needs the encoder, a head, a loss, and a few epochs. On two processor cores most trainings below take half a minute
# to a minute, and print nothing until they end. The paper's recipe: batches of 16 or 32, 2 to 4 epochs, a
# learning rate of 2e-5, 3e-5 or 5e-5 (appendix A.3), which in the published code rises over the first tenth of the
# steps and then falls. Small encoders need larger rates: here 5e-4. The paper keeps dropout at 0.1. `built` above turns
# off the encoder's, because a hundred steps on a few hundred examples are too few to learn with it: with 0.1 the questions
# at the end of this notebook get about half of the F1. With many examples take 0.1.

# %%
import tensorflow as tf


class FineTuned(keras.Model):
    """Your encoder with one head. The head gets the vectors and, if the input has it, `may_answer`."""

    def __init__(self, bert, head):
        super().__init__()
        self.bert, self.head = bert, head
        bert.pooler.trainable = False  # our heads use the encoder's own vectors

    def call(self, row, training=None):
        hidden, _ = self.bert(row["token_ids"], row["token_type_ids"], row["attention_mask"], training=training)
        if "may_answer" in row:
            return self.head(hidden, row["may_answer"])
        return self.head(hidden, training=training)


class LayerwiseAdam(keras.optimizers.Adam):
    """Adam with a factor for the step of each variable; factors: one for each, in the model's order, or None."""

    factors = None

    def update_step(self, gradient, variable, learning_rate):
        factor = 1.0 if self.factors is None else self.factors[self._get_variable_index(variable)]
        super().update_step(gradient, variable, learning_rate * factor)


RATE = 5e-5 if begin.sizes["hidden_size"] >= 512 else 5e-4


def fine_tune(bert, head, rows, targets, loss, epochs=3, rate=RATE, batch=16, factors_of=None, again=None):
    """Trains an encoder and a head.

    factors_of: model → {path of a variable: factor of its rate}
    again: a model that this function has trained on as many examples; reuses its compiled step, which saves seconds
    """
    batch = min(batch, len(targets))
    model = FineTuned(bert, head)
    model({name: array[:2] for name, array in rows.items()})
    if again is not None:
        again.set_weights(model.get_weights())
        for variable in again.optimizer.variables:
            variable.assign(ops.zeros_like(variable))
        model = again
    else:
        steps = epochs * (len(targets) // batch)
        warm = max(1, steps // 10)
        schedule = keras.optimizers.schedules.CosineDecay(0.0, max(1, steps - warm), warmup_target=rate, warmup_steps=warm)
        optimizer = LayerwiseAdam(schedule, global_clipnorm=1.0)
        if factors_of:
            by_path = factors_of(model)
            optimizer.factors = [by_path[variable.path] for variable in model.trainable_variables]
        optimizer.build(model.trainable_variables)  # before the first step, which TensorFlow would otherwise trace twice
        model.compile(optimizer, loss, jit_compile=False)
    # Full batches only: then your layers know all sizes. The examples left out are others in each epoch.
    examples = tf.data.Dataset.from_tensor_slices((rows, targets)).shuffle(len(targets))
    model.fit(examples.batch(batch, drop_remainder=True), epochs=epochs, shuffle=False, verbose=0)
    return model


def predict(model, rows) -> np.ndarray:
    """The logits of all examples, a hundred at a time."""
    count = len(rows["token_ids"])
    parts = [{name: array[place : place + 100] for name, array in rows.items()} for place in range(0, count, 100)]
    return np.concatenate([np.array(model(part)) for part in parts])

# %% [markdown]
# ---
# # Task type 1: a sentence and its class
#
# ## 8.1 A head on [CLS] · 3 points · ~6 minutes · Devlin et al. 2019, section 4.1
#
# [CLS] is not a word, so its vector is free to represent the whole text. Call the encoder's output at position 0
# $C \in \mathbb{R}^H$. A classifier is one matrix:
#
# $$\text{logits} = C\, W + b \qquad W \in \mathbb{R}^{H \times K},\; K \text{ classes}$$
#
# That is all that is new in fine-tuning: $H K + K$ parameters beside millions that exist already. In training, dropout
# is applied between $C$ and $W$, to each number by itself. The softmax belongs to the loss (`from_logits=True`), which
# can then compute log-softmax in a numerically stable way.
#
# Name the linear layer `self.dense`. (The published code sends $C$ through the pooler of notebook 05 first, a layer
# with tanh that was trained by next-sentence prediction. The paper's formula has none, and we follow the paper.)

# %% nbgrader={"grade": false, "grade_id": "cls-head", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ClassificationHead(keras.layers.Layer):
    """Classifies a whole text by the vector of [CLS].

    call: hidden (batch, tokens, hidden), the encoder's output
    returns (batch, num_labels) logits
    """

    def __init__(self, num_labels: int, dropout: float = 0.1, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels, name="dense")
        ### END SOLUTION

    def call(self, hidden: Tensor, training: bool | None = None) -> Tensor:
        # 1. the vector of [CLS]   2. dropout   3. the linear layer
        ### BEGIN SOLUTION
        cls = hidden[:, 0]  # (batch, hidden)
        cls = self.dropout(cls, training=training)
        return self.dense(cls)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-cls-head", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(ClassificationHead)

# %% [markdown]
# ### Run the first task type
#
# *Which package does this paragraph of documentation come from?* There are five packages, each with about as many
# examples as the others and with its own name masked: guessing gives 20 %.

# %%
keras.utils.set_random_seed(1)
texts, held_out_texts = [row.text for row in sentences], [row.text for row in held_out]
targets, truth = (np.array([row.label for row in rows]) for rows in (sentences, held_out))
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

model = fine_tune(new_bert(), ClassificationHead(len(classes)), encode(texts, SHORT), targets, cross_entropy)
logits = predict(model, encode(held_out_texts, SHORT))
right = np.mean(logits.argmax(axis=1) == truth)
error = np.sqrt(right * (1 - right) / len(truth))
print(f"{right:.1%} of {len(truth)} held-out examples right (± {error:.1%}, one standard error)")

# %% [markdown]
# **See it.** Which classes are confused? Rows are true classes, columns predictions; each row sums to 1.

# %%
confusion = np.zeros((len(classes), len(classes)))
np.add.at(confusion, (truth, logits.argmax(axis=1)), 1)
heat_maps(
    [confusion / confusion.sum(axis=1, keepdims=True)],
    titles=["true (row) against predicted (column)"],
    rows=list(classes),
    columns=list(classes),
    numbers=True,
    largest=1,
    alt="Confusion matrix, the fraction of right predictions in each true class: "
    + ", ".join(f"{name} {share:.0%}" for name, share in zip(classes, np.diag(confusion) / confusion.sum(axis=1))),
)

# %% [markdown]
# **Read the mistakes, the most confident first.** This is the most useful quarter of an hour in any project: where a
# model is *confident* and wrong you find wrong labels, examples that nobody could classify, and the words on which the
# model relies.

# %%
def surest_mistakes(texts, truth, logits, names, max_mistakes=4):
    """Prints the wrong predictions with the largest probabilities."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    given = shares.argmax(axis=1)
    wrong = [row for row in np.argsort(-shares.max(axis=1)) if given[row] != truth[row]]
    for row in wrong[:max_mistakes]:
        text = textwrap.shorten(texts[row], 150, placeholder=" …")
        print(f"{shares[row].max():4.0%} {names[given[row]]}, but it is {names[truth[row]]}:")
        print(textwrap.fill(text, 90, initial_indent="     ", subsequent_indent="     "), end="\n\n")


surest_mistakes(held_out_texts, truth, logits, classes)

# %% [markdown]
# ---
# # The benefit of pre-training
#
# Under task type 3 you will measure it on real text. *Why* pre-training helps is easier to see in a **small world**
# that a model can learn in seconds: two dozen animals and tools, and sentences, made by the next cell, about what they
# do and where.
#
# The task: is it alive? The labelled examples are few and contain no other information: *we see the robin here* → yes,
# *we see the hammer here* → no. **Ten of the twenty-four nouns have labels; the test is about the other fourteen.**
# From the labels alone nothing can be known about them. But in the unlabelled sentences an owl sleeps and eats, like a
# robin.

# %%
LIVING = "robin dog cat horse bee owl fox hen mouse cow frog goat".split()
TOOLS = "hammer saw knife nail wheel lamp rope spade bucket clock ladder chair".split()
TELLING = {
    True: ("hungry wild young sleepy".split(), LIVING, "sleeps eats drinks runs".split(), "nest stable pond barn".split()),
    False: ("rusty broken wooden heavy".split(), TOOLS, "hangs breaks lies leans".split(), "workshop drawer shed cellar".split()),
}


def made_sentence(chance) -> str:
    """Four words that go together, or, one time in five, a sentence without information."""
    how, what, does, where = (str(chance.choice(words)) for words in TELLING[bool(chance.random() < 0.5)])
    return f"the {how} {what} {does} in the {where}" if chance.random() < 0.8 else f"we see the {what} here"


chance = np.random.default_rng(8)
world = [made_sentence(chance) for _ in range(3000)]
world_words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({word for text in world for word in text.split()})]
world_vocabulary = {word: number for number, word in enumerate(world_words)}
WORLD = dict(vocab_size=len(world_words), hidden_size=32, num_layers=2, num_heads=2, intermediate_size=128, max_positions=10, dropout=0.0)


def encode_world(texts):
    return arrays([pack(text.split(), None, world_vocabulary, WORLD["max_positions"]) for text in texts])


print(*world[:4], sep="\n")

# %% [markdown]
# Pre-training, with your own `Bert`, `MlmHead`, `gather_positions` and `mlm_loss`: one word of each sentence is chosen,
# and replaced by [MASK] in 80 % of the cases, by a random word in 10 %, and not changed in 10 %.

# %%
def pretrain(bert, rows, steps=600, batch=64):
    """Masked language modelling; returns the loss of each step."""
    head, table = MlmHead(WORLD["vocab_size"]), bert.embeddings.token.embeddings
    head(ops.zeros((1, 1, WORLD["hidden_size"])), table)
    variables = [v for part in (bert.embeddings, bert.encoder, head) for v in part.trainable_variables]
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(3e-3, steps, 0.0), global_clipnorm=1.0)
    optimizer.build(variables)

    @tf.function
    def step(ids, is_real, positions, labels):
        with tf.GradientTape() as tape:
            hidden, _ = bert(ids, ops.zeros_like(ids), is_real, training=True)
            logits = head(gather_positions(hidden, positions), bert.embeddings.token.embeddings)
            loss = mlm_loss(logits, labels, ops.ones(ops.shape(labels)))
        gradients = tape.gradient(loss, [variable.value for variable in variables])
        optimizer.apply_gradients(zip(gradients, variables))
        return loss

    losses = []
    for _ in range(steps):
        chosen = chance.integers(len(rows["token_ids"]), size=batch)
        ids, is_real = rows["token_ids"][chosen], rows["attention_mask"][chosen]
        words = is_real.sum(axis=1, keepdims=True) - 2
        positions = 1 + (chance.random((batch, 1)) * words).astype("int32")
        labels = np.take_along_axis(ids, positions, axis=1)
        fate, any_word = chance.random((batch, 1)), chance.integers(5, WORLD["vocab_size"], size=(batch, 1))
        shown = np.where(fate < 0.8, world_vocabulary["[MASK]"], np.where(fate < 0.9, any_word, labels))
        np.put_along_axis(ids, positions, shown, axis=1)
        losses.append(float(step(*(ops.convert_to_tensor(part, "int32") for part in (ids, is_real, positions, labels)))))
    return losses


keras.utils.set_random_seed(4)
reader_of_the_world = built(**WORLD)
losses = pretrain(reader_of_the_world, encode_world(world))
world_weights = reader_of_the_world.get_weights()
lines(
    range(20, len(losses) + 1, 20),
    {"masked-language-model loss": np.reshape(losses, (-1, 20)).mean(axis=1)},
    title="Pre-training without labels",
    x="step",
    y="loss (mean of 20)",
    alt=f"The loss of the small pre-training falls from {losses[0]:.1f} to {np.mean(losses[-20:]):.2f}",
)

# %% [markdown]
# **See it.** The similarity (cosine) of the nouns' embeddings, first with random weights, then after pre-training. The
# mean of all embeddings is subtracted first. No label was used.

# %%
def similarities(bert, nouns):
    table = ops.convert_to_numpy(bert.embeddings.token.embeddings)
    vectors = (table - table.mean(axis=0))[[world_vocabulary[noun] for noun in nouns]]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


some = LIVING[:8] + TOOLS[:8]
before, after = similarities(built(**WORLD), some), similarities(reader_of_the_world, some)
heat_maps(
    [before, after],
    titles=["random weights", "after pre-training"],
    rows=some,
    columns=some,
    largest=1,
    alt="Similarities of sixteen nouns: random weights show no structure; after pre-training there are two dark blocks, "
    "animals and tools",
)

# %% [markdown]
# Now train the same head on the same ten labelled examples for the same number of steps, from random and from
# pre-trained weights; two seeds each, because with so few examples the result depends on the seed.

# %%
labelled_nouns, other_nouns = LIVING[:5] + TOOLS[:5], LIVING[5:] + TOOLS[5:]


def seen(nouns):
    """The examples *we see the … here* and whether each noun is alive."""
    return encode_world([f"we see the {noun} here" for noun in nouns]), np.array([int(noun in LIVING) for noun in nouns])


def start_in_world(weights, seed):
    """An encoder with these weights (None: random ones) and a new head."""
    keras.utils.set_random_seed(seed)
    bert = built(**WORLD)
    if weights is not None:
        bert.set_weights(weights)
    return bert, ClassificationHead(2)


def right_in_world(model):
    """The accuracy on the labelled and on the other nouns."""
    pairs = map(seen, (labelled_nouns, other_nouns))
    return [float(np.mean(predict(model, rows).argmax(axis=1) == truth)) for rows, truth in pairs]


rows, targets = seen(labelled_nouns * 60)  # the ten examples, sixty times
model = None
for name, weights in {"from scratch": None, "pre-trained": world_weights}.items():
    for seed in (1, 2):
        model = fine_tune(*start_in_world(weights, seed), rows, targets, cross_entropy, rate=2e-3, batch=32, again=model)
        known, others = right_in_world(model)
        print(f"{name:13} seed {seed}: labelled nouns {known:4.0%}   other nouns {others:4.0%}")

# %% [markdown]
# All four models have learned their ten examples by heart. Only the pre-trained ones can classify nouns without a label,
# because their vectors are close to those of nouns with a label. That is what pre-training is worth: a label for one
# word becomes a label for similar words, and tasks with few labels gain most. It is the same on real text, with more
# pre-training: BERT-Base gets 52.1 on CoLA, GPT had 45.4, and the best system before GPT 36.0 (paper, table 1). ⚠ Not "by
# orders of magnitude", as a lecture has it: the average over GLUE's tasks rose from 75.1 (GPT) to 79.6 (Base) and 82.1
# (Large).

# %% [markdown]
# ---
# # Task type 2: two sentences
#
# Two texts form one input: `[CLS] A [SEP] B [SEP]`, and the segment ids mark which is which. Other models of the time
# encoded A and B separately and then let each attend to the other (*bidirectional cross-attention*). In a packed input
# self-attention does both at once (section 3.2 of the paper): two of the four blocks below *are* cross-attention. A and B
# may be two paraphrases, a hypothesis and a premise, or a question and a passage; with an empty B it is a single text,
# as in task types 1 and 3.

# %%
first, second = "the robin sat", "it sang"
pieces = ["[CLS]", *first.split(), "[SEP]", *second.split(), "[SEP]"]
segment = np.array([0] * 5 + [1] * 3)
blocks = np.where(segment[:, None] == segment[None, :], 0.25, 1.0)
heat_maps(
    [blocks],
    titles=["dark: A (row) attends to B (column), or B to A"],
    rows=pieces,
    columns=pieces,
    largest=1,
    alt="An eight by eight matrix of queries and keys: the two blocks where one segment attends to the other are dark, "
    "the two where a segment attends to itself are light",
)

# %% [markdown]
# ## 8.2 When accuracy misleads · 3 points · ~7 minutes
#
# MRPC asks whether two sentences have the same meaning; two in three pairs do. A model that always answers "yes" is
# right two times in three and has learned nothing. So the leaderboards show a second number: for MRPC and QQP it is F1,
# for CoLA Matthews' correlation. Both metrics are computed from four counts: true and false positives and negatives.
#
# $$F_1 = \frac{2\,TP}{2\,TP + FP + FN} \qquad
# \text{Matthews} = \frac{TP \cdot TN - FP \cdot FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}$$
#
# Matthews' correlation is 1 for perfect predictions, 0 for predictions without any information, −1 for the opposite of
# the truth. Where a denominator is 0, the metric is 0 by convention. Both must also be right for 100,000 examples and
# more. There the product of the four sums is too large for NumPy's 64-bit integers: use Python's `int` or floats.

# %% nbgrader={"grade": false, "grade_id": "f1-matthews", "locked": false, "schema_version": 3, "solution": true, "task": false}
def f1_and_matthews(gold: list[int], predicted: list[int]) -> tuple[float, float]:
    """Two metrics for two classes.

    gold, predicted: 0 or 1 for each example; 1 is the positive class
    returns (F1 of class 1, Matthews' correlation)
    """
    # 1. the four counts   2. two fractions; 0.0 where the denominator is 0
    ### BEGIN SOLUTION
    pairs = list(zip(gold, predicted))
    tp, fp, fn, tn = pairs.count((1, 1)), pairs.count((0, 1)), pairs.count((1, 0)), pairs.count((0, 0))
    f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    spread = ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    matthews = (tp * tn - fp * fn) / spread if spread else 0.0
    return f1, matthews
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-f1-matthews", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(f1_and_matthews)

# %% [markdown]
# **See it.** Twelve pairs, eight of them paraphrases, and three ways to answer.

# %%
truth = [1] * 8 + [0] * 4
answers = {
    "always yes": [1] * 12,
    "a coin": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
    "two mistakes": [1] * 7 + [0, 1] + [0] * 3,
}
for name, given in answers.items():
    right = sum(a == b for a, b in zip(truth, given)) / len(truth)
    f1, matthews = f1_and_matthews(truth, given)
    print(f"{name:13} accuracy {right:.2f}   F1 {f1:.2f}   Matthews {matthews:5.2f}")

# %% [markdown]
# "Always yes" has a high F1 too, because most pairs are positive: only Matthews' correlation shows that it knows nothing.

# %% [markdown]
# ### Run the second task type
#
# *Is this text the continuation of that summary?* (Built from docstrings; the wrong continuations come from the same
# package, so the topic does not reveal the answer.) The answer is in neither text alone, only in their relation. But
# `bertlab-mini` was pre-trained to answer almost the same question, whether one segment follows another, so it learns
# it from a few hundred pairs. Matthews' correlation shows what a model knows: no information at all is 0.

# %%
pair_names, pairs, held_out_pairs = task_of("pair", train=400)
rows = encode([(row.text_a, row.text_b) for row in pairs])
held_out_rows = encode([(row.text_a, row.text_b) for row in held_out_pairs])
truth = np.array([row.label for row in held_out_pairs])
keras.utils.set_random_seed(2)
targets = np.array([row.label for row in pairs])
pair_reader = fine_tune(new_bert(), ClassificationHead(len(pair_names)), rows, targets, cross_entropy, epochs=2)
given = predict(pair_reader, held_out_rows).argmax(axis=1)
f1, matthews = f1_and_matthews(truth.tolist(), given.tolist())
print(f"accuracy {np.mean(given == truth):.2f}   F1 of \"{pair_names[1]}\" {f1:.2f}   Matthews {matthews:.2f}")
print(f"always the same class: accuracy {max(np.mean(truth == 0), np.mean(truth == 1)):.2f}   Matthews 0.00")

# %% [markdown]
# ## 8.3 Which continuation? · 3 points · ~6 minutes · Devlin et al. 2019, section 4.4
#
# SWAG gives a beginning and four continuations, of which one is sensible. Each of the four becomes a packed pair with
# the same beginning: four sequences for one question. A single new vector $V \in \mathbb{R}^H$ gives each sequence a
# score, its dot product with the [CLS] vector of that sequence, and a softmax compares the scores of one question:
#
# $$P_i = \frac{e^{V \cdot C_i}}{\sum_{j=1}^{4} e^{V \cdot C_j}}$$
#
# The sequences of a question follow each other: 0 to 3 are question 1, 4 to 7 question 2. Return the scores; the loss
# applies the softmax. The gradient must reach `v` and the encoder.

# %% nbgrader={"grade": false, "grade_id": "choice-logits", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choice_logits(hidden: Tensor, v: Tensor, choices: int) -> Tensor:
    """The scores of the choices of each question.

    hidden: (questions * choices, tokens, hidden), the encoder's output    v: (hidden,)
    returns (questions, choices)
    """
    # 1. [CLS] of every sequence   2. one number per sequence   3. one row per question
    ### BEGIN SOLUTION
    cls = hidden[:, 0]
    scores = ops.matmul(cls, v)  # (questions * choices,)
    return ops.reshape(scores, (-1, choices))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-choice-logits", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(choice_logits)

# %% [markdown]
# **See it.** The small world again, whose pairs can be learned in seconds: a beginning (*the hungry goat*) and a
# continuation (*sleeps in the stable*) that belongs to it or not. The head of 8.1 learns that first. Its matrix has a
# column for "belongs" and one for "other". Their difference is a vector $V$, with which your `choice_logits` chooses
# among four continuations, without any further training. ★ marks the right one.

# %%
def drawn(alive: bool) -> list[str]:
    return [str(chance.choice(words)) for words in TELLING[alive]]


def parted(belongs: bool) -> tuple[list[str], list[str]]:
    """The words of a beginning and of a continuation that belongs to it or not."""
    alive = bool(chance.random() < 0.5)
    how, what, _, _ = drawn(alive)
    _, _, does, where = drawn(alive == belongs)
    return ["the", how, what], [does, "in", "the", where]


def encode_parted(pairs):
    return arrays([pack(first, second, world_vocabulary, WORLD["max_positions"]) for first, second in pairs])


chance = np.random.default_rng(11)
other = np.arange(960) % 2  # 0 belongs, 1 does not
pair_model = fine_tune(
    *start_in_world(world_weights, 1), encode_parted([parted(label == 0) for label in other]), other, cross_entropy,
    epochs=5, rate=2e-3, batch=32,
)  # fmt: skip
questions = []
for _ in range(40):
    beginning, right = parted(belongs=True)
    alive = right[0] in TELLING[True][2]
    wrong = [[does, "in", "the", where] for _, _, does, where in (drawn(not alive) for _ in range(3))]
    questions.append((beginning, [right, *wrong]))
rows = encode_parted([(beginning, text) for beginning, texts in questions for text in texts])
hidden, _ = pair_model.bert(rows["token_ids"], rows["token_type_ids"], rows["attention_mask"])
kernel = pair_model.head.dense.kernel
scores = np.array(choice_logits(hidden, kernel[:, 0] - kernel[:, 1], 4))  # (questions, 4)
print(f"the right one of four in {np.mean(scores.argmax(axis=1) == 0):.0%} of {len(scores)} questions; guessing gives 25%")
for beginning, texts in questions[:2]:
    print(" ".join(beginning), "…")
    for score, text in zip(scores[questions.index((beginning, texts))].tolist(), texts):
        print(f"  {score:6.2f} {'★' if text == texts[0] else ' '} … {' '.join(text)}")

# %% [markdown]
# ## 8.4 How similar? A number instead of a class · 3 points · ~7 minutes
#
# STS-B asks for a number from 0 (nothing in common) to 5 (the same meaning). The head is the one of 8.1 with
# `num_labels=1`, the loss is the squared error. In one of the lectures "A pride of lions surrounded a monkey" and
# "Lions encompassed a monkey" have 4.7.
#
# Two metrics are reported. *Pearson's* correlation of true and predicted numbers measures a linear relation.
# *Spearman's* measures only the order: it is Pearson's correlation of the **ranks**. Equal values get the mean of their
# ranks: 3, 7, 7, 9 have the ranks 1, 2.5, 2.5, 4. Only equal values share a rank, however close others are.
# (`np.corrcoef(a, b)[0, 1]` is Pearson's.) In each list at least two numbers differ; otherwise there is no correlation.

# %% nbgrader={"grade": false, "grade_id": "spearman", "locked": false, "schema_version": 3, "solution": true, "task": false}
def spearman(gold: list[float], predicted: list[float]) -> float:
    """Spearman's rank correlation; equal values get the mean of their ranks.

    gold, predicted: one number for each example
    """
    # 1. ranks of both, from 1   2. Pearson's correlation of the ranks
    ### BEGIN SOLUTION
    def ranks(values):
        values = np.asarray(values)
        smaller = np.sum(values[None, :] < values[:, None], axis=1)
        equal = np.sum(values[None, :] == values[:, None], axis=1)
        return smaller + (equal + 1) / 2

    return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-spearman", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(spearman)

# %% [markdown]
# **See it.** Predictions in perfect order on a curve, and predictions with one extreme error: Spearman depends only on
# the order; Pearson also falls because of the curve and because of the size of the error.

# %%
similarity = [0.2, 1.0, 1.8, 2.6, 3.4, 4.2, 5.0]
guesses = {"a curve": [float(np.exp(s)) for s in similarity], "extreme error": [0.0, 0.9, 40.0, 2.5, 3.0, 4.0, 5.0]}
for name, guess in guesses.items():
    pearson = np.corrcoef(similarity, guess)[0, 1]
    print(f"{name:15} Pearson {pearson:5.2f}   Spearman {spearman(similarity, guess):5.2f}")

# %% [markdown]
# ---
# # Task type 3: a label for every word
#
# ## 8.5 Words have labels, tokens do not · 3 points · ~7 minutes · Devlin et al. 2019, section 5.3
#
# An annotator has labelled *words*; BERT reads *tokens*. `B-` begins an entity (such as a name), `I-` continues it, `O`
# is outside of all:
#
# | | Paris | 's | Geoguessr |
# |---|---|---|---|
# | tag | B-LOC | O | B-PRODUCT |
# | tokens | paris | ' s | geo ##gu ##es ##sr |
#
# The paper predicts a tag only for the **first** token of each word: its vector includes all the others through
# attention anyway. All other positions, including [CLS] and [SEP], get the label −100, which is no class and which the
# loss will ignore. A word can have an empty list of tokens (a single control character): then it gets no label. Every
# other word gets exactly one label; its tokens may be anything, also `[UNK]`, a single bracket, or the same token three
# times.

# %% nbgrader={"grade": false, "grade_id": "align-labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
IGNORED = -100  # the label of a position that the loss ignores


def align_labels(pieces_of_words: list[list[str]], tags: list[int]) -> list[int]:
    """A label for each position of [CLS] tokens [SEP].

    pieces_of_words: the tokens of each word    tags: the tag of each word
    returns the tag at each word's first token, IGNORED everywhere else
    """
    ### BEGIN SOLUTION
    labels = [IGNORED]  # [CLS]
    for pieces, tag in zip(pieces_of_words, tags):
        for index, piece in enumerate(pieces):
            labels.append(tag if index == 0 else IGNORED)
    labels.append(IGNORED)  # [SEP]
    return labels
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-align-labels", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(align_labels)

# %%
words = {"paris": ["paris"], "'s": ["'", "s"], "geoguessr": ["geo", "##gu", "##es", "##sr"]}
labels = align_labels(list(words.values()), [1, 0, 3])
for piece, label in zip(["[CLS]", *(piece for pieces in words.values() for piece in pieces), "[SEP]"], labels):
    print(f"{piece:6} {label:5}")

# %% [markdown]
# ## 8.6 A loss that ignores tokens · 4 points · ~10 minutes
#
# The head of a tagger is a `Dense` on *every* token: $\text{logits} \in \mathbb{R}^{B \times \ell \times K}$. Each
# token is classified independently; no tag depends on its neighbour's ("not conditioned on surrounding predictions", as
# one lecture notes). The loss is the mean of $-\log P[\text{correct tag}]$ over the positions that have a label:
#
# $$L = -\frac{1}{|M|} \sum_{(b, t) \in M} \log \text{softmax}(\text{logits}[b, t])[\,y_{b,t}\,] \qquad M = \{(b, t) : y_{b,t} \neq -100\}$$
#
# The mean is over *all* labelled positions of the batch together, from all its sentences. If there are none, the loss
# is 0, and so is its gradient: compute this 0 from the logits too, since a constant has no gradient at all. The loss
# must be finite for any logits (`ops.log_softmax`), and training needs its gradient: compute with `ops`. `fit` calls the
# loss inside of `tf.function`, where a tensor has no numbers yet: choose with `ops.where` or `ops.maximum`, not with
# `if`. The check makes one of its calls there.

# %% nbgrader={"grade": false, "grade_id": "tagging-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tagging_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over the positions that have a label.

    logits: (batch, tokens, classes)    labels: (batch, tokens) integers, IGNORED where there is no label
    returns a scalar; 0 if no position has a label
    """
    # 1. which positions count?   2. log-probabilities of the correct classes there   3. their mean
    ### BEGIN SOLUTION
    counts = ops.not_equal(labels, IGNORED)
    looked_up = ops.where(counts, labels, 0)  # −100 is no index
    log_shares = ops.log_softmax(logits, axis=-1)
    chosen = ops.take_along_axis(log_shares, ops.expand_dims(looked_up, -1), axis=-1)[..., 0]  # (batch, tokens)
    weights = ops.cast(counts, logits.dtype)
    return -ops.sum(chosen * weights) / ops.maximum(ops.sum(weights), 1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-tagging-loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(tagging_loss)

# %% [markdown]
# ### Run the third task type
#
# *Which words of this sentence were marked as code?* The head is Keras's `Dense`, on every token.

# %%
tag_names, tagged, held_out_tagged = task_of("tagging", train=400)


def encode_tagged(rows, start=begin, length: int = SHORT):
    """Packed inputs and their labels (examples, length), by your align_labels; truncated to the length."""
    packed, labels = [], []
    for row in rows:
        pieces = [cut(word, start) for word in row.words]
        packed.append(pack(sum(pieces, []), None, start.vocabulary, length))
        wanted = align_labels(pieces, row.tags)[: length - 1]
        labels.append(wanted + [IGNORED] * (length - len(wanted)))
    return arrays(packed), np.array(labels, "int32")


def tags_loss(labels, logits):
    return tagging_loss(logits, ops.cast(labels, "int32"))


from bertlab.data.tasks.metrics_entities import entity_scores


def tags_after(start):
    """Held-out tags (examples, length): true ones, those of a tagger with this start, and a mask of the labelled ones."""
    keras.utils.set_random_seed(3)
    rows, targets = encode_tagged(tagged, start)
    tagger = fine_tune(new_bert(start), keras.layers.Dense(len(tag_names)), rows, targets, tags_loss, epochs=2)
    rows, truth = encode_tagged(held_out_tagged, start)
    return truth, predict(tagger, rows).argmax(axis=-1), truth != IGNORED


def scores_of(truth, given, asked) -> dict:
    """Accuracy of words and F1 of whole entities."""
    gold, guess = ([[tag_names[tag] for tag in line[mask]] for line, mask in zip(tags, asked)] for tags in (truth, given))
    return entity_scores(gold, guess)


truth, given, asked = tags_after(begin)
scores = scores_of(truth, given, asked)
print(f"always O: {np.mean(truth[asked] == 0):.1%} of the words right, and no entity found")
print(f"your tagger: {scores['accuracy']:.1%} of the words right; F1 of whole entities {scores['f1']:.1%}")

# %% [markdown]
# Once more accuracy is misleading: most words are not code, so "always O" gets most of them right. The metric for named
# entities, and for this task, is F1 over whole *entities*: a prediction counts only if all words of the entity (here:
# of the code) and its type are right.
#
# **See it.** Five held-out sentences. `[…]` is what the tagger marks as code. A wrong tag is followed by the right one:
# `✗ B` where an entity begins, `✗ I` inside of one, `✗ O` outside of all.

# %%
for line, row in enumerate(held_out_tagged[:5]):
    shown = []
    for word, tag, right in zip(row.words, given[line][asked[line]], truth[line][asked[line]]):
        shown.append((f"[{word}]" if tag else word) + ("" if tag == right else f" ✗ {tag_names[right][0]}"))
    print(textwrap.fill("· " + " ".join(shown), 100, subsequent_indent="  "))

# %% [markdown]
# **How much does pre-training help on real text?** The same examples, the same head and the same number of steps, from
# other initial weights: from random ones in the same sizes, and, if you ran notebook 07, from your own. (Without a GPU
# it has two layers, half as wide, and about five minutes of training: both size and training matter.)

# %%
found = {"random weights": scores_of(*tags_after(begin.untrained()))["f1"]}
if (yours := from_notebook_07()) is not None:
    found["yours, from 07"] = scores_of(*tags_after(yours))["f1"]
found[Path(CHECKPOINT).name] = scores["f1"]
bars(
    [name.replace(" ", "\n", 1) for name in found],
    {"F1": [100 * share for share in found.values()]},
    title=f"{len(tagged)} labelled sentences: entities found",
    x="initial weights of the encoder",
    y="F1, %",
    numbers=True,
    alt="F1 of the tagger by the initial weights: " + ", ".join(f"{name} {share:.0%}" for name, share in found.items()),
)

# %% [markdown]
# ---
# # Task type 4: a question and its answer
#
# *Who wrote the Harry Potter series? — The Harry Potter was written by J.K. Rowling.* (from one of the lectures). The
# answer is not generated: the model **points to** its first and its last token. (⚠ Another lecture calls this
# "open-domain": *Who founded the country?* with *The country was founded by George Washington*. With a given passage it is
# *reading comprehension*; an open-domain system must find the passage first.)
#
# ## 8.7 Where does it begin, where does it end? · 4 points · ~8 minutes · Devlin et al. 2019, section 4.2
#
# A question and a paragraph are packed as a pair. There are two new vectors, $S$ for start and $E$ for end. The score
# of a token is the dot product with its vector $T_i$, and a softmax compares the tokens:
#
# $$P^\text{start}_i = \frac{e^{S \cdot T_i}}{\sum_j e^{S \cdot T_j}} \qquad\qquad
# P^\text{end}_i = \frac{e^{E \cdot T_i}}{\sum_j e^{E \cdot T_j}}$$
#
# $S$ and $E$ side by side are a `Dense(2)` (name it `self.dense`), here with its usual bias: it gives (batch, tokens, 2).
# The losses need the logits of all tokens in one row, so return (batch, 2, tokens), starts in row 0, ends in row 1.
#
# Not every token can be part of the answer: those of the question and [PAD] cannot. `may_answer` is True for those that
# can (the paragraph, and [CLS], which will mean "no answer"); all others get exactly `MASKED_SCORE`, as in notebook 03.

# %% nbgrader={"grade": false, "grade_id": "span-head", "locked": false, "schema_version": 3, "solution": true, "task": false}
MASKED_SCORE = -1e9  # the logit of a token that cannot be part of the answer


class SpanHead(keras.layers.Layer):
    """Start and end logits of every token.

    call: hidden (batch, tokens, hidden), may_answer (batch, tokens) booleans
    returns (batch, 2, tokens): [b, 0, i] the logit of token i as the start of the answer,
    [b, 1, i] as its end
    """

    def __init__(self, **kwargs):
        ### BEGIN SOLUTION
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2, name="dense")
        ### END SOLUTION

    def call(self, hidden: Tensor, may_answer: Tensor) -> Tensor:
        # 1. two numbers per token   2. exchange the last two axes   3. hide
        ### BEGIN SOLUTION
        logits = self.dense(hidden)  # (batch, tokens, 2)
        logits = ops.transpose(logits, (0, 2, 1))
        return ops.where(ops.expand_dims(may_answer, axis=1), logits, MASKED_SCORE)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-span-head", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(SpanHead)

# %% [markdown]
# ## 8.8 The best span, or none · 5 points · ~12 minutes · Devlin et al. 2019, sections 4.2 and 4.3
#
# Start and end are scored separately, but an answer is a *pair*: the end must not come before the start, an answer has
# at most `longest` tokens, and it lies in the paragraph. Among all possible pairs take the one with the largest sum:
#
# $$\hat s = \max_{\text{first} \le i \le j \le \text{last},\; j - i + 1 \le \text{longest}} S \cdot T_i + E \cdot T_j$$
#
# In SQuAD 2.0 a paragraph may not contain the answer. Then both start and end should point to [CLS], whose score is
# $s_\text{null} = S \cdot C + E \cdot C$. The answer is the span only if its score is larger by more than $\tau$:
#
# $$\hat s > s_\text{null} + \tau$$
#
# All scores may be negative. The threshold $\tau$ is chosen on held-out examples. `first` and `last` are the first
# and last token of the paragraph, both included; there is at least one. If several pairs have the same sum, any of them
# is right.

# %% nbgrader={"grade": false, "grade_id": "best-span", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_span(start, end, first: int, last: int, longest: int, threshold: float = 0.0) -> tuple[int, int]:
    """The answer as its first and last token, or (0, 0) for "no answer".

    start, end: (tokens,) NumPy arrays of logits; position 0 is [CLS]
    first, last: first and last token of the paragraph    longest: maximum number of tokens of an answer
    """
    # 1. the best possible pair   2. is it larger than [CLS] by more than the threshold?
    ### BEGIN SOLUTION
    best, span = -np.inf, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            if start[i] + end[j] > best:
                best, span = start[i] + end[j], (i, j)
    return span if best > start[0] + end[0] + threshold else (0, 0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-best-span", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(best_span)

# %% [markdown]
# **See it.** The lecture's question, with logits written by hand, as a trained model might give them. The best *end*
# taken by itself is "potter", which is also part of a name. A span that ends there must begin at "the", "harry" or
# "potter", whose start logits are low; the pair `j … rowling` has the larger sum. The last line shows the effect of a high score of [CLS].

# %%
row = "[CLS] who wrote the harry potter series ? [SEP] the harry potter was written by j . k . rowling . [SEP]".split()
first, last = row.index("[SEP]") + 1, len(row) - 2
start, end = np.full(len(row), -3.0), np.full(len(row), -3.0)
start[[9, 10, 15]] = 1.5, 2.0, 4.0
end[[11, 16, 19]] = 4.6, 0.5, 4.2
found = best_span(start, end, first, last, longest=8)
span_bars(
    row,
    start,
    end,
    found,
    alt="Bars of start and end logits over the tokens of the question and the paragraph; the span j . k . rowling is "
    "marked",
)
print("answer:", " ".join(row[found[0] : found[1] + 1]))
print("best start and best end, each by itself:", row[start.argmax()], "…", row[end.argmax()])
print("if [CLS] had 5 and 5:", best_span(np.r_[5.0, start[1:]], np.r_[5.0, end[1:]], first, last, longest=8))

# %% [markdown]
# ## 8.9 Nearly right: exact match and F1 of spans · 3 points · ~8 minutes · Rajpurkar et al. 2016, section 6.1
#
# "J.K. Rowling" is right; "by J.K. Rowling" is nearly right. SQuAD reports two metrics. First, capitals, punctuation
# and articles are removed from both texts (`normal_words`). **Exact match** is 1 if the results are equal. **F1**
# compares them as bags of words:
#
# $$F_1 = \frac{2 \cdot \text{shared}}{\text{words of the prediction} + \text{words of the answer}}$$
#
# A word that occurs twice on one side and once on the other is shared once. If one side has no words, F1 is 1 if the
# other has none either, otherwise 0. Three annotators may have given three right answers: the best score counts. If
# there is no right answer, the empty text is right.

# %% nbgrader={"grade": false, "grade_id": "span-scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def normal_words(text: str) -> list[str]:
    """Lower case, without punctuation and articles."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction: str, answers: list[str]) -> tuple[float, float]:
    """Compares a predicted text with the best of the right answers.

    answers: all right answers; empty if the text does not contain the answer
    returns (exact match, F1)
    """
    ### BEGIN SOLUTION
    exact, f1 = 0.0, 0.0
    guess = normal_words(prediction)
    for answer in answers or [""]:
        gold = normal_words(answer)
        if gold and guess:
            shared = sum((Counter(gold) & Counter(guess)).values())
            overlap = 2 * shared / (len(gold) + len(guess))
        else:
            overlap = float(gold == guess)
        exact = max(exact, float(gold == guess))
        f1 = max(f1, overlap)
    return exact, f1
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-span-scores", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(span_scores)

# %%
for prediction in ("J.K. Rowling", "the J. K. Rowling", "written by J.K. Rowling", "Harry Potter", ""):
    print("{!r:28} exact {:.0f}   F1 {:.2f}".format(prediction, *span_scores(prediction, ["J.K. Rowling", "Rowling"])))

# %% [markdown]
# The second line is a trap of the official rule: punctuation is *deleted*, not replaced by a space, so "J.K." becomes
# one word and "J. K." two.

# %% [markdown]
# ### Run the fourth task type
#
# *What is axis?*, asked about the description of a function's parameters. Every fourth question is asked about the
# description of another function, which does not contain the answer: there the right answer is "no answer". Question
# and text must fit into 96 tokens; longer ones, about a third, are left out here (SQuAD's are split into overlapping windows:
# `bertlab.data.tasks.windows`).

# %%
ROWS, HELD_OUT, QUESTION_LENGTH, spare = 400, 250, 96, 1
if TASKS["question"] != "parameters":  # most paragraphs of SQuAD are too long for a small BERT
    QUESTION_LENGTH, spare = min(384, begin.sizes["max_positions"]), 12
_, questions, held_out_questions = task_of("question", ROWS * spare, HELD_OUT * spare)


def encode_questions(rows, max_questions: int):
    """Packed inputs with may_answer, the spans of the answers, the spans of the paragraphs, and the examples kept."""
    kept, targets, places = [], [], []
    for number, row in enumerate(rows):
        if len(kept) == max_questions:
            break
        context, starts = row.context, row.answer_starts
        if TASKS["question"] == "parameters" and number % 4 == 3:  # a question that this text does not answer
            context, starts = rows[number - 1].context, ()
        first = 2 + len(cut(row.question))  # behind [CLS], the question and [SEP]
        last = first + len(cut(context)) - 1
        if last > QUESTION_LENGTH - 2:
            continue
        span = (0, 0)  # [CLS] twice: no answer
        if starts:
            start = first + len(cut(context[: starts[0]]))
            span = (start, start + len(cut(row.answers[0])) - 1)
        kept.append((row.question, context, row.answers[: len(starts)]))
        targets.append(span)
        places.append((first, last))
    encoded = encode([(question, context) for question, context, _ in kept], QUESTION_LENGTH)
    columns, (firsts, lasts) = np.arange(QUESTION_LENGTH), np.array(places).T[..., None]
    encoded["may_answer"] = ((columns >= firsts) & (columns <= lasts)) | (columns == 0)
    return encoded, np.array(targets, "int32"), places, kept


def span_loss(targets, logits):
    """Cross-entropy of the starts and of the ends. targets (batch, 2), logits (batch, 2, tokens)"""
    return ops.mean(ops.sparse_categorical_crossentropy(ops.cast(targets, "int32"), logits, from_logits=True))


rows, targets, _, _ = encode_questions(questions, ROWS)
held_out_rows, _, places, asked = encode_questions(held_out_questions, HELD_OUT)
unanswered = sum(not answers for *_, answers in asked)
print(f"{len(targets)} examples to train on, {len(asked)} held out, {unanswered} of these without an answer")
keras.utils.set_random_seed(4)
reader = fine_tune(new_bert(), SpanHead(), rows, targets, span_loss, epochs=2)
logits = predict(reader, held_out_rows)


from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

of_the_library = WordPieceTokenizer(Vocabulary(begin.pieces), begin.lower_case)  # it knows where each token begins


def answer_of(number: int, threshold: float = 0.0) -> str:
    """The best span as it is written in the paragraph; "" for no answer."""
    (first, last), context = places[number], asked[number][1]
    start, end = best_span(*logits[number], first, last, longest=40, threshold=threshold)
    letters = of_the_library.encode_with_offsets(context).offsets  # (tokens, 2): where each begins and ends
    return context[letters[start - first, 0] : letters[end - first, 1]] if start else ""

# %% [markdown]
# Which threshold? Try several on held-out examples. A high one gives too few answers, a low one answers everything. (If
# you choose the threshold and measure on the same examples, the best result is slightly too good; a real project keeps
# a third set.)

# %%
thresholds = [-8, -4, -2, 0, 2, 4, 8]
exact, f1 = [], []
for threshold in thresholds:
    scores = [span_scores(answer_of(n, threshold), list(answers)) for n, (*_, answers) in enumerate(asked)]
    exact.append(np.mean([e for e, _ in scores]))
    f1.append(np.mean([f for _, f in scores]))
    print(f"τ = {threshold:3}: exact match {exact[-1]:.1%}   F1 {f1[-1]:.1%}")
lines(
    thresholds,
    {"F1": f1, "exact match": exact, "always “no answer”": [np.mean([not answers for *_, answers in asked])] * len(thresholds)},
    title="Answer or not?",
    x="threshold τ",
    y="score",
    alt=f"F1 and exact match of the model against the threshold, from {min(f1):.2f} to {max(f1):.2f}",
)

# %%
for number in range(3):
    question, context, answers = asked[number]
    told = {"in": context, "right": answers[0] if answers else "", "yours": answer_of(number)}
    print(question)
    for what, text in told.items():
        print(f"   {what + ':':6} {textwrap.shorten(text, 90, placeholder=' …') or '(no answer)'}")
    print()

# %% [markdown]
# From a few hundred examples even so small a model learns to find the parameter that the question names, and to notice
# when the text does not describe it: its best F1 is far above "always no answer". (An answer is cut out of the text, not
# joined from tokens: `batch - level` would not be `batch-level`.) Exact match is lower than F1, because
# many spans begin or end at the wrong token and still share words with the right one. With the lowest threshold
# every question gets an answer, so those without one are all wrong. BERT-Base, with far more pre-training and 88,000
# questions, reaches F1 88.5 on SQuAD 1.1.

# %% [markdown]
# ---
# # A learning rate for each layer
#
# ## 8.10 Layer-wise learning rates · 3 points · ~6 minutes · Howard & Ruder 2018, section 3.2
#
# The low layers of the encoder learn general features (such as the forms of words), the high layers features that are
# closer to the task, and the head has learned nothing yet. So give each layer its own learning rate, multiplied by
# `decay` at each step *down* from the head. Sun et al. 2019 (section 5.3.4) found 0.95 best for BERT. The list begins
# with the embeddings and ends with the head; for 2 layers, rate 0.1 and decay 0.5:
#
# | embeddings | layer 0 | layer 1 | head |
# |---|---|---|---|
# | 0.0125 | 0.025 | 0.05 | 0.1 |
#
# **Freezing** is the extreme case: the lowest `frozen` rates are 0. `frozen=1` freezes the embeddings, `frozen=2` also
# layer 0, and so on; the largest possible value, `num_layers + 2`, freezes everything.

# %% nbgrader={"grade": false, "grade_id": "layer-rates", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_rates(num_layers: int, rate: float, decay: float, frozen: int = 0) -> list[float]:
    """The learning rates of the embeddings, of each layer, and of the head.

    rate: learning rate of the head    decay: factor of each step down
    frozen: number of lowest entries that are 0
    returns num_layers + 2 numbers, the embeddings' first
    """
    ### BEGIN SOLUTION
    steps_down = range(num_layers + 1, -1, -1)
    rates = [rate * decay**depth for depth in steps_down]
    return [0.0] * frozen + rates[frozen:]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-layer-rates", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(layer_rates)

# %% [markdown]
# **See it.** The small world once more, pre-trained; above, all layers had the same rate. Now the rates are halved at
# each step down; then everything except the head is frozen; four seeds each. Freezing is the cheapest (no gradient below
# the head), but a head alone cannot make [CLS] look at the noun: it must use the [CLS] vector as it is, which was not
# trained for anything during pre-training.

# %%
def factors(decay: float, frozen: int = 0):
    """Returns a function from a model to the factor of each of its variables, by your layer_rates."""

    def of(model):
        parts = [model.bert.embeddings, *model.bert.encoder.layers_, model.head]
        rates = layer_rates(len(parts) - 2, 1.0, decay, frozen)
        return {variable.path: rate for part, rate in zip(parts, rates) for variable in part.trainable_variables}

    return of


rows, targets = seen(labelled_nouns * 60)
for name, way in {"rates halved": factors(0.5), "only the head": factors(1.0, frozen=3)}.items():
    model = None
    for seed in (1, 2, 3, 4):
        model = fine_tune(*start_in_world(world_weights, seed), rows, targets, cross_entropy, 3, 2e-3, 32, way, model)
        known, others = right_in_world(model)
        print(f"{name:13} seed {seed}: labelled nouns {known:4.0%}   other nouns {others:4.0%}")

# %% [markdown]
# With all layers every seed finds the answer. With the head alone look at the *labelled* nouns, the ten examples that
# it was trained on: not one of the four seeds learns even these by heart. The unchanged [CLS] vectors do not tell the
# nouns apart well enough. That is why BERT is fine-tuned *as a whole*, and why the paper, where it tries frozen
# vectors, puts a two-layer BiLSTM on top of them (section 5.3).

# %% [markdown]
# ---
# # The list of tasks
#
# Each of them has one of the four types. "Examples" are those to train on; the last numbers are BERT-Base's in the
# paper (tables 1, 2, 3, 4 and 7). `task_of` reads each of them from its published files, and so does
# `bertlab finetune NAME`.
#
# | task | question | type | examples | metric | BERT-Base | name |
# |---|---|---|---|---|---|---|
# | SST-2 | is this film review positive? | sentence | 67,000 | accuracy | 93.5 | `sst2` |
# | CoLA | is this a sentence of English? | sentence | 8,600 | Matthews | 52.1 | `cola` |
# | MRPC | do these news sentences have the same meaning? | pair | 3,700 | F1, accuracy | 88.9 | `mrpc` |
# | QQP | are these two questions the same? | pair | 364,000 | F1, accuracy | 71.2 | `qqp` |
# | STS-B | how similar, from 0 to 5? | pair → number | 5,700 | Pearson, Spearman | 85.8 | `stsb` |
# | MNLI | does B follow from A, contradict it, or neither? | pair, 3 classes | 393,000 | accuracy | 84.6 | `mnli` |
# | QNLI | does this sentence answer the question? | pair | 105,000 | accuracy | 90.5 | `qnli` |
# | RTE | does B follow from A? | pair | 2,500 | accuracy | 66.4 | `rte` |
# | WNLI | whom does the pronoun mean? | pair | 635 | accuracy | left out | `wnli` |
# | SWAG | which of four continuations? | four pairs | 73,500 | accuracy | 81.6 (dev) | `swag` |
# | SQuAD 1.1 | which words of the paragraph answer? | question + text → span | 87,600 | exact match, F1 | F1 88.5 (dev) | `squad` |
# | SQuAD 2.0 | … or is there no answer? | question + text → span or none | 130,300 | exact match, F1 | large: F1 83.1 | `squad2` |
# | CoNLL-2003 | which words are names, of what? | tags | 14,000 sentences | F1 of entities | 92.4 | `conll2003` |
#
# The paper leaves WNLI out: its authors found that nobody had beaten "always the larger class" on it (appendix B.1).
#
# One example of each, from the lectures:
#
# | task | text | answer |
# |---|---|---|
# | SST-2 | Toy Story 2 was okay. | positive, with 0.543 (⚠ not "neutral": there are two classes) |
# | sentiment | I loved the movie! It was amazing | positive |
# | spam | Win a free trip to Hawaii! | spam; the same task sorts mail into important and not important |
# | CoLA | This toast is than that one. | not a sentence of English |
# | MRPC | Last week, Seattle reported 12 new earthquakes. · Seattle reported another 12 earthquakes yesterday. | a paraphrase (⚠ to *recognise* one, not to write one) |
# | QQP | How can I cook noodles over a campfire? · How do you make Mac & Cheese? | not the same |
# | STS-B | A pride of lions surrounded a monkey. · Lions encompassed a monkey. | 4.7 |
# | MNLI | Glossier products are the best! · Glossier products are overpriced. | contradiction (⚠ three classes, not "true or false") |
# | QNLI | How does the Dyson Airwrap work? · The Airwrap uses the Coanda effect to create a vortex … | answers it |
# | RTE | In 2006, Paul David bought a … center to create 30,000 jobs in Northern Minnesota. · Paul David created 30,000 jobs in MN. | entailment, says the lecture (⚠ does *to create* entail *created*?) |
# | WNLI | Federico spoke to Marie, breaking her focus. · Federico spoke to Marie, breaking Federico's focus. | not entailed: *her* is Marie |
# | SQuAD | Who wrote the Harry Potter series? · The Harry Potter was written by J.K. Rowling. | J.K. Rowling |
# | CoNLL-2003 | Apple is based in California | Apple: organization, California: location |
#
# ---
# # Your own data
#
# Spam or not, a claim to check or not: you only need a table with a column of texts and a column of labels. Here is a
# very small one (*Buy these pills*, *Win cash prizes* and the beginning of *Dear Mr. Atreides* are from a lecture);
# replace it by your own file. For claim detection the columns would be `sentence` and `claim`, and nothing else would
# change. (Such a classifier is where Full Fact, a fact-checking organization, begins: which sentences of the news *are*
# claims? Whether a claim is *true* is another task: it needs evidence that is not in the sentence.)

# %%
MY_FILE, TEXT, LABEL = Path("messages.csv"), "message", "class"
SPAM = ["Buy these pills", "Win cash prizes", "Cheap pills, buy now", "You win a cash prize today", "Claim your free prize now",
        "Win free money now", "Buy cheap watches", "Free cash, no risk", "Your prize is waiting, claim it", "Lose weight with these pills",
        "Make money fast", "Cheap loans now, no risk"]  # fmt: skip
HAM = ["Dear Mr. Atreides, please find attached the report", "Are we still meeting on Tuesday?", "Please find the minutes attached",
       "Thank you for the report", "The meeting is moved to Friday", "Could you send the tables?", "I will call you on Monday",
       "Please see the comments in the file", "Thanks, see you at the meeting", "Dear all, the seminar is in building 4",
       "Could we talk about the tables?", "The train is late, I will be there at nine"]  # fmt: skip
if not MY_FILE.exists():
    lines_of_file = [f'{LABEL},{TEXT}', *(f'spam,"{text}"' for text in SPAM), *(f'ham,"{text}"' for text in HAM)]
    MY_FILE.write_text("\n".join(lines_of_file) + "\n", encoding="utf-8")

mine = load_task(MY_FILE, columns={"text": TEXT, "label": LABEL})
keras.utils.set_random_seed(5)
my_rows, my_targets = encode([row.text for row in mine.train], 24), np.array([row.label for row in mine.train])
model = fine_tune(new_bert(), ClassificationHead(len(mine.labels)), my_rows, my_targets, cross_entropy, epochs=15, batch=12)
for text in ("Win a free watch now", "Please send the minutes of the meeting", "Dear winner, your cash is attached"):
    logits = predict(model, encode([text], 24))[0]
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    print("   ".join(f"{name} {share:.0%}" for name, share in zip(mine.labels, shares)), f"  {text}")

# %% [markdown]
# The model has learned only a few words from twenty-four examples, and its predictions are far too confident. With a
# few hundred examples, held-out ones to measure on, and a published checkpoint you can build a real filter this way.
# One command does it all, with a confusion matrix and the list of the most confident mistakes (`CHECKPOINT` is a folder
# or a name, such as `bertlab-mini`; `--seeds 3` trains three times):
#
# ```
# bertlab finetune messages.csv --column text=message --column label=class --validation-share 0.2 --model CHECKPOINT --out spam
# ```

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("labels-of-pieces", "")

# %%
answer("which-is-better", "")

# %% [markdown]
# ---
# # Recap
#
# All tasks use the same input: `[CLS] A [SEP] B [SEP]`. A class is computed from [CLS], a tag from each word's first
# token, an answer from its first and last token. Only one small matrix is new, and a loss over the right positions.
# Choose a metric that fits the question: accuracy is misleading where one class is frequent, rank correlation measures
# order, F1 of spans gives credit for nearly right answers.
#
# **To think about**
#
# 1. A tagger classifies each token independently. Which impossible sequences of tags can it therefore produce, and how
#    would you repair them afterwards?
# 2. Start and end are scored independently, so the score of a span is a sum. Which kinds of wrong spans can therefore
#    get a high score?
# 3. You have 200 labelled examples and may choose: label 200 more, or pre-train on a million unlabelled ones from your
#    field. What would you need to know to decide?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. An `I-` after `O`, or after an entity of another type. Afterwards: turn such an `I-` into a `B-`. During decoding:
#    choose the sequence with the largest sum among the possible ones (Viterbi), with the impossible steps forbidden or,
#    in a conditional random field, with learned scores for each step.
# 2. Spans that begin in one likely answer and end in another, such as from the first name in the paragraph to the last.
#    A maximum length helps; so does a head that scores a start and an end together.
# 3. Is the curve of quality against labels still rising at 100, 150, 200? How different is your field's text from what
#    the model has read? What does a label cost, and the training? And can your test set measure the difference at all:
#    with 100 examples the standard error is about 4 %.
#
# </details>
#
# **Next** is up to you. You have gone the whole way, from a string of characters to a BERT that answers questions.
# `mybert` is a package like any other: `pip install ./mybert` (in the folder above) and use it elsewhere. If you have a
# larger machine or more data, the library does the same steps: `bertlab pretrain`, `bertlab finetune`,
# `bertlab encode`, each with `--help`.

# %%
progress()
