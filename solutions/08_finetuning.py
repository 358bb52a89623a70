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
# # 08 · Heads and losses
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
# - `layer_rates`: a learning rate for each layer.
#
# You also train all four task types with your own layers, find the names in sentences that you type, and compare
# training from random weights with training after pre-training. How to *measure* a model is the topic of the next
# notebook, 08b.
#
# In the field's words: pre-training is the *upstream* task, yours the *downstream* task, and to use the weights of one for
# the other is *transfer learning*.
#
# 75 to 90 minutes, 25 points. Everything runs on this machine, without a network. All terms are in the
# [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, check, heat_maps, lines, load_backend, progress, read_offs, span_bars

load_backend()

# %% tags=["setup"]
import textwrap

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
# There are two settings. With their default values, everything is on this machine: four small tasks, one of each type,
# and `bertlab-mini`, the small BERT of notebook 05. Two of the tasks were written for this course (`sentiment`:
# sentences about books and films; `names`: persons, places, organizations). The other two are made from sentences of
# the small world of notebook 07, whose grammar is known, so that every label is right.
#
# - `TASKS` names a task for each type: a small one; a harder one, made from the documentation of the installed Python
#   packages (the first run collects it, which takes a minute or two); one of the table at the end of this notebook; or
#   the path of your own file or folder. Published tasks are read from `DATA_DIR` (with `SST-2/`, `MRPC/`, `conll2003/`,
#   `SQuAD/` in it), or from the network.
# - `CHECKPOINT` is a published BERT: the one in the package, a folder, or a name. With BERT-Base the cells below need a
#   GPU, and minutes.

# %%
TASKS = {"sentence": "sentiment", "pair": "follows", "tagging": "names", "question": "who-where"}  # small
# TASKS |= {"sentence": "package", "pair": "pairs", "tagging": "code-words", "question": "parameters"}  # harder: one, some or all
# TASKS |= {"sentence": "sst2", "pair": "mrpc", "tagging": "conll2003", "question": "squad2"}  # published
COLUMNS = {}  # the column names of your own file: {"sentence": {"text": "review", "label": "stars"}}
DATA_DIR = None  # for example "glue_data"; None: from the network (needs `pip install datasets`)
CHECKPOINT = "bertlab-mini"  # or a folder, or a published name such as "google-bert/bert-base-uncased"

# %%
from pathlib import Path

from autograde.student.small_tasks import SMALL_TASKS, small_task
from bertlab.data.tasks.load import BUILTIN_TASKS, load_task


def task_of(shape: str, train: int, validation: int = 250):
    """The names of the labels, some training examples and some validation examples of a task of this type."""
    name = TASKS[shape]
    if name in SMALL_TASKS or name in BUILTIN_TASKS:
        options = {"most_train": max(train, 2 * validation), "most_validation": validation}
        task = small_task(name) if name in SMALL_TASKS else load_task(name, **options)
        return task.labels, list(task.train)[:train], list(task.validation)[:validation]
    data_dir = None if Path(name).exists() else DATA_DIR
    task = load_task(name, data_dir=data_dir, columns=COLUMNS.get(shape), validation_share=0.2)
    if not task.train:
        raise ValueError(f"{name}: expected training examples, found none")
    splits = ((task.train, train), (task.validation, validation))
    mixed = ([rows[i] for i in np.random.default_rng(8).permutation(len(rows))[:count]] for rows, count in splits)
    return task.labels, *mixed  # shuffled, because published examples are often sorted


classes, sentences, held_out = task_of("sentence", train=1200, validation=500)
print(f"{len(sentences)} labelled examples, {len(held_out)} held out, {len(classes)} classes: {', '.join(classes)}")
for row in sentences[:3]:
    print(textwrap.shorten(f"{classes[row.label]}: {row.text}", 100, placeholder=" …"))

# %% [markdown]
# ### The encoder, and one training function for all tasks
#
# The encoder is your own `Bert`; your own `load_published` (or the library's version, if you have not passed it yet)
# loads the weights. All trainings below use the same few functions. They are in a file of the course, because notebook
# 08b uses them too; the next cell prints the model that they train: an encoder and one head.
#
# | | |
# |---|---|
# | `encode(texts, begin, 32)` | cuts texts, or pairs of texts, with your `tokenize` and packs them with your `pack`, to 32 tokens each |
# | `new_bert(begin)` | your encoder with the weights of the checkpoint |
# | `fine_tune(bert, head, rows, targets, loss)` | trains both, and shows how long it still takes |
# | `predict(model, rows)` | the logits of all examples |
#
# The paper's recipe: batches of 16 or 32, 2 to 4 epochs, a learning rate of 2e-5, 3e-5 or 5e-5 (appendix A.3), which in
# the published code rises over the first tenth of the steps and then falls. Small encoders need larger rates: here
# 5e-4. The paper keeps dropout at 0.1. `new_bert` turns off the encoder's, because a hundred steps on a few hundred
# examples are too few to learn with it; with many examples take 0.1.

# %%
import inspect

import tensorflow as tf

from autograde.student.fine_tuning import (
    FineTuned,
    arrays,
    built,
    cut,
    encode,
    encode_questions,
    fine_tune,
    fitting_questions,
    new_bert,
    predict,
    span_loss,
    text_of,
)
from autograde.student.starting_points import from_notebook_07, published
from mybert.bert import MlmHead
from mybert.pretraining import gather_positions, mlm_loss
from mybert.wordpiece import pack

begin = published(CHECKPOINT)
RATE = 5e-5 if begin.sizes["hidden_size"] >= 512 else 5e-4
LENGTH = 32 if set(TASKS.values()) <= set(SMALL_TASKS) else 64  # tokens in an input
yours = {}  # your scores, by task type
print("Your encoder starts from", begin)
print(" ".join(cut("Fine-tuning changes pretrained weights.", begin)), end="\n\n")
print(inspect.getsource(FineTuned))

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
# *Does this sentence praise or blame?* Half of the examples do the one, half the other: guessing gives 50 %.

# %%
keras.utils.set_random_seed(1)
texts, held_out_texts = [row.text for row in sentences], [row.text for row in held_out]
targets, truth = (np.array([row.label for row in rows]) for rows in (sentences, held_out))
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

rows = encode(texts, begin, LENGTH)
critic = fine_tune(new_bert(begin), ClassificationHead(len(classes)), rows, targets, cross_entropy, epochs=4, rate=RATE)
right = np.mean(predict(critic, encode(held_out_texts, begin, LENGTH)).argmax(axis=1) == truth)
error = np.sqrt(right * (1 - right) / len(truth))
yours["sentence"] = right
print(f"{right:.1%} of {len(truth)} held-out examples right (± {error:.1%}, one standard error)")

# %% [markdown]
# **See it.** The first sentence, from a lecture, is one of the training examples; the others are new to the model. Write your
# own into the list, also with a negation, such as *not bad at all*. (⚠ A lecture calls *Toy Story 2 was okay*, with 0.543,
# "neutral". There are two classes, positive and negative, so its answer is "positive", with little certainty.)

# %%
mine = [
    "I loved the movie! It was amazing",
    "Toy Story 2 was okay.",
    "The hall was dark and the seats were hard.",
]
logits = predict(critic, encode(mine, begin, LENGTH))
shares = np.exp(logits - logits.max(axis=1, keepdims=True))
shares /= shares.sum(axis=1, keepdims=True)
for text, row in zip(mine, shares):
    print(f"{classes[row.argmax()]:8} {row.max():4.0%}   {text}")

# %% [markdown]
# ---
# # The benefit of pre-training
#
# At the end you will measure it on all four tasks. *Why* pre-training helps is easier to see in a **small world**
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
# ### Run the second task type
#
# *Does B follow from A, does it contradict A, or neither?* The same three classes as in MNLI. A is a sentence of the
# small world, B says of its subject, or of another noun in it, that it does the same, or does not:
#
# | A | B | class |
# |---|---|---|
# | the dog near the cats runs . | the dog runs . | follows |
# | | the dog does not run . | contradicts |
# | | the cats run . | neither |
#
# The answer is in neither sentence alone, only in their relation: guessing gives 33 %. The head is the one of 8.1, with
# three classes.

# %%
def texts_of(rows):
    return [(row.text_a, row.text_b) for row in rows]


relations, pairs, held_out_pairs = task_of("pair", train=600)
targets, truth = (np.array([row.label for row in rows]) for rows in (pairs, held_out_pairs))
keras.utils.set_random_seed(2)
rows = encode(texts_of(pairs), begin, LENGTH)
pair_reader = fine_tune(new_bert(begin), ClassificationHead(len(relations)), rows, targets, cross_entropy, rate=RATE)
given = predict(pair_reader, encode(texts_of(held_out_pairs), begin, LENGTH)).argmax(axis=1)
yours["pair"] = np.mean(given == truth)
print(f"{yours['pair']:.1%} of {len(truth)} held-out pairs right")

# %% [markdown]
# **See it.** Which classes are confused? Rows are true classes, columns predictions; each row sums to 1.

# %%
confusion = np.zeros((len(relations), len(relations)))
np.add.at(confusion, (truth, given), 1)
heat_maps(
    [confusion / confusion.sum(axis=1, keepdims=True)],
    titles=["true (row) against predicted (column)"],
    rows=list(relations),
    columns=list(relations),
    numbers=True,
    largest=1,
    alt="Confusion matrix, the fraction of right predictions in each true class: "
    + ", ".join(f"{name} {share:.0%}" for name, share in zip(relations, np.diag(confusion) / confusion.sum(axis=1))),
)

# %% [markdown]
# ## 8.2 Which continuation? · 3 points · ~6 minutes · Devlin et al. 2019, section 4.4
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
# ---
# # Task type 3: a label for every word
#
# ## 8.3 Words have labels, tokens do not · 3 points · ~7 minutes · Devlin et al. 2019, section 5.3
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
# ## 8.4 A loss that ignores tokens · 4 points · ~10 minutes
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
# *Which words are names, and of what?* Persons (PER), places (LOC) and organizations (ORG). The head is Keras's `Dense`,
# on every token.

# %%
from bertlab.data.tasks.metrics_entities import entity_scores

tag_names, tagged, held_out_tagged = task_of("tagging", train=400)


def encode_tagged(rows, start=begin):
    """Packed inputs and their labels (examples, LENGTH), by your align_labels; truncated."""
    packed, labels = [], []
    for row in rows:
        pieces = [cut(word, start) for word in row.words]
        packed.append(pack(sum(pieces, []), None, start.vocabulary, LENGTH))
        wanted = align_labels(pieces, list(row.tags))[: LENGTH - 1]
        labels.append(wanted + [IGNORED] * (LENGTH - len(wanted)))
    return arrays(packed), np.array(labels, "int32")


def tags_loss(labels, logits):
    return tagging_loss(logits, ops.cast(labels, "int32"))


def trained_tagger(start):
    keras.utils.set_random_seed(3)
    head = keras.layers.Dense(len(tag_names))
    return fine_tune(new_bert(start), head, *encode_tagged(tagged, start), tags_loss, epochs=6, rate=RATE)


def scores_of(tagger, start=begin) -> dict:
    """Accuracy of words and F1 of whole entities, on the held-out sentences."""
    rows, truth = encode_tagged(held_out_tagged, start)
    given, counts = predict(tagger, rows).argmax(axis=-1), truth != IGNORED
    gold, guess = ([[tag_names[tag] for tag in line[mask]] for line, mask in zip(tags, counts)] for tags in (truth, given))
    return entity_scores(gold, guess)


tagger = trained_tagger(begin)
scores = scores_of(tagger)
yours["tagging"] = scores["f1"]
outside = np.mean([tag == 0 for row in held_out_tagged for tag in row.tags])
print(f"always O: {outside:.1%} of the words right, and no name found")
print(f"your tagger: {scores['accuracy']:.1%} of the words right; F1 of whole names {scores['f1']:.1%}")

# %% [markdown]
# Accuracy is misleading here: most words are not part of a name, so "always O" gets most of them right. The metric for named
# entities is F1 over whole *entities*: a prediction counts only if all words of the name and its type are right.
#
# **See it.** The lecture's sentence comes first; it is one of the training examples, the others are new. The model reads lower
# case only, so that nothing but the context tells *Apple* from *apple*. Write your own sentences into the list.

# %%
def show_names(text: str) -> None:
    words = text.split()
    pieces = [cut(word, begin) for word in words]
    logits = predict(tagger, arrays([pack(sum(pieces, []), None, begin.vocabulary, LENGTH)]))[0]
    first = np.cumsum([1, *map(len, pieces)])[:-1]  # behind [CLS]: the first token of each word
    tags = [tag_names[logits[place].argmax()] for place in first]
    print(" ".join(word if tag == "O" else f"{word}[{tag}]" for word, tag in zip(words, tags)))


for text in (
    "Apple is based in California",
    "She gave me an apple and a book",
    "Paris and Helen met the king of Troy",
    "Puma opened a shop in Paris",
    "A puma was seen near the river",
):
    show_names(text)

# %% [markdown]
# ---
# # Task type 4: a question and its answer
#
# *Who wrote the Harry Potter series? — The Harry Potter was written by J.K. Rowling.* (from one of the lectures). The
# answer is not generated: the model **points to** its first and its last token. (⚠ Another lecture calls this
# "open-domain": *Who founded the country?* with *The country was founded by George Washington*. With a given passage it is
# *reading comprehension*; an open-domain system must find the passage first.)
#
# ## 8.5 Where does it begin, where does it end? · 4 points · ~8 minutes · Devlin et al. 2019, section 4.2
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
# ## 8.6 The best span, or none · 5 points · ~12 minutes · Devlin et al. 2019, sections 4.2 and 4.3
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
# ### Run the fourth task type
#
# *Who? Whom? Where?*, asked about a sentence of the small world. Sentences with a noun between subject and verb, and
# with a place that belongs to the subject, make it hard for anyone who only looks for a word: *the dog near the river
# follows a cat .* has no answer to *where does it follow ?*

# %%
QUESTION_LENGTH = 40 if TASKS["question"] in SMALL_TASKS else min(384, begin.sizes["max_positions"])
spare = 1 if TASKS["question"] in SMALL_TASKS else 12  # most paragraphs of SQuAD are too long for a small BERT
_, questions, held_out_questions = task_of("question", 400 * spare, 250 * spare)
asked = fitting_questions(questions, begin, QUESTION_LENGTH, most=400)
held_out_asked = fitting_questions(held_out_questions, begin, QUESTION_LENGTH, most=250)

keras.utils.set_random_seed(4)
rows, spans = encode_questions(asked, begin, QUESTION_LENGTH), np.array([one.span for one in asked], "int32")
reader = fine_tune(new_bert(begin), SpanHead(), rows, spans, span_loss, epochs=4, rate=RATE)
logits = predict(reader, encode_questions(held_out_asked, begin, QUESTION_LENGTH))
found = [best_span(*pair, one.first, one.last, longest=20) for pair, one in zip(logits, held_out_asked)]
yours["question"] = np.mean([tuple(span) == one.span for span, one in zip(found, held_out_asked)])
unanswered = np.mean([not one.answers for one in held_out_asked])
print(f"{yours['question']:.1%} of {len(held_out_asked)} held-out questions right; always “no answer”: {unanswered:.1%}\n")
for one, span in list(zip(held_out_asked, found))[:6]:
    print(f"{one.context}\n   {one.question}   {text_of(one, span, begin) or '(no answer)'}")

# %% [markdown]
# ---
# # A learning rate for each layer
#
# ## 8.7 Layer-wise learning rates · 3 points · ~6 minutes · Howard & Ruder 2018, section 3.2
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
# # Four task types, with and without pre-training
#
# The same examples, the same heads and the same number of steps, once from `bertlab-mini` and once from random weights
# of the same sizes. One training says little, because each seed gives another result: the grey bars are the means of
# recorded runs of the library's layers with the settings above, the lines on them ± one standard deviation over their
# seeds. The points are yours, from this notebook. One training from random weights runs live: the names. If you ran
# notebook 07, a training from your own weights runs as well. (Without a GPU they have two layers, half as wide, and
# about five minutes of training: both matter.)

# %%
from autograde.student.drawings_finetuning import four_types

unpretrained = {"tagging": scores_of(trained_tagger(begin.untrained()))["f1"]}
of_small_tasks = {kind for kind, name in TASKS.items() if name in SMALL_TASKS}
four_types(*({kind: found[kind] for kind in found.keys() & of_small_tasks} for found in (yours, unpretrained)))
if (from_07 := from_notebook_07()) is not None:
    print(f"names, from your own weights of notebook 07: F1 {scores_of(trained_tagger(from_07), from_07)['f1']:.1%}")

# %% [markdown]
# `python -m benchmarks.training.task_types` made the recorded runs. From random weights the model learns what can be
# learned from the examples alone; with pre-training it knows before the first label which words belong together.

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

own = load_task(MY_FILE, columns={"text": TEXT, "label": LABEL})
keras.utils.set_random_seed(5)
my_rows, my_targets = encode([row.text for row in own.train], begin, 24), np.array([row.label for row in own.train])
model = fine_tune(new_bert(begin), ClassificationHead(len(own.labels)), my_rows, my_targets, cross_entropy, epochs=15, rate=RATE, batch=12)
for text in ("Win a free watch now", "Please send the minutes of the meeting", "Dear winner, your cash is attached"):
    logits = predict(model, encode([text], begin, 24))[0]
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    print("   ".join(f"{name} {share:.0%}" for name, share in zip(own.labels, shares)), f"  {text}")

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
answer("no-answer-score", "")

# %% [markdown]
# ---
# # Recap
#
# All tasks use the same input: `[CLS] A [SEP] B [SEP]`. A class is computed from [CLS], a tag from each word's first
# token, an answer from its first and last token. Only one small matrix is new, and a loss over the right positions.
# Every layer is trained; the lower ones may have smaller learning rates.
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
# **Next:** 08b asks how good such a model is, and whether it is better than another one.

# %%
progress()
