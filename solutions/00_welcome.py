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
# In this course you build BERT. Not call it: build it, from a string of characters to a model that is pre-trained, fine-tuned and loaded with the
# published weights, each part written by you, checked at once, and kept.
#
# This first notebook is short. At its end you will have
#
# - a machine of which you know that it can run the course;
# - one exercise solved, wrong answers on the way included: you will know what `check` says and how hints come;
# - a map: what is built where, what is kept, and how you hand it in.
#
# 25 to 35 minutes, 2 points. (A notebook's minutes are for all of it; those beside an exercise for reading it, writing and checking.)
#
# **How to use a notebook.** Click into a cell and press Shift + Enter: it runs, and the next one is selected. Cells run from top to bottom; when
# something looks odd, choose *Restart and run all* from the menu and see what is left of it.

# %% [markdown]
# ---
# # Getting ready
#
# Where the course is installed, the first cell does nothing. On a fresh machine such as Google Colab it installs the course package (`--no-deps`) and
# what that machine lacks for it: the TensorFlow and Keras that are there, with their GPU, stay as they are. The two settings at its top are your
# instructor's.

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
            "The course package is not on this machine, and this notebook was handed out without its address: "
            "ask your instructor for a notebook whose COURSE_PACKAGE is filled in."
        )
    if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", COURSE_PACKAGE]).returncode:
        raise ModuleNotFoundError(
            "The course package could not be installed; the lines above say why. Show them to your instructor."
        )
if on_colab or not installed:
    importlib.invalidate_caches()
    from autograde.fresh_machine import complete

    complete()  # small libraries that are missing, and the TensorFlow Text that fits the TensorFlow that is here
print("The course package is here.")

# %%
from autograde.student import check, course_map, heat_maps, keep_in_drive, load_backend, progress

load_backend()
if on_colab:  # it forgets everything when it disconnects; your Google Drive does not
    print(keep_in_drive())

# %% tags=["setup"]
import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

# %% [markdown]
# One picture to begin with: what you will build, in order. Each numbered box is a notebook of about an hour and a half, and each uses what you wrote in those before it.

# %%
course_map(
    [
        [("text", "“my dog is cute”")],
        [
            ("01 WordPiece", "text → pieces"),
            ("02 Embeddings", "pieces → vectors"),
            ("03 Attention", "who looks at whom"),
            ("04 Encoder", "a layer, a stack"),
        ],
        [
            ("05 BERT", "published weights"),
            ("06 Data", "blanks and pairs"),
            ("07 Pre-training", "on a GPU, if there is one"),
            ("08 Fine-tuning", "a task of your own"),
        ],
        [("a BERT", "yours")],
    ],
    alt="The course from top to bottom: text; WordPiece, embeddings, attention, encoder; BERT, data, "
    "pre-training, fine-tuning; a BERT of your own",
)

# %% [markdown]
# ## What is under the bonnet?
#
# Which Python, which libraries, which *backend* (the library that does Keras's arithmetic), is there a GPU? A CPU with two cores is enough for every
# notebook; a GPU helps in notebook 07, whose real training run then takes hours. On Colab you ask for one under *Runtime → Change runtime type*.

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
print("GPU       ", ", ".join(names) or "none: fine until notebook 07")

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
    problems.append(f"Python 3.11 or newer is needed, not {platform.python_version()}")
if keras.backend.backend() != "tensorflow":
    problems.append(f"set KERAS_BACKEND=tensorflow before Keras is imported, not {keras.backend.backend()}")
if tuple(int(part) for part in keras.__version__.split(".")[:2]) < (3, 12):
    problems.append(f"Keras 3.12 or newer is needed, not {keras.__version__}: pip install --upgrade keras")
print("\n".join(problems) or "Everything that the course needs is here.")

# %% [markdown]
# ---
# # How an exercise works
#
# Every exercise goes the same way: an idea, a formula, a **stub** to fill in, a **check** right below it, and something to **see**, drawn from what you
# wrote. Here is the idea of this one.
#
# A word can be written as a row of numbers, a *vector* (notebook 02 says how). Then the plainest thing to do for a whole sentence of $\ell$ words is to
# take the mean of its $\ell$ vectors, number by number:
#
# $$s_j = \frac{1}{\ell} \sum_{t=1}^{\ell} x_{t,j} \qquad X \in \mathbb{R}^{\ell \times d} \;\Rightarrow\; s \in \mathbb{R}^{d}$$
#
# $$X = \begin{pmatrix}1&2\\3&4\\5&9\end{pmatrix} \;\Rightarrow\; s = (3 \quad 5)$$
#
# Before it is your turn, watch two answers that are wrong. The first takes the first word for the whole sentence.

# %%
def only_the_first_word(vectors):
    return vectors[..., 0, :]


sentence_vector = only_the_first_word
check(sentence_vector)

# %% [markdown]
# Read it from the top: the exercise and its points; **tried**, the inputs with their shapes (the same for everybody and every time); **shape** and
# dtype, which were right; **values**, the first place where yours differs from what was expected. (A matrix is also drawn, yours beside the expected
# one.) Nothing was sent anywhere: `check` works on this machine, without a network, and you may run it as often as you like. It costs nothing.
#
# The second does not even run to its end.

# %%
def multiplied(vectors):
    return ops.matmul(vectors, vectors)


sentence_vector = multiplied
check(sentence_vector)

# %% [markdown]
# An error is told with your line and in plain words. And this was the second failing try, so a **hint** came along: 1 of 3, the most general. Each
# further try with *different* code brings a more specific one; none of them is the solution. When your answer is wrong in a way that `check` knows, it
# does better than a hint and says at once what the mistake *is*.
#
# ## 0.1 A sentence as one vector · 2 points · ~6 minutes
#
# Your turn. The line `raise NotImplementedError()` marks where your code goes: replace it. Run the cell, then the check below it. `ops` is `keras.ops`,
# Keras's counterpart of NumPy: `ops.mean`, `ops.sum`, `ops.matmul` and so on take *tensors*, Keras's arrays, and give tensors.
#
# There may be axes in front of the last two (a batch of sentences), so count axes from the end.

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
# Passed? Then break it on purpose, that is what a check is for. Change the axis. Take the sum instead of the mean. Leave out `return`. Each time run
# both cells and read what comes. In the end put it right again.
#
# The points come in **parts**: here one for the values and one for a batch. The first part is the plain result; the others count only once that is
# right.
#
# **See it.** Your function on two sentences. Every word has a vector of its own (here: chosen at random); the bottom row is what you computed.

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
    alt="Word vectors of two sentences; their words are the same in another order, and the last rows, their "
    "means, are equal",
)

# %% [markdown]
# Look at the two bottom rows. They are equal: for a mean, *dog bites man* and *man bites dog* are one and the same. A bag of words does not know who
# bit whom, and most of this course is about how a model can.
#
# ---
# # What is kept, and where you stand
#
# **`progress()`** shows every exercise of the course with its points. It reads what `check` has noted on this machine; every notebook ends with it,
# this one too.
#
# **`mybert`, your own package.** From notebook 01 on, an answer that passes its check is also written into a folder `mybert/` beside the notebooks'
# folders: `mybert/wordpiece.py`, `mybert/attention.py` and so on. Later notebooks use it: `from mybert.attention import MultiHeadAttention` is *your*
# layer. Where a piece is missing, the notebook says so in a line and goes on with a stand-in, so you can skip an exercise and come back. (This warm-up
# is not kept: BERT has no use for it.)
#
# **On a machine that forgets**, a pool computer or Colab without a Drive: `save_state()` puts package and progress into one small file that you take
# with you, `load_state("…")` brings them back.
#
# ```python
# from autograde.student import load_state, save_state
# save_state()
# ```
#
# **Rules of the game.** In an exercise about building something, what would do it for you is forbidden (attention in an exercise about attention);
# `check` tells you by name. Everything else is allowed, and there are always many right ways. Do not rename what a stub defines; leave the check cells
# as they are.

# %%
print("Handing in:", HAND_IN or "your instructor will tell you where and until when.")

# %% [markdown]
# **Handing in.** Save the notebook (on Colab: *File → Download → .ipynb*) and hand in that one file; neither outputs nor `mybert/` are needed. The
# grader runs your answers in a locked room and asks the same kind of questions with *other inputs*, which nobody sees beforehand. So a `check` that
# passes is a very good sign, and an answer made to fit the visible inputs earns nothing. Each exercise counts on its own: if an early one failed, a
# later one that builds on it is graded with a correct stand-in.
#
# **The map**
#
# | notebook | you build | so that |
# |---|---|---|
# | 01 WordPiece | a tokenizer, and the learner of its vocabulary | any text becomes a row of known pieces |
# | 02 Embeddings | token, position and segment vectors | pieces become vectors that know their place |
# | 03 Attention | one head, masks, many heads | every word can look at every other |
# | 04 Encoder layer | LayerNorm, GELU, feed-forward, residuals, the stack | depth, and gradients that survive it |
# | 05 BERT | the whole model and its heads | published weights run in your own code |
# | 06 Pre-training data | masking, sentence pairs, records | text without labels becomes exercises for the model |
# | 07 Pre-training | losses, schedule, the training step | your BERT learns |
# | 08 Fine-tuning | heads for four kinds of tasks, metrics | it does something useful |
#
# ---
# # Recap
#
# `check` tries your code on visible inputs and says where and why it differs; hints grow with your tries; `progress()` is the map in points; `mybert`
# keeps what passed; the grader asks again with other inputs.
#
# **To think about**
#
# 1. The mean made two different sentences equal. Find another way to make one vector of a sentence, of any length, that would tell them apart.
# 2. Why might a grader use inputs that nobody has seen, when the check's inputs are visible to all?
# 3. What would the mean of *all* words of a novel look like, compared with that of another novel?
#
# **Next:** notebook 01 turns text into pieces. There the sentence "TinyBERT is fascinating." loses nothing, not even its full stop.

# %%
progress()
