"""Measures how far our models are from transformers' PyTorch ones: `python -m benchmarks.parity`.

Both compute with the same random checkpoints, in float32, on every backend that is installed. The first table shows
the largest absolute difference of each output over all cases, lengths and rows, padding included, and the largest
relative difference of a gradient; the second one has a row for each family of models. Without transformers it compares
with the stored arrays of tests/golden.

Supports: benchmarks/parity/README.md, "Parity of each family".
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.parity.cases import CASES

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
FAMILIES = {name: case.family or case.model_type for name, case in CASES.items()}
BACKENDS = ("tensorflow", "jax", "torch")

OUTPUT_TOLERANCE = 1e-5  # of max(1, max|reference|)
GRADIENT_TOLERANCE = 1e-4  # of max|reference|
# The bias of the keys moves all scores of a query alike, which a softmax ignores: its gradient is rounding noise on
# both sides. It is measured against the gradient of the keys' kernel instead.
KEY_BIASES = {
    "self.key.bias": "self.key.weight",
    "k_lin.bias": "k_lin.weight",
    "attention.key.bias": "attention.key.weight",
    "k_proj.bias": "k_proj.weight",
}


def worker(*arguments: str | Path, backend: str = "tensorflow") -> None:
    """Runs `benchmarks.parity.worker` in a process of its own. Raises RuntimeError with what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.parity.worker", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"parity.worker {' '.join(map(str, arguments))} on {backend}:\n{done.stderr[-4000:]}")


def differences(expected, found) -> dict[str, tuple[float, float]]:
    """The max|found − expected| of each array, and the scale that its tolerance is relative to (see above)."""
    measured = {}
    for name in expected:
        if "/input/" in name:
            continue
        reference = expected[name]
        scale = np.abs(reference).max()
        if "/gradient/" not in name:
            scale = max(1.0, scale)
        elif name.endswith(tuple(KEY_BIASES)):
            scale = np.abs(expected[_key_kernel(name)]).max()
        measured[name] = float(np.abs(found[name] - reference).max()), float(scale)
        if name.endswith("/output/hidden_states"):
            fused = name.replace("hidden_states", "fused_sequence_output")
            measured[fused] = float(np.abs(found[fused] - reference[-1]).max()), float(scale)
    return measured


def _key_kernel(name: str) -> str:
    return next(name.removesuffix(bias) + kernel for bias, kernel in KEY_BIASES.items() if name.endswith(bias))


def relative_differences(expected, found) -> dict[str, float]:
    """Each array's difference relative to its scale, which `tolerance` limits."""
    return {name: absolute / scale for name, (absolute, scale) in differences(expected, found).items()}


def tolerance(name: str) -> float:
    return GRADIENT_TOLERANCE if "/gradient/" in name else OUTPUT_TOLERANCE


# === The table ===


def make_folders(workplace: Path, names: list[str]) -> list[Path]:
    """One folder for each case, with a checkpoint and expected.npz; the golden ones where transformers is missing."""
    if not (find_spec("transformers") and find_spec("torch")):
        Console(stderr=True).print("transformers or torch is not installed: comparing with tests/golden instead")
        sources = sorted(path.parent for path in GOLDEN.glob("*/expected.npz"))
        return [Path(shutil.copytree(source, workplace / source.name)) for source in sources]
    Console(stderr=True).print("transformers …")
    folders = [workplace / name for name in names]
    worker("reference", *folders)
    return folders


def worst(folders: list[Path], backend: str) -> tuple[dict[str, float], bool]:
    """The largest difference of each kind of output, absolute, and of gradients, relative; whether all are allowed."""
    largest, within = {}, True
    for folder in folders:
        measured = differences(np.load(folder / "expected.npz"), np.load(folder / f"{backend}.npz"))
        for name, (absolute, scale) in measured.items():
            _, group, kind = name.split("/", 2)
            kind, value = ("gradients", absolute / scale) if group == "gradient" else (kind, absolute)
            largest[kind] = float(np.maximum(largest.get(kind, 0.0), value))  # unlike max, it does not lose a NaN
            within = within and absolute <= tolerance(name) * scale
    return largest, within


def worst_relative(folders: list[Path], backend: str) -> dict[str, tuple[float, float]]:
    """The largest relative difference of an output and of a gradient, for each family."""
    largest = {}
    for folder in folders:
        measured = relative_differences(np.load(folder / "expected.npz"), np.load(folder / f"{backend}.npz"))
        parts = [0.0, 0.0]
        for name, value in measured.items():
            is_gradient = "/gradient/" in name
            parts[is_gradient] = float(np.maximum(parts[is_gradient], value))
        family = FAMILIES.get(folder.name, "bert")
        largest[family] = tuple(np.maximum(largest.get(family, (0.0, 0.0)), parts).tolist())
    return largest


def family_table(columns: dict[str, dict[str, tuple[float, float]]]) -> Table:
    """columns: for each backend what `worst_relative` returns."""
    shown = Table("family", *columns, title="Largest relative difference: outputs / gradients")
    for family in next(iter(columns.values())):
        shown.add_row(family, *("{:.1e} / {:.1e}".format(*column[family]) for column in columns.values()))
    return shown


def table(columns: dict[str, dict[str, float]]) -> Table:
    """columns: for each backend its largest differences, as `worst` returns them."""
    shown = Table("output", *columns, "allowed", title="Largest difference from transformers, float32")
    for kind in next(iter(columns.values())):
        allowed = f"{GRADIENT_TOLERANCE:.0e} · max" if kind == "gradients" else f"{OUTPUT_TOLERANCE:.0e} · max(1, max)"
        shown.add_row(kind, *(f"{column[kind]:.1e}" for column in columns.values()), allowed)
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parity", description=__doc__.split("\n")[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=list(BACKENDS))
    options = parser.parse_args()

    columns, families, all_within = {}, {}, True
    with tempfile.TemporaryDirectory() as workplace:
        folders = make_folders(Path(workplace), options.cases)
        for backend in options.backends:
            if not find_spec(backend):
                Console(stderr=True).print(f"{backend} is not installed: left out")
                continue
            Console(stderr=True).print(f"bertlab on {backend} …")
            worker("ours", *folders, backend=backend)
            columns[backend], within = worst(folders, backend)
            families[backend] = worst_relative(folders, backend)
            all_within = all_within and within
    if not columns:
        Console(stderr=True).print("none of the backends asked for is installed: nothing was compared")
        return 2
    Console().print(table(columns))
    Console().print("Outputs: absolute. Gradients: relative to each tensor's largest value.")
    Console().print(family_table(families))
    Console().print(f"Allowed: {OUTPUT_TOLERANCE:.0e} · max(1, max) / {GRADIENT_TOLERANCE:.0e} · max.")
    return 0 if all_within else 1


if __name__ == "__main__":
    sys.exit(main())
