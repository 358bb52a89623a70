"""One cell of the table, in a process of its own: compiles one step for one card and writes what was found as JSON.

Started by `python -m benchmarks.accelerators`, with the cell as JSON and the file to write.
"""

import dataclasses
import importlib.metadata
import json
import sys
from pathlib import Path

from benchmarks.accelerators import compiling
from benchmarks.accelerators.cards import CARDS
from benchmarks.accelerators.exchanges import exchanged
from benchmarks.accelerators.hlo import Program
from benchmarks.accelerators.roofline import COSTLIEST, arithmetic_seconds, least_seconds, lines_of
from bertlab.files import write_text

PACKAGES = ("jax", "libtpu", "keras")


def measure(cell: dict) -> dict:
    """Compiles one step and counts its program. cell: card, size, task, tokens, rows (of one chip), sharding."""
    from benchmarks.accelerators.steps import Work, step_of

    card = CARDS[cell["card"]]
    work = Work(cell["size"], cell["tokens"], cell["rows"] * card.chips, cell["task"])
    model_flops = float(work.flops) / card.chips
    known = {
        **cell, "precision": card.precision, "card_memory": card.memory, "model_flops": model_flops,
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
    }  # fmt: skip
    step = step_of(work, card.precision)
    try:
        compiled = compiling.compile_for(card, step, cell["sharding"])
    except compiling.DoesNotFit as error:
        return {**known, "compiles": "too large", "message": str(error)}
    return {**known, "compiles": "yes", **figures(compiled, card, model_flops)}


def figures(compiled: compiling.Compiled, card, model_flops: float) -> dict:
    """The numbers of the table and the costliest kernels, all of one chip."""
    program = Program(compiled.text)
    kernels = program.kernels()
    lines = lines_of(kernels, card)
    seconds = least_seconds(kernels, card)
    moved = sum(line.bytes for line in lines)
    sent = exchanged(program)
    link_seconds = sum(sent.values()) / card.links if card.links else 0.0
    return {
        "memory": compiled.memory,
        "arguments": compiled.arguments,
        "program_flops": sum(line.flops for line in lines),
        "bytes": moved,
        "xla_flops": compiled.xla_flops,
        "xla_bytes": compiled.xla_bytes,
        "kernels": sum(line.kernels for line in lines),
        "arithmetic_seconds": sum(arithmetic_seconds(cost, card) for _, cost in kernels),
        "memory_seconds": moved / card.bandwidth,
        "roofline_seconds": seconds,
        "peak_fraction": model_flops / card.flops / seconds,
        "sent": dict(sent),
        "sent_bytes": sum(sent.values()),
        "link_seconds": link_seconds,
        "efficiency": seconds / (seconds + link_seconds),
        "compile_seconds": round(compiled.seconds, 1),
        "costliest": [dataclasses.asdict(line) for line in lines[:COSTLIEST]],
    }


if __name__ == "__main__":
    compiling.prepare_environment()
    write_text(Path(sys.argv[2]), json.dumps(measure(json.loads(sys.argv[1])), indent=1) + "\n")
