"""`bertlab task`: list the labelled tasks, and show the rows of one."""

import dataclasses
from collections import Counter

import click

from bertlab.cli.from_signature import command, option
from bertlab.cli.labelled_rows import LabelledRows, labels_read
from bertlab.cli.options import table_text
from bertlab.data.tasks.formats_published import TASKS
from bertlab.data.tasks.load import BUILTIN_TASKS, SPLITS
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, TaggingRow


@click.group()
def task():
    """List and inspect labelled tasks."""


@command("list", group=task, json="Print a JSON array instead of a table.")
def list_tasks():
    """List the named tasks: task type (shape), labels, metrics, rows, source.

    \b
    Example:
      bertlab task list
    """
    entries = [*_builtin_entries(), *_published_entries()]
    from rich.table import Table

    table = Table(
        "task", "shape", "labels", "metrics", "train / dev / test", "source", "citation", box=None, pad_edge=False
    )
    for entry in entries:
        rows = " / ".join(f"{count:,}" for count in entry["rows"]) if entry["rows"] else "by corpus"
        labels, metrics = _short_list(entry["labels"]) or "–", ", ".join(entry["metrics"])
        table.add_row(entry["name"], entry["shape"], labels, metrics, rows, entry["source"], entry["citation"])
    yield entries, table_text(table, width=200)


def _builtin_entries() -> list[dict]:
    from bertlab.data.tasks.builtin import CODE_TAGS, PACKAGES, PAIR_LABELS
    from bertlab.data.tasks.metrics import default_metrics

    labels = {"package": PACKAGES, "pairs": PAIR_LABELS, "code-words": CODE_TAGS, "parameters": ()}
    return [
        {
            "name": name, "shape": shape, "labels": list(labels[name]),
            "metrics": list(default_metrics(shape, labels[name])),
            "rows": None, "source": "built in", "citation": question,
        }
        for name, (shape, question) in BUILTIN_TASKS.items()
    ]  # fmt: skip


def _published_entries() -> list[dict]:
    entries = []
    for published in TASKS.values():
        hub = " ".join(filter(None, (published.hub.name, published.hub.config)))
        entries.append({
            "name": published.name, "shape": published.shape, "labels": list(published.labels),
            "metrics": list(published.metrics), "rows": list(published.sizes),
            "source": f"{published.folder}/ or {hub}", "citation": published.citation,
        })  # fmt: skip
    return entries


def _short_list(labels: list[str]) -> str:
    return ", ".join(labels) if len(labels) <= 3 else f"{len(labels)}: {', '.join(labels[:3])} …"


@command(group=task, json="Print one JSON object per row.")
def show(
    name_or_path: str,
    *,
    reading: LabelledRows,
    split: str | None = option(None, "Show only this split.", choices=SPLITS),
    rows: int = option(3, "Number of rows per split.", at_least=0),
):
    """Print a task's number of rows, the distribution of its labels, and its first rows.

    \b
    Examples:
      bertlab task show package
      bertlab task show sst2 --data-dir glue_data
      bertlab task show reviews.csv --column text=review --column label=stars
    """
    data = reading.load(name_or_path)
    splits = {name: getattr(data, name) for name in SPLITS if name == split or (split is None and getattr(data, name))}
    yield None, f"{data.name}: {data.shape}, {labels_read(data)}"
    for name, items in splits.items():
        yield None, f"\n{name}: {len(items):,} rows{_label_distribution(data, items)}"
        for row in items[:rows]:
            yield {"split": name, **dataclasses.asdict(row)}, _format_row(row, data.labels)


def _label_distribution(data, items) -> str:
    """The distribution of the classes (or tags) over the rows, as percentages."""
    if data.shape == "question":
        without = sum(not row.answers for row in items)
        return f", {without:,} without an answer" if without else ""
    if not data.labels:
        return ""
    if data.shape == "tagging":
        counts = Counter(tag for row in items for tag in row.tags or ())
    else:
        several = ((row.label if data.multi_label else (row.label,)) for row in items if row.label is not None)
        counts = Counter(label for labels in several for label in labels)
    total = len(items) if data.multi_label else counts.total()
    if not total:
        return ", no labels"
    return "; " + ", ".join(
        f"{data.labels[index]} {100 * count / total:.1f}%" for index, count in counts.most_common(12)
    )


def _format_row(row, labels) -> str:
    if isinstance(row, TaggingRow):
        tags = row.tags or [None] * len(row.words)
        return "  " + " ".join(
            word if tag is None or labels[tag] == "O" else f"{word}[{labels[tag]}]"
            for word, tag in zip(row.words, tags)
        )
    if isinstance(row, QuestionRow):
        answers = " | ".join(dict.fromkeys(row.answers)) or "(no answer)"
        return f"  {row.question}\n    → {answers}\n    {_short(row.context)}"
    if isinstance(row, MultipleChoiceRow):
        marks = ("→" if index == row.label else " " for index in range(len(row.choices)))
        return "\n".join([f"  {_short(row.context)}", *(f"   {mark} {c}" for mark, c in zip(marks, row.choices))])
    label = _format_label(row.label, labels)
    if isinstance(row, PairRow):
        return f"  [{label}] {_short(row.text_a)}\n    ‖ {_short(row.text_b)}"
    return f"  [{label}] {_short(row.text)}"


def _format_label(label, labels) -> str:
    if label is None:
        return "?"
    if isinstance(label, tuple):
        return ", ".join(labels[one] for one in label) or "no label"
    return labels[label] if labels else f"{label:g}"


def _short(text: str, width: int = 160) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
