"""Does a training step compile for the cards that students have, does it fit, and what is its least time there?

    make accelerators
    .venv-accelerators/bin/python -m benchmarks.accelerators
    .venv-accelerators/bin/python -m benchmarks.accelerators --cards T4 --sizes base --rows 32 64
    .venv-accelerators/bin/python -m benchmarks.accelerators --cards T4 --sizes base --largest
    .venv-accelerators/bin/python -m benchmarks.accelerators --cards v5e-16 v5e-256 --sharding replicated optimizer

No card is needed: XLA compiles for one by its description, and nothing is executed. Each cell has a process of its own,
one after the other (libtpu allows one at a time), and is stored in --work when it is done; the same command resumes.
The table is of all cells that were asked for, as CSV and Markdown in --work. The program's operations are those of its
products; its least time comes from each kernel's operations and bytes (`roofline`). A run on a card is slower. Cards
named after a number of chips, as v5e-16, are pods: rows, memory and times are those of one chip.

Supports: benchmarks/accelerators/README.md, "Cards that are not here"; docs/scaling.md, "BERT-Base on v5e pods".
"""

import argparse
import importlib.util
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.accelerators import cell as cells_file
from benchmarks.accelerators.cards import CARDS
from benchmarks.accelerators.compiling import SHARDED
from benchmarks.accelerators.largest import largest_rows
from benchmarks.accelerators.steps import ENGINES, TASKS
from benchmarks.accelerators.tables import KEYS, csv_of, markdown_of
from bertlab.common.files import write_text

ROWS = {"small": 256, "base": 32, "large": 8}  # of 128 tokens; as many tokens in longer rows
USABLE = 0.9  # of a card's memory: libraries and the driver need the rest


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerators", description=__doc__.splitlines()[0])
    parser.add_argument("--cards", nargs="+", choices=tuple(CARDS), default=["v5e-1", "T4", "A100"])
    parser.add_argument("--sizes", nargs="+", choices=tuple(ROWS), default=["small", "base"])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=["pretraining"])
    parser.add_argument("--tokens", nargs="+", type=int, default=[128], help="lengths of a row")
    parser.add_argument("--rows", nargs="+", type=int, help="rows of a batch (256 of small and 32 of base at 128)")
    parser.add_argument("--largest", action="store_true", help=f"the most rows that fit in {USABLE:.0%}% of a card")
    parser.add_argument(
        "--sharding", nargs="+", choices=tuple(SHARDED), default=["replicated"],
        help="what the chips of a pod divide, beside the rows: nothing, the optimizer's variables, or the weights, too",
    )  # fmt: skip
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=["bertlab"], help="whose step (pre-training)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="compile nothing: write all cells of --work as CSV")
    parser.add_argument("--count-again", action="store_true", help="with --table: count the kept programs once more")
    parser.add_argument("--work", type=Path, default=Path("build/accelerators"), help="where cells and tables are kept")
    return parser.parse_args(arguments)


def cells_of(options: argparse.Namespace) -> list[dict]:
    """The cells that were asked for, small models first."""
    found = []
    sizes = [size for size in ROWS if size in options.sizes]
    for size, task, tokens, card, sharding, engine in itertools.product(
        sizes, options.tasks, options.tokens, options.cards, options.sharding, options.engines
    ):
        if sharding != "replicated" and CARDS[card].chips == 1:
            continue  # one chip has nothing to divide
        if engine != "bertlab" and task != "pretraining":
            continue  # peers have no other step
        for rows in options.rows or [max(1, ROWS[size] * 128 // tokens)]:
            found.append(dict(zip(KEYS, (card, size, task, tokens, rows, sharding, engine))))
    return found


def file_of(cell: dict, work: Path) -> Path:
    """The file in which a cell is kept."""
    return work / ("-".join(str(cell[key]) for key in KEYS) + ".json")


def compiled(cell: dict, work: Path) -> dict:
    """A cell's figures, from its file or from compiling it in a process of its own, whose output is kept."""
    path = file_of(cell, work)
    if not path.exists():
        log = path.with_suffix(".log")
        command = [sys.executable, "-m", "benchmarks.accelerators.cell", json.dumps(cell), str(path)]
        with log.open("w") as output:
            ended = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT)
        if ended.returncode:
            reason = _reason(log.read_text(encoding="utf-8", errors="replace"))
            print(f"{path.stem}: failed with status {ended.returncode}, {reason!r}; see {log}", file=sys.stderr)
            return {**cell, "compiles": "failed"}
    found = json.loads(path.read_text(encoding="utf-8"))
    print(f"{path.stem}: {found['compiles']}", flush=True)
    return found


def stored_cells(work: Path, count_again: bool = False) -> list[dict]:
    """All cells that are stored, ordered as a table shows them. count_again: count what their programs do once more."""
    paths = sorted(work.glob("*.json"))
    cells = [cells_file.count_again(path) if count_again else json.loads(path.read_text("utf-8")) for path in paths]
    ordered = (list(CARDS), list(ROWS), list(TASKS), None, None, list(SHARDED), list(ENGINES))

    def sort_key(found):
        return [found[key] if names is None else names.index(found[key]) for key, names in zip(KEYS, ordered)]

    return sorted(cells, key=lambda found: [sort_key(found)[i] for i in (1, 2, 3, 0, 5, 4, 6)])


def _reason(log: str) -> str:
    """The line of the last error in what a process printed; its last line if no line names one."""
    lines = log.strip().splitlines() or [""]
    return next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception)\b", line)), lines[-1])


def fits(cell: dict) -> bool:
    """Whether a step fits into the usable part of its card. Raises SystemExit for a cell that failed."""
    if cell["compiles"] == "failed":
        sys.exit("The largest batch cannot be found: a step did not compile.")
    return cell["compiles"] == "yes" and cell["memory"] <= USABLE * cell["card_memory"]


def largest(cell: dict, work: Path) -> dict:
    """The cell with the most rows that fit."""
    rows = largest_rows(lambda rows: fits(compiled({**cell, "rows": rows}, work)), cell["rows"])
    return compiled({**cell, "rows": rows}, work) if rows else {**cell, "compiles": "too large"}


def main() -> None:
    options = options_of()
    if options.table:
        write_text(options.table, csv_of(stored_cells(options.work, options.count_again)))
        return
    missing = [name for name in ("jax", "libtpu") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"Expected jax and libtpu, got no {' and no '.join(missing)}; do `make accelerators`, then "
            "`.venv-accelerators/bin/python -m benchmarks.accelerators`."
        )
    options.work.mkdir(parents=True, exist_ok=True)
    measure = largest if options.largest else compiled
    cells = [measure(cell, options.work) for cell in cells_of(options)]
    write_text(options.work / "table.csv", csv_of(cells))
    write_text(options.work / "table.md", markdown_of(cells))
    print((options.work / "table.md").read_text(encoding="utf-8"))
    sys.exit(1 if any(cell["compiles"] == "failed" for cell in cells) else 0)


if __name__ == "__main__":
    main()
