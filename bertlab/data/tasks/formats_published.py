"""The published tasks: their official files, metrics, sources and submissions. To add a task is to add an entry.

The GLUE files are those that gluebenchmark.com distributes (Wang et al. 2019, table 1 for sizes and metrics).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bertlab.common.errors import DataError
from bertlab.data.tasks.formats_records import Columns
from bertlab.data.tasks.rows import TaggingRow

NLI = ("entailment", "neutral", "contradiction")
TWO_WAY_NLI = ("entailment", "not_entailment")
CONLL_TAGS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC")
WNUT_TAGS = ("O",) + tuple(
    f"{prefix}-{kind}"
    for kind in ("corporation", "creative-work", "group", "location", "person", "product")
    for prefix in ("B", "I")
)  # fmt: skip


@dataclass(frozen=True)
class Hub:
    """A task's location on the Hugging Face hub. splits: its names, if they are not train, validation, test."""

    name: str
    config: str | None = None
    columns: dict = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)
    revision: str | None = None


@dataclass(frozen=True)
class Task:
    """A published task.

    files: split → names, the first that exists is read.
    header: columns of the files without a header line, which are all but test.tsv.
    submission: the file name that the benchmark's server expects, and how labels are written in it ("index", "name" or
    "score"). sizes: rows of train, validation and test. metrics: names in `metrics.METRICS`, choose models by
    the first one.
    """

    name: str
    columns: Columns
    folder: str
    files: dict[str, tuple[str, ...]]
    metrics: tuple[str, ...]
    sizes: tuple[int, int, int]
    citation: str
    hub: Hub
    header: tuple[str, ...] | None = None
    submission: tuple[str, str] | None = None

    @property
    def shape(self) -> str:
        return self.columns.shape

    @property
    def labels(self) -> tuple[str, ...]:
        return self.columns.labels


def _glue(
    name, folder, columns, metrics, sizes, citation, *, files=None, header=None, as_="index", hub_columns=None, **hub
):
    """A GLUE task; the defaults suit most of them. On the hub, the column of the label is always "label"."""
    splits = {"train": ("train.tsv",), "validation": ("dev.tsv",), "test": ("test.tsv",)} | (files or {})
    hub_columns = hub_columns or {role: column for role, column in columns.names.items() if role != "label"}
    hub = Hub("nyu-mll/glue", hub.pop("config", name), hub_columns, **hub)
    submission = (_SUBMISSION_NAMES.get(name, folder) + ".tsv", as_)
    return Task(name, columns, folder, splits, metrics, sizes, citation, hub, header, submission)


_SUBMISSION_NAMES = {"mnli": "MNLI-m", "mnli-mm": "MNLI-mm", "ax": "AX"}
_MNLI = Columns("pair", {"text_a": "sentence1", "text_b": "sentence2", "label": "gold_label"}, NLI)
_MNLI_HUB = {"text_a": "premise", "text_b": "hypothesis"}
_SENTENCES = {"text_a": "sentence1", "text_b": "sentence2"}
_SQUAD_HUB = {"answers": "answers.text", "answer_starts": "answers.answer_start"}

# CoLA's own distribution (nyu-mll.github.io/CoLA) has no headers, and a second labelled set in place of a test set.
_COLAS_OWN = (
    ("train", "train.tsv", "in_domain_train.tsv"),
    ("validation", "dev.tsv", "in_domain_dev.tsv"),
    ("test", "test.tsv", "out_of_domain_dev.tsv"),
)

_GLUE_TASKS = [
    _glue(
        "cola", "CoLA",
        Columns("sentence", {"text": "sentence"}, ("unacceptable", "acceptable")),
        ("matthews",), (8551, 1043, 1063), "Warstadt et al. 2019",
        header=("source", "label", "original_judgment", "sentence"),
        files={split: (name, own, f"raw/{own}") for split, name, own in _COLAS_OWN},
    ),
    _glue(
        "sst2", "SST-2",
        Columns("sentence", {"text": "sentence"}, ("negative", "positive")),
        ("accuracy",), (67349, 872, 1821), "Socher et al. 2013",
    ),
    _glue(
        "mrpc", "MRPC",
        Columns("pair", {"text_a": "#1 String", "text_b": "#2 String", "label": "Quality"},
                ("not_equivalent", "equivalent")),
        ("f1", "accuracy"), (3668, 408, 1725), "Dolan & Brockett 2005",
        files={"test": ("test.tsv", "msr_paraphrase_test.txt")}, hub_columns=_SENTENCES,
    ),
    _glue(
        "qqp", "QQP",
        Columns("pair", {"text_a": "question1", "text_b": "question2", "label": "is_duplicate"},
                ("not_duplicate", "duplicate")),
        ("f1", "accuracy"), (363846, 40430, 390965), "Iyer et al. 2017",
    ),
    _glue(
        "stsb", "STS-B",
        Columns("pair", _SENTENCES | {"label": "score"}),
        ("pearson", "spearman"), (5749, 1500, 1379), "Cer et al. 2017", as_="score",
    ),
    _glue(
        "mnli", "MNLI", _MNLI, ("accuracy",), (392702, 9815, 9796), "Williams et al. 2018 (matched)",
        files={"validation": ("dev_matched.tsv",), "test": ("test_matched.tsv",)}, as_="name",
        hub_columns=_MNLI_HUB, splits={"validation": "validation_matched", "test": "test_matched"},
    ),
    _glue(
        "mnli-mm", "MNLI", _MNLI, ("accuracy",), (392702, 9832, 9847), "Williams et al. 2018 (mismatched)",
        files={"validation": ("dev_mismatched.tsv",), "test": ("test_mismatched.tsv",)}, as_="name",
        hub_columns=_MNLI_HUB, config="mnli",
        splits={"validation": "validation_mismatched", "test": "test_mismatched"},
    ),
    _glue(
        "qnli", "QNLI",
        Columns("pair", {"text_a": "question", "text_b": "sentence"}, TWO_WAY_NLI),
        ("accuracy",), (104743, 5463, 5463), "Rajpurkar et al. 2016, Wang et al. 2019", as_="name",
    ),
    _glue(
        "rte", "RTE", Columns("pair", _SENTENCES, TWO_WAY_NLI),
        ("accuracy",), (2490, 277, 3000), "Dagan et al. 2006 … Bentivogli et al. 2009", as_="name",
    ),
    _glue(
        "wnli", "WNLI", Columns("pair", _SENTENCES, ("not_entailment", "entailment")),
        ("accuracy",), (635, 71, 146), "Levesque et al. 2012",
    ),
    _glue(
        "ax", "AX", Columns("pair", _SENTENCES, NLI),
        ("matthews", "accuracy"), (0, 0, 1104), "Wang et al. 2019 (diagnostics)", as_="name",
        files={"train": (), "validation": (), "test": ("diagnostic.tsv", "ax.tsv", "AX.tsv")}, hub_columns=_MNLI_HUB,
    ),
]  # fmt: skip

_SWAG = {"context": "sent1", "choices": ("ending0", "ending1", "ending2", "ending3")}
_TAGGED = {"words": "tokens", "tags": "ner_tags"}
_OTHER_TASKS = [
    Task(
        "swag", Columns("multiple-choice", _SWAG, ("0", "1", "2", "3"), ending_start="sent2"), "SWAG",
        {"train": ("train.csv",), "validation": ("val.csv",), "test": ("test.csv",)},
        ("accuracy",), (73546, 20006, 20005), "Zellers et al. 2018", Hub("allenai/swag", "regular", _SWAG),
    ),
    Task(
        "squad", Columns("question"), "SQuAD",
        {"train": ("train-v1.1.json",), "validation": ("dev-v1.1.json",), "test": ()},
        ("squad",), (87599, 10570, 0), "Rajpurkar et al. 2016", Hub("rajpurkar/squad", None, _SQUAD_HUB),
    ),
    Task(
        "squad2", Columns("question"), "SQuAD",
        {"train": ("train-v2.0.json",), "validation": ("dev-v2.0.json",), "test": ()},
        ("squad",), (130319, 11873, 0), "Rajpurkar et al. 2018", Hub("rajpurkar/squad_v2", None, _SQUAD_HUB),
    ),
    Task(
        "conll2003", Columns("tagging", labels=CONLL_TAGS), "conll2003",
        {
            "train": ("train.txt", "eng.train", "train.conll"),
            "validation": ("valid.txt", "dev.txt", "eng.testa", "valid.conll", "dev.conll"),
            "test": ("test.txt", "eng.testb", "test.conll"),
        },
        ("entities",), (14041, 3250, 3453), "Tjong Kim Sang & De Meulder 2003",
        Hub("eriktks/conll2003", None, _TAGGED, revision="refs/convert/parquet"),
    ),
    Task(
        "wnut17", Columns("tagging", labels=WNUT_TAGS), "wnut17",
        {
            "train": ("wnut17train.conll", "train.conll"),
            "validation": ("emerging.dev.conll", "dev.conll"),
            "test": ("emerging.test.annotated", "test.conll"),
        },
        ("entities",), (3394, 1009, 1287), "Derczynski et al. 2017",
        Hub("leondz/wnut_17", None, _TAGGED, revision="refs/convert/parquet"),
    ),
]  # fmt: skip

TASKS: dict[str, Task] = {task.name: task for task in _GLUE_TASKS + _OTHER_TASKS}

# Other spellings of a task's name.
ALIASES = {
    "sst-2": "sst2", "sts-b": "stsb", "mnli-m": "mnli", "mnli_matched": "mnli", "mnli_mismatched": "mnli-mm",
    "squad1.1": "squad", "squad-v1.1": "squad", "squad2.0": "squad2", "squad_v2": "squad2", "squad-v2.0": "squad2",
    "wnut_17": "wnut17", "wnut-17": "wnut17", "conll-2003": "conll2003", "diagnostics": "ax",
}  # fmt: skip


def find_task(name: str) -> Task | None:
    """The published task of a name, in any of its usual spellings (SST-2, sst2 …); None if there is none."""
    name = name.lower()
    return TASKS.get(ALIASES.get(name, name))


# === Predictions as the servers and scripts expect them ===


def write_glue(folder: str | Path, task_name: str, predictions: Sequence[int | float]) -> Path:
    """Writes FOLDER/MNLI-m.tsv (or the name of another task of GLUE), a line for each row of the official test set.

    predictions: class indices, or numbers for STS-B, which are clipped to its range 0–5. Returns the file's path.
    Raises DataError for a different number of predictions than the test set has rows.
    """
    task = find_task(task_name)
    expected = task.sizes[2]
    if len(predictions) != expected:
        raise DataError(f"{task.name}: {len(predictions)} predictions, but the official test set has {expected} rows")
    file_name, style = task.submission
    path = Path(folder) / file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    if style == "score":
        _write_indexed(path, [f"{min(max(float(value), 0.0), 5.0):.3f}" for value in predictions])
    else:
        _write_indexed(path, [task.labels[value] if style == "name" else str(value) for value in map(int, predictions)])
    return path


def write_indexed(path: str | Path, predictions: Sequence[int | float], labels: Sequence[str]) -> None:
    """Writes the same two columns for any rows of any task: GLUE's development sets, your own file.

    predictions: class indices, written as the labels' names; tuples of them (multi-label), with commas between the
    names; numbers where there are no labels.
    """

    def written(value) -> str:
        if isinstance(value, tuple):
            return ",".join(labels[index] for index in value)
        return labels[value] if labels else format(value, ".6g")

    _write_indexed(path, map(written, predictions))


def _write_indexed(path: str | Path, written: Iterable[str]) -> None:
    lines = [f"{index}\t{prediction}\n" for index, prediction in enumerate(written)]
    Path(path).write_text("index\tprediction\n" + "".join(lines), encoding="utf-8")


def write_squad(path: str | Path, predictions: Mapping[str, str | float]) -> None:
    """Writes {id: text}, as `evaluate-v2.0.py` and the leaderboard read it; "" stands for "no answer".

    The same for {id: no-answer score}, which the script takes as its --na-prob-file.
    """
    Path(path).write_text(json.dumps(dict(predictions), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_conll(
    path: str | Path, rows: Sequence[TaggingRow], labels: Sequence[str], predictions: Sequence[Sequence[int]]
) -> None:
    """Writes word, right tag and predicted tag (without the right one if it is unknown), as `conlleval` reads them.

    Raises DataError if a word contains white space.
    """
    lines = []
    for number, (row, predicted) in enumerate(zip(rows, predictions, strict=True)):
        gold = [()] * len(row.words) if row.tags is None else [(labels[tag],) for tag in row.tags]
        for word, known, tag in zip(row.words, gold, predicted, strict=True):
            if not word or any(character in word for character in " \t\n"):
                raise DataError(
                    f"sentence {number}: the word {word!r} contains white space, which the format does not allow"
                )
            lines.append(" ".join((word, *known, labels[tag])))
        lines.append("")
    Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
