"""`bertlab task`: list the labelled tasks, and show the rows of one."""

import dataclasses
import functools
import json
from collections import Counter

import click

from bertlab.data.tasks.formats import Problems
from bertlab.data.tasks.formats_labels import is_whole, listed
from bertlab.data.tasks.formats_published import TASKS, find_task
from bertlab.data.tasks.load import BUILTIN_TASKS, SOURCES, SPLITS, load_task
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, TaggingRow


@click.group()
def task():
    """List and inspect labelled tasks."""


@task.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of a table.")
def list_tasks(as_json):
    """List the named tasks: task type (shape), labels, metrics, rows, source.

    \b
    Example:
      bertlab task list
    """
    entries = [*_builtin_entries(), *_published_entries()]
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "task", "shape", "labels", "metrics", "train / dev / test", "source", "citation", box=None, pad_edge=False
    )
    for entry in entries:
        rows = " / ".join(f"{count:,}" for count in entry["rows"]) if entry["rows"] else "by corpus"
        labels, metrics = _short_list(entry["labels"]) or "–", ", ".join(entry["metrics"])
        table.add_row(entry["name"], entry["shape"], labels, metrics, rows, entry["source"], entry["citation"])
    console = Console()
    console.width = max(console.width, 80) if console.is_terminal else 200
    console.print(table)


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


def pairs(context, parameter, values):
    """["text=review", "choices=a,b"] → {"text": "review", "choices": ("a", "b")}"""
    pairs = {}
    for value in values:
        name, equals, said = value.partition("=")
        if not equals or not said:
            raise click.BadParameter(f"{value!r} is not {parameter.metavar}, for example {_EXAMPLES[parameter.name]}")
        if name in pairs:
            raise click.BadParameter(f"{name} is given twice; give it once (several columns of choices: choices=a,b)")
        pairs[name] = tuple(said.split(",")) if name == "choices" and "," in said else said
    return pairs


_EXAMPLES = {"columns": "text=review", "conll": "tag_column=1"}


def _names(context, parameter, value):
    """ "good, bad" → ("good", "bad")"""
    return None if value is None else tuple(name.strip() for name in value.split(","))


_FILE_OPTIONS = (
    click.option("--source", default="auto", show_default=True, type=click.Choice(SOURCES),
                 help="Where the task comes from; auto looks for a built-in one, then files, then the Hub."),
    click.option("--data-dir", type=click.Path(), help="Folder with the official files of a published task."),
    click.option("--shape", help="Type: sentence, pair, multiple-choice, tagging or question. [from the columns]"),
    click.option("--column", "columns", multiple=True, callback=pairs, metavar="FIELD=COLUMN",
                 help="Read this field from this column, such as text=review or choices=a,b (repeatable)."),
    click.option("--labels", callback=_names, metavar="A,B,…",
                 help="Classes (or tags) in the order of their indices. [those of the training rows]"),
    click.option("--label-separator", metavar="TEXT",
                 help="Rows have any number of labels, with this text between them, such as a comma."),
    click.option("--regression", is_flag=True, help="Treat labels as numbers to predict, not as classes."),
    click.option("--conll", multiple=True, callback=pairs, metavar="OPTION=VALUE",
                 help="word_column, tag_column (or none), separator or comment of a CoNLL file (repeatable)."),
    click.option("--skip-errors", is_flag=True, help="Skip invalid records and count them."),
)  # fmt: skip


def file_options(without: tuple[str, ...] = ()):
    """A decorator: the options for reading labelled data, for `load_with`. without: those to leave out."""
    chosen = [option for option in _FILE_OPTIONS if _name_of(option) not in without]
    return lambda command: _decorated(command, chosen)


def task_options(command):
    """The argument and the options that choose labelled data; the command gets them as one function, `load`.

    `load(**more)` returns the task, with more arguments for `bertlab.data.tasks.load.load_task`.
    """
    options = (click.argument("name_or_path"), *_FILE_OPTIONS)

    @functools.wraps(command)
    def with_load(**given):
        asked = {name: given.pop(name) for name in names}
        return command(load=functools.partial(load_asked, **asked), **given)

    names = [_name_of(option) for option in options]
    return _decorated(with_load, options)


def _name_of(option) -> str:
    """The parameter that a decorator of click adds."""
    return click.command()(option(lambda: None)).params[0].name


def _decorated(command, options):
    for option in reversed(options):
        command = option(command)
    return command


def load_asked(name_or_path, *, labels, label_separator, regression, **asked):
    """The task that `task_options` describe. Prints skipped records on standard error."""
    if regression and labels:
        raise click.UsageError("--labels and --regression exclude each other: give one of them")
    if regression and label_separator:
        raise click.UsageError("--label-separator and --regression exclude each other: give one of them")
    labels = () if regression else labels
    return load_with(load_task, name_or_path, labels=labels, label_separator=label_separator, **asked)


def another(load, name_or_path: str):
    """The `load` of `task_options` for another task: only what concerns every task is read as for the first."""
    plain = {name: None for name in load.keywords} | {"columns": {}, "conll": {}, "regression": False}
    every = {name: load.keywords[name] for name in ("source", "data_dir", "skip_errors")}
    return functools.partial(load_asked, **plain | every | {"name_or_path": name_or_path})


def several(load, others: tuple[str, ...]) -> list:
    """The `load` of `task_options`, and `another` for each other task. --data-dir is for the published ones among them;
    where none is, all have it, and refuse it."""
    loads = [load, *(another(load, name) for name in others)]
    published = [find_task(each.keywords["name_or_path"]) is not None for each in loads]
    if not any(published):
        return loads
    return [each if its else functools.partial(each, data_dir=None) for each, its in zip(loads, published)]


def load_with(load, name_or_path, *, skip_errors, **options):
    """The task that `load` returns, which is `load_task` or has its arguments. Prints notes and skipped records."""
    problems = Problems("skip" if skip_errors else "stop")
    data = load(name_or_path, **options, on_error=problems)
    for note in problems.notes:
        click.echo(note, err=True)
    for message in problems.messages[:10]:
        click.echo(f"left out: {message}", err=True)
    if len(problems.messages) > 10:
        click.echo(f"left out: {len(problems.messages) - 10} more", err=True)
    return data


def labels_read(data) -> str:
    """A task's labels as they were understood: "3 classes: a, b, c", "regression on numbers 0 to 5"."""
    if data.shape == "question":
        return "spans of the context"
    if data.labels:
        kind = {"tagging": "tags", "multiple-choice": "choices"}.get(data.shape, "classes")
        if data.multi_label:
            return f"{len(data.labels)} labels, any number for each row: {listed(data.labels)}"
        numbers = kind == "classes" and all(map(is_whole, data.labels))
        other = " (for numbers to predict: --regression)" if numbers else ""
        return f"{len(data.labels)} {kind}: {listed(data.labels)}{other}"
    known = [row.label for split in SPLITS for row in getattr(data, split) if row.label is not None]
    return f"regression on numbers {min(known):g} to {max(known):g}" if known else "regression"


@task.command()
@task_options
@click.option("--split", type=click.Choice(SPLITS), help="Show only this split.")
@click.option("--rows", default=3, show_default=True, type=click.IntRange(0), help="Number of rows per split.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def show(load, split, rows, as_json):
    """Print a task's number of rows, the distribution of its labels, and its first rows.

    \b
    Examples:
      bertlab task show package
      bertlab task show sst2 --data-dir glue_data
      bertlab task show reviews.csv --column text=review --column label=stars
    """
    data = load()
    splits = {name: getattr(data, name) for name in SPLITS if name == split or (split is None and getattr(data, name))}
    if as_json:
        _print_json(splits, rows)
    else:
        _print_readably(data, splits, rows)


def _print_json(splits: dict, rows: int) -> None:
    for name, items in splits.items():
        for row in items[:rows]:
            click.echo(json.dumps({"split": name, **dataclasses.asdict(row)}, ensure_ascii=False))


def _print_readably(data, splits: dict, rows: int) -> None:
    click.echo(f"{data.name}: {data.shape}, {labels_read(data)}")
    for name, items in splits.items():
        click.echo(f"\n{name}: {len(items):,} rows{_label_distribution(data, items)}")
        for row in items[:rows]:
            click.echo(_format_row(row, data.labels))


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
