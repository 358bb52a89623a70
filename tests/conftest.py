"""The environment of every test: the default backend, quiet logs, one seed, markers, and the import path."""

import gc
import os
import random
import sys
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import hypothesis
import numpy as np
import once
import pytest

# XLA compiles hundreds of small programs here that run once or twice: let it compile quickly rather than well.
COMPILE_QUICKLY = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
if COMPILE_QUICKLY not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{COMPILE_QUICKLY} {os.environ.get('XLA_FLAGS', '')}".strip()

# The same examples every time; `--hypothesis-profile default` looks for new ones.
hypothesis.settings.register_profile("repeatable", derandomize=True)
hypothesis.settings.load_profile("repeatable")


HERE = Path(__file__).parent
# Folder → the marker of its tests. Numerical ones compare floats, or assert what a model has learned.
MARKERS = {
    "peers": "peers", "browser": "browser", "course": "numerical", "autograde/boundary": "numerical",
    "autograde/exercises": "numerical", "autograde/judging": "numerical", "bertlab/analysis": "numerical",
    "bertlab/checkpoints": "numerical", "bertlab/export": "numerical", "bertlab/families": "numerical",
    "bertlab/generation": "numerical", "bertlab/layers": "numerical", "bertlab/models": "numerical",
    "bertlab/predict": "numerical", "bertlab/training": "numerical",
}  # fmt: skip


def pytest_configure(config):
    shared = once.begin()
    config.add_cleanup(lambda: once.end(shared))
    # Keras asks TensorFlow's variables for an array in the way NumPy 2 deprecates; nothing here can change that.
    config.addinivalue_line("filterwarnings", "ignore:__array__ implementation:DeprecationWarning")
    # A row of one token attends to itself alone, and Keras wonders whether that was meant. It was.
    config.addinivalue_line("filterwarnings", "ignore:You are using a softmax over axis:UserWarning")
    # A mistaken answer leaves a layer of its own unused, and Keras wonders about that too.
    config.addinivalue_line("filterwarnings", r"ignore:.build\(\). was called on layer:UserWarning")


def pytest_collection_finish(session):
    """The modules and tests live to the end: Python need not search them again and again for what can be freed."""
    gc.collect()
    gc.freeze()


def pytest_itemcollected(item):
    folder = item.path.parent.relative_to(HERE).as_posix()
    if folder in MARKERS:
        item.add_marker(MARKERS[folder])


@pytest.fixture(autouse=True)
def one_seed():
    """Every test starts from the same random state; Keras is seeded only where a test has loaded it."""
    random.seed(0)
    np.random.seed(0)
    if "keras" in sys.modules:
        seed_keras()


def seed_keras():
    """`keras.utils.set_random_seed(0)`, but TensorFlow's seed is set only if a test has drawn from it or changed it.

    Setting it empties TensorFlow's cache of kernels: the next call of an encoder layer then takes twice as long.
    """
    import keras
    import tensorflow as tf
    from tensorflow.python.eager.context import context as eager_context

    context = eager_context()
    untouched = context._seed == 0 and context._rng.getstate() == random.Random(0).getstate()
    set_seed, tf.random.set_seed = tf.random.set_seed, (lambda seed: None) if untouched else tf.random.set_seed
    keras.utils.set_random_seed(0)
    tf.random.set_seed = set_seed


@pytest.fixture(scope="session")
def launcher():
    """Sandboxes, their server started once in a process: it loads TensorFlow, as `autograde grade` does."""
    from grade_class import open_shared_launcher

    with open_shared_launcher() as launcher:
        yield launcher
