"""The examples in the docstrings of what the library offers: each is there, and gives what it shows.

An example is run if it has `>>>`; of other code the names and the arguments of its calls are checked.
"""

import ast
import doctest
import importlib
import inspect
import pkgutil
import textwrap

import keras
import numpy as np
import pytest

import bertlab.tokenizers.wordpiece.base
from bertlab import analysis, checkpoints, export, families, generation, layers, minimal, models, predict
from bertlab.models import outline
from bertlab.tokenizers import bpe, wordpiece
from bertlab.training import baselines, features, finetuning, objectives, word2vec

# Packages whose public classes and functions all have an example: one that is run, or one of either kind.
RUN = (layers, models, checkpoints)
SHOWN = (bpe, export, families, generation, predict, wordpiece, finetuning, objectives)

# Names that the examples may use without an import, besides those of their module.
GLOBALS = {"keras": keras, "ops": keras.ops, "np": np} | {
    name: getattr(package, name)
    for package in (layers, models, checkpoints, families, wordpiece, objectives)
    for name in package.__all__
}


def modules_of(package):
    """The modules of a package; none of a module, such as `objectives`."""
    found = pkgutil.iter_modules(getattr(package, "__path__", ()))
    return [importlib.import_module(f"{package.__name__}.{one.name}") for one in found]


MODULES = [
    *(module for package in (*RUN, *SHOWN, analysis, baselines, features, word2vec) for module in modules_of(package)),
    importlib.import_module("bertlab.config"),
    families,
    minimal,
    objectives,
    outline,
    bertlab.tokenizers.wordpiece.base,
]
TESTS = [
    test
    for module in MODULES
    for test in doctest.DocTestFinder(recurse=True).find(module, globs=GLOBALS | vars(module))
    if test.examples
]


def public(package):
    things = {getattr(package, name) for name in package.__all__ if callable(getattr(package, name))}
    return sorted(things, key=lambda thing: thing.__name__)


def shown_code(thing):
    """The code below `Example:` in a docstring; the empty text if there is none."""
    before, _, code = (inspect.getdoc(thing) or "").partition("\nExample:\n")
    return textwrap.dedent(code)


SHOWN_CODE = {
    f"{thing.__module__}.{thing.__name__}": (thing, code)
    for package in SHOWN
    for thing in public(package)
    if (code := shown_code(thing)) and ">>>" not in code
}


@pytest.mark.parametrize("test", {test.name: test for test in TESTS}.values(), ids=lambda test: test.name)
def test_an_example_gives_what_it_shows(test, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = []
    doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert not printed, "".join(printed)


@pytest.mark.parametrize("name", SHOWN_CODE)
def test_code_that_is_not_run_calls_what_there_is(name):
    thing, code = SHOWN_CODE[name]
    known = GLOBALS | vars(importlib.import_module(thing.__module__))
    nodes = list(ast.walk(ast.parse(code)))
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(ast.unparse(node), known)
    made = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    calls = [(ast.unparse(node.func), node) for node in nodes if isinstance(node, ast.Call)]
    for function, call in calls:
        if "(" in function or function.partition(".")[0] in made:
            continue  # a method of what an earlier call gave
        inspect.signature(eval(function, known)).bind(*call.args, **{one.arg: one.value for one in call.keywords})
    assert thing.__name__ in {function.partition(".")[0] for function, _ in calls}


@pytest.mark.parametrize("package", [*RUN, *SHOWN], ids=lambda package: package.__name__)
def test_everything_public_has_an_example(package):
    having = {test.name for test in TESTS} | (set(SHOWN_CODE) if package in SHOWN else set())
    lacking = [thing.__name__ for thing in public(package) if f"{thing.__module__}.{thing.__name__}" not in having]
    assert not lacking
