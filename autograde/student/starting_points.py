"""Initial weights for fine-tuning: a published checkpoint, the weights of notebook 07, or random ones.

start = published("bertlab-mini")     or a folder, or a name on the Hugging Face hub
start = from_notebook_07()          the weights that notebook 07 wrote; None if there are none
start.sizes         the arguments of `Bert`
start.pieces        the tokens of the vocabulary, in the order of their ids
start.vocabulary    the same as a dict, token → id
start.lower_case    whether the vocabulary is uncased
start.fill(bert)    loads the weights; of a published checkpoint also start.fill(bert, mlm_head, nsp_head)
start.untrained()   the same sizes and vocabulary with random weights, to compare with
print(start)        names the source of the weights
"""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autograde.boundary.roles import roles_by_path
from autograde.boundary.weights_file import WEIGHTS
from autograde.student import home

VOCABULARY = Path(__file__).parent / "pretraining_vocabulary.txt"
LEAST_POSITIONS = 128  # the short run on a processor has 32, too few for a question and its text


@dataclass(frozen=True)
class StartingPoint:
    """Sizes, vocabulary and weights to begin with; see the module's docstring."""

    sizes: dict
    pieces: list[str]
    fill: Callable
    said: str
    lower_case: bool = True

    def __str__(self):
        return self.said

    @functools.cached_property
    def vocabulary(self) -> dict[str, int]:
        return {piece: number for number, piece in enumerate(self.pieces)}

    @functools.cached_property
    def tokenizer(self):
        """The library's tokenizer, which also knows where in the text each token begins and ends."""
        from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

        return WordPieceTokenizer(Vocabulary(self.pieces), self.lower_case)

    def untrained(self) -> "StartingPoint":
        return replace(self, fill=lambda bert: None, said="random weights")


def published(checkpoint: str | Path) -> StartingPoint:
    """A checkpoint in the published format: packaged with the library, in a folder, or by its name on the hub.

    Raises CheckpointError if there is none.
    """
    from safetensors.numpy import load_file

    from bertlab.checkpoints import load_tokenizer
    from bertlab.checkpoints.opening import find
    from bertlab.common.errors import CheckpointError

    folder = find(checkpoint)
    for name in ("config.json", "model.safetensors"):
        if not (folder / name).is_file():
            raise CheckpointError(f"{folder}: has no {name}; expected a folder in the published format")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    sizes = {name.replace("num_hidden", "num").replace("attention_", ""): config[name] for name in names}
    sizes["max_positions"] = config["max_position_embeddings"]
    tensors = {}
    for name, array in load_file(folder / "model.safetensors").items():
        # older files call LayerNorm's weights gamma and beta; models without heads leave out the leading "bert."
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        tensors[name if name.startswith(("bert.", "cls.")) else f"bert.{name}"] = array.astype("float32")
    tokenizer = load_tokenizer(folder)

    def fill(bert, *heads):
        from mybert.bert import load_published, own_variables

        load_published(own_variables(bert, *heads), tensors)

    said = f"the published checkpoint {checkpoint}"
    return StartingPoint(sizes, list(tokenizer.vocabulary.pieces), fill, said, tokenizer.lowercase)


def from_notebook_07(path: str | Path | None = None) -> StartingPoint | None:
    """The weights that notebook 07 saved for the submission; None if there is no such file.

    path: by default in the folder of notebook 07 in the course's home.
    """
    from safetensors import safe_open

    path = home.find() / "07_pretraining" / WEIGHTS if path is None else path
    if not Path(path).is_file():
        return None
    with safe_open(path, framework="numpy") as file:
        sizes = json.loads(file.metadata()["config"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}
    trained = sizes["max_positions"]
    sizes["max_positions"] = max(trained, LEAST_POSITIONS)

    def fill(bert):
        from mybert.bert import own_variables

        roles = roles_by_path(sizes["num_layers"])
        for path, variable in own_variables(bert).items():
            role = roles[path]
            longer = variable[trained:] if role == "embeddings/position" else variable[:0]  # stay random
            variable.assign(np.concatenate([arrays[role].reshape(-1, *variable.shape[1:]), longer]))

    said = f"the weights of notebook 07, {path}"
    if trained < sizes["max_positions"]:
        said += f"; positions from {trained} on are not trained"
    return StartingPoint(sizes, VOCABULARY.read_text(encoding="utf-8").removesuffix("\n").split("\n"), fill, said)
