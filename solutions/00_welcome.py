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
# # 00 · Welcome
#
# In this course you build BERT. You do not only call it: you write every part, from splitting a string into tokens to a
# model that is pre-trained, fine-tuned and loaded with the published weights. Each part is checked at once and kept for
# the next notebooks.
#
# This first notebook is short. At its end you will have
#
# - a machine that you know can run the course;
# - one solved exercise, with wrong answers on the way, so that you know how to read the output of `check` and when
#   hints appear;
# - an overview of what you build in each notebook, what is saved, and how you hand it in.
#
# 25 to 35 minutes, 2 points. (The minutes of a notebook cover everything in it. The minutes beside an exercise cover
# reading, writing and checking that exercise.)
#
# Terms that are new to you are explained in the [glossary](../glossary.md), which lists the words of the lectures, of
# the papers and of the code side by side.
#
# Where the ideas come from, what BERT's headline results are, and what to read: [Before BERT](../before_bert.md), one
# page. Where the lectures are rounded or wrong (⚠ in the notebooks): [the errata](../errata.md).
#
# **How to use a notebook.** Click into a cell and press Shift + Enter: the cell runs, and the next one is selected. Run
# the cells from top to bottom. When something looks odd, choose *Kernel → Restart Kernel and Run All Cells…* from the
# menu and see whether the problem is still there.

# %% [markdown]
# ---
# # Getting ready
#
# If the course is already installed, the first cell does nothing. On a fresh machine such as Google Colab it installs
# the course package (with `--no-deps`) and the libraries that are missing there. It does not change the installed
# TensorFlow and Keras, nor their GPU support. Your instructor fills in the two settings at the top.

# %%
COURSE_PACKAGE = ""  # for example "https://…/bertlab-0.1.0+student-py3-none-any.whl"
HAND_IN = ""  # for example "Upload the notebooks to the course page by Sunday evening."

import importlib.util
import subprocess
import sys

on_colab, installed = "google.colab" in sys.modules, importlib.util.find_spec("autograde") is not None
if not installed:
    if not COURSE_PACKAGE:
        raise ModuleNotFoundError(
            "The course package is not installed, and COURSE_PACKAGE is empty in this notebook: "
            "ask your instructor for a notebook in which it is filled in."
        )
    if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", COURSE_PACKAGE]).returncode:
        raise ModuleNotFoundError(
            "The course package could not be installed. Show the error messages above to your instructor."
        )
if on_colab or not installed:
    importlib.invalidate_caches()
    from autograde.fresh_machine import complete

    complete()  # installs missing small libraries and the TensorFlow Text that matches the installed TensorFlow
print("The course package is installed.")

# %%
from autograde.student import answer, check, course_map, guess_bars, heat_maps, keep_in_drive, load_backend, progress

load_backend()
if on_colab:  # Colab deletes its files when it disconnects; your Google Drive keeps them
    print(keep_in_drive())

# %% tags=["setup"]
import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

# %% [markdown]
# Here is what you will build, in order. Each numbered box is a notebook of about an hour and a half, and each uses what
# you wrote in the ones before it. The last two rows are the second half of the course: take from it what you like, in
# any order.

# %%
course_map(
    [
        [("text", "“my dog is cute”")],
        [
            ("01 WordPiece", "text → tokens"),
            ("02 Embeddings", "tokens → vectors"),
            ("03 Attention", "who looks at whom"),
            ("04 Encoder", "a layer, a stack"),
        ],
        [
            ("05 BERT", "published weights"),
            ("06 Data", "masks and pairs"),
            ("07 Pre-training", "on a GPU, if there is one"),
            ("08, 08b Fine-tuning", "a task of your own"),
        ],
        [("a BERT", "yours")],
    ],
    [
        ("P Before", "after 02"),
        ("09 Features", "and ELMo"),
        ("10 Inside BERT", "what it knows"),
        ("11 Objectives", "and relatives"),
        ("12 Distillation", "half the layers"),
        ("13 The decoder", "it writes"),
    ],
    alt="The course from top to bottom: text; WordPiece, embeddings, attention, encoder; BERT, data, "
    "pre-training, fine-tuning; a BERT of your own; then, if you like, what came before transformers, features, a look "
    "inside, other objectives, distillation, the decoder",
)

# %% [markdown]
# ## Your machine
#
# Which versions of Python and the libraries are installed? Which *backend* (the library that does the arithmetic for
# Keras) is used? Is there a GPU? A CPU with two cores is enough for every notebook. A GPU helps in notebook 07: with
# one, the same cells train a larger model on more text. On Colab you choose one under *Runtime → Change runtime type*.

# %%
import os
import platform
import time

import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
print("Python    ", platform.python_version(), "on", platform.system(), platform.machine())
print("Keras     ", keras.__version__, "with backend", keras.backend.backend(), tf.__version__)
print("processors", os.cpu_count())
names = [tf.config.experimental.get_device_details(gpu).get("device_name", gpu.name) for gpu in gpus]
print("GPU       ", ", ".join(names) or "none: not needed")

matrix = ops.convert_to_tensor(np.random.default_rng(0).normal(size=(1024, 1024)).astype("float32"))
durations = []
for _ in range(4):
    start = time.perf_counter()
    ops.matmul(matrix, matrix).numpy()
    durations.append(time.perf_counter() - start)
speed = 2 * 1024**3 / min(durations)
print(f"speed      {speed / 1e9:,.0f} GFLOP/s: billions of multiplications and additions per second")

problems = []
if sys.version_info < (3, 11):
    problems.append(f"expected Python 3.11 or newer, got {platform.python_version()}")
if keras.backend.backend() != "tensorflow":
    backend = keras.backend.backend()
    problems.append(f"expected the backend tensorflow, got {backend}: set KERAS_BACKEND=tensorflow before importing Keras")
if tuple(int(part) for part in keras.__version__.split(".")[:2]) < (3, 12):
    problems.append(f"expected Keras 3.12 or newer, got {keras.__version__}: run pip install --upgrade keras")
print("\n".join(problems) or "Everything that the course needs is installed.")

# %% [markdown]
# ---
# # What it can do
#
# Before you build one, try one: a small BERT comes with the course. It reads a sentence in which one word is hidden,
# `[MASK]`, and gives every word of its vocabulary a probability. *There [MASK] a man at the door*: you know the answer
# only after reading on. So does the model.

# %%
from bertlab.analysis.fill_mask import fill_mask
from bertlab.checkpoints import load, load_tokenizer

model, tokenizer = load("bertlab-mini", "pretraining"), load_tokenizer("bertlab-mini")


def draw_guesses(*texts):
    """The five most probable words for the [MASK] of each text."""
    guesses = {text: [(guess.piece, guess.probability) for guess in fill_mask(model, tokenizer, text)[0]] for text in texts}
    guess_bars(guesses, per_line=2, alt=f"The five most probable words for the blank of: {'; '.join(texts)}")


draw_guesses("There [MASK] a man at the door.", "There [MASK] two men at the door.")

# %% [markdown]
# One word *behind* the blank changed the answer. Now your own sentence: change the text, with one `[MASK]` in it, and run
# the cell. (*We met [MASK] 1920*, *Then [MASK] washed her face*, *No man has [MASK] seen it* …)

# %%
YOUR_SENTENCE = "How are [MASK] doing today?"
draw_guesses(YOUR_SENTENCE)

# %% [markdown]
# It does not know everything: ask it for the capital of France. By the end of notebook 05 these numbers come out of
# layers that *you* have written, and in notebook 07 you train a model of your own.
#
# ---
# # How an exercise works
#
# Every exercise has the same parts: an idea, a formula, a **stub** (a function that you fill in), a **check** right
# below it, and a picture drawn with your code. Here is the idea of the first one.
#
# A word can be represented by a list of numbers, a *vector* (notebook 02 explains how). The simplest way to represent a
# whole sentence of $\ell$ words is then the mean of its $\ell$ vectors, component by component:
#
# $$s_j = \frac{1}{\ell} \sum_{t=1}^{\ell} x_{t,j} \qquad X \in \mathbb{R}^{\ell \times d} \;\Rightarrow\; s \in \mathbb{R}^{d}$$
#
# $$X = \begin{pmatrix}1&2\\3&4\\5&9\end{pmatrix} \;\Rightarrow\; s = (3 \quad 5)$$
#
# Before you write yours, look at two wrong answers. The first uses the first word for the whole sentence.

# %%
def only_the_first_word(vectors):
    return vectors[..., 0, :]


sentence_vector = only_the_first_word
check(sentence_vector)

# %% [markdown]
# Read the output from the top. First come the exercise and its points, then **tried**: the inputs with their shapes
# (the same for everybody, every time). **shape** and dtype were right. **values** shows the first element where your
# result differs from the expected one. (Matrices are also drawn, yours beside the expected one.) Nothing was sent
# anywhere: `check` works on this machine, without a network. You may run it as often as you like; it does not cost
# points.
#
# The second wrong answer raises an error.

# %%
def multiplied(vectors):
    return ops.matmul(vectors, vectors)


sentence_vector = multiplied
check(sentence_vector)

# %% [markdown]
# The check shows the line of your code that raised the error; the commonest errors it also explains. This was also the
# second failed attempt, so a **hint** appeared: 1 of 3, the most general one. Each further attempt with *different* code
# shows a more specific hint; none of them is the solution. If `check` recognises your mistake, it names the mistake at
# once, and the hints wait until the fourth failed attempt.
#
# ## 0.1 A sentence as one vector · 2 points · ~6 minutes
#
# Your turn. Replace the line `raise NotImplementedError()` with your code. Run the cell, then the check below it. `ops`
# is `keras.ops`, the NumPy-like functions of Keras: `ops.mean`, `ops.sum`, `ops.matmul` and so on take *tensors*, the
# arrays of Keras, and return tensors.
#
# There may be axes before the last two (a batch of sentences), so count axes from the end.

# %% nbgrader={"grade": false, "grade_id": "sentence-vector", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sentence_vector(vectors: Tensor) -> Tensor:
    """The mean of a sentence's word vectors.

    vectors: (..., words, d)
    returns (..., d)
    """
    ### BEGIN SOLUTION
    return ops.mean(vectors, axis=-2)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-sentence-vector", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(sentence_vector)

# %% [markdown]
# Passed? Then break it on purpose to see what the check reports. Change the axis. Take the sum instead of the mean.
# Leave out `return`. Run both cells each time and read the output. Put it right again at the end.
#
# The points come in **parts**: here one for the values and one for a batch. The first part tests the basic result; the
# other parts only count once the first is right.
#
# **See it.** Your function on two sentences. Every word has its own vector (here: random numbers); the bottom row is
# what you computed.

# %%
rng = np.random.default_rng(1)
vector_of = {word: rng.uniform(0, 1, size=6).astype("float32") for word in ("dog", "bites", "man")}
sentences = ["dog bites man", "man bites dog"]
shown = []
for sentence in sentences:
    x = ops.convert_to_tensor(np.stack([vector_of[word] for word in sentence.split()]))
    shown.append(ops.concatenate([x, ops.expand_dims(sentence_vector(x), 0)]))
heat_maps(
    shown,
    titles=sentences,
    rows=["1st word", "2nd word", "3rd word", "sentence"],
    numbers=True,
    alt="Word vectors of two sentences with the same words in a different order; the last rows, their means, are equal",
)

# %% [markdown]
# Look at the two bottom rows. They are equal: for a mean, *dog bites man* and *man bites dog* are the same sentence. A
# bag of words does not know who bit whom, and most of this course is about how a model can.
#
# ---
# # Saved files and progress
#
# **`progress()`** shows every exercise of the course with its points. It reads the results that `check` has saved on
# this machine. Every notebook ends with it, this one too.
#
# **`mybert`, your own package.** From notebook 01 on, an answer that passes its check is also written into a folder
# `mybert/` beside the notebooks' folders: `mybert/wordpiece.py`, `mybert/attention.py` and so on. Later notebooks use
# it: `from mybert.attention import MultiHeadAttention` imports *your* layer. If you have not passed an exercise yet,
# the notebook prints a line and uses the library's version, so you can skip an exercise and come back later. (This
# warm-up exercise is not saved: BERT does not use it.)
#
# **On a machine that does not keep your files**, such as a shared computer or Colab without Google Drive:
# `save_state()` writes your package and your progress into one small file that you take with you; `load_state("…")`
# restores them.
#
# ```python
# from autograde.student import load_state, save_state
# save_state()
# ```
#
# **Rules.** When an exercise asks you to build something, you may not use a ready-made function that does it for you
# (for example Keras's attention in an exercise about attention); the exercise's text names those that `check` refuses.
# The library `bertlab` and packages like it (`transformers`, `keras_hub`, `torch`) are refused in every exercise.
# Everything else is allowed, and there are always many right ways. A function must not change its arguments, nor
# remember anything from call to call. Do not rename the function or class of a stub, and do not edit the check cells.

# %%
print("Handing in:", HAND_IN or "your instructor will tell you where and until when.")

# %% [markdown]
# **Handing in.** Save the notebook (on Colab: *File → Download → .ipynb*) and hand in that one file; neither outputs
# nor `mybert/` are needed. The grader runs your answers in a sandbox and repeats the same kind of tests with *other
# inputs*, which nobody sees beforehand. So a passed `check` is a very good sign, and an answer written only for the
# visible inputs earns nothing. Each exercise counts on its own: if an early one failed, later ones that build on it are
# graded with a correct version of it.
#
# **Overview**
#
# | notebook | you build | so that |
# |---|---|---|
# | 01 WordPiece | a tokenizer, and the algorithm that learns its vocabulary | any text becomes a sequence of known tokens |
# | 02 Embeddings | token, position and segment vectors | tokens become vectors that include their position |
# | 03 Attention | one head, masks, many heads | every token can use information from every other |
# | 04 Encoder layer | LayerNorm, GELU, feed-forward, residuals, the stack | the network can be deep and still be trained |
# | 05 BERT | the whole model and its heads | published weights run in your own code |
# | 06 Pre-training data | masking, sentence pairs, records | text without labels becomes training examples |
# | 07 Pre-training | losses, schedule, the training step | your BERT learns |
# | 08 Heads and losses | heads for four kinds of tasks | it does something useful |
# | 08b How good is it? | metrics, a test of two models | you know how well it does it |

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("visible-inputs", "")

# %%
answer("bag-of-words", "")

# %% [markdown]
# ---
# # Recap
#
# `check` runs your code on visible inputs and shows where the result differs; each further attempt gives a more
# specific hint; `progress()` shows your points; `mybert` contains the answers that passed; the grader repeats the tests
# with other inputs.
#
# **To think about**
#
# 1. The mean made two different sentences equal. Find another way to turn a sentence of any length into one vector that
#    would tell them apart.
# 2. Why might a grader use inputs that nobody has seen, when the check's inputs are visible to all?
# 3. What would the mean of *all* word vectors of a novel look like, compared with that of another novel?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. Weights that depend on the position do: $\sum_t t\, x_t$ gives the two orders different vectors. (Adding a vector
#    for the position to each word *before* the mean does not help: the mean of the position vectors is the same for
#    both.) Notebooks 02 and 03 let the weights depend on the words as well.
# 2. A function could contain the visible inputs' results instead of a rule. New inputs test the rule, and nobody has to
#    judge what was meant.
# 3. Nearly the same: both means are dominated by *the*, *and*, *of*, which every novel has in about the same
#    proportion. The words that differ, such as names, are a small part of each sum.
#
# </details>
#
# **Next:** notebook 01 turns text into tokens. There the sentence "TinyBERT is fascinating." loses nothing, not even
# its full stop.

# %%
progress()
