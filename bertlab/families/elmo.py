"""ELMo: a language model in each direction, with LSTMs on vectors that are made of characters (Peters et al. 2018).

transformers has no such model. The published files are options.json and weights.hdf5; the sources of their names are
bilm/model.py of allenai/bilm-tf, and elmo.py, elmo_lstm.py and lstm_cell_with_projection.py in allennlp/modules of
AllenNLP 2.10, which reads them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bertlab.common.errors import ConfigError
from bertlab.config import ACTIVATIONS, ModelConfig
from bertlab.families.base import Family, Pretraining, PublishedArray, PublishedFiles, layers
from bertlab.families.names import HUGGINGFACE, Names, Row, dense, table, vector

_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


@dataclass(frozen=True)
class ElmoConfig(ModelConfig):
    """All settings of an ELMo's architecture and numerics. The defaults are the original model (93.6 million weights).

    hidden_size counts both directions; intermediate_size is the number of units of an LSTM's cell, whose output is
    projected to hidden_size / 2. The activation is that of the filters. There is no attention: num_heads and
    attention_dropout have no effect. A row may have any length: `max_position_embeddings` is only the longest row
    that the tools make, and can be raised.

    Example:
        >>> ElmoConfig.named("small").direction_size
        128
    """

    vocab_size: int = 793_471
    hidden_size: int = 1024
    num_layers: int = 2
    num_heads: int = 1
    intermediate_size: int = 4096
    hidden_act: str = "relu"
    characters: bool = True  # False: a row of a table for each token, instead of its characters
    max_characters: int = 50  # of a token, with those for its begin and end; further ones are cut
    character_size: int = 16  # of a character's vector
    filters: tuple[tuple[int, int], ...] = _FILTERS  # (width in characters, how many)
    num_highway: int = 2
    cell_clip: float = 3.0
    projection_clip: float = 3.0

    model_type: ClassVar[str] = "elmo"
    MAY_BE_ZERO: ClassVar[tuple[str, ...]] = ("num_highway",)
    SIZES: ClassVar[dict] = {
        "original": {},
        "medium": dict(hidden_size=512, intermediate_size=2048, num_highway=1),
        "small": dict(hidden_size=256, intermediate_size=1024, num_highway=1),
        "mini": dict(  # not published: for a processor
            hidden_size=256, intermediate_size=256, num_highway=1, filters=_FILTERS[:4], max_characters=20
        ),
    }
    NUMERICS: ClassVar[tuple[str, ...]] = (
        "num_layers", "hidden_act", "characters", "max_characters", "filters", "num_highway", "cell_clip",
        "projection_clip",
    )  # fmt: skip

    def __post_init__(self):
        super().__post_init__()
        if self.hidden_size % 2:
            raise ConfigError(f"hidden_size {self.hidden_size}: expected an even number, half for each direction")
        try:
            pairs = tuple((width, count) for width, count in self.filters)
        except (TypeError, ValueError):
            pairs = ()
        if not pairs or not all(type(number) is int and number > 0 for pair in pairs for number in pair):
            raise ConfigError(
                f"filters: expected pairs of a width and a number, such as [[1, 32]]; got {self.filters!r}"
            )
        object.__setattr__(self, "filters", pairs)  # lists in a file; a config can be hashed
        widest = max(3, *(width for width, _ in self.filters))
        if self.max_characters < widest:
            raise ConfigError(
                f"max_characters: expected at least {widest} for these filters, got {self.max_characters}"
            )

    @property
    def direction_size(self) -> int:
        """Width of the vectors of one direction."""
        return self.hidden_size // 2

    @property
    def inner_width(self) -> int:
        """The four gates of a cell, in both directions."""
        return 8 * self.intermediate_size

    def huggingface_lacks(self) -> list[str]:
        return ["LSTMs in two directions"]


def _embeddings(config: ElmoConfig, **options):
    cnn = dict(
        character_size=config.character_size,
        filters=config.filters,
        num_highway=config.num_highway,
        activation=config.hidden_act,
    )
    characters = config.max_characters if config.characters else None
    width, spread = config.hidden_size, config.initializer_range
    return layers.BiLMEmbeddings(config.vocab_size, width, characters, spread, cnn, **options)


def _encoder(config: ElmoConfig, **options):
    sizes = config.num_layers, config.intermediate_size, config.cell_clip, config.projection_clip
    return layers.BiLMEncoder(*sizes, **{"dropout": config.hidden_dropout, **options})


def _own_paths(config: ElmoConfig, paths: set[str]) -> set[str]:
    """Those of characters or those of a table; the number of filters and highway layers is the config's."""
    if config.intermediate_size == config.direction_size:
        paths = {path for path in paths if not path.endswith("/cell/projection")}
    if not config.characters:
        return {path for path in paths if "/embeddings/character" not in path}
    cnn = set()
    for i in range(len(config.filters)):
        cnn |= {f"backbone/embeddings/characters/filters_{i}/{name}" for name in ("kernel", "bias")}
    for i in range(config.num_highway):
        parts = [f"{part}/{name}" for part in ("transform", "gate") for name in ("kernel", "bias")]
        cnn |= {f"backbone/embeddings/characters/highway_{i}/{part}" for part in parts}
    return paths - {"backbone/embeddings/token/embeddings"} | cnn


def _lstm(direction: str) -> tuple[Row, ...]:
    lstm = f"encoder/layer_{{i}}/{direction}_lstm"
    names = ("kernel", "bias", "cell/recurrent_kernel", "cell/projection")
    return tuple(vector(f"{lstm}/{name}", f"{direction}.{{i}}.{name}") for name in names)


_CLASSIFIER = (dense("head/dense", "classifier"),)
_NAMES = Names(  # no other program has these names: a model of this family is written in BertLab's format only
    spelling=HUGGINGFACE,
    backbone=(
        table("embeddings/token", "token"),
        vector("embeddings/character_ids", "character_ids"),
        vector("embeddings/characters/table", "characters"),
        dense("embeddings/characters/projection", "projection"),
        *_lstm("forward"),
        *_lstm("backward"),
    ),
    heads={
        "pretraining": (
            vector("masked_lm_head/unembedding", "softmax.weight"),
            vector("masked_lm_head/bias", "softmax.bias"),
        ),
        "sequence_classification": _CLASSIFIER,
        "token_classification": _CLASSIFIER,
        "multiple_choice": _CLASSIFIER,
        "question_answering": _CLASSIFIER,
    },
)


# === The published files ===


def _published_config(options: dict, words: int) -> ElmoConfig:
    """The configuration in an options.json. Raises ConfigError for one that this model cannot be."""
    if not _option(options, "lstm.use_skip_connections"):
        raise ConfigError("expected lstm.use_skip_connections true: no other model was published")
    activation = _option(options, "char_cnn.activation")
    if activation not in tuple(ACTIVATIONS):
        raise ConfigError(f"char_cnn.activation {activation!r}: expected one of {', '.join(ACTIVATIONS)}")
    return ElmoConfig(
        vocab_size=words,
        hidden_size=2 * _size(options, "lstm.projection_dim"),
        num_layers=_size(options, "lstm.n_layers"),
        intermediate_size=_size(options, "lstm.dim"),
        hidden_act=activation,
        max_characters=_size(options, "char_cnn.max_characters_per_token"),
        character_size=_size(options, "char_cnn.embedding.dim"),
        filters=_option(options, "char_cnn.filters"),
        num_highway=options["char_cnn"].get("n_highway") or 0,
        cell_clip=_clip(options, "lstm.cell_clip"),
        projection_clip=_clip(options, "lstm.proj_clip"),
        hidden_dropout=options.get("dropout", 0.1),
    )


def _option(options: dict, path: str):
    """The value of an option inside others, such as "lstm.dim". Raises ConfigError where it is missing."""
    value = options
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise ConfigError(f"{path} is missing; expected the options of a language model of characters")
        value = value[name]
    return value


def _size(options: dict, path: str) -> int:
    value = _option(options, path)
    if type(value) is not int or value < 1:
        raise ConfigError(f"{path}: expected a whole number of at least 1, got {value!r}")
    return value


def _clip(options: dict, path: str) -> float:
    value = _option(options, path)
    if type(value) not in (int, float) or not value > 0:
        raise ConfigError(f"{path}: expected a positive number, got {value!r}")
    return value


def _published_arrays(config: ElmoConfig) -> Iterator[PublishedArray]:
    """The arrays of a weights.hdf5. Their gates are in the order input, candidate, forget, output."""
    part = "backbone/embeddings/characters"
    size, count = config.character_size, sum(count for _, count in config.filters)
    yield PublishedArray(f"{part}/table", "char_embed", (261, size))
    for i, (width, number) in enumerate(config.filters):
        yield PublishedArray(
            f"{part}/filters_{i}/kernel",
            f"CNN/W_cnn_{i}",
            (1, width, size, number),
            (width, size, number),
            lambda x: x[0],
        )
        yield PublishedArray(f"{part}/filters_{i}/bias", f"CNN/b_cnn_{i}", (number,))
    for i in range(config.num_highway):
        for ours, theirs in (("transform", "transform"), ("gate", "carry")):
            yield PublishedArray(f"{part}/highway_{i}/{ours}/kernel", f"CNN_high_{i}/W_{theirs}", (count, count))
            yield PublishedArray(f"{part}/highway_{i}/{ours}/bias", f"CNN_high_{i}/b_{theirs}", (count,))
    yield PublishedArray(f"{part}/projection/kernel", "CNN_proj/W_proj", (count, config.direction_size))
    yield PublishedArray(f"{part}/projection/bias", "CNN_proj/b_proj", (config.direction_size,))
    for number, name in enumerate(("forward", "backward")):
        for i in range(config.num_layers):
            ours = f"backbone/encoder/layer_{i}/{name}_lstm"
            yield from _published_lstm(config, ours, f"RNN_{number}/RNN/MultiRNNCell/Cell{i}/LSTMCell")


def _published_lstm(config: ElmoConfig, ours: str, theirs: str) -> Iterator[PublishedArray]:
    """One LSTM, whose matrix has the rows of the input above those of the output before."""
    size, units = config.direction_size, config.intermediate_size
    both, gates = (2 * size, 4 * units), (4 * units,)
    yield PublishedArray(f"{ours}/kernel", f"{theirs}/W_0", both, (size, *gates), lambda x: _our_gates(x[:size]))
    recurrent = f"{ours}/cell/recurrent_kernel"
    yield PublishedArray(recurrent, f"{theirs}/W_0", both, (size, *gates), lambda x: _our_gates(x[size:]))
    yield PublishedArray(f"{ours}/bias", f"{theirs}/B", gates, gates, lambda x: _our_gates(x, forget=1.0))
    if units != size:
        yield PublishedArray(f"{ours}/cell/projection", f"{theirs}/W_P_0", (units, size))


def _our_gates(x, forget: float = 0.0):
    """(…, 4U) in our order. forget: what their program adds to the forget gate's bias at every step."""
    i, j, f, o = np.split(x, 4, axis=-1)
    return np.concatenate([i, f + forget, j, o], axis=-1)


FAMILY = Family(
    config=ElmoConfig,
    huggingface=_NAMES,
    embeddings=_embeddings,
    encoder=_encoder,
    pooling=lambda config, **options: layers.BothEndsVector(**options),
    # The published model has no table of tokens to which the head could be tied.
    masked_lm_head=lambda config, tied=False, **options: layers.BiLMHead(config.vocab_size, **options),
    own_paths=_own_paths,
    pooler=False,
    published=PublishedFiles(_published_config, _published_arrays),
    tokenizer="whole words",
    both_directions=True,
    pretraining=Pretraining(
        "both_directions",
        no_objective=f"of {ElmoConfig.model_type}, which predicts both neighbours of a token",
        no_muon="is for the matrices of a transformer",  # the four gates of an LSTM are side by side in one matrix
        no_distillation="predicts both neighbours of a token",
    ),
    named_sizes=True,
)
