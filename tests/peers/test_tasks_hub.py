"""The Hugging Face source: data sets in memory and on disk; nothing is downloaded. Data frames of pandas.

`datasets.load_dataset("nyu-mll/glue", "mnli")` reads the folder ./nyu-mll/glue where there is one, with the same code
that reads the hub's; so a test that makes such a folder proves the names, configurations, columns and splits that
we ask for.
"""

import os
import subprocess
import sys

import pytest

from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow

pytestmark = pytest.mark.peers
datasets = pytest.importorskip("datasets")

TEXT, NUMBER = datasets.Value("string"), datasets.Value("int32")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory, and the cache of `datasets` in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path


def in_place_of_the_hub(here, name, config, features, splits):
    """Writes the splits as Parquet under the data set's name, with the card that declares its configuration."""
    folder = here / name
    folder.mkdir(parents=True)
    card = ["---", "configs:", f"- config_name: {config}", "  data_files:"]
    for split, rows in splits.items():
        dataset = datasets.Dataset.from_list(rows, features=datasets.Features(features))
        dataset.to_parquet(str(folder / f"{split}.parquet"))
        card += [f"  - split: {split}", f"    path: {split}.parquet"]
    (folder / "README.md").write_text("\n".join([*card, "---", ""]))


@pytest.fixture(params=["in memory", "on disk"])
def given(request, tmp_path):
    """A function from a data set to what `load_task` is given: itself, or the folder that it was saved in."""

    def place(data_set):
        if request.param == "in memory":
            return data_set
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        data_set.save_to_disk(str(folder))
        return folder

    return place


def labelled(texts, labels, names):
    features = datasets.Features({"text": TEXT, "label": datasets.ClassLabel(names=names)})
    return datasets.Dataset.from_dict({"text": list(texts), "label": list(labels)}, features=features)


def labels_of(rows):
    return [row.label for row in rows]


def test_a_data_set_gives_rows_with_the_class_names_that_it_declares(given):
    table = labelled(["Nice.", "No."], [1, 0], ["neg", "pos"])
    data = load_task(given(datasets.DatasetDict({"train": table, "test": labelled("?", [-1], ["neg", "pos"])})))
    assert data.labels == ("neg", "pos")
    assert (data.train, data.test) == ([SentenceRow("Nice.", 1), SentenceRow("No.", 0)], [SentenceRow("?")])
    assert load_task(table).train == load_task(table.to_iterable_dataset()).train == data.train
    assert load_task(table.with_format("numpy")).train == data.train


def test_indices_are_of_the_names_that_the_split_declares_also_where_the_caller_names_labels(given):
    train, test = (labelled(names, range(len(names)), names) for names in (["bad", "good", "ok"], ["good", "ok"]))
    data = load_task(given(datasets.DatasetDict({"train": train, "test": test})))
    assert (labels_of(data.train), labels_of(data.test)) == ([0, 1, 2], [1, 2])
    assert labels_of(load_task(given(test), labels=("ok", "bad", "good")).train) == [2, 0]
    assert labels_of(load_task(given(test), labels=("fine", "well")).train) == [0, 1]  # other names are the caller's


def test_classes_whose_names_are_numbers_are_taken_by_their_indices(given):
    data = load_task(given(labelled("012", range(3), ["1", "2", "3"])))
    assert (data.labels, labels_of(data.train)) == (("1", "2", "3"), [0, 1, 2])


def test_tags_declared_inside_a_list_are_found(given):
    tags = datasets.List(datasets.ClassLabel(names=["O", "B-LOC"]))
    features = datasets.Features({"tokens": datasets.List(TEXT), "ner_tags": tags})
    table = datasets.Dataset.from_list([{"tokens": ["in", "Rome"], "ner_tags": [0, 1]}], features=features)
    data = load_task(given(table), columns={"words": "tokens", "tags": "ner_tags"})
    assert (data.labels, data.train) == (("O", "B-LOC"), [TaggingRow(("in", "Rome"), (0, 1))])


def test_a_data_frame_is_read_row_by_row_and_an_empty_cell_is_a_missing_label():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ["Nice.", "No."], "label": ["pos", "neg"]})
    assert load_task(frame).train == [SentenceRow("Nice.", 1), SentenceRow("No.", 0)]
    numbers = pandas.DataFrame({"text": ["a", "b", "c"], "label": pandas.array([1, 2, None], dtype="Int64")})
    with pytest.raises(DataError, match=r"rows \(train\) row 2: column 'label' is empty"):
        load_task(numbers)
    assert load_task(numbers[:2]).labels == ("1", "2")


def test_glue_by_name_reads_its_own_configuration_columns_and_splits(here):
    labels = datasets.ClassLabel(names=["entailment", "neutral", "contradiction"])
    features = {"premise": TEXT, "hypothesis": TEXT, "label": labels, "idx": NUMBER}
    row = {"premise": "It rains.", "hypothesis": "It is dry.", "label": 2, "idx": 0}
    splits = {"train": [row], "validation_matched": [row], "validation_mismatched": [row | {"label": 0}],
              "test_matched": [row | {"label": -1}], "test_mismatched": [row | {"label": -1}]}  # fmt: skip
    in_place_of_the_hub(here, "nyu-mll/glue", "mnli", features, splits)
    data = load_task("mnli_mismatched", source="huggingface")
    assert data.name == "mnli-mm" and data.train == [PairRow("It rains.", "It is dry.", 2)]
    assert data.validation == [PairRow("It rains.", "It is dry.", 0)]
    assert data.test == [PairRow("It rains.", "It is dry.")]


def test_squad_2_by_name_takes_answers_from_inside_their_object(here):
    answers = {"text": datasets.List(TEXT), "answer_start": datasets.List(NUMBER)}
    features = {name: TEXT for name in ("id", "title", "context", "question")} | {"answers": answers}
    row = {"id": "1", "title": "T", "context": "In Rome.", "question": "Where?"}
    known = row | {"answers": {"text": ["Rome"], "answer_start": [3]}}
    unknown = row | {"id": "2", "answers": {"text": [], "answer_start": []}}
    in_place_of_the_hub(here, "rajpurkar/squad_v2", "squad_v2", features, {"validation": [known, unknown]})
    assert load_task("squad2").validation == [
        QuestionRow("1", "Where?", "In Rome.", ("Rome",), (3,)),
        QuestionRow("2", "Where?", "In Rome."),
    ]


def test_swag_by_name_joins_the_second_sentence_to_each_ending(here):
    names = ("sent1", "sent2", "ending0", "ending1", "ending2", "ending3")
    row = dict(zip(names, ("He waits.", "He", "runs.", "sits.", "flies.", "melts.")))
    features = {name: TEXT for name in names} | {"label": datasets.ClassLabel(names=list("0123"))}
    splits = {"train": [row | {"label": 2}], "test": [row | {"label": -1}]}
    in_place_of_the_hub(here, "allenai/swag", "regular", features, splits)
    choices = ("He runs.", "He sits.", "He flies.", "He melts.")
    data = load_task("swag")
    assert data.train == [MultipleChoiceRow("He waits.", choices, 2)]
    assert data.test == [MultipleChoiceRow("He waits.", choices)]


def test_any_other_data_set_takes_its_columns_from_the_caller(here):
    features = {"review": TEXT, "stars": datasets.ClassLabel(names=["bad", "good"])}
    in_place_of_the_hub(here, "someone/reviews", "default", features, {"train": [{"review": "Nice.", "stars": 1}]})
    data = load_task("someone/reviews", "huggingface", columns={"text": "review", "label": "stars"})
    assert (data.name, data.labels, data.train) == ("reviews", ("bad", "good"), [SentenceRow("Nice.", 1)])


def test_a_label_outside_the_task_is_named_with_split_and_row(here):
    features = {"sentence": TEXT, "label": NUMBER, "idx": NUMBER}
    in_place_of_the_hub(here, "nyu-mll/glue", "sst2", features, {"train": [{"sentence": "x", "label": 7, "idx": 0}]})
    with pytest.raises(DataError, match=r"sst2 \(train\) row 0: unknown label 7; expected one of negative, positive"):
        load_task("sst2")


def test_without_the_package_the_message_names_it_and_the_other_way(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "bertlab\[hub\]".*data_dir'):
        load_task("sst2")


def test_without_a_connection_the_command_prints_in_one_line_what_to_do(here):
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(here)}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    call = [sys.executable, "-c", "from bertlab.cli import main; main()", "task", "show", "sst2"]
    result = subprocess.run(call, env=environment, capture_output=True, text=True)
    assert result.returncode == 2 and result.stdout == ""
    assert "from Hugging Face" in result.stderr and "--data-dir" in result.stderr
    assert "Traceback" not in result.stderr
