"""The table of all cells as CSV and Markdown, and a table of the costliest kernels of each.

Part of `benchmarks.accelerators`.
"""

import csv
import io
from collections.abc import Sequence

from benchmarks.accelerators.cards import GIB

KEYS = ("card", "size", "task", "tokens", "rows", "sharding", "engine")
COLUMNS = (
    *KEYS, "precision", "compiles", "memory", "card_memory", "model_flops", "program_flops", "waste", "bytes",
    "arithmetic_seconds", "memory_seconds", "roofline_seconds", "peak_fraction", "kernels", "xla_flops", "xla_bytes",
    "sent_bytes", "link_seconds", "efficiency",
)  # fmt: skip
HEADS = (
    "card", "step", "rows × tokens", "compiles", "memory, GiB", "of the card's", "model, TFLOP",
    "program, TFLOP", "program / model", "moved, GB", "products, ms", "memory, ms", "least time, ms",
    "fraction of the peak", "sent, GB", "links, ms", "efficiency",
)  # fmt: skip


def completed(cells: Sequence[dict]) -> list[dict]:
    """The cells with numbers that follow from others, where they compiled: `waste`, the program's operations divided by
    the model's, and for a pod `efficiency`, the least time of one chip alone divided by that of computing and sending.
    """
    seconds = {_key(cell): cell["roofline_seconds"] for cell in cells if cell["compiles"] == "yes"}
    return [_completed(cell, seconds) if cell["compiles"] == "yes" else cell for cell in cells]


def _key(cell, card="", sharding=""):
    changed = {"card": card or cell["card"], "sharding": sharding or cell["sharding"]}
    return tuple((cell | changed)[name] for name in KEYS)


def _completed(cell, seconds):
    kind = cell["card"].rpartition("-")[0]
    alone = seconds.get(_key(cell, f"{kind}-1", "replicated")) if cell["sent_bytes"] else None
    efficiency = {"efficiency": alone / (cell["roofline_seconds"] + cell["link_seconds"])} if alone else {}
    return {**cell, "waste": cell["program_flops"] / cell["model_flops"], **efficiency}


def csv_of(cells: Sequence[dict]) -> str:
    """A row for each cell, bytes and seconds as they are; empty where a cell has no number."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(completed(cells))
    return text.getvalue()


def markdown_of(cells: Sequence[dict]) -> str:
    """The table, then the costliest kernels of each cell that compiled, then the versions."""
    parts = [_table(HEADS, [_row(cell) for cell in completed(cells)])]
    for cell in cells:
        if cell["compiles"] == "yes":
            parts.append(_costliest(cell))
    versions = sorted({f"{name} {version}" for cell in cells for name, version in cell.get("versions", {}).items()})
    return "\n".join([*parts, f"Compiled with {', '.join(versions)}.", ""])


def _row(cell):
    start = [cell["card"], _step(cell), f"{cell['rows']} × {cell['tokens']}"]
    if cell["compiles"] != "yes":
        return [*start, cell["compiles"], *[""] * (len(HEADS) - len(start) - 1)]
    share = cell["memory"] / cell["card_memory"]
    return [
        *start, "yes" if share <= 1 else "yes, too large", f"{cell['memory'] / GIB:.2f}", f"{share:.0%}",
        f"{cell['model_flops'] / 1e12:.3f}", f"{cell['program_flops'] / 1e12:.3f}", f"{cell['waste']:.3f}",
        f"{cell['bytes'] / 1e9:.1f}", f"{cell['arithmetic_seconds'] * 1e3:.1f}", f"{cell['memory_seconds'] * 1e3:.1f}",
        f"{cell['roofline_seconds'] * 1e3:.1f}", f"{cell['peak_fraction']:.0%}",
        *_exchange(cell),
    ]  # fmt: skip


def _step(cell):
    """The size, and what is not BertLab's pre-training with the whole state on each chip."""
    others = [
        cell["engine"] * (cell["engine"] != "bertlab"),
        cell["task"] * (cell["task"] != "pretraining"),
        f"{cell['sharding']} divided" * (cell["sharding"] != "replicated"),
    ]
    return ", ".join([cell["size"], *filter(None, others)])


def _exchange(cell):
    if not cell["sent_bytes"]:
        return ["", "", ""]
    efficiency = f"{cell['efficiency']:.0%}" if "efficiency" in cell else ""
    return [f"{cell['sent_bytes'] / 1e9:.2f}", f"{cell['link_seconds'] * 1e3:.1f}", efficiency]


def _costliest(cell):
    title = f"{cell['card']}, {_step(cell)}, {cell['rows']} × {cell['tokens']}"
    rows = [
        [f"`{line['name']}`", line["kernels"], f"{line['flops'] / 1e9:.1f}", f"{line['bytes'] / 1e9:.2f}",
         f"{line['seconds'] * 1e3:.2f}", f"{line['seconds'] / cell['roofline_seconds']:.0%}"]
        for line in cell["costliest"]
    ]  # fmt: skip
    heads = ("operation", "kernels", "GFLOP", "moved, GB", "least time, ms", "of the step")
    return f"## {title}\n\n{_table(heads, rows)}"


def _table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(str(value) for value in line)} |\n" for line in lines)
