"""The assembled baselines: a kind of reading, and an output layer; and a trained one in a folder.

Recurrent layers are Keras's own: a state goes from word to word and remembers what it has read.
rnn: h_t = tanh(x_t W + h_{t−1} U + b) (Elman 1990). lstm: gates decide what is written, kept and shown (Hochreiter and
Schmidhuber 1997; forget gate: Gers et al. 2000). gru: two gates, no cell (Cho et al. 2014). bilstm: one LSTM from each
end, side by side (Graves and Schmidhuber 2005).

Letters: B batch, T tokens, N choices of a row, C outputs, D numbers of a vector, U units.
"""

import dataclasses
import json
from pathlib import Path

import keras
from keras import ops

from bertlab.checkpoints.opening import BASELINE
from bertlab.checkpoints.stored import open_safetensors, write_safetensors
from bertlab.common.errors import CheckpointError
from bertlab.common.files import read_json, write_json
from bertlab.layers.dropout import Dropout
from bertlab.training.baselines.bags import BagOfWords
from bertlab.training.baselines.settings import BAGS, RECURRENT, BaselineConfig
from bertlab.training.baselines.texts import max_of_real, mean_of_real, pair_features, segment


@keras.saving.register_keras_serializable("bertlab")
class RecurrentStack(keras.layers.Layer):
    """Some recurrent layers, one on top of the other, with dropout before each.

    Args:
        kind: rnn | lstm | gru | bilstm.   input_size: D.   units: U.   num_layers: how many.   dropout: its rate.

    Call: x (B, T, D), is_real (B, T) with padding behind the tokens → a state for each token (B, T, U or 2 · U).

    Example:
        >>> stack = RecurrentStack("bilstm", input_size=8, units=5)
        >>> states = stack(ops.ones((2, 3, 8)), ops.ones((2, 3)))
        >>> tuple(states.shape), tuple(stack.pooled(states, ops.ones((2, 3))).shape)
        ((2, 3, 10), (2, 10))
    """

    def __init__(self, kind: str, input_size: int, units: int, num_layers: int = 1, dropout: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.kind, self.input_size, self.units = kind, input_size, units
        self.num_layers, self.dropout_rate = num_layers, dropout
        self.dropout = Dropout(dropout, name="dropout")
        self.layers_, size = [], input_size
        of_kind = {"rnn": keras.layers.SimpleRNN, "gru": keras.layers.GRU}.get(kind, keras.layers.LSTM)
        for number in range(num_layers):
            name = "lstm" if kind == "bilstm" else f"level_{number}"
            layer = of_kind(units, return_sequences=True, dtype=self.dtype_policy, name=name)
            if kind == "bilstm":
                layer = keras.layers.Bidirectional(layer, dtype=self.dtype_policy, name=f"level_{number}")
            self.layers_.append(layer)
        for layer in self.layers_:
            layer.build((None, None, size))
            size = self.width
        self.built = True

    @property
    def width(self) -> int:
        """The size of a state."""
        return self.units * (2 if self.kind == "bilstm" else 1)

    def call(self, x, is_real, training=False):
        first = ops.arange(ops.shape(is_real)[1]) == 0  # cuDNN refuses a row without any token: an empty text
        mask = ops.logical_or(ops.cast(is_real, "bool"), first)
        for layer in self.layers_:
            x = layer(self.dropout(x, training=training), mask=mask, training=training)
        return x

    def pooled(self, states, is_real):
        """One vector for each row, (B, U or 2 · U): the state behind the last token; of a bilstm the largest values.

        Zeros for a row without tokens.
        """
        if self.kind == "bilstm":
            return max_of_real(states, is_real)
        last = ops.maximum(ops.sum(ops.cast(is_real, "int32"), axis=1) - 1, 0)  # (B,)
        some = ops.cast(ops.any(ops.cast(is_real, "bool"), axis=1), states.dtype)  # (B,)
        return ops.take_along_axis(states, last[:, None, None], axis=1)[:, 0] * some[:, None]

    def get_config(self):
        own = {"kind": self.kind, "input_size": self.input_size, "units": self.units}
        return super().get_config() | own | {"num_layers": self.num_layers, "dropout": self.dropout_rate}


class Baseline(keras.Model):
    """Base of the baselines: reads rows that are packed as BERT's are.

    Call: a dict of input_ids, token_type_ids and attention_mask (B, T), of multiple choice (B, N, T) → logits.
    """

    config_class: type = BaselineConfig
    file = BASELINE  # in a trained one's folder: its configuration

    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.config = config
        self.built = True  # every weight is made in a constructor

    def call(self, inputs, training=False):
        shape = ops.shape(inputs["input_ids"])
        if len(shape) == 2:
            return self.logits(inputs, training)
        flat = {name: ops.reshape(values, (-1, *ops.shape(values)[2:])) for name, values in inputs.items()}  # (B·N, T)
        return ops.reshape(self.logits(flat, training), (-1, shape[1]))  # one score for each choice

    def logits(self, inputs: dict, training: bool):
        """The output for rows (B, T)."""
        raise NotImplementedError

    def _texts(self, inputs: dict) -> list[tuple]:
        """ids and is_real of each text of the rows."""
        return [segment(inputs, number, self.config.special_ids) for number in range(1 + self.config.pair)]

    def get_config(self):
        dtype = keras.saving.serialize_keras_object(self.dtype_policy)
        return {"config": dataclasses.asdict(self.config), "name": self.name, "dtype": dtype}

    @classmethod
    def from_config(cls, config):
        values = config["config"] | {"special_ids": tuple(config["config"]["special_ids"])}
        return cls(**config | {"config": cls.config_class(**values)})


@keras.saving.register_keras_serializable("bertlab")
class BagClassifier(Baseline):
    """bow, tfidf: see `bags`. Call → (B, C)."""

    def __init__(self, config: BaselineConfig, **kwargs):
        super().__init__(config, **kwargs)
        self.bag = BagOfWords(config.vocab_size, config.outputs, config.pair, config.kind == "tfidf", name="bag")

    def logits(self, inputs, training):
        return self.bag(*(part for text in self._texts(inputs) for part in text))


class TokenVectors(Baseline):
    """Base of the models with a vector for each token: perhaps recurrent layers on these, and an output layer.

    The output layer is linear, as in the papers of all kinds between the vectors and the classes.
    """

    def _add_layers(self, width: int, kind: str) -> None:
        """width: D. kind: of the recurrent layers; there are none of another kind."""
        config, dtype = self.config, self.dtype_policy
        self.dropout, self.recurrent = Dropout(config.head_dropout, name="dropout"), None
        if kind in RECURRENT:
            sizes = (width, config.units, config.recurrent_layers, config.head_dropout)
            self.recurrent = RecurrentStack(kind, *sizes, dtype=dtype, name="recurrent")
            width = self.recurrent.width
        self.head = keras.layers.Dense(config.outputs, dtype=dtype, name="head")
        self.head.build((None, width * (4 if config.pair else 1)))

    def _states(self, x, is_real, training):
        return x if self.recurrent is None else self.recurrent(x, is_real, training=training)

    def _pooled(self, states, is_real):  # (B, T, D) → (B, D)
        return (mean_of_real if self.recurrent is None else self.recurrent.pooled)(states, is_real)

    def _scores(self, *vectors, training):
        """The logits of vectors (…, D); of those of two texts by their `pair_features`."""
        x = pair_features(*vectors) if len(vectors) == 2 else vectors[0]
        return self.head(self.dropout(x, training=training))


@keras.saving.register_keras_serializable("bertlab")
class WordVectorModel(TokenVectors):
    """cbow, rnn, lstm, gru, bilstm: each text becomes a vector. Call → (B, C).

    With tags (B, T, C): logits for each token, [CLS] and [SEP] included.
    """

    def __init__(self, config: BaselineConfig, **kwargs):
        super().__init__(config, **kwargs)
        self.words = keras.layers.Embedding(config.vocab_size, config.word_size, dtype=self.dtype_policy, name="words")
        self.words.build((None, None))
        self._add_layers(config.word_size, config.kind)

    def logits(self, inputs, training):
        if self.config.tags:
            x = self.words(inputs["input_ids"])  # (B, T, D)
            return self._scores(self._states(x, inputs["attention_mask"], training), training=training)
        vectors = [
            self._pooled(self._states(self.words(ids), is_real, training), is_real)
            for ids, is_real in self._texts(inputs)
        ]
        return self._scores(*vectors, training=training)


def make_baseline(config: BaselineConfig, **kwargs) -> Baseline:
    """The model of a configuration, with fresh weights.

    Example:
        >>> model = make_baseline(BaselineConfig("lstm", 9, special_ids=(0, 2, 3), outputs=2))
        >>> ids, ones = ops.array([[2, 7, 8, 3]]), ops.ones((1, 4), "int32")
        >>> tuple(model({"input_ids": ids, "token_type_ids": 0 * ones, "attention_mask": ones}).shape)
        (1, 2)
    """
    return (BagClassifier if config.kind in BAGS else WordVectorModel)(config, **kwargs)


# === In a folder ===


def save_baseline(model: Baseline, folder: Path) -> None:
    """Writes baseline.json, its configuration, and baseline.safetensors, its weights by path.

    A head on vectors of a frozen model is stored alike, in features.json and features.safetensors.
    Raises CheckpointError where the system refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / model.file, dataclasses.asdict(model.config), CheckpointError)
    arrays = {variable.path: ops.convert_to_numpy(variable) for variable in model.weights}
    write_safetensors(_weights(model, folder), arrays, {"bertlab": json.dumps({"kind": Path(model.file).stem})})


def load_baseline(folder: Path) -> Baseline:
    """The inverse of `save_baseline`. Raises CheckpointError for files that cannot be used."""
    model = make_baseline(read_config(folder, Baseline))
    load_weights(model, folder)
    return model


def read_config(folder: Path, model_class: type[Baseline]):
    """The configuration of a model in a folder. Raises CheckpointError for a file that cannot be used."""
    file = folder / model_class.file
    values = read_json(file, CheckpointError, "copy the folder again")
    try:
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return model_class.config_class(**values | lists)
    except (TypeError, AttributeError) as error:
        what = "a baseline" if file.name == BASELINE else "a head"
        raise CheckpointError(f"{file}: does not describe {what} ({error})") from None


def load_weights(model: Baseline, folder: Path) -> None:
    """Fills a model with the weights of a folder. Raises CheckpointError where they belong to another model."""
    stored, _ = open_safetensors(_weights(model, folder))
    own = {variable.path: variable for variable in model.weights}
    shapes = {path: tuple(variable.shape) for path, variable in own.items()}
    if shapes != {path: tensor.shape for path, tensor in stored.items()}:
        raise CheckpointError(f"{_weights(model, folder)}: expected the weights of {model.file}; train it again")
    for path, variable in own.items():
        variable.assign(stored[path].read())


def _weights(model: Baseline, folder: Path) -> Path:
    return (folder / model.file).with_suffix(".safetensors")
