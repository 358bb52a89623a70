"""The assembled baselines: a kind of reading, and an output layer.

Letters: B batch, T tokens, N choices of a row, C outputs, D numbers of a vector.
"""

import dataclasses

import keras
from keras import ops

from bertlab.checkpoints.opening import BASELINE
from bertlab.layers.dropout import Dropout
from bertlab.training.baselines.bags import BagOfWords
from bertlab.training.baselines.recurrent import RecurrentStack
from bertlab.training.baselines.settings import BAGS, RECURRENT, BaselineConfig
from bertlab.training.baselines.texts import mean_of_real, pair_features, segment


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

    def _pooled(self, states, is_real):
        """One vector for each row. states: (B, T, D) → (B, D)."""
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
