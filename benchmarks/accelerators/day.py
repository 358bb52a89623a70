"""Computes the least time of a pre-training recipe of base, on each card and pod of the stored table.

    python -m benchmarks.accelerators.day
    python -m benchmarks.accelerators.day --tokens 42.6e9 --batch 256

Without options the recipe is `--preset one-day`: 25,000 updates of 4,096 rows of 128 tokens. An update is computed in
parts of as many rows for each chip as the table has; each part takes its least time, and in a pod also the time of its
exchanges. A pod for which the batch is too small gets a larger batch and fewer updates. Nothing is measured.

Supports: docs/scaling.md, "Base on 3.3 billion words in a day".
"""

import argparse
import csv
import math

from benchmarks.accelerators.cards import CARDS
from benchmarks.accelerators.gpu import COMPUTED
from bertlab.training.presets import preset

TOKENS = 128  # of a row
HEADS = ("card", "divided", "rows of a chip", "rows of an update", "updates", "least hours", "part of a day")


def hours_of(cell: dict, tokens: float, batch: int) -> tuple[int, int, float]:
    """(rows of an update, updates, least hours) for a recipe of so many tokens on the card of a cell."""
    at_once = int(cell["rows"]) * CARDS[cell["card"]].chips
    parts = math.ceil(batch / at_once)
    updates = math.ceil(tokens / (parts * at_once * TOKENS))
    return parts * at_once, updates, updates * parts * _seconds(cell) / 3600


def _seconds(cell: dict) -> float:
    return float(cell["roofline_seconds"]) + float(cell["link_seconds"])


def main() -> None:
    recipe = preset("one-day")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerators.day", description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=float, default=recipe.steps * recipe.batch_size * TOKENS)
    parser.add_argument("--batch", type=int, default=recipe.batch_size, help="rows of an update, at least")
    options = parser.parse_args()
    with COMPUTED.open(encoding="utf-8", newline="") as file:
        cells = [row for row in csv.DictReader(file) if row["compiles"] == "yes" and row["engine"] == "bertlab"]
    print(f"{options.tokens / 1e9:.1f} billion tokens:\n")
    print("".join(f"| {' | '.join(line)} |\n" for line in (HEADS, ["---"] * len(HEADS))), end="")
    for cell in cells:
        if (cell["size"], cell["task"], cell["tokens"]) == ("base", "pretraining", str(TOKENS)):
            rows, updates, hours = hours_of(cell, options.tokens, options.batch)
            divided = cell["sharding"] if cell["sharding"] != "replicated" else ""
            line = cell["card"], divided, cell["rows"], f"{rows:,}", f"{updates:,}", f"{hours:.1f}", f"{hours / 24:.0%}"
            print(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    main()
