"""The examples in the docstrings of what the library offers: each is there, and gives what it shows."""

import doctest
import importlib
import pkgutil

import keras
import numpy as np
import pytest

import bertlab.tokenizer
from bertlab import analysis, baselines, checkpoints, families, features, layers, minimal, models
from bertlab.models import outline
from bertlab.training import word2vec

# What the examples may use without importing it.
GLOBALS = {"keras": keras, "ops": keras.ops, "np": np} | {
    name: getattr(package, name) for package in (layers, models, checkpoints, families) for name in package.__all__
}


def modules_of(package):
    return [
        importlib.import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)
    ]


MODULES = [
    *(
        module
        for package in (analysis, baselines, features, layers, models, checkpoints, families, word2vec)
        for module in modules_of(package)
    ),
    importlib.import_module("bertlab.config"),
    families,
    minimal,
    outline,
    bertlab.tokenizer,
]
TESTS = [
    test
    for module in MODULES
    for test in doctest.DocTestFinder(recurse=True).find(module, extraglobs=GLOBALS)
    if test.examples
]


@pytest.mark.parametrize("test", {test.name: test for test in TESTS}.values(), ids=lambda test: test.name)
def test_an_example_gives_what_it_shows(test, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = []
    doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert not printed, "".join(printed)


@pytest.mark.parametrize("package", [layers, models, checkpoints], ids=lambda package: package.__name__)
def test_everything_public_has_an_example(package):
    tested = {test.name for test in TESTS}
    public = {getattr(package, name) for name in package.__all__}
    lacking = [thing.__name__ for thing in public if f"{thing.__module__}.{thing.__name__}" not in tested]
    assert not lacking
