"""Inputs and references of notebook 07, exercises on the model and the train step, in NumPy (float64, library-free)."""

import math

import numpy as np

from autograde.exercises.n07_draws import (
    gather_positions,
    mlm_loss,
    normal,
    nsp_loss,
    places_in_rows,
    some_padding,
    whole_numbers,
)
from autograde.exercises.spec import Case
from autograde.roles import model_roles, weight_shapes

Random = np.random.Generator
_ERF = np.vectorize(math.erf)

SIZES = {"vocab_size": 11, "hidden_size": 8, "num_layers": 1, "num_heads": 2, "intermediate_size": 12,
         "max_positions": 7}  # fmt: skip
MODEL_ROLES = model_roles(SIZES["num_layers"])


# --- the model ---


def layer_norm(x, gamma, beta):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12) * gamma + beta


def gelu(x):
    return x * (1 + _ERF(x / math.sqrt(2))) / 2


def dense(x, weights, role):
    return x @ weights[f"{role}/kernel"] + weights[f"{role}/bias"]


def norm(x, weights, role):
    return layer_norm(x, weights[f"{role}/gamma"], weights[f"{role}/beta"])


def self_attention(x, is_real, weights, role, num_heads):
    """Head by head, on slices of the shared matrices."""
    q, k, v = (dense(x, weights, f"{role}/{name}") for name in ("query", "key", "value"))
    found = []
    for piece in np.split(np.arange(x.shape[-1]), num_heads):
        scores = q[..., piece] @ np.swapaxes(k[..., piece], -1, -2) / math.sqrt(len(piece))
        scores = np.where(is_real[:, None, :] > 0, scores, -1e9)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        found.append(shares / shares.sum(axis=-1, keepdims=True) @ v[..., piece])
    return dense(np.concatenate(found, axis=-1), weights, f"{role}/out")


def pretraining_model(token_ids, token_type_ids, attention_mask, positions, *, weights, config):
    """BERT with both heads: MLM logits (B, P, V) of the positions, NSP logits (B, 2)."""
    x = weights["embeddings/token"][token_ids] + weights["embeddings/segment"][token_type_ids]
    x = norm(x + weights["embeddings/position"][: token_ids.shape[1]], weights, "embeddings/norm")
    for number in range(config["num_layers"]):
        role = f"layer_{number}"
        attended = self_attention(x, attention_mask, weights, f"{role}/attention", config["num_heads"])
        x = norm(x + attended, weights, f"{role}/attention_norm")
        inner = gelu(dense(x, weights, f"{role}/feed_forward/inner"))
        x = norm(x + dense(inner, weights, f"{role}/feed_forward/outer"), weights, f"{role}/output_norm")
    pooled = np.tanh(dense(x[:, 0], weights, "pooler"))
    chosen = norm(gelu(dense(gather_positions(x, positions), weights, "mlm/dense")), weights, "mlm/norm")
    logits = chosen @ weights["embeddings/token"].T + weights["mlm/bias"]
    return logits.astype("float32"), dense(pooled, weights, "nsp").astype("float32")


def model_weights(rng: Random, config: dict) -> dict[str, np.ndarray]:
    return {
        role: (1 + normal(rng, *shape, size=0.2)).astype("float32")
        if role.endswith("gamma")
        else normal(rng, *shape, size=0.4 if len(shape) > 1 else 0.2)
        for role, shape in weight_shapes(config).items()
    }


def rows_of_tokens(rng: Random, rows: int, tokens: int, predictions: int, padded: bool, pieces: int) -> tuple:
    """token_ids, token_type_ids, attention_mask (B, T) and positions (B, P)."""
    lengths = np.array([tokens, *(rng.integers(predictions + 1, tokens, size=rows - 1))]) if padded else tokens
    is_real = np.broadcast_to(np.arange(tokens) < np.reshape(lengths, (-1, 1)), (rows, tokens))
    starts = rng.integers(2, tokens - 1, size=(rows, 1))
    segments = ((np.arange(tokens) >= starts) & is_real).astype("int32")
    positions = places_in_rows(rng, rows, predictions + 1, predictions)
    return whole_numbers(rng, pieces, rows, tokens), segments, is_real.astype("int32"), positions


def model_case(rng: Random, rows: int, tokens: int, predictions: int, padded: bool) -> Case:
    arguments = rows_of_tokens(rng, rows, tokens, predictions, padded, SIZES["vocab_size"])
    return Case(arguments, {}, model_weights(rng, SIZES), SIZES)


def inputs_of_model(rng: Random) -> list[Case]:
    return [model_case(rng, 3, 5, 2, padded=False)]


def padded_inputs(rng: Random) -> list[Case]:
    return [model_case(rng, 3, 6, 2, padded=True)]


# --- clipping ---


def clip_gradients(gradients, most=1.0):
    length = np.linalg.norm(np.concatenate([np.ravel(gradient) for gradient in gradients]))
    return [(gradient * min(1.0, most / length)).astype("float32") for gradient in gradients]


def large_gradients(rng: Random) -> list[Case]:
    return [
        Case(([normal(rng, 3, 4), normal(rng, 4), normal(rng, 2, 2)],)),
        Case(([normal(rng, 5), normal(rng, 2, 3, size=0.2)], 0.5)),
    ]


def small_gradients(rng: Random) -> list[Case]:
    return [Case(([normal(rng, 3, 4, size=0.05), normal(rng, 4, size=0.05)],))]


# --- the train step, on the notebook's TinyModel ---

TINY_ROLES = {"table": ["table.embeddings"], "segment": ["segment.embeddings"], "bias": ["bias"],
              "nsp/kernel": ["nsp.kernel"], "nsp/bias": ["nsp.bias"]}  # fmt: skip
TINY = {"vocab_size": 7, "hidden_size": 4}


def tiny_model(batch, weights):
    """What TinyModel computes: no word looks at another."""
    hidden = weights["table"][batch["token_ids"]] + weights["segment"][batch["token_type_ids"]]
    logits = gather_positions(hidden, batch["positions"]) @ weights["table"].T + weights["bias"]
    return logits, hidden[:, 0] @ weights["nsp/kernel"] + weights["nsp/bias"]


def tiny_loss(batch, weights):
    logits, next_logits = tiny_model(batch, weights)
    return mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])


def tiny_gradients(batch, weights, small=1e-6):
    """Central differences, number by number: no formula that could be wrong in the same way as a student's."""
    gradients = {}
    for role, array in weights.items():
        gradients[role] = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            moved = {shift: weights | {role: array.copy()} for shift in (small, -small)}
            for shift, changed in moved.items():
                changed[role][place] += shift
            gradients[role][place] = (tiny_loss(batch, moved[small]) - tiny_loss(batch, moved[-small])) / (2 * small)
    return gradients


def train_step(batch, *, weights, config, steps, rate):
    """The last step's loss and the weights after so many steps of plain gradient descent, clipped at 1."""
    weights, loss = dict(weights), None
    for _ in range(steps):
        loss, gradients = tiny_loss(batch, weights), tiny_gradients(batch, weights)
        length = math.sqrt(sum(np.sum(gradient**2) for gradient in gradients.values()))
        for role, gradient in gradients.items():
            weights[role] = weights[role] - rate * gradient * min(1.0, 1.0 / length)
    return {"loss": np.array(loss, "float32")} | {role: array.astype("float32") for role, array in weights.items()}


def tiny_case(rng: Random, size: float, steps: int = 1) -> Case:
    pieces, hidden = TINY["vocab_size"], TINY["hidden_size"]
    token_ids, segments, is_real, positions = rows_of_tokens(rng, 3, 5, 2, True, pieces)
    batch = {
        "token_ids": token_ids, "token_type_ids": segments, "attention_mask": is_real, "positions": positions,
        "labels": whole_numbers(rng, pieces, 3, 2), "weights": some_padding(rng, 3, 2),
        "next_sentence": rng.permutation(np.array([0, 1, 0], "int32")),
    }  # fmt: skip
    weights = {
        "table": normal(rng, pieces, hidden, size=size), "segment": normal(rng, 2, hidden, size=size),
        "bias": normal(rng, pieces, size=size), "nsp/kernel": normal(rng, hidden, 2, size=size),
        "nsp/bias": normal(rng, 2, size=size),
    }  # fmt: skip
    return Case((batch,), {"steps": steps, "rate": 0.5}, weights, TINY)


def steep(rng: Random) -> list[Case]:
    """Weights so large that the gradient is longer than 1."""
    return [tiny_case(rng, 2.0)]


def two_steps(rng: Random) -> list[Case]:
    return [tiny_case(rng, 1.5, steps=2)]


def gentle(rng: Random) -> list[Case]:
    """Weights so small, and predictions so good, that the gradient is shorter than 1."""
    return [tiny_case(rng, 0.05)]
