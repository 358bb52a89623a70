"""A machine as Colab gives one, and a notebook as Colab saves it, for the tests that walk a student's way through it.

Colab's own parts are not available here: its browser side, `google.colab`, a Drive, a GPU. The rest is real: an
environment with TensorFlow and Keras but nothing of the course, a wheel fetched by HTTP, a package index, a kernel.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from jupyter_client import AsyncKernelManager, KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

from autograde.release import editions

ROOT = Path(__file__).parents[2]
# Colab's versions for Python 3.12, not those of the lock file.
COLABS_OWN = ("tensorflow==2.19.*", "keras==3.10.*", "numpy==2.0.2", "matplotlib==3.10.*", "ipykernel")


def new_machine(folder: Path) -> Path:
    """A fresh environment with what Colab would have; returns its Python. Skips where no package index is reached."""
    if sys.version_info >= (3, 13):
        pytest.skip("Colab's TensorFlow needs Python 3.12 or older")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    done = pip(python, "install", "--quiet", *COLABS_OWN)
    if done.returncode:
        if re.search(r"Could not find a version|No matching distribution|connection|Temporary failure", done.stderr):
            pytest.skip(f"no package index can be reached from here: {done.stderr.strip().splitlines()[-1][:200]}")
        raise AssertionError(done.stderr)
    return python


def pip(python: Path, *arguments: str):
    command = [python, "-m", "pip", *arguments, "--disable-pip-version-check"]
    return subprocess.run(command, capture_output=True, text=True, env=environment(python))


def installed(python: Path) -> dict[str, str]:
    """name → version of everything that is installed there."""
    rows = json.loads(pip(python, "list", "--format", "json").stdout)
    return {row["name"].lower(): row["version"] for row in rows}


def environment(python: Path, **more: str) -> dict[str, str]:
    """Environment variables of a machine that knows nothing of this checkout."""
    own = {name: value for name, value in os.environ.items()
           if not name.startswith(("PYTHON", "AUTOGRADE", "MYBERT", "JUPYTER"))}  # fmt: skip
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    return own | {"PATH": path, "CUDA_VISIBLE_DEVICES": "-1"} | more


@contextmanager
def served(folder: Path):
    """The address under which a folder's files can be fetched."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


# --- a machine that is lost ---

_COLABS_MODULES = """
import pathlib, sys, types
import google.protobuf  # the namespace `google` is shared

colab = google.colab = types.ModuleType("google.colab")
colab.drive = types.SimpleNamespace(mount=lambda folder: pathlib.Path(folder, "MyDrive").mkdir(parents=True))
colab.files = types.SimpleNamespace(download=lambda path: print(f"the browser gets {path}"))
sys.modules["google.colab"] = colab
"""


class Machine:
    """A kernel with Colab's modules in a folder of its own (/content there). `lose` kills it and deletes its files."""

    def __init__(self, folder: Path):
        self.content = folder / "content"
        startup = folder / "ipython/profile_default/startup"
        startup.mkdir(parents=True)
        (startup / "colab.py").write_text(_COLABS_MODULES, encoding="utf-8")
        self.content.mkdir()
        own = {"IPYTHONDIR": str(folder / "ipython"), "HOME": str(folder), "PYTHONPATH": str(ROOT)}
        self._folder, self._manager = folder, KernelManager(kernel_name="python3")
        self._manager.start_kernel(
            cwd=str(self.content), env=environment(Path(sys.executable), TF_CPP_MIN_LOG_LEVEL="3", **own)
        )
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=300)

    def run(self, source: str) -> str:
        """The output of a cell. Raises AssertionError with the cell's error."""
        printed = []

        def listen(message):
            kind, content = message["msg_type"], message["content"]
            assert kind != "error", "\n".join(content["traceback"])
            printed.append(content.get("text", "") if kind == "stream" else "")

        self._client.execute_interactive(source, timeout=600, output_hook=listen)
        return "".join(printed)

    def start(self, source: str) -> None:
        """Runs a cell without waiting for its end."""
        self._client.execute(source)

    def lose(self) -> None:
        self._manager.shutdown_kernel(now=True)  # kill -9
        self._client.stop_channels()
        shutil.rmtree(self._folder)


# --- notebooks ---


def solved(made: editions.Editions) -> dict:
    """The student edition with the solutions' answers in place of its stubs."""
    answers = {_grade_id(cell): cell["source"] for cell in json.loads(made.source)["cells"] if _grade_id(cell)}
    content = json.loads(made.student)
    for cell in content["cells"]:
        cell["source"] = answers.get(_grade_id(cell), cell["source"])
    return content


def _grade_id(cell: dict) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def as_colab_saves(content: dict) -> str:
    """A notebook's text after Colab has had it: format 4.0, ids of its own in the metadata, nbgrader's gone."""
    cells = []
    for place, cell in enumerate(content["cells"]):
        metadata = {"id": f"Ca9{place:03}xYz"}
        if cell["cell_type"] == "code":
            metadata |= {"colab": {"base_uri": "https://localhost:8080/"}, "outputId": f"out-{place}"}
        kept = {key: value for key, value in cell.items() if key not in ("id", "metadata", "source")}
        cells.append(kept | {"metadata": metadata, "source": "".join(cell["source"]).splitlines(True)})
    metadata = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    return json.dumps({"nbformat": 4, "nbformat_minor": 0, "metadata": metadata, "cells": cells}, indent=2)


def run(path: Path, python: Path, kernels: Path) -> float:
    """Runs a notebook from top to bottom where it lies, with outputs; returns the seconds of the first code cell."""
    (kernels / "python3").mkdir(parents=True, exist_ok=True)
    start = {"argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3"}
    (kernels / "python3/kernel.json").write_text(json.dumps(start | {"language": "python"}))
    specs = KernelSpecManager(kernel_dirs=[str(kernels)], ensure_native_kernel=False)
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs)
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, km=manager, timeout=900, startup_timeout=300, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute(env=environment(python))
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    times = first.metadata.pop("execution")
    began, ended = (
        datetime.fromisoformat(times[key].replace("Z", "+00:00"))
        for key in ("iopub.execute_input", "shell.execute_reply")
    )
    path.write_text(as_colab_saves(notebook), encoding="utf-8")
    return (ended - began).total_seconds()


def shown(path: Path) -> list[str]:
    """The text output of a saved notebook's code cells, in their order."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return ["".join(text) for text in texts]
