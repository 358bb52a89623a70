"""README.md and the how-tos for users of the library, typed from top to bottom in a folder with what a reader has.

Options behind a command make it shorter, never other: fewer steps, smaller batches. In so few steps the rate rises to
its peak and falls again, so that the loss may rise.
"""

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import published_language_model
import pytest
from warm import run_module

from bertlab import checkpoints
from bertlab.config import BertConfig
from bertlab.families import model_types
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

DOCS = Path(__file__).parents[2] / "docs"
SHORTER = {
    "pretrain": ["--steps", "4", "--batch-size", "8", "--interval", "2", "--no-xla", "--no-divergence-check"],
    **dict.fromkeys(("finetune", "finetune-tasks", "train-features", "train-baseline"), ["--epochs", "1"]),
    "distill": ["--no-memory-check", "--steps", "4", "--batch-size", "8", "--interval", "2", "--no-xla"],
    "distill-task": ["--no-memory-check", "--epochs", "1"],
}
SENTENCES = "The bank of the river.\nA good one.\nThe river is on the bank of a river.\n"


def commands(page: str, also: str = "bertlab") -> list[str]:
    """The lines of a page that are commands of ours, or that begin with another word."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.startswith(("    bertlab ", f"    {also} "))]


def save_model(config: BertConfig, tokenizer: WordPieceTokenizer, *places: Path) -> None:
    import keras

    from bertlab.models import BertForPreTraining

    keras.utils.set_random_seed(1)
    model = BertForPreTraining(config)
    for place in places:
        checkpoints.save(model, place, tokenizer)


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """MODEL, a novel, sentences, and rows with labels."""
    folder = tmp_path_factory.mktemp("howtos")
    words = "the bank of river a good bad one is on was seen it sings by . 0 1 2 3 4 5 6 7 8 9".split()
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *words, "##s"]))
    size = {"hidden_size": 16, "num_layers": 4, "num_heads": 2, "intermediate_size": 32, "max_position_embeddings": 16}
    save_model(BertConfig(vocab_size=len(tokenizer.vocabulary), **size), tokenizer, folder / "MODEL")
    chapters = "\n\n".join(
        f"The robin {i} is a bird. It sings by the river {i}. It was seen again on the bank." for i in range(400)
    )
    for name in ("novels.txt", "papers.txt"):
        (folder / name).write_text(chapters, encoding="utf-8")
    (folder / "sentences.txt").write_text(SENTENCES, encoding="utf-8")
    (folder / "lines.txt").write_text(SENTENCES, encoding="utf-8")
    rows = [f"the river {i} of the bank,{('bad', 'good')[i % 2]}" for i in range(60)]
    (folder / "reviews.csv").write_text("\n".join(["review,stars", *rows, ""]), encoding="utf-8")
    tags = [f"the O\nriver {('B-BANK', 'O')[i % 2]}\n{i} O\n" for i in range(60)]
    (folder / "tags.conll").write_text("\n".join(tags), encoding="utf-8")
    return folder


def type_in(command: str, folder: Path) -> None:
    """Runs a command as typed, with `< file` as a shell reads it."""
    words = shlex.split(command)
    source = folder / words[words.index("<") + 1] if "<" in words else None
    words = words[: words.index("<")] if source else words
    text = source.read_text(encoding="utf-8") if source else None
    more = SHORTER.get(words[1], [])
    if "2x128" in words:
        more = [*more, "--to", "2x8"]  # the tiny MODEL's student is smaller still
    if "taught-rows" in words and words[1] == "data":
        more = ["--sequence-length", "16"]  # MODEL's positions
    done = run_module(*words, *more, cwd=folder, text=text)
    assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.slow
def test_vectors_from_a_checkpoint(folder, monkeypatch, capsys):
    assert len(commands("vectors.md")) == 12
    published_language_model.write(folder / "ELMO")
    for command in commands("vectors.md"):
        type_in(command, folder)
    shapes = {name: np.load(folder / name).shape for name in ("vectors.npy", "wide.npy", "unit.npy")}
    assert shapes == {"vectors.npy": (3, 16), "wide.npy": (3, 64), "unit.npy": (3, 16)}
    with np.load(folder / "elmo.npz") as tokens:
        assert tokens["vectors"].shape[1] == 3 * 8
    with np.load(folder / "tokens.npz") as tokens:
        assert tokens["row_splits"][-1] == len(tokens["vectors"])

    monkeypatch.chdir(folder)
    names: dict = {}
    for block in blocks("vectors.md"):
        exec(block, names)
    assert names["vectors"].shape == (3, 16) and np.load("texts.npy").shape == (3, 16)
    assert names["tokenizer"].encode("the bank of the river")[1] == names["tokenizer"].encode("a good bank")[2]
    assert not np.allclose(names["by_the_water"], names["with_money"])
    assert "[[1." in capsys.readouterr().out


@pytest.mark.exhaustive
def test_pre_training_on_a_text_of_ones_own(folder):
    """All but the command for a cluster, which test_machines.py runs on two processes with settings of its own."""
    here = [command for command in commands("pretraining.md", also="python -c") if "--devices" not in command]
    assert len(here) == 22
    for command in here:
        if command.startswith("python"):
            subprocess.run([sys.executable, *shlex.split(command)[1:]], cwd=folder, check=True)
        else:
            type_in(command, folder)
    assert (folder / "run/curve.png").is_file() and (folder / "run/checkpoint").is_dir()
    assert (folder / "curves.png").is_file() and (folder / "adapted/checkpoint").is_dir()
    assert (folder / "elmo/checkpoint/bertlab.safetensors").is_file()


@pytest.mark.exhaustive
def test_fine_tuning_on_a_csv_of_ones_own(folder):
    """All but the commands for a model of MNLI, which test_predict.py types on rows of its own, and two more kinds."""
    # An ELMo trains for minutes on much text; int8 needs an optional package: tests/peers/test_export_peers.py.
    others = ("mnli", "sst2", "--quantize", "elmo")
    here = [command for command in commands("finetuning.md") if not any(word in command for word in others)]
    assert len(here) == 14
    shutil.copy(folder / "reviews.csv", folder / "more_reviews.csv")
    for command in here:
        type_in(command, folder)
    assert all((folder / f"runs/{name}/results.json").is_file() for name in ("reviews", "bilstm", "last4"))
    assert (folder / "exported/1").is_dir()


@pytest.mark.exhaustive
def test_distilling_from_a_model_of_ones_own(folder):
    here = commands("distillation.md")
    assert len(here) == 8
    rows = (folder / "reviews.csv").read_text(encoding="utf-8").replace("review,stars", "text,label")
    (folder / "notes.csv").write_text(rows, encoding="utf-8")
    for command in here:
        type_in(command, folder)
    assert (folder / "student/curve.png").is_file() and (folder / "runs/student/results.json").is_file()
    assert (folder / "tiny/checkpoint").is_dir() and (folder / "runs/tiny/curves.png").is_file()


# === README.md ===

README = (DOCS.parent / "README.md").read_text(encoding="utf-8")
COMMANDS = [re.split(r"\s+# ", line)[0] for line in README.splitlines() if line.startswith("bertlab ")]
GRADING = [re.split(r"\s+# ", line)[0] for line in README.splitlines() if line.startswith("autograde ")]
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def readme_folder(tmp_path_factory):
    """A folder with all that the commands name: texts, reviews.csv and the checkpoints MODEL and SOURCE."""
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
    config = BertConfig.named("tiny", vocab_size=len(tokenizer.vocabulary))
    save_model(config, tokenizer, folder / "MODEL", folder / "SOURCE")
    return folder


def test_there_are_commands_and_python_to_try():
    assert len(COMMANDS) >= 6 and len(BLOCKS) == 3


# In the order of the page: a later command uses what an earlier one wrote.
@pytest.mark.exhaustive
def test_the_commands_work_in_the_order_of_the_page(readme_folder):
    for command in COMMANDS:
        arguments = shlex.split(command)[1:]
        result = subprocess.run(
            [sys.executable, "-m", "bertlab", *arguments],
            cwd=readme_folder,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert result.returncode == 0, f"{command}\n{result.stderr}"


@pytest.mark.parametrize("block", BLOCKS, ids=["first", "second", "third"])
def test_the_python_works(block, readme_folder, monkeypatch):
    monkeypatch.chdir(readme_folder)
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
    folder = DOCS.parent / "benchmarks" / "parity"
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
