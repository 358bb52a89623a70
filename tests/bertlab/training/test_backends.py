"""One source, three backends: nothing in layers/ and models/ names one of them, and importing bertlab loads none."""

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bertlab.cli import COMMANDS

ROOT = Path(__file__).parents[3]
BACKENDS = {"tensorflow", "jax", "jaxlib", "torch"}
SOURCES = sorted([*(ROOT / "bertlab/layers").glob("*.py"), *(ROOT / "bertlab/models").glob("*.py")])


def imported_packages(source: str) -> set[str]:
    """The first part of the name of everything that the source imports, at any depth."""
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            packages.add(node.module.split(".")[0])
    return packages


def test_the_check_sees_imports_inside_functions():
    assert imported_packages("def f():\n    import torch.nn as nn\n    from jax import numpy") == {"torch", "jax"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_layers_and_models_import_no_backend(path):
    assert not imported_packages(path.read_text(encoding="utf-8")) & BACKENDS


@pytest.mark.parametrize("module", ["bertlab", "bertlab.config", "bertlab.common.errors", "bertlab.cli"])
def test_importing_loads_no_backend(module):
    report = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", f"import {module}; {report}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "bertlab" in loaded
    assert not loaded & (BACKENDS | {"keras"})


def test_the_module_of_every_command_loads_no_backend():
    """A backend that is loaded with the module makes `--help` slow, and prints its notes about the machine."""
    modules = sorted({module for module, _ in COMMANDS.values()})
    report = "loaded = [m for m in modules if importlib.import_module(f'bertlab.cli.{m}') and 'keras' in sys.modules]"
    code = f"import importlib, sys; modules = {modules}; {report}; print(loaded)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.peers
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_layer_and_model_tests_pass_on_the_other_backends(backend):
    """The same tests again, in a process of their own: a backend cannot be changed once Keras is loaded."""
    assert find_spec(backend), f"{backend} is not installed: make test-peers installs it"
    tests = [
        *("layers/test_layers.py", "layers/test_layers_attention.py", "layers/test_layers_dropout.py"),
        *("layers/test_layers_parts.py", "models/test_models.py", "families/test_elmo.py"),
        *("training/test_gradients.py", "training/test_replaced_tokens.py", "training/test_word2vec.py"),
        "training/test_contrastive.py::test_a_batch_in_parts_has_the_loss_and_the_update_of_the_whole_one",
        "generation/test_generation.py::test_xla_writes_the_text_that_is_written_without_kept_keys",
        "generation/test_translation.py::test_kept_keys_and_values_change_no_token[1-12-True]",
    ]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [f"tests/bertlab/{name}" for name in tests]
    environment = os.environ | {"KERAS_BACKEND": backend}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
