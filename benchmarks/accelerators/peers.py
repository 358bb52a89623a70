"""The pre-training steps of others, on the same shapes: keras-hub's BERT, and BERT written by hand in JAX.

They do what ours does: masked tokens and next sentences, the same sizes, batch and precision, AdamW after clipping,
loss and accuracies, and loss scaling in float16. keras-hub has no next-sentence head: it gets a Dense layer on its
pooled output. By hand is as one writes it in Flax: attention's softmax and the logits in the precision of the model
(`flax.linen.dot_product_attention_weights`), LayerNorm's mean and variance in float32 and in one pass.

Both compute every position of the last layer, as BERT does; ours only those that a head reads. The table's `model`
counts the formula of ours for all.

Letters: B batch, T tokens, P predictions, A heads, d head size, H hidden size, V vocabulary.

Part of `benchmarks.accelerators`.
"""

import math

from benchmarks.accelerators.steps import Step, Work, policy_of, shapes_of, state_of

LEARNING_RATE, DECAY, CLIP, EPSILON = 1e-4, 0.01, 1.0, 1e-6  # those of bertlab.training.recipes.optimizer.adamw
BETAS = 0.9, 0.999
FIRST_SCALE = 2.0**15  # of the loss in float16
STEPS_BEFORE_LARGER_SCALE = 2000

# === keras-hub ===


def keras_hub_step(work: Work, precision: str) -> Step:
    """keras-hub's backbone and masked-LM head, trained by Keras."""
    import numpy as np

    trainer = _hub_trainer(work, precision)
    batch = {name: np.zeros(shape, dtype) for name, (shape, dtype) in work.batch.items()}
    trainer._symbolic_build(data_batch=_hub_batch(batch))  # the variables of the metrics

    def function(state, batch):
        return trainer.train_step(state, _hub_batch(batch))

    return Step(function, state_of(trainer), shapes_of(work.batch))


def _hub_trainer(work: Work, precision: str):
    import keras
    import keras_hub

    keras.config.set_dtype_policy(policy_of(precision))
    config = work.config
    backbone = keras_hub.models.BertBackbone(
        config.vocab_size, config.num_layers, config.num_heads, config.hidden_size, config.intermediate_size,
        dropout=config.hidden_dropout, max_sequence_length=config.max_position_embeddings,
    )  # fmt: skip
    positions = keras.Input((None,), dtype="int32", name="mask_positions")
    head = keras_hub.models.BertMaskedLM(backbone, preprocessor=None).masked_lm_head
    outputs = {  # of one pass through the backbone: the task's own output is of another
        "masked_lm": head(backbone.output["sequence_output"], positions),
        "next_sentence": keras.layers.Dense(2, name="next_sentence")(backbone.output["pooled_output"]),
    }
    trainer = keras.Model({**backbone.input, "mask_positions": positions}, outputs)
    optimizer = keras.optimizers.AdamW(
        LEARNING_RATE, weight_decay=DECAY, beta_1=BETAS[0], beta_2=BETAS[1], epsilon=EPSILON, global_clipnorm=CLIP
    )
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    losses = {name: keras.losses.SparseCategoricalCrossentropy(from_logits=True) for name in outputs}
    accuracies = {name: [keras.metrics.SparseCategoricalAccuracy()] for name in outputs}
    trainer.compile(optimizer, losses, weighted_metrics=accuracies, jit_compile=True)
    trainer.optimizer.build(trainer.trainable_variables)
    return trainer


def _hub_batch(batch: dict) -> tuple[dict, dict, dict]:
    """Our batch as keras-hub reads it: inputs, targets, weights of the targets."""
    inputs = {
        "token_ids": batch["input_ids"], "padding_mask": batch["attention_mask"],
        "segment_ids": batch["token_type_ids"], "mask_positions": batch["masked_lm_positions"],
    }  # fmt: skip
    targets = {"masked_lm": batch["masked_lm_ids"], "next_sentence": batch["next_sentence_labels"]}
    all_alike = batch["next_sentence_labels"] * 0 + 1.0
    return inputs, targets, {"masked_lm": batch["masked_lm_weights"], "next_sentence": all_alike}


# === By hand ===


def jax_step(work: Work, precision: str) -> Step:
    """BERT in plain JAX: a tree of float32 weights, a loss, its gradient, AdamW."""
    import jax
    from jax import numpy as jnp

    config, dtype = work.config, jnp.dtype(precision)
    weights, tree = jax.tree.flatten(_weights(config), is_leaf=lambda leaf: isinstance(leaf, tuple))
    decayed = [len(shape) > 1 for shape in weights]

    def function(state, batch):
        leaves, (key, scale, good), (count, *moments), _ = state
        key, used = jax.random.split(key)

        def scaled_loss(leaves):
            loss, logs = _losses(jax.tree.unflatten(tree, leaves), batch, config, dtype, used)
            return loss * scale, logs

        gradients, logs = jax.grad(scaled_loss, has_aux=True)(leaves)
        gradients = [gradient / scale for gradient in gradients]
        half = len(moments) // 2
        new = _adamw(leaves, gradients, moments[:half], moments[half:], count + 1, decayed)
        old = (leaves, moments[:half], moments[half:])
        if dtype == jnp.float16:  # a step whose gradients are not finite changes nothing
            finite = jnp.all(jnp.stack([jnp.isfinite(jnp.sum(gradient)) for gradient in gradients]))
            new = jax.tree.map(lambda new, old: jnp.where(finite, new, old), new, old)
            good = jnp.where(finite, good + 1, 0)
            larger = good == STEPS_BEFORE_LARGER_SCALE
            scale = jnp.where(finite, jnp.where(larger, 2 * scale, scale), scale / 2)
            good, count = jnp.where(larger, 0, good), count + finite.astype("int32") - 1
        leaves, first, second = new
        return logs, (leaves, [key, scale, good], [count + 1, *first, *second], [])

    def of(shape, dtype="float32"):
        return jax.ShapeDtypeStruct(shape, dtype)

    others = [of((2,), "uint32"), of(()), of((), "int32")]
    slots = [of((), "int32"), *map(of, weights), *map(of, weights)]
    return Step(function, (list(map(of, weights)), others, slots, []), shapes_of(work.batch))


def _weights(config) -> dict:
    """The shapes of all weights."""
    H, F, V = config.hidden_size, config.intermediate_size, config.vocab_size

    def dense(inside, outside):
        return {"kernel": (inside, outside), "bias": (outside,)}

    norm = {"scale": (H,), "bias": (H,)}
    layer = {name: dense(H, H) for name in ("query", "key", "value", "out")}
    layer |= {"inner": dense(H, F), "outer": dense(F, H), "attention_norm": norm, "output_norm": norm}
    return {
        "token": (V, H), "position": (config.max_position_embeddings, H), "segment": (config.type_vocab_size, H),
        "norm": norm, "layers": [layer] * config.num_layers, "pooler": dense(H, H), "next_sentence": dense(H, 2),
        "transform": dense(H, H), "transform_norm": norm, "bias": (V,),
    }  # fmt: skip


def _losses(weights, batch, config, dtype, key):
    """(loss, logs) of a batch."""
    import jax
    from jax import numpy as jnp

    x = _encoded(weights, batch, config, dtype, key)  # (B, T, H)
    pooled = jnp.tanh(_dense(weights["pooler"], x[:, 0]))
    pairs = _dense(weights["next_sentence"], pooled)  # (B, 2)
    x = jnp.take_along_axis(x, batch["masked_lm_positions"][:, :, None], axis=1)  # (B, P, H)
    x = _norm(weights["transform_norm"], jax.nn.gelu(_dense(weights["transform"], x), approximate=False))
    logits = x @ weights["token"].astype(dtype).T + weights["bias"].astype(dtype)  # (B, P, V)
    labels, real = batch["masked_lm_ids"], batch["masked_lm_weights"]
    masked = jnp.sum(_cross_entropy(logits, labels) * real) / (jnp.sum(real) + 1e-5)
    next_sentence = jnp.mean(_cross_entropy(pairs, batch["next_sentence_labels"]))
    logs = {
        "masked": masked, "next sentence": next_sentence,
        "masked accuracy": jnp.sum((jnp.argmax(logits, -1) == labels) * real) / (jnp.sum(real) + 1e-5),
        "pairs accuracy": jnp.mean(jnp.argmax(pairs, -1) == batch["next_sentence_labels"]),
    }  # fmt: skip
    return masked + next_sentence, logs


def _encoded(weights, batch, config, dtype, key):
    import jax
    from jax import numpy as jnp

    def dropped(x, rate):
        nonlocal key
        if not rate:
            return x
        key, used = jax.random.split(key)
        return jnp.where(jax.random.bernoulli(used, 1 - rate, x.shape), x / (1 - rate), 0).astype(x.dtype)

    T = batch["input_ids"].shape[1]
    x = weights["token"][batch["input_ids"]] + weights["position"][:T] + weights["segment"][batch["token_type_ids"]]
    x = dropped(_norm(weights["norm"], x.astype(dtype)), config.hidden_dropout)  # (B, T, H)
    bias = jnp.where(batch["attention_mask"] > 0, 0, jnp.finfo(dtype).min).astype(dtype)[:, None, None]  # (B, 1, 1, T)
    for layer in weights["layers"]:
        heads = _attention(layer, x, bias, config, dropped)
        x = _norm(layer["attention_norm"], x + dropped(_dense(layer["out"], heads), config.hidden_dropout))
        inner = jax.nn.gelu(_dense(layer["inner"], x), approximate=False)
        x = _norm(layer["output_norm"], x + dropped(_dense(layer["outer"], inner), config.hidden_dropout))
    return x


def _attention(layer, x, bias, config, dropped):
    import jax
    from jax import numpy as jnp

    shape = (*x.shape[:2], config.num_heads, -1)
    query, key, value = (_dense(layer[name], x).reshape(shape) for name in ("query", "key", "value"))  # (B, T, A, d)
    scores = jnp.einsum("btad,bsad->bats", query / math.sqrt(query.shape[-1]), key) + bias
    attended = dropped(jax.nn.softmax(scores), config.attention_dropout)  # (B, A, T, T)
    return jnp.einsum("bats,bsad->btad", attended, value).reshape(x.shape)


def _dense(weights, x):
    return x @ weights["kernel"].astype(x.dtype) + weights["bias"].astype(x.dtype)


def _norm(weights, x):
    import jax
    from jax import numpy as jnp

    y = x.astype("float32")
    mean = jnp.mean(y, -1, keepdims=True)
    variance = jnp.maximum(jnp.mean(y * y, -1, keepdims=True) - mean * mean, 0)
    return ((y - mean) * (jax.lax.rsqrt(variance + 1e-12) * weights["scale"]) + weights["bias"]).astype(x.dtype)


def _cross_entropy(logits, labels):
    import jax
    from jax import numpy as jnp

    logits = logits.astype("float32")
    chosen = jnp.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return jax.nn.logsumexp(logits, axis=-1) - chosen


def _adamw(weights, gradients, first, second, count, decayed):
    """(weights, first moments, second moments) after one update."""
    from jax import numpy as jnp

    length = jnp.sqrt(sum(jnp.sum(gradient * gradient) for gradient in gradients))
    shorter = jnp.minimum(1.0, CLIP / (length + 1e-6))
    gradients = [gradient * shorter for gradient in gradients]
    first = [BETAS[0] * m + (1 - BETAS[0]) * g for m, g in zip(first, gradients)]
    second = [BETAS[1] * v + (1 - BETAS[1]) * g * g for v, g in zip(second, gradients)]
    rate = LEARNING_RATE * jnp.sqrt(1 - BETAS[1] ** count) / (1 - BETAS[0] ** count)
    updated = [
        w * (1 - LEARNING_RATE * DECAY * decays) - rate * m / (jnp.sqrt(v) + EPSILON)
        for w, m, v, decays in zip(weights, first, second, decayed)
    ]
    return updated, first, second


STEPS = {"keras-hub": keras_hub_step, "jax": jax_step}
