"""One side of the parity comparison: what one implementation computes with the checkpoint of a folder.

    python -m benchmarks.parity.worker reference FOLDER …   transformers: writes a checkpoint and expected.npz into each
    python -m benchmarks.parity.worker ours FOLDER …        bertlab on $KERAS_BACKEND: adds BACKEND.npz to each

A folder is called like its case. Both sides write arrays of the same names, those of tests/golden/README.md. Each runs
in a process of its own: Keras cannot change its backend once it is loaded.

Part of `benchmarks.parity`.
"""

import os
import sys
from pathlib import Path

import numpy as np

from benchmarks.parity.cases import CASES

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids", "decoder_input_ids")


# === transformers ===


def write_reference(folder: Path) -> None:
    """A random checkpoint of the folder's case, and what transformers' model for pre-training computes with it."""
    import transformers

    from scripts.make_goldens import make_inputs, randomize, run

    case = CASES[folder.name]
    config = transformers.AutoConfig.for_model(case.model_type, attn_implementation="eager", **case.config)
    auto = transformers.AutoModelForMaskedLM if case.masked_lm else transformers.AutoModelForPreTraining
    auto = transformers.AutoModelForCausalLM if case.causal_lm else auto
    auto = transformers.AutoModelForSeq2SeqLM if case.translation else auto
    model = auto.from_config(config).eval()
    rng = np.random.default_rng(0)
    randomize(model, rng, case.deviation)
    if case.translation:  # a buffer, not a parameter
        bias = rng.normal(0, case.deviation, model.final_logits_bias.shape).astype("float32")
        model.final_logits_bias.copy_(model.final_logits_bias.new_tensor(bias))
    model.save_pretrained(folder)
    arrays = {}
    for num_tokens in case.lengths:
        segments = case.segments or getattr(config, "type_vocab_size", 1)
        inputs = make_inputs(rng, num_tokens, segments, case.rows, config.vocab_size, config.pad_token_id)
        if case.translation:  # a target of another length; its last tokens are padding
            inputs |= target_of(rng, inputs["labels"], config.decoder_vocab_size, config.pad_token_id)
        arrays |= {f"{num_tokens}/input/{key}": value.astype("int32") for key, value in inputs.items()}
        if case.causal_lm:  # a decoder would add the vectors of tokens with these numbers
            del inputs["token_type_ids"]
        for key, value in run(model, inputs).items():
            if not key.startswith("gradient/"):
                arrays[f"{num_tokens}/output/{key}"] = value
            elif num_tokens == max(case.lengths):
                arrays[f"{num_tokens}/{key}"] = value
    np.savez(folder / "expected.npz", **arrays)


def target_of(rng: np.random.Generator, labels: np.ndarray, vocab_size: int, pad_id: int) -> dict[str, np.ndarray]:
    """A target one token shorter than the source, and its labels: (B, T − 1)."""
    labels = labels[:, :-1].copy()
    ids = rng.integers(1, vocab_size, labels.shape)
    ids[ids == pad_id] -= 1
    return {"decoder_input_ids": ids, "labels": labels}


# === bertlab ===


def write_ours(folder: Path) -> None:
    import keras

    expected = np.load(folder / "expected.npz")
    np.savez(folder / f"{keras.backend.backend()}.npz", **results(folder, expected))


def results(folder: Path, expected) -> dict[str, np.ndarray]:
    """Every output and gradient that `expected` has, under the same name, from our model of the folder's checkpoint."""
    from bertlab import checkpoints

    is_translation = any(name.endswith("/input/decoder_input_ids") for name in expected)
    model = checkpoints.load(folder, "sequence_to_sequence" if is_translation else "pretraining")
    arrays = {}
    for num_tokens in sorted({int(name.split("/")[0]) for name in expected}):
        given = {name: f"{num_tokens}/input/{name}" for name in INPUT_NAMES}
        inputs = {name: expected[key] for name, key in given.items() if key in expected}
        labels = expected[f"{num_tokens}/input/labels"], expected[f"{num_tokens}/input/next_sentence_label"]
        if model.config.causal:  # transformers takes the token itself as its label, and shifts
            labels = np.pad(labels[0][:, 1:], ((0, 0), (0, 1)), constant_values=-100), labels[1]
        for name, value in outputs(model, inputs, labels).items():
            arrays[f"{num_tokens}/output/{name}"] = value
        if any(name.startswith(f"{num_tokens}/gradient/") for name in expected):
            for name, value in gradients(model, inputs, labels).items():
                arrays[f"{num_tokens}/gradient/{name}"] = value
    return arrays


def outputs(model, inputs: dict, labels: tuple) -> dict[str, np.ndarray]:
    """Outputs by their golden names, and `fused_sequence_output`: the last hidden state by way of the fused kernel."""
    from keras import ops

    everything = model(inputs, return_all=True)
    named = {
        "hidden_states": ops.stack(everything["hidden_states"]),  # (L + 1, B, T, H)
        "attentions": ops.stack(everything["attentions"]),  # (L, B, A, T, T)
        "loss": loss(everything, labels),
    }
    fused = model(inputs)
    named["fused_sequence_output"] = fused.get("sequence_output", fused.get("encoder_output"))  # (B, T, H)
    if "cross_attentions" in everything:
        of_decoder = ("decoder_hidden_states", "decoder_attentions", "cross_attentions")
        named |= {name: ops.stack(everything[name]) for name in of_decoder}
        everything |= {"masked_lm_logits": fused["masked_lm_logits"]}  # so that the decoder's fused path is compared
    for name in ("pooled_output", "masked_lm_logits", "next_sentence_logits"):
        if name in everything:
            named[name] = everything[name]
    return {name: ops.convert_to_numpy(value) for name, value in named.items()}


def loss(model_outputs: dict, labels: tuple):
    """Mean cross-entropy over the labelled tokens, plus that over any next-sentence labels. A scalar."""
    from keras import ops

    masked_lm_labels, next_sentence_labels = labels  # (B, T), −100 where nothing is predicted; (B,)
    weights = ops.convert_to_tensor(masked_lm_labels >= 0, "float32")
    log_likely = ops.log_softmax(model_outputs["masked_lm_logits"], axis=-1)  # (B, T, V)
    chosen = ops.take_along_axis(log_likely, np.maximum(masked_lm_labels, 0)[..., None].astype("int32"), axis=-1)
    masked_lm = -ops.sum(chosen[..., 0] * weights) / ops.sum(weights)
    if "next_sentence_logits" not in model_outputs:
        return masked_lm
    log_likely = ops.log_softmax(model_outputs["next_sentence_logits"], axis=-1)  # (B, 2)
    chosen = ops.take_along_axis(log_likely, next_sentence_labels[:, None].astype("int32"), axis=-1)
    return masked_lm - ops.mean(chosen)


def gradients(model, inputs: dict, labels: tuple) -> dict[str, np.ndarray]:
    """The gradients of the loss by Hugging Face's names of the parameters, and in their orientation."""
    from bertlab.checkpoints.kinds import kind_of, variables_of
    from bertlab.families import family_of
    from bertlab.families.names import under_their_names

    found = dict(zip((v.path for v in model.trainable_variables), raw_gradients(model, inputs, labels), strict=True))
    ours = {path: found[variable.path] for path, variable in variables_of(model).items()}
    its_family = family_of(model.config)
    names = its_family.huggingface
    named = under_their_names(
        ours, names.weight_names(kind_of(model), its_family.layer_numbers(model.config)), names.prefix
    )
    if not model.masked_lm_head.tied:  # transformers then computes with the decoder's own bias
        bias = names.name_of("masked_lm_head/bias")
        if bias is not None:
            named[names.name_of("masked_lm_head/unembedding").removesuffix("weight") + "bias"] = named.pop(bias)
    return named


def raw_gradients(model, inputs: dict, labels: tuple) -> list[np.ndarray]:
    """One array for each trainable variable, by the backend's own differentiation."""
    import keras

    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            value = loss(model(inputs), labels)
        found = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(value, model.trainable_variables)]
    elif backend == "jax":
        import jax

        def value_of(trainable, others):
            return loss(model.stateless_call(trainable, others, inputs)[0], labels)

        trainable = [variable.value for variable in model.trainable_variables]
        others = [variable.value for variable in model.non_trainable_variables]
        found = jax.grad(value_of)(trainable, others)
    else:
        model.zero_grad()
        loss(model(inputs), labels).backward()
        found = [variable.value.grad for variable in model.trainable_variables]
    return [keras.ops.convert_to_numpy(gradient) for gradient in found]


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    side, *folders = sys.argv[1:]
    write = {"reference": write_reference, "ours": write_ours}[side]
    for path in folders:
        write(Path(path))
