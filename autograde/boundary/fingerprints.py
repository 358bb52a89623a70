"""Plans as files, which the student edition contains instead of references and solutions.

One `.npz` per exercise holds a plan's header (JSON) and the raw bytes of its arrays; `index.json` lists the exercises.
The files are read without pickle, and the same plans give the same bytes.
"""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from autograde.boundary.values import Limits, decode, encode
from autograde.common.errors import AutogradeError
from bertlab.common.files import write_bytes, write_json

INDEX = "index.json"
RUNS = "runs.json"  # training runs: points that are given when their weights are handed in
LIMITS = Limits(nodes=500_000)  # what known mistakes return in hundreds of calls is more than one answer may hold


class FingerprintError(AutogradeError, ValueError):
    """A fingerprint file that is missing or damaged, or that cannot be written."""


def name_of(exercise: str, variant: int = 0) -> str:
    """The name of the file with an exercise's plan, without its ending: of a variant of the question "scores@2"."""
    return f"{exercise}@{variant}" if variant else exercise


def save(plan: dict, path: Path) -> None:
    """Writes a plan, whole or not at all. Raises FingerprintError if the system refuses."""
    header, buffers = encode(plan, LIMITS)
    arrays = {f"b{index:05d}": np.frombuffer(buffer, "uint8") for index, buffer in enumerate(buffers)}
    header = np.frombuffer(json.dumps(header, separators=(",", ":")).encode(), "uint8")
    packed = io.BytesIO()  # np.savez_compressed would add .npz to the name of a temporary file
    np.savez_compressed(packed, header=header, **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, packed.getvalue(), FingerprintError)


def load(path: Path) -> dict:
    """Reads a plan. Raises FingerprintError."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            buffers = [stored[name].tobytes() for name in sorted(stored.files) if name != "header"]
            return decode(json.loads(stored["header"].tobytes()), buffers, LIMITS)
    except FileNotFoundError:
        raise FingerprintError(f"{path}: the file does not exist; install the course package again") from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FingerprintError(f"{path}: damaged ({error}); install the course package again") from None


def save_index(exercises: list[dict], folder: Path, name: str = INDEX) -> None:
    """Writes the list of exercises, or of training runs: number, title, points, names …"""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / name, exercises, FingerprintError)


def load_index(folder: Path, name: str = INDEX) -> list[dict]:
    """Reads the list of exercises, or of training runs. Raises FingerprintError."""
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FingerprintError(f"{folder / name}: cannot be read ({error}); install the course package again") from None
