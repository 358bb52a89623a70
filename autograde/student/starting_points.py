"""What fine-tuning starts from: a published checkpoint, the weights that notebook 07 handed in, or random numbers.

    start = starting_point(checkpoint, "../07_pretraining/pretraining_weights.safetensors")
    start.sizes       the arguments of `Bert`
    start.pieces      the vocabulary, in the order of its numbers
    start.fill(bert)  puts the weights in; does nothing where there are none
    print(start)      says which of the three it is

A published folder is read by the student's own `load_published` (notebook 05). Notebook 07's file names its arrays by
role ("layer_0/attention/query/kernel"), which is the path to the student's own variable in other spelling.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VOCABULARY = Path(__file__).parent / "pretraining_vocabulary.txt"
SMALL = {"hidden_size": 64, "num_layers": 2, "num_heads": 2, "intermediate_size": 256, "max_positions": 128}


@dataclass(frozen=True)
class StartingPoint:
    """Sizes, vocabulary and weights to begin with; see the module's docstring."""

    sizes: dict
    pieces: list[str]
    fill: Callable
    has_weights: bool
    said: str

    def __str__(self):
        return self.said


def starting_point(checkpoint: str | Path | None, handed_in: str | Path) -> StartingPoint:
    """The best start there is: the checkpoint, else the weights of notebook 07, else random numbers."""
    if checkpoint:
        return _published(Path(checkpoint))
    if Path(handed_in).is_file():
        return _from_notebook_07(Path(handed_in))
    pieces = _lines(VOCABULARY)
    sizes = {"vocab_size": len(pieces), **SMALL}
    return StartingPoint(sizes, pieces, lambda bert: None, False, f"random weights ({handed_in} is not there)")


def _published(folder: Path) -> StartingPoint:
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    sizes = {name.replace("num_hidden", "num").replace("attention_", ""): config[name] for name in names}
    tensors = {_modern(name): array for name, array in load_file(folder / "model.safetensors").items()}

    def fill(bert):
        from mybert.bert import load_published, own_variables

        load_published(own_variables(bert), tensors)

    sizes["max_positions"] = config["max_position_embeddings"]
    return StartingPoint(sizes, _lines(folder / "vocab.txt"), fill, True, f"the published checkpoint in {folder}")


def _modern(name: str) -> str:
    """Older files call LayerNorm's weights gamma and beta, and models without heads leave out the leading "bert."."""
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
    return name if name.startswith(("bert.", "cls.")) else f"bert.{name}"


def _from_notebook_07(path: Path) -> StartingPoint:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        sizes = json.loads(file.metadata()["config"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}
    trained = sizes["max_positions"]  # the short run on a processor has 32, too few for a question and its text
    sizes["max_positions"] = max(trained, SMALL["max_positions"])

    def fill(bert):
        from mybert.bert import own_variables

        for place, variable in own_variables(bert).items():
            role = role_of(place)
            longer = variable[trained:] if role == "embeddings/position" else variable[:0]  # as they were drawn
            variable.assign(np.concatenate([arrays[role].reshape(-1, *variable.shape[1:]), longer]))

    said = f"the weights of notebook 07, {path}"
    if trained < sizes["max_positions"]:
        said += f"; positions from {trained} on are new to it"
    return StartingPoint(sizes, _lines(VOCABULARY), fill, True, said)


def role_of(place: str) -> str:
    """bert.encoder.layers_.0.attention.query.kernel → layer_0/attention/query/kernel"""
    words = place.removeprefix("bert.").removeprefix("encoder.").replace("layers_.", "layer_").split(".")
    if words[0] == "embeddings" and words[-1] == "embeddings":
        return "/".join(words[:-1])  # a table
    return "/".join(word for word in words if word != "dense")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
