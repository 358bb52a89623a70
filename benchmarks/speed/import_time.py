"""Measures how long `import bertlab` takes, beside transformers and keras-hub.

    python -m benchmarks.speed.import_time                # five processes for each, in turns; the medians

A library that loads a backend when it is imported makes every small command wait for it. Ours loads one when a layer or
a model is first used: that row is there, too, as the same seconds are due then. Every import has a process of its own,
and what Python itself takes to start does not count. A first process of each, which may have to compile the package's
files and read them from the disk, is not counted either.

Supports: docs/architecture.md, "`import bertlab` loads no backend".
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from rich.console import Console
from rich.table import Table

LIMIT = 0.3  # seconds that `import bertlab` may take
CONTENDERS = {  # statement: what it loads
    "import bertlab": "names only",
    "import bertlab.cli": "the command line, as `bertlab --help` does",
    "from bertlab import WordPieceTokenizer": "the tokenizer; NumPy",
    "from bertlab import BertForPreTraining": "a model class; Keras and its backend",
    "import transformers": "names only",
    "from transformers import AutoTokenizer": "the tokenizers",
    "from transformers import BertForPreTraining": "a model class; PyTorch",
    "import keras_hub": "everything; Keras and TensorFlow",
}


def seconds_of(statement: str) -> float | None:
    """The seconds that a statement takes in a fresh process; None where it cannot be imported."""
    program = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    return None if result.returncode else float(result.stdout.splitlines()[-1])


def measured(statements: list[str], rounds: int) -> dict[str, list[float]]:
    """Seconds of every round, for the statements that can be run; all of them in turns, so that noise hits all."""
    possible = [statement for statement in statements if seconds_of(statement) is not None]
    found = {statement: [] for statement in possible}
    for _ in range(rounds):
        for statement in possible:
            found[statement].append(seconds_of(statement))
    return found


def table(found: dict[str, list[float]]) -> Table:
    ours = statistics.median(found["import bertlab"])
    shown = Table(title="Seconds to import")
    for heading in ("", "loads", "median", "slowest", "× import bertlab"):
        shown.add_column(heading, justify="left" if heading in ("", "loads") else "right")
    for statement, loads in CONTENDERS.items():
        if statement not in found:
            shown.add_row(statement, loads, "not installed", "", "")
            continue
        median = statistics.median(found[statement])
        shown.add_row(statement, loads, f"{median:.3f}", f"{max(found[statement]):.3f}", f"{median / ours:,.0f}")
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="counted processes for each")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measured(list(CONTENDERS), options.rounds)
    if options.json:
        print(json.dumps(found, indent=1))
    Console(width=130, stderr=options.json).print(table(found))
    median = statistics.median(found["import bertlab"])
    if median > LIMIT:
        raise SystemExit(f"import bertlab takes {median:.3f} s; it may take {LIMIT} s")


if __name__ == "__main__":
    main()
