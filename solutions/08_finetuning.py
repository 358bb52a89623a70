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
# and run all four shapes on your own BERT, pre-trained and from scratch on the same rows.
#
# 75 to 90 minutes, 34 points. Everything runs on this machine, without a network.

# %%
from autograde.student import check, heat_maps, lines, load_backend, progress, read_offs, span_bars

load_backend()

# %% tags=["setup"]
import re
import string
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
# Two switches. As they stand, everything is built in: four labelled tasks made from the documentation of the installed Python packages, and an encoder that is
# pre-trained below in a few seconds. Point `DATA_DIR` at a folder with the published files (`SST-2/`, `MRPC/`, `conll2003/`, `SQuAD2/`) and `CHECKPOINT` at a folder with a
# published BERT, and the same cells run the real thing (with a GPU: BERT-base takes minutes there, hours here).

# %%
DATA_DIR = None  # for example "glue_data"
CHECKPOINT = None  # for example "bert-base-uncased"

# %%
import time

from bertlab.data.tasks.load import load_task

BUILT_IN = {"sentence": "package", "pair": "pairs", "tagging": "code-words", "question": "parameters"}
PUBLISHED = {"sentence": "sst2", "pair": "mrpc", "tagging": "conll2003", "question": "squad2"}


def task_of(shape: str, train: int = 1200, validation: int = 300):
    """The names of the labels, the training rows and the validation rows of a task of this shape."""
    if DATA_DIR:
        task = load_task(PUBLISHED[shape], data_dir=DATA_DIR)
    else:
        task = load_task(BUILT_IN[shape], most_train=max(train, 2 * validation), most_validation=validation)
    return task.labels, list(task.train)[:train], list(task.validation)[:validation]


PRETRAINING_ROWS = 8000
packages, sentences, held_out = task_of("sentence", train=PRETRAINING_ROWS)
unlabelled = [row.text for row in sentences]  # what pre-training may read: texts, no labels, none of those held out
sentences = sentences[:1200]
print(f"{len(sentences)} labelled rows, {len(held_out)} to measure on, {len(packages)} classes: {', '.join(packages)}")
print(f"{packages[sentences[0].label]}: {sentences[0].text}")

# %% [markdown]
# ---
# # Shape 1: a sentence and its class
#
# ## 8.1 A head on [CLS] · 3 points · ~8 minutes · Devlin et al. 2019, section 4.1
#
# [CLS] is no word, so nothing keeps its vector from speaking for the whole row. Call the encoder's output at position 0 $C \in \mathbb{R}^H$. A classifier is one matrix:
#
# $$\text{logits} = C\, W + b \qquad W \in \mathbb{R}^{H \times K},\; K \text{ classes}$$
#
# That is all that is new in fine-tuning: $H K + K$ numbers beside millions that are there already. Dropout stands between $C$ and $W$ while training. The softmax belongs to the
# loss (`from_logits=True`), which can then compute log-softmax in a stable way.
#
# Call the linear layer `self.dense`. (The published code sends $C$ through the pooler of notebook 05 first, a layer with tanh that next-sentence prediction has trained. The
# paper's formula has none, and our short pre-training below has no next-sentence task, so we follow the paper.)

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
# ## 8.2 When accuracy flatters · 3 points · ~8 minutes
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
# ## 8.3 Which continuation? · 3 points · ~8 minutes · Devlin et al. 2019, section 4.4
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
# ## 8.4 How similar? A number instead of a class · 3 points · ~8 minutes
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
# ## 8.5 Words have labels, pieces do not · 3 points · ~8 minutes · Devlin et al. 2019, section 5.3
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
# ## 8.6 A loss that overlooks · 4 points · ~12 minutes
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
# ---
# # Shape 4: a question and its answer
#
# *Who wrote the Harry Potter series? — The Harry Potter was written by J.K. Rowling.* (from one of the lectures). The answer is not generated: it is **pointed at**, by its first and its
# last token.
#
# ## 8.7 Where does it begin, where does it end? · 4 points · ~10 minutes · Devlin et al. 2019, section 4.2
#
# A question and a paragraph are packed as a pair. Two new vectors, $S$ for start and $E$ for end, are held against every token's vector $T_i$, and the tokens compete:
#
# $$P^\text{start}_i = \frac{e^{S \cdot T_i}}{\sum_j e^{S \cdot T_j}} \qquad\qquad P^\text{end}_i = \frac{e^{E \cdot T_i}}{\sum_j e^{E \cdot T_j}}$$
#
# $S$ and $E$ side by side are a `Dense(2)` (call it `self.dense`): it gives (batch, tokens, 2). The losses want the logits of all tokens in a row, so return (batch, 2, tokens), starts in row 0, ends in row 1.
#
# Not every token may answer: those of the question and [PAD] may not. `may_answer` says which (the paragraph, and [CLS], which will mean "no answer"); all others get `HIDDEN`, as in notebook 03.

# %% nbgrader={"grade": false, "grade_id": "span-head", "locked": false, "schema_version": 3, "solution": true, "task": false}
HIDDEN = -1e9  # the logit of a token that may not answer


class SpanHead(keras.layers.Layer):
    """Start and end logits of every token.

    call: hidden (batch, tokens, hidden), may_answer (batch, tokens) booleans
    returns (batch, 2, tokens): [b, 0, i] how much token i looks like the start of the answer, [b, 1, i] like its end
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
        return ops.where(ops.expand_dims(may_answer, axis=1), logits, HIDDEN)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-span-head", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(SpanHead)

# %% [markdown]
# ## 8.8 The best span, or none · 5 points · ~15 minutes · Devlin et al. 2019, sections 4.2 and 4.3
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
# **See it.** The lecture's question, with logits written by hand, as a trained model might give them. The best *end* taken by itself is "potter" in the title: a name like any other. As a pair with a
# start in front of it that is impossible or poor, and the pair `j … rowling` wins. Above it the same with a paragraph that does not say who wrote it.

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
# ## 8.9 Nearly right: exact match and F1 of spans · 3 points · ~10 minutes · Rajpurkar et al. 2016, section 6.1
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
# ---
# # How far may each layer move?
#
# ## 8.10 Who may move how far? · 3 points · ~8 minutes · Howard & Ruder 2018, section 3.2
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

    rate: that of the head    decay: the factor of each step down    frozen: how many of the lowest entries are 0
    returns num_layers + 2 numbers, the embeddings' first
    """
    ### BEGIN SOLUTION
    steps_down = range(num_layers + 1, -1, -1)
    rates = [rate * decay**depth for depth in steps_down]
    return [0.0] * frozen + rates[frozen:]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-layer-rates", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(layer_rates)
