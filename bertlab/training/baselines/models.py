"""The assembled baselines: a kind of reading, and an output layer.

Letters: B batch, T tokens, N choices of a row, C outputs.
"""

import dataclasses

import keras
from keras import ops

from bertlab.layers.dropout import Dropout
from bertlab.training.baselines.averages import mean_of_real
from bertlab.training.baselines.bags import BagOfWords
from bertlab.training.baselines.pairs import pair_features
from bertlab.training.baselines.recurrent import RecurrentStack
from bertlab.training.baselines.segments import segment
from bertlab.training.baselines.settings import AVERAGES, BAGS, BaselineConfig


class Baseline(keras.Model):
    """Base of the baselines: reads rows that are packed as BERT's are.

    Call: a dict of input_ids, token_type_ids and attention_mask (B, T), of multiple choice (B, N, T) → logits.
    """

    config_class: type = BaselineConfig

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


class VectorBaseline(Baseline):
    """Base of the baselines with a vector for each word, and an output layer."""

    def __init__(self, config: BaselineConfig, **kwargs):
        super().__init__(config, **kwargs)
        self.words = keras.layers.Embedding(config.vocab_size, config.word_size, dtype=self.dtype_policy, name="words")
        self.words.build((None, None))
        self.dropout = Dropout(config.head_dropout, name="dropout")
        self.recurrent = None
        width = config.word_size
        if config.kind not in AVERAGES:
            sizes = (config.word_size, config.units, config.recurrent_layers, config.head_dropout)
            self.recurrent = RecurrentStack(config.kind, *sizes, dtype=self.dtype_policy, name="recurrent")
            width = self.recurrent.width
        self.head = keras.layers.Dense(config.outputs, dtype=self.dtype_policy, name="head")
        self.head.build((None, width * (4 if config.pair else 1)))


@keras.saving.register_keras_serializable("bertlab")
class VectorClassifier(VectorBaseline):
    """cbow, rnn, lstm, gru, bilstm: each text becomes a vector; of a pair the `pair_features` of both. Call → (B, C).

    The output layer is linear, as in `averages` and, between the vectors and the classes, in the paper of each kind.
    """

    def logits(self, inputs, training):
        vectors = [self.vector(ids, is_real, training) for ids, is_real in self._texts(inputs)]
        features = pair_features(*vectors) if self.config.pair else vectors[0]
        return self.head(self.dropout(features, training=training))

    def vector(self, ids, is_real, training=False):
        """One vector for each text. ids, is_real: (B, T) → (B, D)."""
        x = self.words(ids)  # (B, T, D)
        if self.recurrent is None:
            return mean_of_real(x, is_real)
        return self.recurrent.pooled(self.recurrent(x, is_real, training=training), is_real)


@keras.saving.register_keras_serializable("bertlab")
class VectorTagger(VectorBaseline):
    """rnn, lstm, gru, bilstm with logits for each token, [CLS] and [SEP] included. Call → (B, T, C)."""

    def logits(self, inputs, training):
        x = self.words(inputs["input_ids"])
        states = self.recurrent(x, inputs["attention_mask"], training=training)
        return self.head(self.dropout(states, training=training))


def make_baseline(config: BaselineConfig, **kwargs) -> Baseline:
    """The model of a configuration, with fresh weights.

    Example:
        >>> model = make_baseline(BaselineConfig("lstm", 9, special_ids=(0, 2, 3), outputs=2))
        >>> ids, ones = ops.array([[2, 7, 8, 3]]), ops.ones((1, 4), "int32")
        >>> tuple(model({"input_ids": ids, "token_type_ids": 0 * ones, "attention_mask": ones}).shape)
        (1, 2)
    """
    if config.kind in BAGS:
        return BagClassifier(config, **kwargs)
    return (VectorTagger if config.tags else VectorClassifier)(config, **kwargs)
