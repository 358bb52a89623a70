"""What is right in notebook 05: a whole BERT in NumPy, float64, a function per part. It knows nothing of the library.

All layers' weights of one kind stand side by side in one array, along its last axis: "layers/attention/query/kernel" is
(H, L·H). `one_layer` cuts a layer's share out.
"""

import math

import numpy as np

from autograde.exercises.n03_draws import multi_head_layer, softmax
from autograde.exercises.n05_common import LAYER_PARTS

EPSILON = 1e-12


# --- the parts of an encoder layer, by another road than the notebooks take ---


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf, otypes=["float64"])(x / math.sqrt(2)))


def layer_norm(x, gamma, beta):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPSILON) * gamma + beta


def dense(x, weights, name):
    return x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]


def norm(x, weights, name):
    return layer_norm(x, weights[f"{name}/gamma"], weights[f"{name}/beta"])


def one_layer(weights, index, num_layers):
    """The weights of one layer, without the "layers/" before their names."""
    own = {}
    for part in LAYER_PARTS:
        name = part.replace(".", "/")
        together = weights[f"layers/{name}"]
        own[name] = np.split(together, num_layers, axis=-1)[index]
    return own


def encoder(x, weights, num_layers, num_heads, attention_mask=None):
    for index in range(num_layers):
        own = one_layer(weights, index, num_layers)
        attention = {name.removeprefix("attention/"): own[name] for name in own if name.startswith("attention/")}
        attended = multi_head_layer(x, attention_mask, weights=attention, config={"num_heads": num_heads})
        x = norm(x + attended, own, "attention_norm")
        x = norm(x + dense(gelu(dense(x, own, "feed_forward/inner")), own, "feed_forward/outer"), own, "output_norm")
    return x


# --- the exercises ---


def final_layers(x, *, weights, config, prefix=""):
    own = {name.removeprefix(prefix): array for name, array in weights.items() if name.startswith(prefix)}
    return softmax(norm(gelu(dense(x, own, "dense")), own, "norm") @ own["unembedding"])


def etransformer(x, *, weights, config):
    e = weights["token/embeddings"][x] + weights["position/embeddings"][: x.shape[1]]
    e = encoder(e, weights, config["num_layers"], config["num_heads"])
    return final_layers(e, weights=weights, config={}, prefix="final/")


def pooler(hidden, *, weights, config):
    return np.tanh(dense(hidden[:, 0], weights, "dense"))


def bert(token_ids, token_type_ids, attention_mask, *, weights, config):
    x = weights["embeddings/token"][token_ids] + weights["embeddings/segment"][token_type_ids]
    x = x + weights["embeddings/position"][: token_ids.shape[1]]
    x = layer_norm(x, weights["embeddings/norm/gamma"], weights["embeddings/norm/beta"])
    may_be_seen = (attention_mask == 1)[:, None, :]
    hidden = encoder(x, weights, config["num_layers"], config["num_heads"], may_be_seen)
    pooled = np.tanh(dense(hidden[:, 0], weights, "pooler/dense"))
    return hidden.astype("float32"), pooled.astype("float32")


def mlm_head(hidden, table, *, weights, config):
    return norm(gelu(dense(hidden, weights, "dense")), weights, "norm") @ table.T + weights["bias"]


def nsp_head(pooled, *, weights, config):
    return dense(pooled, weights, "dense")


def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    """Every weight's shape, one after the other, and how many numbers they hold."""
    square, vector = (hidden_size, hidden_size), (hidden_size,)
    shapes = [(rows, hidden_size) for rows in (vocab_size, max_positions, num_segments)] + [vector] * 2
    one = [square, vector] * 4 + [vector] * 4
    one += [(hidden_size, intermediate_size), (intermediate_size,), (intermediate_size, hidden_size), vector]
    shapes += one * num_layers + [square, vector]
    if pretraining_heads:
        shapes += [square, vector, vector, vector, (vocab_size,), (hidden_size, 2), (2,)]
    return sum(math.prod(shape) for shape in shapes)


_PUBLISHED = {
    "bert.embeddings.token": "bert.embeddings.word_embeddings",
    "bert.embeddings.position": "bert.embeddings.position_embeddings",
    "bert.embeddings.segment": "bert.embeddings.token_type_embeddings",
    "bert.embeddings.norm": "bert.embeddings.LayerNorm",
    "bert.pooler.dense": "bert.pooler.dense",
    "mlm_head": "cls.predictions",
    "mlm_head.dense": "cls.predictions.transform.dense",
    "mlm_head.norm": "cls.predictions.transform.LayerNorm",
    "nsp_head.dense": "cls.seq_relationship",
}
_PUBLISHED_IN_A_LAYER = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense",
    "output_norm": "output.LayerNorm",
}


def published_name(path):
    part, _, weight = path.rpartition(".")
    last = "bias" if weight in ("bias", "beta") else "weight"
    if not part.startswith("bert.encoder."):
        return f"{_PUBLISHED[part]}.{last}"
    _, _, _, layer, inside = part.split(".", 4)
    return f"bert.encoder.layer.{layer}.{_PUBLISHED_IN_A_LAYER[inside]}.{last}"


def load_published(variables, tensors):
    """What is returned, and what the variables hold afterwards."""
    names = {path: published_name(path) for path in variables}
    after = {path: np.asarray(value, "float32") for path, value in variables.items()}
    for path, name in names.items():
        if name in tensors:
            value = np.asarray(tensors[name], "float32")
            after[path] = value.swapaxes(0, 1) if path.endswith("kernel") else value
    missing = sorted(path for path, name in names.items() if name not in tensors)
    unused = sorted(set(tensors) - set(names.values()))
    return {"returned": (missing, unused), "variables": after}


def fill_in(token_ids, logits, pieces, k):
    mask = pieces.index("[MASK]")
    guesses = []
    for row in softmax(logits)[[token == mask for token in token_ids]]:
        best = np.argsort(-row)[:k]
        guesses.append([(pieces[i], float(row[i])) for i in best])
    return guesses
