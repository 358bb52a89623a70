"""Helpers of the checkpoint tests: the golden folders, and ways to make other checkpoints from them."""

import json
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = ("gelu", "gelu_new", "relu")
VOCAB_SIZE = 61


def golden_copy(name: str, folder: Path) -> Path:
    """A golden checkpoint in a folder that a test may spoil."""
    folder.mkdir(parents=True)
    for file in ("config.json", "model.safetensors"):
        shutil.copyfile(GOLDEN / name / file, folder / file)
    return folder


def tensors(folder: Path) -> dict[str, np.ndarray]:
    return load_file(folder / "model.safetensors")


def write_tensors(folder: Path, arrays: dict[str, np.ndarray], name: str = "model.safetensors") -> None:
    save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, folder / name, {"format": "pt"})


def edit_tensors(folder: Path, change) -> None:
    """Lets `change` edit the dict of arrays of a folder."""
    arrays = tensors(folder)
    change(arrays)
    write_tensors(folder, arrays)


def edit_config(folder: Path, **values) -> None:
    """Sets entries of config.json; None takes one out."""
    config = json.loads((folder / "config.json").read_text()) | values
    (folder / "config.json").write_text(json.dumps({key: value for key, value in config.items() if value is not None}))


def expected(name: str) -> dict[str, np.ndarray]:
    with np.load(GOLDEN / name / "expected.npz") as file:
        return dict(file)


def golden_inputs(arrays: dict[str, np.ndarray], num_tokens: int) -> dict[str, np.ndarray]:
    return {key: arrays[f"{num_tokens}/input/{key}"] for key in ("input_ids", "attention_mask", "token_type_ids")}


def tokenizer(size: int = VOCAB_SIZE) -> WordPieceTokenizer:
    """A tokenizer whose vocabulary has so many tokens."""
    letters = [chr(ord("a") + i) for i in range(26)]
    words = letters + ["##" + letter for letter in letters] + [str(number) for number in range(10)]
    return WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *words][:size]))


def weights(model) -> list[np.ndarray]:
    """A copy of all weights, to see whether they were touched."""
    return [np.array(weight) for weight in model.get_weights()]


def same_weights(before: list[np.ndarray], after: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
