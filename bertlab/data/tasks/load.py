"""Labelled tasks behind one function: `load_task(name_or_path)` → `TaskData`, for every source.

    load_task("package")                                    built in, made from the installed packages' docstrings
    load_task("sst2", data_dir="glue_data")                 official files in glue_data/SST-2/
    load_task("glue_data/MNLI")                             the same, by the folder's own name
    load_task("reviews.csv", columns={"text": "review", "label": "stars"})
    load_task("wnut17")                                     from Hugging Face `datasets` (optional package)
    load_task("imdb", source="huggingface")
    load_task([{"text": "It works.", "label": "good"}, …])  in memory: also a data frame, or an object of `datasets`

Only those of Hugging Face's hub download data.
"""

import dataclasses
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bertlab.common.errors import DataError, asked
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks import formats, in_memory
from bertlab.data.tasks.formats_labels import declared_labels, require_two_classes
from bertlab.data.tasks.formats_published import TASKS, Hub, Task, find_task
from bertlab.data.tasks.formats_records import (
    Columns,
    guess_shape,
    label_names,
    rows_from_records,
    unlabelled_rows,
    with_usual_columns,
)
from bertlab.data.tasks.rows import PairRow, Row, TaskData, hold_out

# Made by `bertlab.data.tasks.builtin` from the docstrings of the installed packages: name → (shape, what is asked).
BUILTIN_TASKS = {
    "package": ("sentence", "which package does this paragraph come from?"),
    "pairs": ("pair", "do these two texts belong together?"),
    "code-words": ("tagging", "which words were marked as code?"),
    "parameters": ("question", "what is this parameter? (a span of the docstring)"),
}
SOURCES = ("auto", "builtin", "files", "huggingface")
SPLITS = ("train", "validation", "test")
_SPLIT_OF_STEM = re.compile(r"(?:.*[-_.])?(train|dev|validation|valid|val|test)(?:[-_.\d].*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Reading:
    """The options of `load_task` for rows that are not a published task's."""

    shape: str | None = None
    columns: dict = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    conll: dict = field(default_factory=dict)
    label_separator: str | None = None


def load_task(
    name_or_path: str | Path | Iterable,
    source: str = "auto",
    *,
    data_dir: str | Path | None = None,
    shape: str | None = None,
    columns: dict | None = None,
    labels: tuple[str, ...] | None = None,
    label_separator: str | None = None,
    conll: dict | None = None,
    config: str | None = None,
    on_error: str | Problems = "stop",
    validation_share: float = 0.0,
    seed: int = 0,
    **builtin_options,
) -> TaskData:
    """Loads a labelled task.

    name_or_path: a built-in task, a published one (`bertlab task list`), a file, a folder with train, dev and test
    files, a name on the Hugging Face hub, or a folder that `save_to_disk` wrote. Or the rows themselves, named "rows":
    a list of dicts, a data frame, a data set of `datasets`, or a dict of these by split (see `in_memory`).
    source: "builtin", "files", "huggingface"; "auto" tries the built-in tasks, then files, then the hub.
    data_dir: the folder with a published task's files, or its parent folder.
    shape, columns, labels: for your own files; `columns` maps fields to columns (`formats_records.ROLES`). By default
    labels come from the training split: names and whole numbers are classes, other numbers are regression, as is
    labels=(). A declared label may be replaced by its index, unless a label is itself a number.
    label_separator: for sentences and pairs with any number of labels each, the text between two of them in a cell; an
    empty cell has no label. Rows whose label is a list are multi-label without it.
    conll: options of `formats.read_conll` (word_column, tag_column, separator, comment).
    config: a configuration on the hub. on_error: "stop" at the first invalid record, "skip" them with one warning,
    or a `Problems` of your own. validation_share: the approximate fraction of the training rows that becomes the
    validation split if there is none (see `rows.hold_out`). builtin_options: of `builtin.builtin_task`.
    Raises DataError, with file and line, and MissingDependencyError if the hub's package is not installed.
    """
    problems = on_error if isinstance(on_error, Problems) else Problems(on_error)
    reading = Reading(
        shape, columns or {}, declared_labels(labels), formats.conll_options(conll or {}), label_separator
    )
    if not 0 <= validation_share < 1:
        raise DataError(f"validation_share must lie between 0 and 1, not {validation_share!r}")
    if not isinstance(name_or_path, str | Path):
        if source != "auto" or data_dir is not None or config is not None or builtin_options:
            raise DataError("rows in memory have no source, data_dir, config or other option of a file; leave it out")
        _refuse_unused("rows", reading, "shape", "columns", "labels", "label_separator")
        data = _from_tables("rows", in_memory.splits_in_memory(name_or_path), reading, problems)
    else:
        name = str(name_or_path)
        source = _source(name, source, data_dir)
        if builtin_options and source != "builtin":
            raise DataError(f"load_task has no option {', '.join(builtin_options)} for the source {source!r}")
        note_ambiguity(name, source, data_dir, problems)
        if source == "builtin":
            from bertlab.data.tasks.builtin import builtin_task

            _refuse_unused(name, reading)
            return builtin_task(name, seed=seed, **builtin_options)
        if source == "huggingface":
            data = _load_hub(name, reading, config, problems)
        else:
            data = _load_files(name, reading, data_dir, problems)
    if problems.messages and not isinstance(on_error, Problems):
        warnings.warn(f"{len(problems.messages)} records left out, the first: {problems.messages[0]}", stacklevel=2)
    return hold_out(data, validation_share, seed) if validation_share and not data.validation else data


def note_ambiguity(name: str, source: str, data_dir, problems: Problems) -> None:
    """Notes where a file or folder here has the name of a task: which of the two was read."""
    if data_dir is not None or not Path(name).exists():
        return
    if source == "builtin":
        other = "folder" if Path(name).is_dir() else "file"
        problems.notes.append(f"{name} is the built-in task; the {other} with this name here is read as ./{name}")
    elif source == "files" and any(name == task.name for task in TASKS.values()):
        hub = asked("--source huggingface", "source='huggingface'")
        problems.notes.append(f"{name} is the folder with this name here; {hub} reads the published task")


def has_fixed_format(
    name_or_path: str | Path | Iterable,
    source: str = "auto",
    data_dir: str | Path | None = None,
    columns: dict | None = None,
) -> bool:
    """Whether `load_task` reads a built-in or published task, whose type and labels are known. Raises DataError."""
    if not isinstance(name_or_path, str | Path):
        return False
    source, path = _source(str(name_or_path), source, data_dir), Path(name_or_path)
    if source == "builtin" or data_dir is not None:
        return True
    if source == "files":
        return path.is_dir() and not columns and _task_of_folder(path) is not None
    return not path.exists() and find_task(str(name_or_path)) is not None


def _refuse_unused(name: str, reading: Reading, *heard: str, shape: str | None = None) -> None:
    """Raises DataError for an option that does not apply to how these rows are read.

    heard: options that do apply; shape: the rows' task type: `reading.shape` may be this one, but no other.
    """
    given = {word for word, value in vars(reading).items() if value not in (None, {})}
    if reading.shape == shape:
        given.discard("shape")
    if idle := [word for word in vars(reading) if word in given.difference(heard)]:
        options = {"columns": "--column", "label_separator": "--label-separator"}
        words = ", ".join(asked(options.get(word, f"--{word}"), word) for word in idle)
        raise DataError(f"{name}: leave out {words}; the format decides how these rows are read")


def _source(name: str, source: str, data_dir) -> str:
    if source not in SOURCES:
        raise DataError(f"the source {source!r} is not known; choose one of {', '.join(SOURCES)}")
    if source != "auto":
        return source
    if data_dir is not None:
        return "files"
    if name in BUILTIN_TASKS:
        return "builtin"
    if Path(name).exists():
        return "huggingface" if in_memory.is_saved_dataset(name) else "files"
    if find_task(name):
        return "huggingface"
    known = ", ".join((*BUILTIN_TASKS, *TASKS))
    hub = asked("--source huggingface", "source='huggingface'")
    raise DataError(
        f"{name!r} is neither a task ({known}) nor a file or folder; "
        f"for another data set of the Hugging Face hub give {hub}"
    )


# --- files ---


def _load_files(name: str, reading: Reading, data_dir, problems: Problems) -> TaskData:
    if data_dir is not None:
        task = find_task(name)
        if task is None:
            option = asked("--data-dir", "data_dir")
            raise DataError(f"there is no published task {name!r}; {option} is for {', '.join(TASKS)}")
        return _load_published(task, Path(data_dir), reading, problems)
    path = Path(name)
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder")
    if path.is_dir():
        if (task := _task_of_folder(path)) and not reading.columns:
            return _load_published(task, path, reading, problems)
        return _load_own(path.name, _split_files(path), reading, problems)
    return _load_own(path.stem, {_split_of(path) or "train": path}, reading, problems)


def _task_of_folder(path: Path) -> Task | None:
    """The published task whose files a folder named like it holds (SST-2, MNLI, wnut17 …)."""
    task = find_task(path.name)
    return task if task and _published_files(task, path) else None


def _published_files(task: Task, folder: Path) -> dict[str, Path]:
    """The files of a published task in a folder, or in the task's own folder inside it: split → path."""
    for candidate in (folder, folder / task.folder):
        existing = {}
        for split, names in task.files.items():
            if path := next((candidate / name for name in names if (candidate / name).is_file()), None):
                existing[split] = path
        if existing:
            return existing
    return {}


def _load_published(task: Task, folder: Path, reading: Reading, problems: Problems) -> TaskData:
    _refuse_unused(task.name, reading, *(("conll",) if task.shape == "tagging" else ()), shape=task.shape)
    files = _published_files(task, folder)
    if not files:
        expected = ", ".join(names[0] for names in task.files.values() if names)
        raise DataError(f"{folder}: holds no file of {task.name}; expected {expected}, here or in {task.folder}/")
    records = {}
    for split, path in files.items():
        if task.shape == "tagging":
            records[split] = formats.read_conll(path, problems, reading.conll)
        else:
            records[split] = formats.read_table(path, problems, None if path.name == "test.tsv" else task.header)
    return TaskData(task.name, task.shape, task.labels, **_rows_of_splits(records, task.columns, problems))


def _rows_of_splits(records: dict[str, Iterable[formats.Record]], columns: Columns, problems) -> dict[str, list[Row]]:
    """The rows of each split; only those of the test split may lack answers."""
    return {
        split: rows_from_records(items, dataclasses.replace(columns, may_lack_answers=split == "test"), problems)
        for split, items in records.items()
    }


def _split_of(path: Path) -> str | None:
    """The split that a file's name indicates: train.csv, my-dev.v2.tsv, eng_valid.txt …"""
    match = _SPLIT_OF_STEM.fullmatch(path.stem)
    return in_memory.SPLIT_OF[match[1].lower()] if match else None


def _split_files(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        split = _split_of(path)
        if split is None or path.suffix.lower() not in formats.TABLE_SUFFIXES + formats.CONLL_SUFFIXES:
            continue
        if split in found:
            raise DataError(f"{folder}: {found[split].name} and {path.name} are both the {split} split; give one file")
        found[split] = path
    if not found:
        raise DataError(
            f"{folder}: no train, dev or test file ({', '.join(formats.TABLE_SUFFIXES + formats.CONLL_SUFFIXES)}) in it"
        )
    return {split: found[split] for split in SPLITS if split in found}


def _load_own(name: str, files: dict[str, Path], reading: Reading, problems: Problems) -> TaskData:
    conll = {split for split, path in files.items() if formats.is_conll(path, reading.conll, problems)}
    if not conll:
        _refuse_unused(name, reading, "shape", "columns", "labels", "label_separator")
    records = {
        split: list(
            formats.read_conll(path, problems, reading.conll) if split in conll else formats.read_table(path, problems)
        )
        for split, path in files.items()
    }
    return _from_records(name, records, reading, problems)


def _from_records(
    name: str, records: dict[str, list[formats.Record]], reading: Reading, problems, missing=None
) -> TaskData:
    """Rows of every split, with the given task type and labels, or those found in the records."""
    some = next((split for split in records.values() if split), None)
    if some is None:
        raise DataError(f"{name}: expected at least one record")
    names = with_usual_columns(some[0].columns, reading.columns, reading.shape)
    shape = reading.shape or guess_shape(some[0].columns, names)
    multi_label = _is_multi_label(
        name, shape, [record.columns.get(names.get("label", "label")) for record in some], reading
    )
    columns = Columns(
        shape, names, reading.labels or (), missing_label=missing, multi_label=multi_label,
        label_separator=reading.label_separator,
    )  # fmt: skip
    if reading.labels and shape == "question":
        raise DataError(f"{name}: questions have no labels; leave out {asked('--labels', 'labels')}")
    if reading.labels == () and shape not in ("sentence", "pair"):
        raise DataError(f"{name}: regression is for sentences and pairs, not for a {shape} task; give its labels")
    if records.get("train") == []:
        raise DataError(f"{name}: expected at least one training record")
    if reading.labels is None and shape in ("sentence", "pair", "tagging"):
        shown = dataclasses.replace(columns, may_lack_answers="train" not in records)
        found = label_names(records.get("train", some), shown, problems)
        columns = dataclasses.replace(columns, labels=found, labels_found=True)
    rows = _rows_of_splits(records, columns, problems)
    if multi_label and not columns.labels:
        raise DataError(f"{name}: no training row has a label; expected at least one label")
    if columns.labels_found and columns.labels and not multi_label:
        require_two_classes(name, columns.labels, rows.get("train", ()))
    labels = columns.labels
    if shape == "multiple-choice" and not labels:
        max_choices = max((len(row.choices) for split in rows.values() for row in split), default=0)
        labels = tuple(map(str, range(max_choices)))
    return TaskData(name, shape, labels, **rows, multi_label=multi_label)


def _is_multi_label(name: str, shape: str, written: list, reading: Reading) -> bool:
    """Whether a row may have several labels: with a separator, or where the labels, as written, are lists."""
    if reading.label_separator is not None:
        if shape not in ("sentence", "pair") or reading.labels == () or not reading.label_separator:
            raise DataError(
                f"{name}: label_separator {reading.label_separator!r} is for sentences and pairs with classes, and "
                f"must not be empty; leave out {asked('--label-separator', 'label_separator')}"
            )
        return True
    values = [value for value in written[:100] if value is not None]
    return shape in ("sentence", "pair") and bool(values) and all(isinstance(value, (list, tuple)) for value in values)


# --- rows in memory, and of Hugging Face ---


def _load_hub(name: str, reading: Reading, config: str | None, problems: Problems) -> TaskData:
    task = None if Path(name).exists() else find_task(name)
    hub = task.hub if task else Hub(name)
    datasets = in_memory.load_hub_dataset(hub.name, config or hub.config, hub.revision)
    names = {split: hub.splits.get(split, split) for split in SPLITS}
    splits = {split: datasets[names[split]] for split in SPLITS if names[split] in datasets}
    if not splits:
        raise DataError(f"{name}: has the splits {', '.join(datasets)}, none of {', '.join(names.values())}")
    if task:
        _refuse_unused(task.name, reading, "columns", shape=task.shape)
        records = {split: in_memory.records_in_memory(table, name, split, problems) for split, table in splits.items()}
        columns = dataclasses.replace(task.columns, names=reading.columns or hub.columns, missing_label=-1)
        return TaskData(task.name, task.shape, task.labels, **_rows_of_splits(records, columns, problems))
    _refuse_unused(name, reading, "shape", "columns", "labels", "label_separator")
    shape = reading.shape or guess_shape(next(iter(splits.values())).features, reading.columns)
    return _from_tables(name, splits, dataclasses.replace(reading, shape=shape), problems, missing=-1)


def _from_tables(name: str, splits: dict, reading: Reading, problems: Problems, missing: int | None = None) -> TaskData:
    """Rows of tables in memory, whose labels may be indices of the names that a table declares."""
    records, declared = {}, {}
    for split, table in splits.items():
        column, names = in_memory.declared_in(table, reading.columns, reading.labels, reading.shape)
        records[split] = in_memory.records_in_memory(table, name, split, problems, column, names)
        declared[split] = names
    if any(declared.values()):
        missing = -1
    theirs = declared.get("train", next(iter(declared.values())))
    if reading.labels is None and theirs:
        reading = dataclasses.replace(reading, labels=declared_labels(theirs))
    return _from_records(Path(name).name, records, reading, problems, missing)


# --- pairs of texts without labels ---


def read_pairs(path: str | Path, columns: dict | None = None, problems: Problems | None = None) -> list[PairRow]:
    """The pairs of a file; labels in it are ignored.

    A .txt file has a text on each line. Any other is read as by `load_task`: with the fields text_a and text_b, or with
    the field text; `columns` maps fields to columns. Where all three are there, text_a and text_b are read. A single
    text is paired with itself. Raises DataError, with file and line, also for an empty text, for `columns` of a .txt
    file and for fewer than two pairs.
    """
    if Path(path).suffix.lower() == ".txt":
        if columns:
            raise DataError(f"{path}: a .txt file has no columns; leave out {asked('--column', 'columns')}")
        rows = [PairRow(line, line) for _, line in formats.read_lines(path) if line.strip()]
    else:
        rows = _pairs_of_table(path, columns or {}, problems or Problems())
    if len(rows) < 2:
        raise DataError(f"{path}: expected at least two texts or pairs, got {len(rows)}")
    return rows


def _pairs_of_table(path, names: dict, problems: Problems) -> list[PairRow]:
    records = list(formats.read_table(path, problems))
    present = records[0].columns if records else {}
    shape = "pair"  # as `names` say or, where they do not tell, what they and the columns have
    for fields in ({*present, *names}, set(names)):
        if "text" in fields:
            shape = "sentence"
        if fields.issuperset({"text_a", "text_b"}):
            shape = "pair"
    names = with_usual_columns(present, names, shape)
    pairs = []
    for where, row in unlabelled_rows(records, shape, names, problems):
        pair = PairRow(row.text, row.text) if shape == "sentence" else row
        if pair.text_a.strip() and pair.text_b.strip():
            pairs.append(pair)
        else:
            problems.add(f"{where}: a text is empty; expected a text in each field")
    return pairs
