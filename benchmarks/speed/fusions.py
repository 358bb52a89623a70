"""Shows where a pre-training step spends its time: a table by kind of computation, and the fusions that cost most.

    python -m benchmarks.speed.fusions                                     # 4 × 256, 128 tokens, batch 16, float32
    python -m benchmarks.speed.fusions --vocab-size 12288 --length 64 --batch-size 64 --optimizer muon
    KERAS_BACKEND=jax python -m benchmarks.speed.fusions                   # in the peers' environment

Traces some steps with the profiler of TensorFlow or JAX, adds up the time of each kernel of the program that XLA
compiled, and finds in the program's text which line of the model each kernel comes from. On processors only: on a GPU
use `benchmarks.accelerators.gpu_kernels`. Kernels that overlap count in full, so that the sum can exceed
the time of a step.

Supports: benchmarks/speed/README.md, "Where the time of that step goes".
"""

import argparse
import os
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.speed.pretrain import add_sizes, config_of, random_rows
from bertlab.common.large_pages import restart_with_large_pages

STEPS = 10
MAX_SHOWN = 20  # kernels in the second table
# The first kind whose pattern occurs in "opcode op_name" of an instruction; the order matters.
KINDS = (
    ("products of the optimizer", r"^dot .*(muon|adam_?w)"),
    ("products of the model", r"^dot |dot_general"),
    ("optimizer", r"muon|adam_?w|clip|global_norm|Assign"),
    ("GELU", r"[Gg]elu|[Ee]rf"),
    ("dropout", r"dropout"),
    ("LayerNorm", r"norm_\d|norm/"),
    ("attention: softmax, mask, transposes", r"attention"),
    ("loss over the vocabulary", r"LogSumExp|Softmax|SelectV2|masked_lm|AddN$|Max$|Sum_|logsumexp|log_softmax"),
    ("embeddings", r"embeddings"),
    ("reductions in two steps", r"reduce-window"),
)
OTHER = "other"
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%([\w.\-]+) = (?:\(.*?\)|\S+) ([\w\-]+)\(", re.MULTILINE)
NOT_TIMED = ("while", "call", "conditional")  # their instructions are timed themselves


class Instruction(NamedTuple):
    """opcode: of a fusion that is one product, "dot". source: the op of the model that it was made from."""

    opcode: str
    source: str


def instructions_of(program: str) -> dict[str, Instruction]:
    """The instructions of a compiled program's text, by name."""
    found = {}
    for line in program.split("\n"):
        if match := INSTRUCTION.match(line):
            name, opcode = match.groups()
            source = re.search(r'op_name="([^"]*)"', line)
            called = re.search(r"wrapped_(reduce-window|dot)", name)
            if opcode not in NOT_TIMED:
                found[name] = Instruction(called.group(1) if called else opcode, source.group(1) if source else "")
    return found


def kind_of(instruction: Instruction) -> str:
    """The kind of computation in the first table."""
    described = f"{instruction.opcode} {instruction.source}"
    return next((kind for kind, pattern in KINDS if re.search(pattern, described)), OTHER)


def milliseconds_of(trace: Path, names: set[str]) -> Counter:
    """The time of each of these instructions in a trace, in milliseconds."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    spent: Counter[str] = Counter()
    for file in trace.glob("plugins/profile/*/*.xplane.pb"):
        space = xplane_pb2.XSpace()
        space.ParseFromString(file.read_bytes())
        for plane in space.planes:
            for event in (event for line in plane.lines for event in line.events):
                name = plane.event_metadata[event.metadata_id].name
                if name in names:
                    spent[name] += event.duration_ps / 1e9
    return spent


def profiled(folder: Path):
    """A `with` block whose kernels are noted in a folder, by the profiler of Keras's backend."""
    import keras

    if keras.backend.backend() == "jax":
        import jax

        return jax.profiler.trace(folder)
    import tensorflow as tf

    return tf.profiler.experimental.Profile(str(folder))


def traced(options, folder: Path) -> tuple[float, str]:
    """Traces `STEPS` steps into a folder; returns the milliseconds of a step without the trace, and the program."""
    from bertlab.data.pretraining.datasets import batches_of
    from bertlab.models import BertForPreTraining
    from bertlab.training.recipes import optimizer as optimizers
    from bertlab.training.runs.pretrainer import PreTrainer

    trainer = PreTrainer(BertForPreTraining(config_of(options)))
    chosen = {"adamw": optimizers.adamw, "muon": optimizers.muon}[options.optimizer]
    trainer.compile(chosen(1e-4, trainer), jit_compile=True, steps_per_execution=STEPS)
    rows = random_rows(STEPS * options.batch_size, options.length, options.vocab_size)
    batches = batches_of(rows, options.batch_size, repeat=True)

    def steps() -> float:
        start = time.perf_counter()
        trainer.fit(batches, steps_per_epoch=STEPS, epochs=1, shuffle=False, verbose=0)
        return 1000 * (time.perf_counter() - start) / STEPS

    steps()
    best = min(steps() for _ in range(options.rounds))
    with profiled(folder / "trace"):
        steps()
    program = max(folder.glob("*after_optimizations.txt"), key=lambda path: path.stat().st_size)
    return best, program.read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sizes(parser)
    parser.add_argument("--optimizer", choices=("adamw", "muon"), default="adamw")
    parser.add_argument("--rounds", type=int, default=3, help="times that ten steps are timed; the best counts")
    options = parser.parse_args()
    restart_with_large_pages()
    with tempfile.TemporaryDirectory() as folder:
        # Read when TensorFlow or JAX is loaded, which is later.
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder} --xla_dump_hlo_as_text"
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        step, program = traced(options, Path(folder))
        instructions = instructions_of(program)
        spent = milliseconds_of(Path(folder) / "trace", set(instructions))
    show(step, instructions, {name: total / STEPS for name, total in spent.items()})


def show(step: float, instructions: dict[str, Instruction], spent: dict[str, float]) -> None:
    """Prints both tables."""
    total, console = sum(spent.values()), Console(width=120)
    kinds: Counter[str] = Counter()
    number = Counter(kind_of(instructions[name]) for name in spent)
    for name, milliseconds in spent.items():
        kinds[kind_of(instructions[name])] += milliseconds
    table = Table("kind", "kernels", "ms", "share", title=f"a step: {step:.0f} ms; its kernels: {total:.0f} ms")
    for kind, milliseconds in kinds.most_common():
        table.add_row(kind, str(number[kind]), f"{milliseconds:.1f}", f"{milliseconds / total:.1%}")
    console.print(table)
    table = Table("kernel", "ms", "kind", "made from", title=f"the {MAX_SHOWN} longest kernels")
    for name, milliseconds in Counter(spent).most_common(MAX_SHOWN):
        source = instructions[name].source.replace("pre_trainer_1/pre_training_model_1/", "")
        table.add_row(name, f"{milliseconds:.1f}", kind_of(instructions[name]), source[-70:])
    console.print(table)


if __name__ == "__main__":
    main()
