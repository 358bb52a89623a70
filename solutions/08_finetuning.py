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
# Pre-training is dear and done once; fine-tuning is cheap and done for every task. You take the encoder you have built, put *one small layer* on top, and train
# both on a few labelled rows. Which vectors that layer reads, and what the loss overlooks, is all that differs from task to task.
#
# By the end you will have built
#
# - `ClassificationHead`, `choice_logits`, `SpanHead`: the heads of the four shapes;
# - `align_labels`, `tagging_loss`: labels for words, a loss on first pieces;
# - `best_span`: from logits to an answer, or to "there is none";
# - `f1_and_matthews`, `spearman`, `span_scores`: the figures that leaderboards print;
# - `layer_rates`: how far each layer may move;
#
# and run all four shapes with your own layers, and the same rows from scratch and after pre-training.
#
# 90 to 110 minutes, 34 points. Everything runs on this machine, without a network.

# %%
from autograde.student import bars, check, heat_maps, lines, load_backend, progress, read_offs, span_bars

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
# The four shapes of Devlin et al. 2019, figure 4. The row that BERT reads is always the same kind of row; what changes is which of the vectors that come out
# are read off (marked ▲), and what is made of them.

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
    alt="Four rows of tokens. For a sentence and for a pair only [CLS] is read; for tags the first piece of every word; "
    "for a question the first and the last token of the answer",
)

# %% [markdown]
# ## What you start from
#
# Two switches. As they stand, everything is on this machine: four labelled tasks made from the documentation of the installed Python packages (the first run gathers it, which takes a minute or two), and `bertlab-mini`, the small BERT of notebook 05.
#
# - `TASKS` names a task for each shape: a built-in one, one of the table at the end of this notebook, or the path of a file or folder of your own. Published tasks are read from `DATA_DIR` (with `SST-2/`, `MRPC/`, `conll2003/`, `SQuAD/` in it), or from the network.
# - `CHECKPOINT` is a published BERT: the packaged one, a folder, or a name. With BERT-base the cells below want a GPU, and minutes.

# %%
TASKS = {"sentence": "package", "pair": "pairs", "tagging": "code-words", "question": "parameters"}  # built in
# TASKS |= {"sentence": "sst2", "pair": "mrpc", "tagging": "conll2003", "question": "squad2"}  # published: one, some or all
COLUMNS = {}  # where a file of your own calls its columns otherwise: {"sentence": {"text": "review", "label": "stars"}}
DATA_DIR = None  # for example "glue_data"; None: from the network (needs `pip install datasets`)
CHECKPOINT = "bertlab-mini"  # or a folder, or a published name such as "google-bert/bert-base-uncased"

# %%
from dataclasses import replace
from pathlib import Path

from bertlab.data.tasks.load import BUILTIN_TASKS, load_task


def task_of(shape: str, train: int, validation: int = 250):
    """The names of the labels, some training rows and some validation rows of a task of this shape."""
    name = TASKS[shape]
    if name in BUILTIN_TASKS:
        task = load_task(name, most_train=max(train, 2 * validation), most_validation=validation)
        return task.labels, list(task.train)[:train], list(task.validation)[:validation]
    data_dir = None if Path(name).exists() else DATA_DIR
    task = load_task(name, data_dir=data_dir, columns=COLUMNS.get(shape), validation_share=0.2)
    if not task.train:
        raise ValueError(f"{name}: there are no rows to train on")
    splits = ((task.train, train), (task.validation, validation))
    mixed = ([rows[i] for i in np.random.default_rng(8).permutation(len(rows))[:most]] for rows, most in splits)
    return task.labels, *mixed  # published rows are often sorted


classes, sentences, held_out = task_of("sentence", train=1200, validation=500)
if TASKS["sentence"] == "package":  # five of its ten classes, so that two processor cores need not work long
    subjects = ("fonttools", "jupyter", "matplotlib", "numpy", "sqlalchemy")  # fonts, notebooks, plots, arrays, databases
    number = {classes.index(name): number for number, name in enumerate(subjects)}
    of_these = ([replace(row, label=number[row.label]) for row in rows if row.label in number] for rows in (sentences, held_out))
    classes, (sentences, held_out) = subjects, of_these
print(f"{len(sentences)} labelled rows, {len(held_out)} to measure on, {len(classes)} classes: {', '.join(classes)}")
print(textwrap.fill(f"{classes[sentences[0].label]}: {sentences[0].text}", 100))

# %% [markdown]
# ### What the encoder knows already
#
# The encoder is your own `Bert`; your own `load_published` (or what stands in for it) puts the weights in.

# %%
from autograde.student.starting_points import from_notebook_07, published
from mybert.bert import Bert, MlmHead
from mybert.pretraining import gather_positions, mlm_loss
from mybert.wordpiece import pack, tokenize

begin = published(CHECKPOINT)
SHORT, LENGTH = 32, 48  # pieces in a row: for a sentence, and for a pair
print("Your encoder starts from", begin)


def cut(text: str, start=begin) -> list[str]:
    """The pieces of a text, from the vocabulary of this start."""
    return tokenize(text, start.vocabulary, start.lower_case)


def encode(texts, length: int = LENGTH, start=begin) -> dict[str, np.ndarray]:
    """Cuts texts, or pairs of texts, into pieces and packs them; a dict of three arrays (rows, length)."""
    pairs = [text if isinstance(text, tuple) else (text, None) for text in texts]
    in_pieces = [[None if text is None else cut(text, start) for text in pair] for pair in pairs]
    return arrays([pack(first, second, start.vocabulary, length) for first, second in in_pieces])


def arrays(packed: list[dict]) -> dict[str, np.ndarray]:
    """Packed rows, one below the other."""
    return {name: np.array([row[name] for row in packed], "int32") for name in packed[0]}


def built(**sizes):
    """Your encoder, called once so that its weights exist."""
    bert = Bert(**sizes)
    bert(*[ops.ones((1, 2), "int32")] * 3)
    return bert


def new_bert(start=begin):
    """Your encoder with the weights of this start."""
    bert = built(**start.sizes)
    start.fill(bert)
    return bert


print(" ".join(cut("Fine-tuning changes pretrained weights.")))

# %% [markdown]
# ### One way to train them all
#
# The encoder, a head, a loss, a few passes over the rows. The paper's recipe: batches of 16 or 32, 2 to 4 epochs, a rate of 2e-5, 3e-5 or 5e-5 (appendix A.3), which in the published code rises over the first tenth of the steps and then falls. Small encoders need larger ones: here 5e-4.

# %%
class FineTuned(keras.Model):
    """Your encoder with one head. The head gets the vectors and, if the row has it, `may_answer`."""

    def __init__(self, bert, head):
        super().__init__()
        self.bert, self.head = bert, head
        bert.pooler.trainable = False  # our heads read the encoder's own vectors

    def call(self, row, training=None):
        hidden, _ = self.bert(row["token_ids"], row["token_type_ids"], row["attention_mask"], training=training)
        if "may_answer" in row:
            return self.head(hidden, row["may_answer"])
        return self.head(hidden, training=training)


class LayerwiseAdam(keras.optimizers.Adam):
    """Adam with a factor on the step of each variable; factors: one for each, in the model's order, or None."""

    factors = None

    def update_step(self, gradient, variable, learning_rate):
        factor = 1.0 if self.factors is None else self.factors[self._get_variable_index(variable)]
        super().update_step(gradient, variable, learning_rate * factor)


RATE = 5e-5 if begin.sizes["hidden_size"] >= 512 else 5e-4


def fine_tune(bert, head, rows, targets, loss, epochs=3, rate=RATE, batch=16, factors_of=None, again=None):
    """Trains an encoder and a head on rows.

    factors_of: model → {path of a variable: factor of its rate}
    again: a model that this function has trained on as many rows; its compiled step is used once more, which saves seconds
    """
    model = FineTuned(bert, head)
    model({name: array[:2] for name, array in rows.items()})
    if again is not None:
        again.set_weights(model.get_weights())
        for variable in again.optimizer.variables:
            variable.assign(ops.zeros_like(variable))
        model = again
    else:
        steps = epochs * -(-len(targets) // batch)
        warm = max(1, steps // 10)
        schedule = keras.optimizers.schedules.CosineDecay(0.0, max(1, steps - warm), warmup_target=rate, warmup_steps=warm)
        optimizer = LayerwiseAdam(schedule, global_clipnorm=1.0)
        if factors_of:
            by_path = factors_of(model)
            optimizer.factors = [by_path[variable.path] for variable in model.trainable_variables]
        optimizer.build(model.trainable_variables)  # now: where the first step makes variables, TensorFlow reads it twice
        model.compile(optimizer, loss, jit_compile=False)
    model.fit(rows, targets, batch_size=batch, epochs=epochs, verbose=0)
    return model


def predict(model, rows) -> np.ndarray:
    """The logits of all rows, a hundred at a time."""
    count = len(rows["token_ids"])
    parts = [{name: array[place : place + 100] for name, array in rows.items()} for place in range(0, count, 100)]
    return np.concatenate([np.array(model(part)) for part in parts])

# %% [markdown]
# ---
# # Shape 1: a sentence and its class
#
# ## 8.1 A head on [CLS] · 3 points · ~6 minutes · Devlin et al. 2019, section 4.1
#
# [CLS] is no word, so nothing keeps its vector from speaking for the whole row. Call the encoder's output at position 0 $C \in \mathbb{R}^H$. A classifier is one matrix:
#
# $$\text{logits} = C\, W + b \qquad W \in \mathbb{R}^{H \times K},\; K \text{ classes}$$
#
# That is all that is new in fine-tuning: $H K + K$ numbers beside millions that are there already. Dropout stands between $C$ and $W$ while training. The softmax belongs to the
# loss (`from_logits=True`), which can then compute log-softmax in a stable way.
#
# Call the linear layer `self.dense`. (The published code sends $C$ through the pooler of notebook 05 first, a layer with tanh that next-sentence prediction has trained. The
# paper's formula has none, and we follow the paper.)

# %% nbgrader={"grade": false, "grade_id": "cls-head", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ClassificationHead(keras.layers.Layer):
    """A class for a whole text, from the vector of [CLS].

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
# ### The first shape, run
#
# *Which package does this paragraph of documentation come from?* Five packages, equally many rows of each, their own names masked: guessing gets 20 %.

# %%
keras.utils.set_random_seed(1)
texts, held_out_texts = [row.text for row in sentences], [row.text for row in held_out]
targets, truth = (np.array([row.label for row in rows]) for rows in (sentences, held_out))
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

model = fine_tune(new_bert(), ClassificationHead(len(classes)), encode(texts, SHORT), targets, cross_entropy)
logits = predict(model, encode(held_out_texts, SHORT))
right = np.mean(logits.argmax(axis=1) == truth)
print(f"{right:.1%} of {len(truth)} held-out rows right (± {np.sqrt(right * (1 - right) / len(truth)):.1%}, one standard error)")

# %% [markdown]
# **See it.** Where do the mistakes go? Rows are true classes, columns predictions; each row sums to 1.

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
    alt="Confusion matrix, the share of right answers in each true class: "
    + ", ".join(f"{name} {share:.0%}" for name, share in zip(classes, np.diag(confusion) / confusion.sum(axis=1))),
)

# %% [markdown]
# **Read the mistakes, the surest first.** It is the most useful quarter of an hour in any project: where a model is *sure* and wrong you find wrong labels, rows that nobody could know, and the words it clings to.

# %%
def surest_mistakes(texts, truth, logits, names, most=4):
    """Prints the wrong answers with the largest shares."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    given = shares.argmax(axis=1)
    wrong = [row for row in np.argsort(-shares.max(axis=1)) if given[row] != truth[row]]
    for row in wrong[:most]:
        text = textwrap.shorten(texts[row], 150, placeholder=" …")
        print(f"{shares[row].max():4.0%} {names[given[row]]}, but it is {names[truth[row]]}:")
        print(textwrap.fill(text, 90, initial_indent="     ", subsequent_indent="     "), end="\n\n")


surest_mistakes(held_out_texts, truth, logits, classes)

# %% [markdown]
# ---
# # What is pre-training worth?
#
# Under shape 3 you will see it on real text, in figures. *Why* it helps to have read is easier to see in a **small world** that can be learnt in seconds: two dozen
# animals and tools, sentences that say what such things do and where, made by the next cell.
#
# The task: is it alive? The labelled rows are few and say nothing else: *we see the robin here* → yes, *we see the hammer here* → no. **Ten of the twenty-four nouns have labels; you are asked about the other fourteen.** From the labels alone nothing can be known about them. But the unlabelled sentences
# have said that an owl sleeps and eats, like a robin.

# %%
LIVING = "robin dog cat horse bee owl fox hen mouse cow frog goat".split()
TOOLS = "hammer saw knife nail wheel lamp rope spade bucket clock ladder chair".split()
TELLING = {
    True: ("hungry wild young sleepy".split(), LIVING, "sleeps eats drinks runs".split(), "nest stable pond barn".split()),
    False: ("rusty broken wooden heavy".split(), TOOLS, "hangs breaks lies leans".split(), "workshop drawer shed cellar".split()),
}


def made_sentence(chance) -> str:
    """Four words that go together, or, one time in five, a sentence that does not tell."""
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
# Pre-training, with your own `Bert`, `MlmHead`, `gather_positions` and `mlm_loss`: one word of each sentence is hidden, 80 % by [MASK], 10 % by any word, 10 % not at all.

# %%
import tensorflow as tf


def pretrain(bert, rows, steps=600, batch=64):
    """Masked language modelling on rows; returns the loss of each step."""
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
    title="Reading without labels",
    x="step",
    y="loss (mean of 20)",
    alt=f"The loss of the small pre-training falls from {losses[0]:.1f} to {np.mean(losses[-20:]):.2f}",
)

# %% [markdown]
# **See it.** The similarity (cosine) of the nouns' embeddings, first as they were drawn at random, then after reading. Nobody has said which nouns are alive.

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
    titles=["at random", "after reading"],
    rows=some,
    columns=some,
    largest=1,
    alt="Similarities of sixteen nouns: without structure at random; after reading two dark blocks, animals and tools",
)

# %% [markdown]
# Now the same ten labelled rows, the same head, the same steps, from both starts; two seeds each, because with so few rows luck counts.

# %%
labelled_nouns, other_nouns = LIVING[:5] + TOOLS[:5], LIVING[5:] + TOOLS[5:]


def seen(nouns):
    """The rows *we see the … here* and whether each is alive."""
    return encode_world([f"we see the {noun} here" for noun in nouns]), np.array([int(noun in LIVING) for noun in nouns])


def start_in_world(weights, seed):
    """An encoder with these weights (None: random ones) and a fresh head."""
    keras.utils.set_random_seed(seed)
    bert = built(**WORLD)
    if weights is not None:
        bert.set_weights(weights)
    return bert, ClassificationHead(2)


def right_in_world(model):
    """The shares of right answers on the labelled and on the other nouns."""
    pairs = map(seen, (labelled_nouns, other_nouns))
    return [float(np.mean(predict(model, rows).argmax(axis=1) == truth)) for rows, truth in pairs]


rows, targets = seen(labelled_nouns * 60)  # the ten rows, sixty times
model = None
for name, weights in {"from scratch": None, "pre-trained": world_weights}.items():
    for seed in (1, 2):
        model = fine_tune(*start_in_world(weights, seed), rows, targets, cross_entropy, rate=2e-3, batch=32, again=model)
        known, others = right_in_world(model)
        print(f"{name:13} seed {seed}: labelled nouns {known:4.0%}   other nouns {others:4.0%}")

# %% [markdown]
# Both know their ten rows by heart. Only the one that has *read* can say something about nouns that no label has ever named, because they lie near those that have one. That is what pre-training is worth: a label for one word becomes a label for its neighbours. On real text the same, with more reading: BERT-base gets
# 52.1 on CoLA, where the best system before this kind of pre-training had 35.0 (paper, table 1).

# %% [markdown]
# ---
# # Shape 2: two sentences
#
# Two texts go into one row: `[CLS] A [SEP] B [SEP]`, and the segment ids say which is which. Other models of the time read A and B separately and then let each attend to
# the other (*bidirectional cross-attention*). In a packed row self-attention does both at once (section 3.2 of the paper): two of the four blocks below *are* cross-attention.

# %%
first, second = "the robin sat", "it sang"
pieces = ["[CLS]", *first.split(), "[SEP]", *second.split(), "[SEP]"]
segment = np.array([0] * 5 + [1] * 3)
blocks = np.where(segment[:, None] == segment[None, :], 0.25, 1.0)
heat_maps(
    [blocks],
    titles=["dark: A asks B, B asks A"],
    rows=pieces,
    columns=pieces,
    largest=1,
    alt="An eight by eight matrix of queries and keys: the two blocks where one segment asks the other are dark, the two "
    "where a segment asks itself are light",
)

# %% [markdown]
# ## 8.2 When accuracy flatters · 3 points · ~7 minutes
#
# MRPC asks whether two sentences say the same; two in three do. Who always says "yes" is right two times in three and has understood nothing. So MRPC and QQP print
# F1 beside accuracy, and CoLA prints Matthews' correlation. Both start from four counts: true and false positives and negatives.
#
# $$F_1 = \frac{2\,TP}{2\,TP + FP + FN} \qquad \text{Matthews} = \frac{TP \cdot TN - FP \cdot FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}$$
#
# Matthews' figure is 1 for a perfect answer, 0 for one that tells nothing, −1 for the opposite of the truth. Where a denominator is 0, the figure is 0 by convention.

# %% nbgrader={"grade": false, "grade_id": "f1-matthews", "locked": false, "schema_version": 3, "solution": true, "task": false}
def f1_and_matthews(gold: list[int], predicted: list[int]) -> tuple[float, float]:
    """Two figures for two classes.

    gold, predicted: 0 or 1 for each row; 1 is the positive class
    returns (F1 of class 1, Matthews' correlation)
    """
    # 1. the four counts   2. two fractions; 0.0 where there is nothing to divide by
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
# ### The second shape, run
#
# *Does this text go on as that summary began?* (built from docstrings; the wrong continuations come from the same package, so the subject does not give it away). It is the hardest of our four tasks: the answer stands in neither text, only between them. From a few hundred pairs little of that can be learnt, and Matthews' figure shows how little: nothing at all is 0.

# %%
pair_names, pairs, held_out_pairs = task_of("pair", train=400)
rows = encode([(row.text_a, row.text_b) for row in pairs])
held_out_rows = encode([(row.text_a, row.text_b) for row in held_out_pairs])
truth = np.array([row.label for row in held_out_pairs])
keras.utils.set_random_seed(2)
pair_reader = fine_tune(new_bert(), ClassificationHead(len(pair_names)), rows, np.array([row.label for row in pairs]), cross_entropy, epochs=2)
given = predict(pair_reader, held_out_rows).argmax(axis=1)
f1, matthews = f1_and_matthews(truth.tolist(), given.tolist())
print(f"accuracy {np.mean(given == truth):.2f}   F1 {f1:.2f}   Matthews {matthews:.2f}   (labels: {', '.join(pair_names)})")
print(f"always the same class: accuracy {max(np.mean(truth == 0), np.mean(truth == 1)):.2f}   Matthews 0.00")

# %% [markdown]
# ## 8.3 Which continuation? · 3 points · ~6 minutes · Devlin et al. 2019, section 4.4
#
# SWAG gives a beginning and four continuations, of which one is sensible. Each of the four becomes a packed pair with the same beginning: four rows, one question. A
# single new vector $V \in \mathbb{R}^H$ gives each row a score, its dot product with the row's [CLS], and the scores of one question compete in a softmax:
#
# $$P_i = \frac{e^{V \cdot C_i}}{\sum_{j=1}^{4} e^{V \cdot C_j}}$$
#
# The rows of a question follow each other: row 0 to 3 are question 1, row 4 to 7 question 2. Return the scores; the loss does the softmax.

# %% nbgrader={"grade": false, "grade_id": "choice-logits", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choice_logits(hidden: Tensor, v: Tensor, choices: int) -> Tensor:
    """The scores of the choices of each question.

    hidden: (questions * choices, tokens, hidden), the encoder's output    v: (hidden,)
    returns (questions, choices)
    """
    # 1. [CLS] of every row   2. one number per row   3. one row per question
    ### BEGIN SOLUTION
    cls = hidden[:, 0]
    scores = ops.matmul(cls, v)  # (questions * choices,)
    return ops.reshape(scores, (-1, choices))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-choice-logits", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(choice_logits)

# %% [markdown]
# **See it.** The small world again, whose pairs can be learnt in seconds: a beginning (*the hungry goat*) and a continuation (*sleeps in the stable*) that belongs to it or not. The head of 8.1 learns that first. Its matrix has a column for "belongs" and one for "other"; their difference is a vector $V$,
# and with it your `choice_logits` can choose among four continuations, without any further training.

# %%
def drawn(alive: bool) -> list[str]:
    return [str(chance.choice(words)) for words in TELLING[alive]]


def parted(belongs: bool) -> tuple[list[str], list[str]]:
    """The words of a beginning and of a continuation, of the same kind or not."""
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
        print(f"  {score:6.2f} {'✓' if text == texts[0] else ' '} … {' '.join(text)}")

# %% [markdown]
# ## 8.4 How similar? A number instead of a class · 3 points · ~7 minutes
#
# STS-B asks for a number from 0 (nothing in common) to 5 (the same). The head is the one of 8.1 with `num_labels=1`, the loss the squared error. "A pride of lions surrounded a monkey" and
# "Lions encompassed a monkey" have 4.7 in one of the lectures.
#
# Two figures are printed. *Pearson's* correlation of true and predicted numbers asks for a straight line. *Spearman's* asks only for the right order: it is Pearson's
# correlation of the **ranks**. Equal values share the mean of their ranks: 3, 7, 7, 9 have the ranks 1, 2.5, 2.5, 4. (`np.corrcoef(a, b)[0, 1]` is Pearson's.)

# %% nbgrader={"grade": false, "grade_id": "spearman", "locked": false, "schema_version": 3, "solution": true, "task": false}
def spearman(gold: list[float], predicted: list[float]) -> float:
    """Spearman's rank correlation; equal values share the mean of their ranks.

    gold, predicted: one number for each row
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
# **See it.** Predictions in perfect order on a bent line, and one wild guess: Spearman sees only order, Pearson is thrown off by the line's bend and by how wild the guess is.

# %%
similarity = [0.2, 1.0, 1.8, 2.6, 3.4, 4.2, 5.0]
guesses = {"bent": [float(np.exp(s)) for s in similarity], "one wild guess": [0.0, 0.9, 40.0, 2.5, 3.0, 4.0, 5.0]}
for name, guess in guesses.items():
    pearson = np.corrcoef(similarity, guess)[0, 1]
    print(f"{name:15} Pearson {pearson:5.2f}   Spearman {spearman(similarity, guess):5.2f}")

# %% [markdown]
# ---
# # Shape 3: a label for every word
#
# ## 8.5 Words have labels, pieces do not · 3 points · ~7 minutes · Devlin et al. 2019, section 5.3
#
# An annotator has labelled *words*; BERT reads *pieces*. `B-` begins an entity, `I-` goes on with it, `O` is outside of all:
#
# | | Paris | 's | Geoguessr |
# |---|---|---|---|
# | tag | B-LOC | O | B-PRODUCT |
# | pieces | paris | ' s | geo ##gu ##es ##sr |
#
# The paper asks only the **first** piece of each word: it has seen all the others through attention anyway. All other positions, [CLS] and [SEP] too, carry the label −100, which no class has and
# which the loss will overlook. A word can have no piece at all (a lone control character): nobody can be asked then.

# %% nbgrader={"grade": false, "grade_id": "align-labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
IGNORED = -100  # the label of a position that nobody is asked about


def align_labels(pieces_of_words: list[list[str]], tags: list[int]) -> list[int]:
    """A label for each position of the row [CLS] pieces [SEP].

    pieces_of_words: for each word its pieces    tags: for each word its tag
    returns the tag on each word's first piece, IGNORED everywhere else
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
# ## 8.6 A loss that overlooks · 4 points · ~10 minutes
#
# The head of a tagger is a `Dense` on *every* token: $\text{logits} \in \mathbb{R}^{B \times \ell \times K}$. Each token is decided on its own; no tag knows its neighbour's ("not conditioned on surrounding
# predictions", as one lecture notes). The loss is the mean of $-\log P[\text{right tag}]$ over the positions that have a label:
#
# $$L = -\frac{1}{|M|} \sum_{(b, t) \in M} \log \text{softmax}(\text{logits}[b, t])[\,y_{b,t}\,] \qquad M = \{(b, t) : y_{b,t} \neq -100\}$$
#
# The mean runs over *all* positions of the batch that count, whichever sentence they are in. If there are none, the loss is 0.

# %% nbgrader={"grade": false, "grade_id": "tagging-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tagging_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over the positions that have a label.

    logits: (batch, tokens, classes)    labels: (batch, tokens) integers, IGNORED where nobody is asked
    returns a scalar; 0 if no position has a label
    """
    # 1. which positions count?   2. log-shares of the right classes there   3. their mean
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
# ### The third shape, run
#
# *Which words of this sentence were marked as code?* The head is Keras's `Dense`, on every token.

# %%
tag_names, tagged, held_out_tagged = task_of("tagging", train=400)


def encode_tagged(rows, start=begin, length: int = SHORT):
    """Packed rows and their labels (rows, length), by your align_labels; what does not fit is cut."""
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
    """Held-out tags: true ones, those of a tagger that began here, and which were asked for; all (rows, length)."""
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
print(f"always O: {np.mean(truth[asked] == 0):.1%} of the words right, and not one entity found")
print(f"your tagger: {scores['accuracy']:.1%} of the words right; F1 of whole entities {scores['f1']:.1%}")

# %% [markdown]
# Once more accuracy flatters: most words are no code, so "always O" has most of them right. The figure that is printed for NER, and here, is F1 over whole *entities*: all words of the name (here: of the piece of code), and its type, or nothing.
#
# **See it.** Five held-out sentences. `[…]` is what the tagger marks; a ✗ behind a word says that its tag is wrong.

# %%
for line, row in enumerate(held_out_tagged[:5]):
    shown = []
    for word, tag, right in zip(row.words, given[line][asked[line]], truth[line][asked[line]]):
        shown.append((f"[{word}]" if tag else word) + ("" if tag == right else " ✗"))
    print(textwrap.fill("· " + " ".join(shown), 100, subsequent_indent="  "))

# %% [markdown]
# **What is pre-training worth, on real text?** The same rows, the same head, the same number of steps, from other beginnings: from random numbers in the same sizes, and, if you made notebook 07's run, from your own weights (two layers, half as wide, which have read for a minute: size and reading both count).

# %%
found = {"random numbers": scores_of(*tags_after(begin.untrained()))["f1"]}
if (yours := from_notebook_07("../07_pretraining/pretraining_weights.safetensors")) is not None:
    found["yours, from 07"] = scores_of(*tags_after(yours))["f1"]
found[Path(CHECKPOINT).name] = scores["f1"]
bars(
    [name.replace(" ", "\n", 1) for name in found],
    {"F1": [100 * share for share in found.values()]},
    title=f"{len(tagged)} labelled sentences: entities found",
    x="what the encoder started from",
    y="F1, %",
    numbers=True,
    alt="F1 of the tagger by what its encoder started from: " + ", ".join(f"{name} {share:.0%}" for name, share in found.items()),
)

# %% [markdown]
# ---
# # Shape 4: a question and its answer
#
# *Who wrote the Harry Potter series? — The Harry Potter was written by J.K. Rowling.* (from one of the lectures). The answer is not generated: it is **pointed at**, by its first and its
# last token.
#
# ## 8.7 Where does it begin, where does it end? · 4 points · ~8 minutes · Devlin et al. 2019, section 4.2
#
# A question and a paragraph are packed as a pair. Two new vectors, $S$ for start and $E$ for end, are held against every token's vector $T_i$, and the tokens compete:
#
# $$P^\text{start}_i = \frac{e^{S \cdot T_i}}{\sum_j e^{S \cdot T_j}} \qquad\qquad P^\text{end}_i = \frac{e^{E \cdot T_i}}{\sum_j e^{E \cdot T_j}}$$
#
# $S$ and $E$ side by side are a `Dense(2)` (call it `self.dense`): it gives (batch, tokens, 2). The losses want the logits of all tokens in a row, so return (batch, 2, tokens), starts in row 0, ends in row 1.
#
# Not every token may answer: those of the question and [PAD] may not. `may_answer` says which (the paragraph, and [CLS], which will mean "no answer"); all others get `MASKED_SCORE`, as in notebook 03.

# %% nbgrader={"grade": false, "grade_id": "span-head", "locked": false, "schema_version": 3, "solution": true, "task": false}
MASKED_SCORE = -1e9  # the logit of a token that may not answer


class SpanHead(keras.layers.Layer):
    """Start and end logits of every token.

    call: hidden (batch, tokens, hidden), may_answer (batch, tokens) booleans
    returns (batch, 2, tokens): [b, 0, i] how much token i looks like the start of the answer,
    [b, 1, i] like its end
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
# Start and end are scored separately, but an answer is a *pair*: the end must not lie before the start, an answer has at most `longest` tokens, and it lies in the paragraph. Among all
# pairs that are possible take the one with the largest sum:
#
# $$\hat s = \max_{\text{first} \le i \le j \le \text{last},\; j - i + 1 \le \text{longest}} S \cdot T_i + E \cdot T_j$$
#
# In SQuAD 2.0 a paragraph may not hold the answer. Then both start and end are to point at [CLS], whose score is $s_\text{null} = S \cdot C + E \cdot C$. The span is given only if it wins clearly:
#
# $$\hat s > s_\text{null} + \tau$$
#
# The threshold $\tau$ is chosen on the validation rows. `first` and `last` are the first and last token of the paragraph, both included.

# %% nbgrader={"grade": false, "grade_id": "best-span", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_span(start, end, first: int, last: int, longest: int, threshold: float = 0.0) -> tuple[int, int]:
    """The answer: its first and its last token, or (0, 0) for "no answer".

    start, end: (tokens,) NumPy arrays of logits; position 0 is [CLS]
    first, last: where the paragraph begins and ends    longest: the most tokens of an answer
    """
    # 1. the best possible pair   2. does it beat [CLS] by more than the threshold?
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
# **See it.** The lecture's question, with logits written by hand, as a trained model might give them. The best *end* taken by itself is "potter": a name like any other. Its start would
# have to stand before it, and there only the title is left; the pair `j … rowling` has the larger sum. Last line: what a high score of [CLS] does.

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
    alt="Bars of start and end logits over the tokens of the question and the paragraph; the span j . k . rowling is marked",
)
print("answer:", " ".join(row[found[0] : found[1] + 1]))
print("best start and best end, each by itself:", row[start.argmax()], "…", row[end.argmax()])
print("if [CLS] had 5 and 5:", best_span(np.r_[5.0, start[1:]], np.r_[5.0, end[1:]], first, last, longest=8))

# %% [markdown]
# ## 8.9 Nearly right: exact match and F1 of spans · 3 points · ~8 minutes · Rajpurkar et al. 2016, section 6.1
#
# "J.K. Rowling" is right; "by J. K. Rowling" is nearly right. SQuAD prints two figures. Both texts are first stripped of capitals, punctuation and articles (`normal_words`). **Exact match** is 1 if
# nothing differs then. **F1** treats both as bags of words:
#
# $$F_1 = \frac{2 \cdot \text{shared}}{\text{words of the prediction} + \text{words of the answer}}$$
#
# A word that is there twice on one side and once on the other is shared once. If one side has no words, F1 is 1 if the other has none either, else 0. Three annotators may have given
# three right answers: the best one counts. No right answer at all means that the empty text is right.

# %% nbgrader={"grade": false, "grade_id": "span-scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def normal_words(text: str) -> list[str]:
    """Lower case, without punctuation and articles."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction: str, answers: list[str]) -> tuple[float, float]:
    """How well a predicted text fits, against the best of the right answers.

    answers: all right answers; none if the text does not say
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
# The second line is a trap of the official rule: punctuation is *taken out*, not replaced by a blank, so "J.K." becomes one word and "J. K." two.

# %% [markdown]
# ### The fourth shape, run
#
# *What is axis?*, asked of the description of a function's parameters. Every fourth question is put to another function's description, which does not say: there the answer is none. A row of 96 pieces must hold question and text; longer ones are left out here (SQuAD's are cut into overlapping windows:
# `bertlab.data.tasks.windows`).

# %%
ROWS, HELD_OUT, QUESTION_LENGTH, spare = 400, 250, 96, 1
if TASKS["question"] != "parameters":  # most paragraphs of SQuAD are too long for a small BERT
    QUESTION_LENGTH, spare = min(384, begin.sizes["max_positions"]), 12
_, questions, held_out_questions = task_of("question", ROWS * spare, HELD_OUT * spare)


def encode_questions(rows, most: int):
    """Packed rows with may_answer, the first and last token of each answer, the paragraphs' places, and the rows kept."""
    kept, targets, places = [], [], []
    for number, row in enumerate(rows):
        if len(kept) == most:
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
pieces = begin.pieces
print(f"{len(targets)} rows to train on, {len(asked)} held out, {sum(not answers for *_, answers in asked)} of these without an answer")
keras.utils.set_random_seed(4)
reader = fine_tune(new_bert(), SpanHead(), rows, targets, span_loss, epochs=2)
logits = predict(reader, held_out_rows)


def answer_of(number: int, threshold: float = 0.0) -> str:
    """The text of the best span, joined from its pieces; "" for no answer."""
    first, last = best_span(*logits[number], *places[number], longest=40, threshold=threshold)
    ids = held_out_rows["token_ids"][number, first : last + 1] if first else []
    return " ".join(pieces[i] for i in ids).replace(" ##", "")

# %% [markdown]
# Which threshold? Try several on held-out rows. A high one gives up too soon, a low one answers everything. (Chosen and judged on the same rows the best one flatters a little; a real project keeps a third set.)

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
    y="share",
    alt=f"F1 and exact match of the reader against the threshold, from {min(f1):.2f} to {max(f1):.2f}",
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
# From a few hundred rows so small a reader learns which stretches look like descriptions, and hardly to look up the name that was asked for; compare its best F1 with "always no answer". Looking something up in a text is what larger pre-trained encoders bring along: BERT-base reaches F1 88.5 on SQuAD 1.1.

# %% [markdown]
# ---
# # How far may each layer move?
#
# ## 8.10 Who may move how far? · 3 points · ~6 minutes · Howard & Ruder 2018, section 3.2
#
# What lies low in the encoder is general (what words look like), what lies high is nearer to the task, and the head knows nothing yet. So give each layer a learning rate of its own, multiplied by
# `decay` at each step *down* from the head. Sun et al. 2019 (section 5.3.4) found 0.95 best for BERT. The list begins with the embeddings and ends with the head; for 2 layers, rate 0.1 and decay 0.5:
#
# | embeddings | layer 0 | layer 1 | head |
# |---|---|---|---|
# | 0.0125 | 0.025 | 0.05 | 0.1 |
#
# **Freezing** is the extreme case: the lowest `frozen` entries are 0. `frozen=1` freezes the embeddings, `frozen=2` also layer 0, and so on.

# %% nbgrader={"grade": false, "grade_id": "layer-rates", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_rates(num_layers: int, rate: float, decay: float, frozen: int = 0) -> list[float]:
    """The learning rates of the embeddings, of each layer, and of the head.

    rate: that of the head    decay: the factor of each step down
    frozen: how many of the lowest entries are 0
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
# **See it.** The small world once more, pre-trained; above, everything moved alike. Now the rates fall by half at each step down; then all but the head is frozen. The last is the cheapest (no gradient below the head), but a head alone cannot teach [CLS] to look at the noun, it has to take what happens to stand there: nobody has asked [CLS] anything during the pre-training. That is why
# BERT is fine-tuned *whole*, and why the paper, where it tries frozen vectors, puts a two-layer BiLSTM on top of them (section 5.3).

# %%
def factors(decay: float, frozen: int = 0):
    """From a model to the factor of each of its variables, by your layer_rates."""

    def of(model):
        parts = [model.bert.embeddings, *model.bert.encoder.layers_, model.head]
        rates = layer_rates(len(parts) - 2, 1.0, decay, frozen)
        return {variable.path: rate for part, rate in zip(parts, rates) for variable in part.trainable_variables}

    return of


rows, targets = seen(labelled_nouns * 60)
for name, way in {"falling by half": factors(0.5), "only the head": factors(1.0, frozen=3)}.items():
    model = fine_tune(*start_in_world(world_weights, 1), rows, targets, cross_entropy, 3, 2e-3, 32, way)
    known, others = right_in_world(model)
    print(f"{name:16} labelled nouns {known:4.0%}   other nouns {others:4.0%}")

# %% [markdown]
# ---
# # The list of tasks
#
# All of them are one of the four shapes. Sizes are rows to train on; the last figures are BERT-base's in the paper (tables 1, 2, 4 and 5; section 4.4). `task_of` reads each of them from its published files, and so does `bertlab finetune NAME`.
#
# | task | what is asked | shape | rows | metric | BERT-base | name |
# |---|---|---|---|---|---|---|
# | SST-2 | is this film review positive? | sentence | 67,000 | accuracy | 93.5 | `sst2` |
# | CoLA | is this a sentence of English? | sentence | 8,600 | Matthews | 52.1 | `cola` |
# | MRPC | do these news sentences say the same? | pair | 3,700 | F1, accuracy | 88.9 | `mrpc` |
# | QQP | are these two questions the same? | pair | 364,000 | F1, accuracy | 71.2 | `qqp` |
# | STS-B | how similar, from 0 to 5? | pair → number | 5,700 | Pearson, Spearman | 85.8 | `stsb` |
# | MNLI | does B follow from A, contradict it, or neither? | pair, 3 classes | 393,000 | accuracy | 84.6 | `mnli` |
# | QNLI | does this sentence answer the question? | pair | 105,000 | accuracy | 90.5 | `qnli` |
# | RTE | does B follow from A? | pair | 2,500 | accuracy | 66.4 | `rte` |
# | WNLI | whom does the pronoun mean? | pair | 635 | accuracy | left out | `wnli` |
# | SWAG | which of four continuations? | four pairs | 73,500 | accuracy | 81.6 (dev) | `swag` |
# | SQuAD 1.1 | which words of the paragraph answer? | question + text → span | 87,600 | exact match, F1 | F1 88.5 (dev) | `squad` |
# | SQuAD 2.0 | … or does it not say? | question + text → span or none | 130,300 | exact match, F1 | large: F1 83.1 | `squad2` |
# | CoNLL-2003 | which words are names, of what? | tags | 14,000 sentences | F1 of entities | 92.4 | `conll2003` |
#
# The paper leaves WNLI out: its authors found that nobody had beaten "always the larger class" on it (section 4.1).
#
# ---
# # Your own data
#
# Spam or not, a claim to check or not: a table with a column of texts and a column of labels is all it takes. Here is one, as small as can be (the first three lines are from a lecture); put your own file in its place. For claim detection
# the columns would be `sentence` and `claim`, and nothing else would change.

# %%
MY_FILE, TEXT, LABEL = Path("messages.csv"), "message", "class"
SPAM = ["Buy these pills", "Win cash prizes", "Cheap pills, buy now", "You win a cash prize today", "Claim your free prize now",
        "Win free money now", "Buy cheap watches", "Free cash, no risk", "Your prize is waiting, claim it", "Lose weight with these pills",
        "Make money fast", "Cheap loans now, no risk"]  # fmt: skip
HAM = ["Dear Mr. Atreides, please find attached the report", "Are we still meeting on Tuesday?", "Please find the minutes attached",
       "Thank you for the report", "The meeting is moved to Friday", "Could you send the figures?", "I will call you on Monday",
       "Please see the comments in the file", "Thanks, see you at the meeting", "Dear all, the seminar is in room 4",
       "Could we talk about the figures?", "The train is late, I will be there at nine"]  # fmt: skip
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
# Twenty-four rows teach a handful of words, and the answers are far surer than they have a right to be. With a few hundred rows, held-out ones to measure on, and a published checkpoint this is how real filters are made. One command does it all, with seeds, a confusion matrix and the list of surest mistakes:
#
# ```
# bertlab finetune messages.csv --column text=message --column label=class --validation-share 0.2 --model CHECKPOINT --out spam
# ```
#
# ---
# # Recap
#
# One row for every task: `[CLS] A [SEP] B [SEP]`. A class is read off [CLS], a tag off each word's first piece, an answer off the two tokens that begin and end it. What is new is one small matrix and a loss that knows whom to ask. Figures have to fit the question: accuracy flatters where one
# class is frequent, correlation wants order, F1 of spans rewards what is nearly right.
#
# **To think about**
#
# 1. A tagger decides each token by itself. Which impossible rows of tags can it therefore produce, and how would you repair them afterwards?
# 2. Start and end are scored independently, so the score of a span is a sum. Which pairs of wrong spans can that make look good?
# 3. You have 200 labelled rows and may choose: label 200 more, or pre-train on a million unlabelled ones from your field. What would you need to know to decide?
#
# **Next** is up to you. That was the whole way, from a string of characters to a BERT that answers. `mybert` is a package like any other: `pip install ./mybert` (in the folder above) and use it elsewhere. And where your own
# machine or your data are larger, the library goes the same way with the same steps: `bertlab pretrain`, `bertlab finetune`, `bertlab encode`, each with `--help`.

# %%
progress()
