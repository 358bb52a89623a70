"""Files as their owners have them: GLUE's headers, other separators, Parquet, byte order marks, names of tasks."""

import json
import sys

import pytest
from click.testing import CliRunner
from refusals import refused

from bertlab.cli import cli
from bertlab.common.errors import DataError, MissingDependencyError, asked, in_shell
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.load import load_task, note_ambiguity
from bertlab.data.tasks.rows import PairRow, SentenceRow


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


# --- headers ---


@pytest.mark.parametrize(
    "header, row, expected",
    [("sentence,label", "it works,yes", SentenceRow("it works", 1)),
     ("sentence1,sentence2,label", "a,b,yes", PairRow("a", "b", 1)),
     ("index,sentence1,sentence2,score", "0,a,b,2.5", PairRow("a", "b", 2.5)),
     ("question,sentence,label", "a,b,yes", PairRow("a", "b", 1)),
     ("question1,question2,is_duplicate", "a,b,1", PairRow("a", "b", 1)),
     ("premise,hypothesis,gold_label", "a,b,yes", PairRow("a", "b", 1)),
     ("text,sentence,label", "a,b,yes", SentenceRow("a", 1))],
)  # fmt: skip
def test_the_headers_of_glue_are_understood(tmp_path, header, row, expected):
    other = row.replace("yes", "no").replace(",2.5", ",0.5").replace("b,1", "b,0")
    task = load_task(written(tmp_path / "rows.csv", f"{header}\n{row}\n{other}\n"))
    assert task.train[0] == expected


def test_a_column_that_is_assigned_is_not_guessed(tmp_path):
    path = written(tmp_path / "rows.csv", "sentence1,sentence2,score,label\na,b,0.5,x\nc,d,1.5,y\n")
    assert load_task(path).train[0] == PairRow("a", "b", 0)  # a column with the field's own name comes first
    assert load_task(path, columns={"label": "score"}).train[1] == PairRow("c", "d", 1.5)
    assert load_task(path, columns={"text": "sentence2"}).train[1] == SentenceRow("d", 1)
    refused("there is no column 'text'", load_task, path, shape="sentence")


# --- separators ---


@pytest.mark.parametrize("separator, name", [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_other_separators_of_a_csv_file_are_recognised_and_named(tmp_path, separator, name):
    lines = ["text;label", '"good, ""so so""";yes', "bad;no", "one;two;three"]
    path = written(tmp_path / "rows.csv", "\n".join(lines).replace(";", separator) + "\n")
    problems = Problems("skip")
    task = load_task(path, on_error=problems)
    assert [row.text for row in task.train] == ['good, "so so"', "bad"]
    assert problems.notes == [f"{path}: the columns are separated by {name}"]
    assert f"line 4: 3 columns separated by {name}, expected 2 (text, label)" in problems.messages[0]
    shown = CliRunner().invoke(cli, ["task", "show", str(path), "--skip-errors"])
    assert f"separated by {name}" in shown.output and "good, " in shown.output


def test_commas_stay_the_separator_where_the_header_has_them(tmp_path):
    problems = Problems()
    task = load_task(written(tmp_path / "rows.csv", "text,label\na;b,x\nc,y\n"), on_error=problems)
    assert task.train[0].text == "a;b" and problems.notes == []


def test_a_tsv_file_with_commas_is_refused_by_name(tmp_path):
    path = written(tmp_path / "rows.tsv", "text;label\na;b\n")
    refused("line 1: expected tabs between the columns, got semicolons; rename it to rows.csv", load_task, path)


# --- encodings ---


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "conll", "json"])
def test_byte_order_marks_are_dropped_also_where_files_were_joined(tmp_path, suffix):
    mark = "\ufeff"
    if suffix == "json":
        text = mark + json.dumps([{"text": "a", "label": "x"}, {"text": "b", "label": "y"}])
    elif suffix == "jsonl":
        text = "".join(mark + json.dumps({"text": word, "label": label}) + "\n" for word, label in ("ax", "by"))
    elif suffix == "conll":
        text = f"{mark}a x\n\n{mark}b y\n"
    else:
        text = f"{mark}text,label\na,x\n{mark}b,y\n".replace(",", "\t" if suffix == "tsv" else ",")
    rows = load_task(written(tmp_path / f"rows.{suffix}", text)).train
    assert [row.words[0] if suffix == "conll" else row.text for row in rows] == ["a", "b"]


def test_utf_16_is_named_with_the_command_that_converts_it(tmp_path):
    with pytest.raises(DataError, match="line 1: .* not UTF-8; .* `iconv -f UTF-16 -t UTF-8`"):
        load_task(written(tmp_path / "rows.csv", "text,label\na,x\n", "utf-16"))


# --- Parquet ---


def test_a_parquet_file_is_read_like_any_other(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"sentence": ["it works", "it breaks", "so so"], "label": ["yes", "no", None]})
    parquet.write_table(table, tmp_path / "train.parquet")
    problems = Problems("skip")
    assert load_task(tmp_path / "train.parquet", on_error=problems).train[0] == SentenceRow("it works", 1)
    assert "train.parquet row 3: column 'label' is empty" in problems.messages[0]
    assert len(load_task(tmp_path, on_error="skip").train) == 2  # in a folder of splits
    written(tmp_path / "broken.parquet", "PAR1 no")
    refused("not a complete Parquet file", load_task, tmp_path / "broken.parquet")


def test_without_pyarrow_the_message_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # what Python itself does for a module that cannot be imported
    with pytest.raises(MissingDependencyError, match=r'pip install "bertlab\[parquet\]"'):
        load_task(written(tmp_path / "rows.parquet", "PAR1"))


# --- advice where it is read ---


def test_advice_names_options_in_the_shell_and_arguments_in_python(tmp_path):
    path = written(tmp_path / "rows.csv", "review,stars\na,x\n")
    with pytest.raises(DataError, match='columns={"text": "review"') as raised:
        load_task(path)
    assert "--column" not in str(raised.value)
    error = CliRunner().invoke(cli, ["task", "show", str(path)]).exception
    assert "--column text=review --column label=stars" in str(error) and "columns={" not in str(error)
    with in_shell():
        assert asked("--option", "argument") == "--option"
    assert asked("--option", "argument") == "argument"


# --- names of tasks ---


def test_a_folder_with_the_name_of_a_task_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "imdb").mkdir()
    (tmp_path / "sst2").mkdir()
    written(tmp_path / "sst2" / "train.csv", "text,label\na,x\nb,y\n")
    problems = Problems()
    assert load_task("sst2", on_error=problems).labels == ("x", "y")
    assert problems.notes == ["sst2 is the folder with this name here; source='huggingface' reads the published task"]
    (tmp_path / "package").mkdir()
    note_ambiguity("package", "builtin", None, problems := Problems())
    assert problems.notes == ["package is the built-in task; the folder with this name here is read as ./package"]


def test_a_task_without_development_rows_is_refused_before_the_backend_is_loaded(tmp_path, monkeypatch):
    """Loading takes seconds, on a busy machine a quarter of a minute."""
    path = written(tmp_path / "rows.csv", "text,label\na,x\nb,y\n")
    monkeypatch.setattr("bertlab.cli.finetune.load_backend", lambda: pytest.fail("the backend was loaded"))
    said = CliRunner().invoke(cli, ["finetune", str(path), "--out", str(tmp_path / "out")])
    assert "has no validation rows; give --validation-share 0.1" in str(said.exception)
    assert not (tmp_path / "out").exists()
