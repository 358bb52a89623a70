"""Shows where a training step spends its time on a GPU: a table by kind of computation, and the longest kernels.

    KERAS_BACKEND=jax python -m benchmarks.accelerators.gpu_kernels --size base --tokens 128 --rows 32

Traces some steps with JAX's profiler, adds up the time of each kernel, and finds in the program that XLA compiled which
line of the model a kernel comes from. `benchmarks.speed.fusions` does the same on a processor. Prints Markdown.

Supports: benchmarks/accelerators/README.md, "The kernels by kind".
"""

import argparse
import os
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from benchmarks.accelerators.steps import TASKS, Work
from benchmarks.speed.fusions import OTHER, Instruction, instructions_of, kind_of

STEPS = 20
MAX_SHOWN = 15  # kernels in the second table
# Kernels of libraries, by their names; all others are fusions that XLA wrote.
LIBRARIES = (
    ("products", r"nvjet|gemm|cutlass|cublas"),
    ("attention: cuDNN's kernels", r"cudnn"),
    ("copies", r"^Mem(cpy|set)"),
)


class Kernel(NamedTuple):
    """A kernel of one step: its name, how often it runs, and the milliseconds of all its runs."""

    name: str
    runs: float
    milliseconds: float


def kernels_of(trace: Path, steps: int = STEPS) -> list[Kernel]:
    """The kernels of a step, from a trace of so many steps (.xplane.pb); the longest first."""
    from jax.profiler import ProfileData

    spent, runs = defaultdict(float), defaultdict(int)
    for plane in ProfileData.from_file(str(trace)).planes:
        if plane.name.startswith("/device:GPU"):
            for event in (event for line in plane.lines if line.name.startswith("Stream") for event in line.events):
                spent[event.name] += event.duration_ns / 1e6
                runs[event.name] += 1
    kernels = [Kernel(name, runs[name] / steps, spent[name] / steps) for name in spent]
    return sorted(kernels, key=lambda kernel: -kernel.milliseconds)


def by_kernel_name(program: str) -> dict[str, Instruction]:
    """The instructions of a program by the names that their kernels have: fusion.12 becomes fusion_12."""
    return {re.sub(r"[.\-]", "_", name): instruction for name, instruction in instructions_of(program).items()}


def kind_of_kernel(name: str, instructions: dict[str, Instruction]) -> str:
    """The kind of computation in the first table."""
    for kind, pattern in LIBRARIES:
        if re.search(pattern, name):
            return kind
    if name not in instructions:
        return OTHER
    kind = kind_of(instructions[name])
    if kind == OTHER and "feed_forward" in instructions[name].source:
        return "feed-forward network: GELU, biases"
    return "products" if kind == "products of the model" else kind


def report(kernels: list[Kernel], instructions: dict[str, Instruction]) -> str:
    """Both tables in Markdown."""
    total = sum(kernel.milliseconds for kernel in kernels)
    kinds: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for kernel in kernels:
        kind = kinds[kind_of_kernel(kernel.name, instructions)]
        kind[0] += kernel.runs
        kind[1] += kernel.milliseconds
    lines = [
        f"{sum(kernel.runs for kernel in kernels):.0f} kernels of a step: {total:.2f} ms",
        "", "| kind | kernels | ms | fraction |", "|---|---|---|---|",
    ]  # fmt: skip
    for kind, (runs, milliseconds) in sorted(kinds.items(), key=lambda each: -each[1][1]):
        lines.append(f"| {kind} | {runs:.0f} | {milliseconds:.2f} | {milliseconds / total:.0%} |")
    lines += ["", "| kernel | runs | ms | kind | made from |", "|---|---|---|---|---|"]
    for kernel in kernels[:MAX_SHOWN]:
        source = instructions[kernel.name].source if kernel.name in instructions else ""
        lines.append(
            f"| {kernel.name[:45]} | {kernel.runs:.0f} | {kernel.milliseconds:.3f} | "
            f"{kind_of_kernel(kernel.name, instructions)} | {source[-60:]} |"
        )
    return "\n".join(lines)


def traced(work: Work, precision: str, folder: Path) -> tuple[Path, str]:
    """Traces `STEPS` steps; returns the file of the trace and the text of the program, which XLA writes to `folder`."""
    import jax

    from benchmarks.accelerators.gpu_worker import STEPS_PER_EXECUTION, ends_of_epochs, random_batch, repeated
    from benchmarks.accelerators.steps import trainer_of
    from bertlab.training.devices.precision import resolve_precision

    trainer = trainer_of(work, resolve_precision(precision), steps_per_execution=STEPS_PER_EXECUTION)
    batches = repeated(random_batch(work))
    ends_of_epochs(trainer, batches, STEPS_PER_EXECUTION, 1)  # compiles
    with jax.profiler.trace(folder / "trace"):
        ends_of_epochs(trainer, batches, STEPS, 1)
    [trace] = (folder / "trace").glob("plugins/profile/*/*.xplane.pb")
    program = max(folder.glob("*after_optimizations.txt"), key=lambda path: path.stat().st_size)
    return trace, program.read_text()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accelerators.gpu_kernels", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--size", choices=("small", "base", "large", "tiny"), default="base")
    parser.add_argument("--task", choices=TASKS, default="pretraining")
    parser.add_argument("--tokens", type=int, default=128, help="of a row")
    parser.add_argument("--rows", type=int, default=32, help="of a batch")
    parser.add_argument("--precision", choices=("auto", "float32", "float16", "bfloat16"), default="auto")
    options = parser.parse_args()
    if os.environ.get("KERAS_BACKEND") != "jax":
        sys.exit("expected KERAS_BACKEND=jax, since JAX's profiler is used; set it")
    work = Work(options.size, options.tokens, options.rows, options.task)
    with tempfile.TemporaryDirectory() as folder:
        # Read when JAX is loaded, which is later.
        dump = f"--xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_module_re=.*train_step.*"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {dump}"
        trace, program = traced(work, options.precision, Path(folder))
        kernels = kernels_of(trace)
    if not kernels:
        sys.exit("expected a GPU that JAX can use, found none; on a processor use benchmarks.speed.fusions")
    print(report(kernels, by_kernel_name(program)))


if __name__ == "__main__":
    main()
