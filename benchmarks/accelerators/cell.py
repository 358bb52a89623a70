"""One cell of the table, in a process of its own: compiles one step for one card and writes what was found as JSON.

Part of `benchmarks.accelerators`, which starts it with the cell as JSON and the file to write. The program's text is
kept beside that file, so that `--count-again` need not compile.
"""

import dataclasses
import gzip
import importlib.metadata
import json
import sys
from pathlib import Path

from benchmarks.accelerators import compiling
from benchmarks.accelerators.cards import CARDS, Card
from benchmarks.accelerators.exchanges import exchanged
from benchmarks.accelerators.hlo import Program
from benchmarks.accelerators.roofline import COSTLIEST, arithmetic_seconds, least_seconds, lines_of
from bertlab.common.files import write_text

PACKAGES = ("jax", "libtpu", "keras")


def measure(cell: dict, program: Path) -> dict:
    """Compiles one step, writes its program to a file and counts it. cell: the values of `tables.KEYS`; rows are those
    of one chip."""
    from benchmarks.accelerators.steps import Work, step_of

    card = CARDS[cell["card"]]
    work = Work(cell["size"], cell["tokens"], cell["rows"] * card.chips, cell["task"])
    model_flops = float(work.flops) / card.chips
    known = {
        **cell, "precision": card.precision, "card_memory": card.memory, "model_flops": model_flops,
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
    }  # fmt: skip
    compiling.choose_kernels_of(card)
    step = step_of(work, card.precision, cell["engine"])
    try:
        compiled = compiling.compile_for(card, step, cell["sharding"])
    except compiling.DoesNotFit as error:
        return {**known, "compiles": "too large", "message": str(error)}
    program.write_bytes(gzip.compress(compiled.text.encode()))
    of_compiler = {
        "memory": compiled.memory, "arguments": compiled.arguments, "xla_flops": compiled.xla_flops,
        "xla_bytes": compiled.xla_bytes, "compile_seconds": round(compiled.seconds, 1),
    }  # fmt: skip
    return {**known, "compiles": "yes", **of_compiler, **counted(compiled.text, card, model_flops)}


def counted(text: str, card: Card, model_flops: float) -> dict:
    """The operations and bytes of a program and its costliest kernels, all of one chip."""
    program = Program(text)
    kernels = program.kernels()
    lines = lines_of(kernels, card)
    seconds = least_seconds(kernels, card)
    moved = sum(line.bytes for line in lines)
    sent = exchanged(program)
    link_seconds = sum(sent.values()) / card.links if card.links else 0.0
    return {
        "program_flops": sum(line.flops for line in lines),
        "bytes": moved,
        "kernels": sum(line.kernels for line in lines),
        "arithmetic_seconds": sum(arithmetic_seconds(cost, card) for _, cost in kernels),
        "memory_seconds": moved / card.bandwidth,
        "roofline_seconds": seconds,
        "peak_fraction": model_flops / card.flops / seconds,
        "sent": dict(sent),
        "sent_bytes": sum(sent.values()),
        "link_seconds": link_seconds,
        "costliest": [dataclasses.asdict(line) for line in lines[:COSTLIEST]],
    }


def program_of(path: Path) -> Path:
    """The file in which the text of a cell's program is kept."""
    return path.with_suffix(".hlo.gz")


def count_again(path: Path) -> dict:
    """A stored cell with what the kept text of its program gives now; as it is if no text is kept."""
    cell = json.loads(path.read_text(encoding="utf-8"))
    if cell["compiles"] != "yes" or not program_of(path).exists():
        return cell
    text = gzip.decompress(program_of(path).read_bytes()).decode()
    cell |= counted(text, CARDS[cell["card"]], cell["model_flops"])
    write_text(path, json.dumps(cell, indent=1) + "\n")
    return cell


def main() -> None:
    compiling.prepare_environment()
    path = Path(sys.argv[2])
    write_text(path, json.dumps(measure(json.loads(sys.argv[1]), program_of(path)), indent=1) + "\n")


if __name__ == "__main__":
    main()
