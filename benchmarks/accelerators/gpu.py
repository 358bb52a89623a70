"""Measures on this machine's GPU the training steps that `benchmarks.accelerators` computed without one.

    python -m benchmarks.accelerators.gpu > report.md    # about ten minutes; TensorFlow, and JAX where it has a GPU
    python -m benchmarks.accelerators.gpu --backends jax --sizes base --rows 64
    python -m benchmarks.accelerators.gpu --backends jax --sizes base --peer           # also `transformers` on PyTorch

The report is Markdown, made to be pasted into an issue: the GPU, its measured peaks, and for each step its time, its
memory and, for cards of the table, the least time and the memory that were computed. Each step has a process of its
own; one that fails has its error in the report. On another machine `--cpu --sizes tiny` shows how the report looks.

Supports: benchmarks/accelerators/README.md, "Measured beside the computed times".
"""

import argparse
import csv
import importlib.util
import itertools
import json
import os
import platform
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import bertlab
from benchmarks.accelerators.__main__ import ROWS
from benchmarks.accelerators.cards import CARDS, GIB

COMPUTED = Path(__file__).parent / "table.csv"
HEADS = (
    "backend", "step", "rows × tokens", "precision", "ms", "tokens/s", "of the measured peak", "computed least, ms",
    "measured / least", "memory, GiB", "computed memory, GiB", "compiling, s",
)  # fmt: skip
PEER = "transformers, torch.compile"
SIZES = ("small", "base", "large", "tiny")


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerators.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--backends", nargs="+", choices=("tensorflow", "jax"), help="those installed, if left out")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["small", "base"])
    parser.add_argument(
        "--tasks", nargs="+", choices=("pretraining", "finetuning"), default=["pretraining", "finetuning"]
    )
    parser.add_argument("--tokens", nargs="+", type=int, default=[128], help="lengths of a row")
    parser.add_argument("--rows", nargs="+", type=int, help="rows of a batch (256 of small and 32 of base at 128)")
    parser.add_argument("--precision", choices=("auto", "float32", "float16", "bfloat16"), default="auto")
    parser.add_argument("--seconds", type=float, default=10.0, help="measure each step for this time")
    parser.add_argument(
        "--peer", action="store_true", help="also measure pre-training with transformers on PyTorch, tuned by hand"
    )
    parser.add_argument("--cpu", action="store_true", help="measure the processor where there is no GPU")
    return parser.parse_args(arguments)


def jobs_of(options: argparse.Namespace) -> list[dict]:
    """The steps to measure."""
    backends = options.backends or [name for name in ("tensorflow", "jax") if importlib.util.find_spec(name)]
    jobs = []
    for backend, size, task, tokens in itertools.product(backends, options.sizes, options.tasks, options.tokens):
        for rows in options.rows or [max(1, ROWS.get(size, 32) * 128 // tokens)]:
            jobs.append({
                "backend": backend, "size": size, "task": task, "tokens": tokens, "rows": rows,
                "precision": options.precision, "seconds": options.seconds,
            })  # fmt: skip
    if options.peer:
        steps = [job | {"backend": "torch", "peer": PEER} for job in jobs if job["task"] == "pretraining"]
        jobs += {json.dumps(step): step for step in steps}.values()  # once, however many backends there are
    return jobs


def run(job: dict) -> dict:
    """One process's answer; {"error": the last line of what it printed} if it failed."""
    environment = os.environ | {"KERAS_BACKEND": job["backend"], "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "benchmarks.accelerators.gpu_worker", json.dumps(job)]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    if ended.returncode:
        lines = [line for line in ended.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Exit)\b", line)]
        return {"error": (errors or lines or [f"it ended with status {ended.returncode}"])[-1][:300]}
    return json.loads(ended.stdout.splitlines()[-1])


def card_of(name: str) -> str | None:
    """The name in the table of a GPU that calls itself `name`; None if it is not there.

    Example:
        >>> card_of("NVIDIA A100-SXM4-40GB")
        'A100'
    """
    return next((card for card in CARDS if re.search(rf"\b{re.escape(card)}\b", name)), None)


@cache
def computed_cells() -> dict[tuple, dict]:
    """(card, size, task, tokens, rows) → a row of the table that was computed: of BertLab on one card."""
    with COMPUTED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["compiles"] == "yes"]
    rows = [row for row in rows if row["sharding"] == "replicated" and row["engine"] == "bertlab"]
    names = ("card", "size", "task", "tokens", "rows")
    return {tuple(row[name] for name in names): row for row in rows}


def line_of(job: dict, found: dict, card: str | None) -> list[str]:
    """A row of the report."""
    step = job["size"] if job["task"] == "pretraining" else f"{job['size']}, {job['task']}"
    start = [job.get("peer", job["backend"]), step, f"{job['rows']} × {job['tokens']}"]
    if "error" in found:
        return [*start, found["error"].replace("|", "/"), *[""] * (len(HEADS) - 4)]
    known = computed_cells().get((card, job["size"], job["task"], str(job["tokens"]), str(job["rows"])))
    least, ratio, memory = "", "", ""
    if known and known["precision"] == found["precision"] and "peer" not in job:
        seconds = float(known["roofline_seconds"])
        least, ratio = f"{seconds * 1e3:.1f}", f"{found['seconds'] / seconds:.2f}"
        memory = f"{float(known['memory']) / GIB:.2f}"
    return [
        *start, found["precision"], f"{found['seconds'] * 1e3:.1f}",
        f"{job['rows'] * job['tokens'] / found['seconds']:,.0f}", f"{found['peak_fraction']:.0%}", least, ratio,
        f"{found['memory'] / GIB:.2f}", memory, f"{found['compile_seconds']:.0f}",
    ]  # fmt: skip


def report(machine: dict, card: str | None, lines: list[list[str]], arguments: list[str]) -> str:
    """The Markdown text. arguments: those of the command."""
    computed = "its steps were computed beforehand" if card else "not in the table of computed cards"
    facts = [
        f"- {machine['name']} ({computed})"
        + (f"; {machine['memory'] / GIB:.1f} GiB free" if machine["memory"] else "")
        + (f"; compute capability {machine['capability']}" if machine["capability"] else ""),
        f"- Measured: {machine['peak_16'] / 1e12:.3g} TFLOP/s in {machine['precision_16']}, "
        f"{machine['peak_32'] / 1e12:.3g} in float32, {machine['bandwidth'] / 1e9:,.0f} GB/s",
        f"- {_packages()}, Python {platform.python_version()}, {platform.system()}",
    ]
    table = "".join(f"| {' | '.join(line)} |\n" for line in [HEADS, ["---"] * len(HEADS), *lines])
    return "\n".join([f"## `{' '.join(['python -m benchmarks.accelerators.gpu', *arguments])}`", "", *facts, "", table])


def _packages() -> str:
    found = [name for name in ("keras", "tensorflow", "jax", "torch", "transformers") if importlib.util.find_spec(name)]
    return ", ".join([f"bertlab {bertlab.__version__}", *(f"{name} {version(name)}" for name in found)])


def main(arguments: list[str]) -> None:
    options = options_of(arguments)
    jobs = jobs_of(options)
    machine = run({"machine": True, "backend": jobs[0]["backend"]})
    if "error" in machine:
        sys.exit(f"The machine could not be examined: {machine['error']}")
    if not machine["gpu"] and not options.cpu:
        sys.exit(
            f"Expected a GPU that {jobs[0]['backend']} can use, found none; add --cpu to measure the processor, with "
            "--sizes tiny to see how the report looks."
        )
    card, lines = card_of(machine["name"]), []
    for number, job in enumerate(jobs, 1):
        print(f"{number} of {len(jobs)}: {job['backend']}, {job['size']}, {job['task']}", file=sys.stderr, flush=True)
        lines.append(line_of(job, run(job), card))
    print(report(machine, card, lines, arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
