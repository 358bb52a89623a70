"""The library's version of the names that notebook 05 defines."""

import math

import keras
import numpy as np
from keras import ops

from bertlab import layers
from bertlab.families import BertConfig, family
from bertlab.layers import MaskedLanguageModelHead as MlmHead
from bertlab.layers import Pooler

__all__ = ["Bert", "FinalLayers", "MlmHead", "NspHead", "Pooler", "fill_in", "load_published", "own_variables",
           "parameter_count", "published_name"]  # fmt: skip


class Bert(keras.layers.Layer):
    """The notebook's model: token_ids, token_type_ids, attention_mask (B, T) → hidden (B, T, H), pooled (B, H)."""

    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512,
                 dropout=0.1, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        own = {"dtype": self.dtype_policy}
        self.embeddings = layers.BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout, **own)
        self.encoder = layers.Encoder(num_layers, num_heads, intermediate_size, dropout, **own)
        self.pooler = Pooler(**own)
        self.hidden_size = hidden_size

    def build(self, token_ids_shape, token_type_ids_shape=None, attention_mask_shape=None):
        hidden_shape = (*token_ids_shape, self.hidden_size)  # (B, T, H)
        self.embeddings.build(token_ids_shape)
        self.encoder.build(hidden_shape)
        self.pooler.build(hidden_shape)

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        hidden = self.encoder(
            self.embeddings(token_ids, token_type_ids, training=training),
            attention_mask=layers.padding_mask(attention_mask),
            training=training,
        )
        return hidden, self.pooler(hidden)


class FinalLayers(layers.MaskedLanguageModelHead):
    """The notebook's layer, `FinalLayers(vocab_size)`: dense, norm, unembedding. call: x (B, T, H) → P (B, T, V)."""

    def __init__(self, vocab_size, **kwargs):
        super().__init__(vocab_size, tied=False, **kwargs)

    def build(self, hidden_shape):
        super().build(hidden_shape)

    def call(self, hidden):
        return ops.softmax(super().call(hidden))


class NspHead(layers.ClassificationHead):
    """The notebook's layer, `NspHead()`: pooled (B, H) → two logits, IsNext first."""

    def __init__(self, **kwargs):
        super().__init__(2, **kwargs)


def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    """The parameters of the library's own model of this size."""
    from bertlab import models
    from bertlab.models.outline import outline

    made = models.BertForPreTraining if pretraining_heads else models.BertEncoder

    def count(layers: int) -> int:
        config = BertConfig(
            vocab_size, hidden_size, layers, num_heads, intermediate_size, max_positions, type_vocab_size=num_segments
        )
        return sum(math.prod(variable.shape) for variable in outline(lambda: made(config)).trainable_variables)

    if num_layers == 0:  # which the library's configuration refuses
        return count(1) - (count(2) - count(1))
    return count(num_layers)


def _own_weight_names(num_layers: int):
    """The path of every variable in the notebook, `bert.encoder.layers_.0.attention.query.kernel`, and its name."""
    for weight in family("bert").huggingface.weight_names("pretraining", num_layers):
        path = weight.ours.replace("backbone", "bert").replace("/", ".").replace("layer_", "layers_.")
        path = path.replace("masked_lm_head", "mlm_head").replace("next_sentence_head", "nsp_head")
        if not path.endswith("unembedding"):
            yield path, weight


def own_variables(bert, mlm_head=None, nsp_head=None) -> dict:
    """The variables of these layers by the way that leads to them: "bert.encoder.layers_.0.attention.query.kernel"."""
    roots = {"bert": bert, "mlm_head": mlm_head, "nsp_head": nsp_head}
    found = {}
    for path, _ in _own_weight_names(len(bert.encoder.layers_)):
        root, *names = path.split(".")
        obj = roots[root]
        if obj is not None:
            for name in names:
                obj = obj[int(name)] if name.isdigit() else getattr(obj, name)
            found[path] = obj
    return found


def _weight_name(path: str):
    number = next((int(word) for word in path.split(".") if word.isdigit()), 0)
    return dict(_own_weight_names(number + 1))[path]


def published_name(path: str) -> str:
    """The name of one of the notebook's variables in a published checkpoint."""
    return ("bert." if path.startswith("bert.") else "") + _weight_name(path).theirs


def load_published(variables: dict, tensors: dict) -> tuple[list[str], list[str]]:
    """Fills variables by path from tensors by published name; returns paths without a tensor, tensors not wanted."""
    names = {path: published_name(path) for path in variables}
    for path in (path for path in names if names[path] in tensors):
        stored = tensors[names[path]]
        variables[path].assign(stored.T if _weight_name(path).transposed else stored)
    return sorted(path for path in names if names[path] not in tensors), sorted(set(tensors) - {*names.values()})


def fill_in(token_ids, logits, pieces, k=5):
    """The k likeliest tokens for each [MASK], with their probabilities."""
    shares = np.asarray(ops.softmax(logits))
    best = np.argsort(-shares, axis=-1)[:, :k]
    return [
        [(pieces[i], float(shares[position, i])) for i in best[position]]
        for position, token in enumerate(token_ids)
        if pieces[token] == "[MASK]"
    ]
