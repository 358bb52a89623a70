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
# # 08b · How good is it?
#
# A model is trained, and you have a number, such as 79 % of the examples right. Is that good? In this notebook you write the metrics that leaderboards
# show, look at single mistakes, train with several seeds, and test whether one model is better than another.
#
# By the end you will have built
#
# - `f1_and_matthews`, `spearman`, `span_scores`: metrics for classes, for numbers and for spans;
# - `paired_bootstrap`: how sure is it that B is better than A?
#
# 45 minutes, 13 points. Everything runs on this machine, without a network. The heads are those of notebook 08 (or the
# library's versions, if you have not passed them yet), and the numbers of the exercises go on from there. All terms are
# in the [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, bars, check, lines, load_backend, progress

load_backend()

# %% tags=["setup"]
import re
import string
import textwrap
from collections import Counter

import keras
import numpy as np

# %% [markdown]
# First the test set itself. Of $n$ examples a share $p$ is right. If other examples of the same kind had been chosen, $p$
# would be another number; its *standard error* is $\sqrt{p (1 - p) / n}$. This is the error of an accuracy of 87 %, by
# the number of test examples: RTE has 277 (to develop on), CoLA 1,043, SST-2 872, MNLI 9,815.

# %%
sizes = [50, 100, 277, 408, 872, 1043, 9815]
errors = [100 * np.sqrt(0.87 * 0.13 / n) for n in sizes]
bars(
    [f"{n:,}" for n in sizes],
    {"standard error": errors},
    title="A small test set gives a vague number",
    x="examples in the test set",
    y="points of 100",
    numbers=True,
    alt="The standard error of an accuracy of 87 percent: "
    + ", ".join(f"{error:.1f} with {n} examples" for n, error in zip(sizes, errors)),
)

# %% [markdown]
# Two models that differ by one point cannot be told apart by their accuracies on 277 examples alone: the last exercise
# shows a better way.
#
# ## A model to measure
#
# The sentences about books and films of notebook 08, and the same training.

# %%
from autograde.student.fine_tuning import (
    encode,
    encode_questions,
    fine_tune,
    fitting_questions,
    new_bert,
    predict,
    span_loss,
    text_of,
)
from autograde.student.small_tasks import small_task
from autograde.student.starting_points import published
from mybert.finetuning import ClassificationHead, SpanHead, best_span

CHECKPOINT = "bertlab-mini"  # or a folder, or a published name
begin = published(CHECKPOINT)
RATE, LENGTH = 5e-5 if begin.sizes["hidden_size"] >= 512 else 5e-4, 32

task = small_task("sentiment")
texts, held_out = ([row.text for row in rows] for rows in (task.train, task.validation))
targets, truth = (np.array([row.label for row in rows]) for rows in (task.train, task.validation))
rows, held_out_rows = encode(texts, begin, LENGTH), encode(held_out, begin, LENGTH)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
POSITIVE = task.labels.index("positive")


def critic(seed: int, again=None):
    """A classifier of sentences, trained with this seed."""
    keras.utils.set_random_seed(seed)
    head = ClassificationHead(len(task.labels))
    return fine_tune(new_bert(begin), head, rows, targets, cross_entropy, epochs=4, rate=RATE, again=again)


model = critic(seed=1)
logits = predict(model, held_out_rows)
given = logits.argmax(axis=1)
print(f"{np.mean(given == truth):.1%} of {len(truth)} held-out sentences right")

# %% [markdown]
# ---
# # Classes
#
# ## 8.8 When accuracy misleads · 3 points · ~7 minutes
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
paraphrase = [1] * 8 + [0] * 4
answers = {
    "always yes": [1] * 12,
    "a coin": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
    "two mistakes": [1] * 7 + [0, 1] + [0] * 3,
}
for name, guesses in answers.items():
    right = sum(a == b for a, b in zip(paraphrase, guesses)) / len(paraphrase)
    f1, matthews = f1_and_matthews(paraphrase, guesses)
    print(f"{name:13} accuracy {right:.2f}   F1 {f1:.2f}   Matthews {matthews:5.2f}")

# %% [markdown]
# "Always yes" has a high F1 too, because most pairs are positive: only Matthews' correlation shows that it knows nothing.

# %%
f1, matthews = f1_and_matthews((truth == POSITIVE).tolist(), (given == POSITIVE).tolist())
print(f"your model: accuracy {np.mean(given == truth):.2f}   F1 of “positive” {f1:.2f}   Matthews {matthews:.2f}")

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


surest_mistakes(held_out, truth, logits, task.labels)

# %% [markdown]
# **Without any label.** CoLA asks whether a sentence is acceptable English. A lecture's example is *This toast is than that
# one.* A masked language model has an opinion before any fine-tuning: hide each token in turn, and add up the logarithms of
# the probabilities of the hidden tokens (*pseudo-log-likelihood*, Salazar et al. 2020). The better sentence has the
# larger sum. (Compare only sentences with as many tokens: each token adds a term.)

# %%
from bertlab.analysis.pseudo_likelihood import pseudo_log_likelihood
from bertlab.checkpoints import load, load_tokenizer

pairs = [
    ("This toast is than that one.", "This toast is better than that one."),
    ("She gave he the book.", "She gave him the book."),
    ("He were sitting at the table.", "He was sitting at the table."),
]
model_of_blanks, tokenizer = load(CHECKPOINT, "pretraining"), load_tokenizer(CHECKPOINT)
for pair in pairs:
    for text, value in zip(pair, pseudo_log_likelihood(model_of_blanks, tokenizer, list(pair))):
        print(f"{value:7.1f}   {text}")
    print()

# %% [markdown]
# ---
# # Numbers
#
# ## 8.9 How similar? A number instead of a class · 3 points · ~7 minutes
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
# # Spans
#
# ## 8.10 Nearly right: exact match and F1 of spans · 3 points · ~8 minutes · Rajpurkar et al. 2016, section 6.1
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
# ### Answer or no answer?
#
# A question model of notebook 08 with fewer examples, so that it is often unsure. Its score for "no answer" is that of
# [CLS], and the threshold $\tau$ of 8.6 decides between the two. Which threshold? A high one gives too few answers, a low
# one answers everything. Try several on held-out examples. (If you choose the threshold and measure on the same examples,
# the best result is slightly too good; a real project keeps a third set.)

# %%
QUESTION_LENGTH = 40
questions = small_task("who-where")
asked = fitting_questions(questions.train, begin, QUESTION_LENGTH, most=96)
judged = fitting_questions(questions.validation, begin, QUESTION_LENGTH)
keras.utils.set_random_seed(4)
spans = np.array([one.span for one in asked], "int32")
reader = fine_tune(
    new_bert(begin), SpanHead(), encode_questions(asked, begin, QUESTION_LENGTH), spans, span_loss, epochs=4, rate=RATE
)
span_logits = predict(reader, encode_questions(judged, begin, QUESTION_LENGTH))


def answers_with(threshold: float) -> list[str]:
    """The predicted answers, as they are written in the sentences; "" for no answer."""
    found = []
    for one, (start, end) in zip(judged, span_logits):
        found.append(text_of(one, best_span(start, end, one.first, one.last, 20, threshold), begin))
    return found


thresholds = [-16, -8, -4, -2, 0, 2, 4, 8, 16]
exact, f1 = [], []
for threshold in thresholds:
    scores = [span_scores(text, list(one.answers)) for text, one in zip(answers_with(threshold), judged)]
    exact.append(np.mean([e for e, _ in scores]))
    f1.append(np.mean([f for _, f in scores]))
    print(f"τ = {threshold:3}: exact match {exact[-1]:.1%}   F1 {f1[-1]:.1%}")
lines(
    thresholds,
    {"F1": f1, "exact match": exact, "always “no answer”": [np.mean([not one.answers for one in judged])] * len(thresholds)},
    title="Answer or not?",
    x="threshold τ",
    y="score",
    alt=f"F1 and exact match of the model against the threshold, from {min(f1):.2f} to {max(f1):.2f}",
)

# %% [markdown]
# With the lowest threshold every question gets an answer, so those without one are all wrong; with the highest hardly any
# question gets one. F1 is above exact match where a span begins or ends at the wrong word. On SQuAD 1.1 BERT-Base reaches
# F1 88.5 (paper, table 2).
#
# ---
# # Is B better than A?
#
# **Seeds.** The head starts from random weights, and the examples come in a random order: the same training with another
# seed gives another model. The paper repeats fine-tuning on small tasks and takes the model that is best on the
# development set (section 4.1). If you report a single number, report the mean and the standard deviation of several
# seeds.

# %%
by_seed = {1: logits}
for seed in (2, 3):
    model = critic(seed, again=model)
    by_seed[seed] = predict(model, held_out_rows)
rights = {seed: (found.argmax(axis=1) == truth).astype(float) for seed, found in by_seed.items()}  # 1 for a right one
shares = [right.mean() for right in rights.values()]
for seed, right in rights.items():
    print(f"seed {seed}: accuracy {right.mean():.1%}")
print(f"mean {np.mean(shares):.1%} ± {np.std(shares, ddof=1):.1%} (standard deviation of {len(shares)} seeds)")
disagree = np.mean(by_seed[1].argmax(axis=1) != by_seed[2].argmax(axis=1))
print(f"seeds 1 and 2 disagree on {disagree:.1%} of the sentences")

# %% [markdown]
# ## 8.11 Paired bootstrap · 4 points · ~10 minutes · Koehn 2004; Berg-Kirkpatrick et al. 2012
#
# Model A has $n$ scores, one for each test example (1 or 0, or an F1), and model B has $n$ scores for the *same*
# examples. B's mean is larger. Would it be larger on other examples of the same kind? There are no others; but one can
# draw $n$ of the $n$ examples *with replacement*, some of them twice and some not at all, as if it were another test set,
# and repeat that for many **rounds**. In round $r$ with the drawn examples $r_1, \dots, r_n$ the difference is
#
# $$d_r = \frac1n \sum_i b_{r_i} - \frac1n \sum_i a_{r_i}$$
#
# Both models are scored on the same drawn examples (*paired*): an example that is easy for both cancels. Return three
# numbers: the ends of the interval that contains the middle 95 % of the differences (the 2.5th and the 97.5th
# percentile, `np.percentile`, which interpolates between neighbours), and the fraction of the rounds in which B is **not**
# better, $d_r \le 0$. If this fraction is small, such as below 5 %, B's lead does not depend on a few examples.
#
# **Example.** A has the scores 1 0 1 0, B has 1 1 1 0, and three rounds are drawn:
#
# | drawn examples | A | B | $d_r$ |
# |---|---|---|---|
# | 0 1 2 3 | 0.5 | 0.75 | 0.25 |
# | 1 1 0 0 | 0.5 | 1 | 0.5 |
# | 0 2 3 3 | 0.5 | 0.5 | 0 |
#
# In one of three rounds B is not better: a fraction of 1/3, far from 5 %.

# %% nbgrader={"grade": false, "grade_id": "paired-bootstrap", "locked": false, "schema_version": 3, "solution": true, "task": false}
def paired_bootstrap(a: list[float], b: list[float], drawn: list[list[int]]) -> tuple[float, float, float]:
    """The interval of the difference of two models, and how often B is not better than A.

    a, b: the scores of both models, one for each test example, in the same order
    drawn: for each round the indices of its examples, as many as there are test examples
    returns three numbers: low and high, the ends of the middle 95 % of the differences B − A, and the fraction of the rounds
    in which B is not better
    """
    # 1. a difference for each round   2. two percentiles, and a share
    ### BEGIN SOLUTION
    drawn = np.asarray(drawn)  # (rounds, examples)
    differences = np.asarray(b)[drawn].mean(axis=1) - np.asarray(a)[drawn].mean(axis=1)
    low, high = np.percentile(differences, [2.5, 97.5])
    return float(low), float(high), float(np.mean(differences <= 0))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-paired-bootstrap", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(paired_bootstrap)

# %% [markdown]
# **See it.** Three models against your first one: a bag of words (a weight for each token and class, without order), the
# same model with another seed, and one that is right on the same examples and on five more. The curve is a histogram of
# the differences of 4,000 rounds; the interval is yours.

# %%
from autograde.student.drawings_finetuning import bootstrap_histograms
from bertlab.training.baselines.bags import BagOfWords

keras.utils.set_random_seed(1)
ids, is_real = (keras.Input((LENGTH,), dtype="int32") for _ in range(2))
bag = keras.Model([ids, is_real], BagOfWords(len(begin.pieces), len(task.labels))(ids, is_real))
bag.compile(keras.optimizers.Adam(0.02), cross_entropy)
bag.fit([rows["token_ids"], rows["attention_mask"]], targets, epochs=30, verbose=0)
bag_right = bag.predict([held_out_rows["token_ids"], held_out_rows["attention_mask"]], verbose=0).argmax(axis=1) == truth

five_more = rights[1].copy()
five_more[np.flatnonzero(five_more == 0)[:5]] = 1
rounds = np.random.default_rng(8).integers(len(truth), size=(4000, len(truth)))  # with replacement
against = {
    "a bag of words → your model": (bag_right.astype(float), rights[1]),
    "seed 1 → seed 2": (rights[1], rights[2]),
    "your model → five more right": (rights[1], five_more),
}
differences = {name: b[rounds].mean(axis=1) - a[rounds].mean(axis=1) for name, (a, b) in against.items()}
results = {name: paired_bootstrap(list(a), list(b), rounds) for name, (a, b) in against.items()}
bootstrap_histograms(differences, results)
for name, (low, high, share) in results.items():
    a, b = against[name]
    print(f"{name:30} {a.mean():.1%} → {b.mean():.1%}: {low:+.1%} to {high:+.1%}, not better in {share:.1%} of the rounds")

# %% [markdown]
# Where single words such as *wonderful* and *dull* decide, a bag of words is hard to beat: compare its mean with that of your
# three seeds. The third pair has nothing but five examples more on its side: each round with one of the five is a win. A
# lead of the same size between two trainings is made of wins *and* losses, and its interval is wider. So two accuracies
# alone do not tell whether B is better.
#
# The bootstrap asks about other *examples*, seeds about other *trainings*: a fair comparison needs both. And neither
# helps against a test set that is not what you want to know: other texts, other labels, or examples that were in the
# training text.
#
# ## How many labels?
#
# Recorded runs of the same task, with the same number of steps and fewer labels; the mean of three seeds, and ± one standard
# deviation. (`python -m benchmarks.training.task_types` made them.)

# %%
from autograde.student.drawings_finetuning import by_labels

by_labels("sentiment", {len(texts): float(np.mean(shares))})

# %% [markdown]
# A third of the labels is enough for the pre-trained model to be better than random weights with all of them. That is why
# tasks with few labels gain most from pre-training. (With 25 labels the two cannot be told apart by three seeds.)
#
# Earlier models, which read in one direction, had shown this too. BERT's authors call it their major contribution that
# it also holds for deep models that read in both directions (Devlin et al. 2019, section 6).

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("which-is-better", "")

# %%
answer("best-of-ten-seeds", "")

# %% [markdown]
# ---
# # Recap
#
# | you have | report | because |
# |---|---|---|
# | classes, equally frequent | accuracy ± its standard error | it is easy to understand |
# | a rare class | F1 of that class, or Matthews' correlation | "always no" has a high accuracy |
# | numbers | Pearson and Spearman | one for a line, one for the order |
# | spans | exact match and F1 of words | nearly right is not wrong |
# | names | F1 of whole entities | most words are not part of a name |
# | a random start | mean ± standard deviation of the seeds | one training is one draw |
# | two models | a paired bootstrap on the same examples | differences are smaller than the errors of both |
#
# **To think about**
#
# 1. Your test set has 100 examples, and you try twenty models on it. Why is the best one's accuracy too good, although
#    each was measured in the same way?
# 2. A model for spam is right 99 % of the time, and one mail in a hundred is spam. What else do you want to know?
# 3. Two models disagree on ten of a hundred examples. What is the largest difference of their accuracies, and what the
#    smallest?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. Each accuracy is the model's quality plus luck with these 100 examples. The best of twenty has more luck than most.
#    Measure the chosen one again, on examples that had no part in the choice.
# 2. Precision and recall of spam, or F1 and Matthews: "never spam" is right 99 % of the time, too. And what each kind of
#    mistake costs: a lost mail is worse than an unwanted one.
# 3. Ten points, if all ten are right in one model and wrong in the other; zero, if five are right in each. That is why
#    the pairs matter.
#
# </details>
#
# **Next** is up to you. You have gone the whole way, from a string of characters to a BERT that answers questions, and
# you can say how well. `mybert` is a package like any other: `pip install ./mybert` (in the folder above) and use it
# elsewhere. If you have a larger machine or more data, the library does the same steps: `bertlab pretrain`,
# `bertlab finetune` (with `--seeds 3`), `bertlab encode`, each with `--help`.
#
# The second half of the course can be read in any order: **P** asks what there was before transformers, **09**
# keeps BERT as it is and builds on its vectors, **10** asks what its heads and layers know, **11** what its relatives
# changed, **12** makes a smaller model out of a large one, and **13** builds the other half, the decoder.

# %%
progress()
