"""Runs the commands of README.md."""

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bertlab.config import BertConfig
from bertlab.families import model_types
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
COMMANDS = [re.split(r"\s+# ", line)[0] for line in README.splitlines() if line.startswith("bertlab ")]
GRADING = [re.split(r"\s+# ", line)[0] for line in README.splitlines() if line.startswith("autograde ")]
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with all that the commands name: texts, reviews.csv and the checkpoints MODEL and SOURCE."""
    import keras

    from bertlab import checkpoints
    from bertlab.models import BertForPreTraining

    keras.utils.set_random_seed(1)
    folder = tmp_path_factory.mktemp("readme")
    text = "\n\n".join(f"The robin number {i} is a bird. It sings by the river. It was seen again." for i in range(60))
    (folder / "TEXT.txt").write_text(text, encoding="utf-8")
    (folder / "lines.txt").write_text("A sentence.\nAnother one.\n", encoding="utf-8")
    pair = '{"sentence_good": "A robin is a bird.", "sentence_bad": "A robin are a bird."}'
    (folder / "PAIRS.jsonl").write_text(pair + "\n", encoding="utf-8")
    reviews = [f"the river of bank {i},{('bad', 'good')[i % 2]}" for i in range(40)]
    (folder / "reviews.csv").write_text("\n".join(["text,label", *reviews, ""]), encoding="utf-8")
    words = "the bank is situated on of river a sentence another one . 0 1 2 3 4 5 6 7 8 9".split()
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *words, "##e", "##s"]))
    model = BertForPreTraining(BertConfig.named("tiny", vocab_size=len(tokenizer.vocabulary)))
    for name in ("MODEL", "SOURCE"):
        checkpoints.save(model, folder / name, tokenizer)
    return folder


def test_there_are_commands_and_python_to_try():
    assert len(COMMANDS) >= 6 and len(BLOCKS) == 3


# In the order of the page: a later command uses what an earlier one wrote.
@pytest.mark.exhaustive
def test_the_commands_work_in_the_order_of_the_page(folder):
    for command in COMMANDS:
        arguments = shlex.split(command)[1:]
        result = subprocess.run(
            [sys.executable, "-m", "bertlab", *arguments], cwd=folder, capture_output=True, text=True, timeout=600
        )
        assert result.returncode == 0, f"{command}\n{result.stderr}"


@pytest.mark.parametrize("block", BLOCKS, ids=["first", "second", "third"])
def test_the_python_works(block, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(block, names)
    if "outputs" in names:
        assert tuple(names["outputs"]["masked_lm_logits"].shape) == (1, 4, 30522)
    elif "vectors" in names:
        assert names["vectors"].shape == (2, 128)
    else:
        assert names["model"].num_labels == 3


def test_the_table_of_models_has_every_family_and_the_measured_differences():
    """Each row with a measured difference has the largest numbers of its row in benchmarks/parity/README.md."""
    folder = Path(__file__).parents[2] / "benchmarks" / "parity"
    measured = _rows((folder / "README.md").read_text(encoding="utf-8"))
    table = {name: cells for name, *cells in _rows(README).values()}
    by_benchmark = {name for name, (_, compared, _) in table.items() if "benchmark" in compared}
    assert by_benchmark == set(measured) and len(table) == len(model_types()) + 1  # TinyBERT is a BERT
    for name in by_benchmark:
        outputs, gradients = zip(*(cell.split(" / ") for cell in measured[name][1:]))
        assert table[name][-1] == f"{max(outputs, key=_value)} / {max(gradients, key=_value)}", name


def _rows(text: str) -> dict[str, list[str]]:
    """The rows of tables that have a power of ten in their last cell, by their first cell."""
    rows = [line for line in text.splitlines() if re.search(r"10⁻[^|]*\|$", line)]
    return {cells[0]: cells for cells in map(_cells, rows)}


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _value(number: str) -> float:
    """1.5·10⁻⁶ as a float."""
    digits, power = number.split("·10⁻")
    return float(digits) * 10.0 ** -int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed: no stranger's code is run")
def test_the_instructors_commands_take_a_class_from_release_to_export(tmp_path):
    """On the way a student downloads the release, hands it in untouched, and the instructor downloads that."""
    assert [command.split()[1] for command in GRADING][:3] == ["init", "release", "collect"]
    for command in GRADING:
        arguments = shlex.split(command)[1:]
        if arguments[0] == "release":  # not beside the package, where the other tests would find them
            arguments += ["--fingerprints", "fingerprints"]
        if arguments[0] == "collect":
            (tmp_path / "downloads").mkdir()
            with zipfile.ZipFile(tmp_path / "downloads" / "week3.zip", "w") as download:
                handed_out = tmp_path / "my-course" / "release" / "ps1" / "03_attention.ipynb"
                download.write(handed_out, "doejane_1234_56789_03_attention.ipynb")
        result = subprocess.run(
            [sys.executable, "-m", "autograde", *arguments], cwd=tmp_path, capture_output=True, text=True,
            timeout=600,
        )  # fmt: skip
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    assert "doejane" in result.stdout and re.search(r"\b0(\.0)?\b", result.stdout)
    assert list((tmp_path / "my-course" / "feedback").rglob("*.html"))
