"""The how-tos for users of the library, typed from top to bottom in a folder with what a reader would have.

Options behind a command make it shorter, never other: fewer steps, smaller batches. In so few steps the rate rises to
its peak and falls again, so that the loss may rise.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import published_language_model
import pytest
from warm import run_module

from bertlab.config import BertConfig
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


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """MODEL, a novel, sentences, and rows with labels."""
    import keras

    from bertlab import checkpoints
    from bertlab.models import BertForPreTraining

    keras.utils.set_random_seed(1)
    folder = tmp_path_factory.mktemp("howtos")
    words = "the bank of river a good bad one is on was seen it sings by . 0 1 2 3 4 5 6 7 8 9".split()
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *words, "##s"]))
    size = {"hidden_size": 16, "num_layers": 4, "num_heads": 2, "intermediate_size": 32, "max_position_embeddings": 16}
    checkpoints.save(
        BertForPreTraining(BertConfig(vocab_size=len(tokenizer.vocabulary), **size)), folder / "MODEL", tokenizer
    )
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
    # An ELMo trains for minutes on much text; int8 needs an optional package: tests/peers/test_int8_peers.py.
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
