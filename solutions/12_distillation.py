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
# # 12 · Distillation
#
# A trained model is large, and most of the time you want its answers and not its size. In this notebook a small model,
# the *student*, learns from a large one, the *teacher*: not only which word is right, but how likely the teacher holds
# every other word. At the end you hand in a student that you have trained.
#
# By the end you will have built
#
# - `soften`, `soft_loss`: probabilities at a temperature, and a loss that compares two of them;
# - `every_second`: a student that begins with layers of its teacher;
# - `distil_loss`: DistilBERT's three losses;
# - `layer_losses`: TinyBERT's two losses, which compare what happens inside;
# - a BERT of half the depth, whose weights you hand in.
#
# 50 to 60 minutes, 24 points, the run included. You need notebooks 05 and 07; what you have not passed there is borrowed
# from the course.
#
# **Notation.** $z$ are logits, $T$ is the temperature, $N$ the number of the teacher's layers, $M$ of the student's.
# Batches have BERT's letters: $B$ sequences, $L$ tokens in each (the letter $T$ is taken), $P$ predictions, $V$ tokens
# in the vocabulary, $A$ heads. All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has otherwise
# ([errata](../errata.md)).

# %%
from autograde.student import answer, bars, check, lines, load_backend, progress

load_backend()

from autograde.student.distilling import FILE, NOTEBOOK, distillation_folder, distillation_settings
from autograde.student.drawings_training import LiveCurves
from autograde.student.starting_points import published
from autograde.student.trained_weights import check_weights, download_weights, hand_in, weights_path
from autograde.student.training_run import Run, prepare, ready, vocabulary_of

# %% tags=["setup"]
import time

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from tensorflow import Tensor

from mybert.bert import own_variables, parameter_count
from mybert.pretraining import PreTrainingModel, learning_rate, masked_accuracy, mlm_loss, perplexity

# %% [markdown]
# ---
# # Learning from a teacher's doubts
#
# ## 12.1 Probabilities at a temperature · 2 points · ~5 minutes · Hinton et al. 2015, equation 1
#
# *I have to finish my ___.* A good model holds *Homework* for the right word. It also knows that *Book* would do, that
# *Assignment* means nearly the same, and that *Cake* is less likely than both and more likely than *Car*. A label says
# none of this: it names one word. Hinton calls what the other probabilities say the *dark knowledge* of the teacher.
#
# At the teacher's own probabilities it is hard to see: one word has nearly everything. Dividing the logits by a
# temperature $T$ above 1 makes the probabilities *softer*:
#
# $$p_i = \frac{\exp(z_i / T)}{\sum_j \exp(z_j / T)}$$
#
# The order of the words stays; $T = 1$ changes nothing. A teacher's logits may be in the hundreds, above 0 and below.


# %% nbgrader={"grade": false, "grade_id": "soften", "locked": false, "schema_version": 3, "solution": true, "task": false}
def soften(logits: Tensor, temperature: float) -> Tensor:
    """The probabilities of logits at a temperature.

    logits: (..., classes)    temperature: a number above 0
    returns (..., classes): each row sums to 1
    """
    ### BEGIN SOLUTION
    return ops.softmax(logits / temperature, axis=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-soften", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(soften)

# %% [markdown]
# **See it.** Five words with logits that we made up, at three temperatures. *Before you run the cell*: at which of them
# has *Cake* more than one percent?

# %%
words = ["Homework", "Book", "Assignment", "Cake", "Car"]
made_up = ops.convert_to_tensor([6.0, 3.0, 2.5, -1.0, -2.0])
softened = {f"T = {T:g}": np.array(soften(made_up, T)) for T in (1.0, 2.0, 5.0)}
cake = ", ".join(f"{name}: {row[3]:.3f}" for name, row in softened.items())
bars(words, softened, "probabilities at three temperatures", y="probability", alt=f"Probabilities of five words. Of Cake: {cake}")
print(f"Cake at {cake}")

# %% [markdown]
# Now a teacher that exists: `bertlab-mini`, the packaged model of 4 layers, in your own `PreTrainingModel`, with the
# weights that your own `load_published` puts in.

# %%
start = published("bertlab-mini")
ids_of = start.vocabulary


def built(**changes):
    """Your model of the teacher's sizes, or of changed ones, called once so that its weights exist."""
    model = PreTrainingModel(**start.sizes | changes)
    model(*(ops.zeros((1, size), "int32") for size in (2, 2, 2, 1)))
    return model


teacher = built()
start.fill(teacher.bert, teacher.mlm_head, teacher.nsp_head)
text = "[CLS] he shook his [MASK] . [SEP]".split()
row = ops.convert_to_tensor([[ids_of[piece] for piece in text]])
blank = ops.convert_to_tensor([[text.index("[MASK]")]])
logits, _ = teacher(row, ops.zeros_like(row), ops.ones_like(row), blank)  # (1, 1, V)
best = [int(i) for i in np.argsort(-np.array(logits)[0, 0])[:8]]
guesses = [start.pieces[i] for i in best]
of_teacher = {f"T = {T:g}": np.array(soften(logits, T))[0, 0, best] for T in (1.0, 2.0)}
bars(guesses, of_teacher, " ".join(text[1:-1]), y="probability", alt=f"The teacher's best words: {', '.join(guesses)}")

# %% [markdown]
# ## 12.2 The soft loss · 4 points · ~10 minutes · Hinton et al. 2015, section 2
#
# The student has logits of its own, and its probabilities at the same temperature shall become those of the teacher. How
# far two distributions are apart is measured by the *Kullback–Leibler divergence*, which is 0 where they agree:
#
# $$\text{KL}(p \,\|\, q) = \sum_i p_i \,(\log p_i - \log q_i) \qquad
# p = \text{softmax}(z^\text{teacher} / T), \quad q = \text{softmax}(z^\text{student} / T)$$
#
# The loss of a prediction is $T^2 \cdot \text{KL}(p \,\|\, q)$. Why $T^2$? The gradient of KL with respect to the
# student's logits is $(q - p) / T$, and $q - p$ itself shrinks like $1 / T$. With the factor, the size of the gradient
# stays about the same at every temperature, and so does its weight beside other losses.
#
# A teacher may be very sure: its logits can lie 100 apart. Use `ops.log_softmax`, as in 7.2: a probability that was
# rounded to 0 has the logarithm $-\infty$. (`keras.losses.KLDivergence` cuts probabilities off; here you write it
# yourself.)


# %% nbgrader={"grade": false, "grade_id": "soft-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def soft_loss(student_logits: Tensor, teacher_logits: Tensor, temperature: float) -> Tensor:
    """T² · KL(teacher ‖ student) of the softened probabilities, for each prediction.

    student_logits: (..., classes)    teacher_logits: (..., classes)    temperature: a number above 0
    returns (...): no mean is taken here
    """
    # 1. logarithms of both probabilities at the temperature   2. the sum over the classes   3. times T²
    ### BEGIN SOLUTION
    log_q = ops.log_softmax(student_logits / temperature, axis=-1)
    log_p = ops.log_softmax(teacher_logits / temperature, axis=-1)
    return temperature**2 * ops.sum(ops.exp(log_p) * (log_p - log_q), axis=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-soft-loss", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(soft_loss)

# %% [markdown]
# **See it.** The length of the gradient for a student that knows nothing yet (all logits 0) and the five words above.


# %%
def gradient_length(T, factor):
    student_logits = tf.Variable(tf.zeros((1, 5)))
    with tf.GradientTape() as tape:
        loss = ops.sum(soft_loss(student_logits, made_up[None], T)) * factor(T)
    return float(tf.norm(tape.gradient(loss, student_logits)))


temperatures = [1.0, 2.0, 3.0, 5.0, 8.0]
lengths = {
    "with T²": [gradient_length(T, lambda T: 1.0) for T in temperatures],
    "without": [gradient_length(T, lambda T: 1 / T**2) for T in temperatures],
}
shown = "; ".join(f"{name}: " + ", ".join(f"{length:.2f}" for length in row) for name, row in lengths.items())
lines(temperatures, lengths, "length of the gradient", "temperature", "length", alt=f"Gradient lengths at T = 1 to 8. {shown}")

# %% [markdown]
# ---
# # A student that begins with its teacher's layers
#
# ## 12.3 Every second layer · 3 points · ~7 minutes · Sanh et al. 2019, section 3
#
# A student with random weights has to learn everything. DistilBERT has the teacher's width and half of its depth, so it
# can *begin* with the teacher's weights: its embeddings and heads are copies of the teacher's, and its layers
# $0, 1, 2, \dots$ are copies of the teacher's layers $0, 2, 4, \dots$ The residual connections make this possible: each
# layer only adds something to the vectors, so that they still fit when a layer between is missing.
#
# You get the teacher's arrays by the paths of `own_variables`, for example `bert.encoder.layers_.2.attention.query.kernel`,
# and return those of the student by its own paths. All paths that do not begin with `bert.encoder.layers_.` stay as they
# are. You need not copy the arrays: assigning them to variables does.


# %% nbgrader={"grade": false, "grade_id": "every-second", "locked": false, "schema_version": 3, "solution": true, "task": false}
def every_second(teacher_arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The first weights of a student with half of its teacher's layers.

    teacher_arrays: path → NumPy array of a teacher with an even number of layers, 0, 1, 2, …; do not change the dict
    returns path → NumPy array: the student's layer m has the arrays of the teacher's layer 2 m
    """
    # for each path: 1. no layer: keep the path   2. an even layer: half of its number   3. an odd layer: leave it out
    ### BEGIN SOLUTION
    arrays = {}
    for path, array in teacher_arrays.items():
        if path.startswith("bert.encoder.layers_."):
            number, _, rest = path.removeprefix("bert.encoder.layers_.").partition(".")
            if int(number) % 2:
                continue
            path = f"bert.encoder.layers_.{int(number) // 2}.{rest}"
        arrays[path] = array
    return arrays
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-every-second", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(every_second)

# %% [markdown]
# **See it.** How good is a student *before* it has learnt anything? Three students of 2 layers: random weights, the
# teacher's first two layers, and every second one by your function; beside them the teacher. The text is the
# documentation of Python, of which the last documents are held out. (The first time, this takes half a minute.)

# %%
settings = distillation_settings(start.sizes | {"num_layers": 2})
data = prepare(settings, vocabulary=vocabulary_of("bertlab-mini"))
print(data)


def tensors(batch):
    return {name: ops.convert_to_tensor(array) for name, array in batch.items()}


def reads(batch):
    return [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]


def variables_of(model):
    return own_variables(model.bert, model.mlm_head, model.nsp_head)


def put_in(arrays, model):
    for path, variable in variables_of(model).items():
        variable.assign(arrays[path])
    return model


def compiled(model):
    return tf.function(lambda *inputs: model(*inputs, training=False), reduce_retracing=True)


def judge(guess, batches=4):
    """Loss and accuracy of a compiled model on held-out text, by your own functions."""
    losses, counts, hits = [], [], []
    for batch in map(tensors, data.held_out[:batches]):
        logits, _ = guess(*reads(batch))
        counts.append(ops.sum(batch["weights"]))
        losses.append(mlm_loss(logits, batch["labels"], batch["weights"]))
        hits.append(masked_accuracy(logits, batch["labels"], batch["weights"]) * counts[-1])
    uncertainty = float(perplexity(ops.stack(losses), ops.stack(counts)))
    return {"loss": float(np.log(uncertainty)), "accuracy": float(sum(hits) / sum(counts))}


# %%
teacher_arrays = {path: np.array(variable) for path, variable in variables_of(teacher).items()}
first_half = {path: array for path, array in teacher_arrays.items() if "layers_.2." not in path and "layers_.3." not in path}
students = {
    "random": built(num_layers=2),
    "first half": put_in(first_half, built(num_layers=2)),
    "every second": put_in(every_second(teacher_arrays), built(num_layers=2)),
    "teacher": teacher,
}
before = {name: judge(compiled(model), batches=2) for name, model in students.items()}
bars(
    list(before),
    {"accuracy": [100 * scores["accuracy"] for scores in before.values()]},
    "before any training",
    y="masked tokens that are right, %",
    numbers=True,
    alt="Accuracy: " + ", ".join(f"{name} {scores['accuracy']:.1%}" for name, scores in before.items()),
)
for name, scores in before.items():
    print(f"{name:13} loss {scores['loss']:5.2f}   accuracy {scores['accuracy']:.1%}")

# %% [markdown]
# Copied layers know something from the start, the first half no less than every second one. But their loss is not much
# better than that of the token frequencies: the layers have to learn to work together again. That takes a short training
# instead of a long one.
#
# ---
# # The losses of DistilBERT and TinyBERT
#
# ## 12.4 Three losses · 5 points · ~12 minutes · Sanh et al. 2019, section 2
#
# DistilBERT's student learns from three things at once:
#
# - the teacher's probabilities at temperature 2: your `soft_loss`, at the predicted positions;
# - the original tokens: BERT's own loss, your `mlm_loss` of 7.2;
# - the teacher's last hidden state: $1 - \cos(h^\text{student}, h^\text{teacher})$, where cos is the cosine of the angle
#   between the two vectors of a token. It is 0 when they point the same way, at any lengths.
#
# $$\text{loss} = 5 \cdot \text{soft} + 2 \cdot \text{MLM} + 1 \cdot \text{cosine}$$
#
# (The three factors are those of the script that was published with the paper.) Padding takes no part: *soft* is a mean
# like `mlm_loss`, $\sum w \cdot \text{loss} / (\sum w + 10^{-5})$ with the weights of the predictions, and *cosine* is
# the mean over the real tokens of the whole batch.
#
# This loss trains the student inside of `tf.function`: use `ops`, and do without `if`, `float(...)` and `.numpy()` on
# tensors.


# %% nbgrader={"grade": false, "grade_id": "distil-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def distil_loss(
    student_logits: Tensor,
    teacher_logits: Tensor,
    labels: Tensor,
    weights: Tensor,
    student_hidden: Tensor,
    teacher_hidden: Tensor,
    is_real: Tensor,
) -> Tensor:
    """5 · soft loss at temperature 2 + 2 · masked language model loss + 1 · cosine loss.

    student_logits: (batch, predictions, vocabulary)    teacher_logits: (batch, predictions, vocabulary)
    labels: (batch, predictions) int, the original ids
    weights: (batch, predictions), 1 for a prediction, 0 for padding; at least one is 1
    student_hidden: (batch, tokens, hidden)    teacher_hidden: (batch, tokens, hidden)
    is_real: (batch, tokens) int, 1 for a token, 0 for padding
    returns a scalar
    """
    # 1. the soft loss of each prediction, and its weighted mean   2. the MLM loss   3. the cosine of each token
    ### BEGIN SOLUTION
    softs = soft_loss(student_logits, teacher_logits, 2.0)  # (B, P)
    soft = ops.sum(softs * weights) / (ops.sum(weights) + 1e-5)
    products = ops.sum(student_hidden * teacher_hidden, axis=-1)  # (B, L)
    lengths = ops.norm(student_hidden, axis=-1) * ops.norm(teacher_hidden, axis=-1)
    real = ops.cast(is_real, products.dtype)
    cosine = ops.sum((1 - products / lengths) * real) / ops.sum(real)
    return 5 * soft + 2 * mlm_loss(student_logits, labels, weights) + cosine
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-distil-loss", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(distil_loss)

# %% [markdown]
# **See it.** The three parts for the students above, on one held-out batch. A part alone is what remains when the others
# are 0: the teacher itself has no soft loss and no cosine loss, and its own MLM loss.


# %%
def hidden_and_logits(model, batch, training=False):
    """The last hidden state (B, L, H) and the MLM logits (B, P, V)."""
    ids, segments, is_real, positions = reads(batch)
    hidden, _ = model.bert(ids, segments, is_real, training=training)
    chosen = ops.take_along_axis(hidden, positions[..., None], axis=1)  # (B, P, H)
    return hidden, model.mlm_head(chosen, model.bert.embeddings.token.embeddings)


batch = tensors({name: array[:16] for name, array in data.held_out[0].items()})
labels, weights, is_real = (batch[name] for name in ("labels", "weights", "attention_mask"))
of_teacher, sure = hidden_and_logits(teacher, batch)
for name, model in students.items():
    hidden, guessed = hidden_and_logits(model, batch)
    whole = distil_loss(guessed, sure, labels, weights, hidden, of_teacher, is_real)
    only_mlm = 2 * mlm_loss(guessed, labels, weights)
    print(f"{name:13} loss {float(whole):6.2f}, of which 2 · MLM {float(only_mlm):5.2f}, the rest {float(whole - only_mlm):6.2f}")

# %% [markdown]
# ## 12.5 What happens inside · 4 points · ~12 minutes · Jiao et al. 2020, equations 7 and 8
#
# TinyBERT's student is also narrower than its teacher. It learns from what happens *inside*, layer by layer. Its layer
# $m = 1 \dots M$ learns from the teacher's layer $g(m) = m \cdot N / M$, counted from 1: of 12 layers, a student of 4 has
# the layers 3, 6, 9 and 12 for teachers. Layer 0, the embeddings, learns from the embeddings. For each such pair there are two losses,
# both the mean of the squared differences (over everything: sequences, heads, tokens and numbers of a vector):
#
# - *attention*: the scores $QK^\top / \sqrt{d_\text{attn}}$ of all heads **before** the softmax; with them, the paper's
#   students learnt faster than with the weights after it;
# - *hidden*: $H^\text{student} W_h$ and $H^\text{teacher}$. The matrix $W_h$ is learnt, too, and is thrown away
#   afterwards: it translates the student's narrower vectors into the teacher's.
#
# In this exercise there is no padding.


# %% nbgrader={"grade": false, "grade_id": "layer-losses", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_losses(
    student_scores: Tensor, teacher_scores: Tensor, student_hidden: Tensor, teacher_hidden: Tensor, w_h: Tensor
) -> Tensor:
    """TinyBERT's losses of one layer: mean squared differences of attention scores and of hidden states.

    student_scores: (batch, heads, tokens, tokens)    teacher_scores: (batch, heads, tokens, tokens)
    student_hidden: (batch, tokens, narrow)    teacher_hidden: (batch, tokens, wide)
    w_h: (narrow, wide)
    returns (2,): the loss of the scores, then the loss of the hidden states
    """
    ### BEGIN SOLUTION
    attention = ops.mean(ops.square(student_scores - teacher_scores))
    hidden = ops.mean(ops.square(ops.matmul(student_hidden, w_h) - teacher_hidden))
    return ops.stack([attention, hidden])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-layer-losses", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(layer_losses)

# %% [markdown]
# TinyBERT learns in two stages. *General*: these losses alone, on the text of pre-training. *For a task*: the teacher is
# fine-tuned first; the student learns from its layers on the task's text, and at last from its probabilities. The
# library has both (`bertlab distill`, `bertlab distill-task`).
#
# **How small?** Counted by your own `parameter_count` of 5.7. DistilBERT has neither segments nor a pooler, so these are
# subtracted. ⚠ A lecture calls TinyBERT "even smaller than DistilBERT": that is true of the one with 4 layers.

# %%
base = parameter_count(30_522, 768, 12, 12, 3072)
distilbert = parameter_count(30_522, 768, 6, 12, 3072) - 2 * 768 - (768 * 768 + 768)
tiny = {layers: parameter_count(30_522, width, layers, 12, inner) for layers, width, inner in ((4, 312, 1200), (6, 768, 3072))}
print(f"BERT-Base  {base:12,}")
for name, count in {"DistilBERT": distilbert, "TinyBERT-6": tiny[6], "TinyBERT-4": tiny[4]}.items():
    print(f"{name} {count:12,}   {base / count:.1f} times smaller")

# %% [markdown]
# ---
# # The run
#
# ## 12.6 Train it · 6 points · minutes
#
# Now train the student, with `distil_loss`. It has 2 layers of 256, begins with every second layer of the teacher,
# and reads the documentation of Python, with new masks in every batch. The run is saved after every part of it and
# resumes where it was saved, as in notebook 07; the ■ button stops it after the current step and saves it, too. It starts
# when 12.1 to 12.4 have passed.
#
# **How it is graded.** The cell after the run writes `distilled_weights.safetensors`; hand it in together with this
# notebook. The grader puts the weights into your own `PreTrainingModel`, of 2 layers and the teacher's vocabulary, and
# lets it predict masked tokens in documents from which no run is trained.
#
# | points | needs |
# |---|---|
# | 2 | 22 % of the masked tokens are right |
# | 2 | 26 % |
# | 2 | 30 % |
#
# Each of them also needs a loss below that of the token frequencies. Weights of other sizes are refused.


# %%
def distil_step(model, optimizer, batch):
    """One step: both models read the batch, and the student's weights are changed."""
    teacher_hidden, teacher_logits = hidden_and_logits(teacher, batch)
    trained = model.bert.trainable_variables + model.mlm_head.trainable_variables
    with tf.GradientTape() as tape:
        hidden, guessed = hidden_and_logits(model, batch, training=True)
        loss = distil_loss(
            guessed, teacher_logits, batch["labels"], batch["weights"], hidden, teacher_hidden, batch["attention_mask"]
        )
    gradients = tape.gradient(loss, trained)
    optimizer.apply([g for g in gradients if g is not None], [v for g, v in zip(gradients, trained) if g is not None])
    return loss


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return learning_rate(ops.cast(step, "float32"), settings.peak, settings.warmup_steps, settings.steps)


def fresh_run():
    """The student with its first weights, or as last saved, and an optimizer."""
    student = put_in(every_second(teacher_arrays), built(num_layers=2))
    optimizer = keras.optimizers.Adam(Schedule())
    optimizer.build([v for v in student.trainable_variables])
    return Run(distillation_folder(settings), settings, student, optimizer)


NEEDED = ("soften", "soft-loss", "every-second", "distil-loss")
if ready(*NEEDED):
    run = fresh_run()
    fast_step = tf.function(lambda batch: distil_step(run.model, run.optimizer, batch))
    guess = compiled(run.model)
    curves = LiveCurves(len(data.pieces), data.unigram_loss, trained="training batch (three losses)", levels={"teacher": before["teacher"]})
    for step in run.steps():
        loss = fast_step(tensors(data.batch(step)))
        if run.is_time_to_judge(step):
            run.record(step, loss, judge(guess, batches=2))
            curves.draw(run.history)

# %%
if ready(*NEEDED):
    print(hand_in(run, weights_path(NOTEBOOK, FILE)))

# %%
print(download_weights(weights_path(NOTEBOOK, FILE)))

# %% nbgrader={"grade": true, "grade_id": "distillation-run", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
print(check_weights(weights_path(NOTEBOOK, FILE)))

# %% [markdown]
# **See it: size, speed, quality.** Your student beside its teacher, measured here. Milliseconds are the median of ten
# batches of 64 sequences of 32 tokens, after a first one that is not counted.


# %%
def milliseconds(guess, batch):
    times = []
    for _ in range(11):
        began = time.perf_counter()
        np.array(guess(*reads(batch))[0])
        times.append(1000 * (time.perf_counter() - began))
    return float(np.median(times[1:]))


if ready(*NEEDED):
    batch = tensors(data.batch(0))
    print(f"{'':34} {'parameters':>12} {'ms':>6}   accuracy")
    for name, model in {"teacher": teacher, "your student": run.model}.items():
        size = sum(int(np.prod(variable.shape)) for variable in variables_of(model).values())
        guess = compiled(model)
        print(f"{name:34} {size:12,} {milliseconds(guess, batch):6.1f}   {judge(guess)['accuracy']:.1%}")

# %% [markdown]
# What is the idea worth? The library measured it on its built-in corpus, where the teacher fills in 48 % of the blanks: after
# 100 steps, a student of 2 × 256 from every second layer 36 %, one of the same size from random weights 8 %; and a student
# of 2 × 128, which is too narrow to begin with the teacher's layers, gains nothing from its teacher (after 400 steps
# 10.4 %, from scratch 12.1 %). One run each; made by `python -m benchmarks.training.distillation`. So most of the gain of
# so short a training is in the layers that are copied.
#
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("why-temperature", "")

# %%
answer("teacher-and-labels", "")

# %% [markdown]
# ---
# # Recap
#
# A teacher's probabilities say more than a label, and a temperature makes it visible. The loss is $T^2 \cdot \text{KL}$.
# A student of the teacher's width begins with every second layer, which is why a few hundred steps are enough. DistilBERT
# adds the loss on the original tokens and the cosine of the last hidden states; TinyBERT compares scores and hidden
# states layer by layer, through a matrix that is thrown away.
#
# The papers report (published figures, not measured here): DistilBERT has 40 % fewer parameters than BERT-Base, is
# 60 % faster and keeps 97 % of its score on GLUE (Sanh et al. 2019); TinyBERT with 4 layers is 7.5 times smaller and 9.4
# times faster and keeps 96.8 % (Jiao et al. 2020, on GLUE's test set).
#
# **To think about**
#
# 1. The student sees the teacher's probabilities for 12,288 tokens at each masked position. How many numbers does a
#    label say? Why does that make each sentence worth more?
# 2. Nobody keeps the teacher's outputs for pre-training, but everybody does for a small task. Why?
# 3. A student learns its teacher's mistakes, too. When would you rather train without a teacher?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. A label names one token of 12,288. The teacher's distribution says for every token how well it fits, so that words
#    which never were the label at this position are learnt, too.
# 2. In pre-training the masks are drawn again for every batch, and 12,288 numbers for each of a million predictions are
#    far more than the text itself. A task has the same rows in every epoch, and a few numbers for each.
# 3. Where labels are plentiful and the teacher is not clearly better than what the student reaches by itself, or where
#    the teacher is wrong in a way that matters: a bias of the teacher is copied as well.
#
# </details>
#
# **Next: notebook 13.** The other half of the Transformer: a decoder that writes.

# %%
progress()
