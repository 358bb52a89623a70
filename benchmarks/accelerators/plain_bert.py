"""A pre-training step of BERT in JAX alone, written as Flax users do: what Keras and BertLab cost shows beside it.

Parameters are float32 in a dict; products, GELU and dropout are in the card's precision; LayerNorm, softmax and losses
in float32. The MLM head reads the gathered positions only. AdamW with the gradient's global norm clipped to 1, and in
float16 a constant loss scale.

Letters: B batch, T tokens, P predictions, A heads, d head size, H hidden size, F intermediate size, V vocabulary.
"""

import jax
import jax.numpy as jnp

from bertlab.config import ModelConfig

LOSS_SCALE = 2.0**15  # float16 only
DECAY, CLIP, RATE, BETA_1, BETA_2, EPSILON = 0.01, 1.0, 1e-4, 0.9, 0.999, 1e-6


def parameter_shapes(config: ModelConfig) -> dict:
    """name → shape of every weight."""
    hidden, inner, vocab = config.hidden_size, config.intermediate_size, config.vocab_size
    shapes = {"token": (vocab, hidden), "segment": (2, hidden), "position": (config.max_position_embeddings, hidden)}
    shapes |= _norm("embeddings", hidden)
    for i in range(config.num_layers):
        for part in ("query", "key", "value", "out"):
            shapes |= _dense(f"{i}/{part}", hidden, hidden)
        shapes |= _dense(f"{i}/inner", hidden, inner) | _dense(f"{i}/outer", inner, hidden)
        shapes |= _norm(f"{i}/attention", hidden) | _norm(f"{i}/output", hidden)
    shapes |= _dense("pooler", hidden, hidden) | _dense("pairs", hidden, 2)
    return shapes | _dense("transform", hidden, hidden) | _norm("transform", hidden) | {"head/bias": (vocab,)}


def _dense(name, inputs, outputs):
    return {f"{name}/kernel": (inputs, outputs), f"{name}/bias": (outputs,)}


def _norm(name, size):
    return {f"{name}/gamma": (size,), f"{name}/beta": (size,)}


def dense(weights, name, x):
    return x @ weights[f"{name}/kernel"].astype(x.dtype) + weights[f"{name}/bias"].astype(x.dtype)


def norm(weights, name, x):
    y = x.astype("float32")
    y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-12)
    return (y * weights[f"{name}/gamma"] + weights[f"{name}/beta"]).astype(x.dtype)


class Drops:
    """Dropout with JAX's own random numbers; a new key for every call."""

    def __init__(self, key, rate):
        self.key, self.rate = key, rate

    def __call__(self, x):
        if not self.rate:
            return x
        self.key, now = jax.random.split(self.key)
        return jnp.where(jax.random.bernoulli(now, 1 - self.rate, x.shape), x / (1 - self.rate), 0).astype(x.dtype)


def attention(config, weights, name, x, mask, drop):
    """x (B, T, H), mask (B, T) bool → (B, T, H)."""
    heads = (*x.shape[:2], config.num_heads, config.head_size)
    query, key, value = (dense(weights, f"{name}/{part}", x).reshape(heads) for part in ("query", "key", "value"))
    scores = jnp.einsum("btad,bsad->bats", query / config.head_size**0.5, key)
    scores = jnp.where(mask[:, None, None, :], scores.astype("float32"), -1e9)
    shares = drop(jax.nn.softmax(scores, axis=-1).astype(x.dtype))  # (B, A, T, T)
    return dense(weights, f"{name}/out", jnp.einsum("bats,bsad->btad", shares, value).reshape(x.shape))


def encode(config, weights, batch, drop, dtype):
    """The last hidden states (B, T, H)."""
    tokens = batch["input_ids"].shape[1]
    x = weights["token"][batch["input_ids"]] + weights["segment"][batch["token_type_ids"]]
    x = drop(norm(weights, "embeddings", (x + weights["position"][:tokens]).astype(dtype)))
    mask = batch["attention_mask"].astype(bool)
    for i in range(config.num_layers):
        x = norm(weights, f"{i}/attention", x + drop(attention(config, weights, str(i), x, mask, drop)))
        inner = jax.nn.gelu(dense(weights, f"{i}/inner", x), approximate=False)  # (B, T, F)
        x = norm(weights, f"{i}/output", x + drop(dense(weights, f"{i}/outer", inner)))
    return x


def loss_of(config, weights, batch, key, dtype):
    """The sum of both mean losses, float32."""
    x = encode(config, weights, batch, Drops(key, config.hidden_dropout), dtype)
    at = jnp.take_along_axis(x, batch["masked_lm_positions"][:, :, None], axis=1)  # (B, P, H)
    at = norm(weights, "transform", jax.nn.gelu(dense(weights, "transform", at), approximate=False))
    logits = at @ weights["token"].astype(dtype).T + weights["head/bias"].astype(dtype)  # (B, P, V)
    counted = batch["masked_lm_weights"]
    masked = (_losses(logits, batch["masked_lm_ids"]) * counted).sum() / (counted.sum() + 1e-5)
    pooled = jnp.tanh(dense(weights, "pooler", x[:, 0]))
    return masked + _losses(dense(weights, "pairs", pooled), batch["next_sentence_labels"]).mean()


def _losses(logits, ids):
    logs = jax.nn.log_softmax(logits.astype("float32"), axis=-1)
    return -jnp.take_along_axis(logs, ids[..., None], axis=-1)[..., 0]


def training_step(config: ModelConfig, precision: str):
    """The function (state, batch) → (loss, state); state: weights, both moments, number of the step."""
    scale = LOSS_SCALE if precision == "float16" else 1.0

    def step(state, batch):
        weights, first, second, number = state
        key = jax.random.key(number)
        scaled, gradients = jax.value_and_grad(lambda w: scale * loss_of(config, w, batch, key, precision))(weights)
        squares = sum(jnp.square(gradient).sum() for gradient in gradients.values())
        length = jnp.sqrt(squares) / scale
        factor = jnp.minimum(1.0, CLIP / length) / scale
        made = {
            name: _adamw(name, weights[name], gradients[name] * factor, first[name], second[name], number)
            for name in weights
        }
        new = [{name: values[i] for name, values in made.items()} for i in range(3)]
        return scaled / scale, (*new, number + 1)

    return step


def _adamw(name, weight, gradient, first, second, number):
    """AdamW of one weight; biases and LayerNorms do not decay. Returns weight, first moment, second moment."""
    count = (number + 1).astype("float32")
    first = first + (1 - BETA_1) * (gradient - first)
    second = second + (1 - BETA_2) * (jnp.square(gradient) - second)
    corrected = jnp.sqrt(1 - BETA_2**count) / (1 - BETA_1**count)
    decay = 0.0 if name.endswith(("bias", "gamma", "beta")) else DECAY
    return weight - RATE * (corrected * first / (jnp.sqrt(second) + EPSILON) + decay * weight), first, second


def state_shapes(config: ModelConfig):
    """The shapes and types of `training_step`'s state."""
    weights = {name: jax.ShapeDtypeStruct(shape, "float32") for name, shape in parameter_shapes(config).items()}
    return weights, dict(weights), dict(weights), jax.ShapeDtypeStruct((), "int32")
