"""Writes tests/golden/: small BERTs with random weights, and what transformers' PyTorch computes with them.

Run it in an environment with transformers and PyTorch (`make test-peers` makes one):

    python scripts/make_goldens.py

`make test` compares with these files and so needs neither package. tests/golden/README.md describes them.
"""

import inspect
import re
from pathlib import Path

import numpy as np
import torch
import transformers

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
IGNORED = -100  # the label of a token that is not to be predicted

# Name → config. Together: three activations, several head counts, one and two segments, an untied MLM head.
CONFIGS = {
    "gelu": dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64, hidden_act="gelu"),
    "gelu_new": dict(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=40, hidden_act="gelu_new"
    ),
    "relu": dict(
        hidden_size=20,
        num_hidden_layers=2,
        num_attention_heads=5,
        intermediate_size=36,
        hidden_act="relu",
        type_vocab_size=1,
        tie_word_embeddings=False,
    ),
}
VOCAB_SIZE, MAX_POSITIONS = 61, 16
LENGTHS = (1, 5, MAX_POSITIONS)  # tokens a row, one batch each
ROWS = 3


def randomize(model, rng: np.random.Generator, deviation: float = 0.15) -> None:
    """Random values everywhere: PyTorch starts biases at 0 and LayerNorm at 1, which would hide an exchange."""
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if not parameter.requires_grad:  # a table of sines
                continue
            centre = 1.0 if re.search(r"(norm|\bln_\w)\.weight$", name.lower()) else 0.0
            values = rng.normal(centre, deviation, parameter.shape).astype(np.float32)
            parameter.copy_(torch.from_numpy(values))


def make_inputs(
    rng: np.random.Generator,
    num_tokens: int,
    num_segments: int,
    rows: int = ROWS,
    vocab_size: int = VOCAB_SIZE,
    pad_id: int = 0,
) -> dict[str, np.ndarray]:
    """One batch: row 0 is full, the others are padded; the second part of a row is segment 1; 1 in 4 is predicted."""
    shape = (rows, num_tokens)
    lengths = np.array([num_tokens, *rng.integers(1, num_tokens + 1, rows - 1)])  # (B,)
    positions = np.arange(num_tokens)
    mask = (positions < lengths[:, None]).astype(np.int64)  # (B, T)
    second = (positions >= (lengths[:, None] + 1) // 2).astype(np.int64) * mask * (num_segments > 1)
    ids = rng.integers(1, vocab_size, shape)
    ids[ids == pad_id] += 1  # PyTorch gives the row of padding no gradient, so it must not be in the text
    ids = np.where(mask == 1, ids, pad_id)
    predicted = (rng.random(shape) < 0.25) & (mask == 1)
    predicted[:, 0] = True
    labels = np.where(predicted, rng.integers(1, vocab_size, shape), IGNORED)
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": second,
        "labels": labels,
        "next_sentence_label": rng.integers(0, 2, rows),
    }


def run(model, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every output, the loss and its gradients."""
    model.zero_grad()
    read = inspect.signature(model.forward).parameters
    inputs = inputs | {"sentence_order_label": inputs["next_sentence_label"]}
    batch = {name: torch.from_numpy(array) for name, array in inputs.items() if name in read}
    out = model(**batch, output_hidden_states=True, output_attentions=True)
    out.loss.backward()
    stacks = ("hidden_states", "attentions")
    own = {name: f"encoder_{name}" if f"encoder_{name}" in out else name for name in stacks}
    found = {
        "hidden_states": torch.stack(out[own["hidden_states"]]),  # (L + 1, B, T, H)
        "attentions": torch.stack(out[own["attentions"]]),  # (L, B, A, T, T)
        "masked_lm_logits": out.prediction_logits if "prediction_logits" in out else out.logits,  # (B, T, V)
        "loss": out.loss,
    }
    of_decoder = ("decoder_hidden_states", "decoder_attentions", "cross_attentions")
    found |= {name: torch.stack(out[name]) for name in of_decoder if out.get(name)}
    pairs = out.get("seq_relationship_logits", out.get("sop_logits"))
    if pairs is not None:
        base = model.base_model
        pooled = base.pooler(
            out.hidden_states[-1][:, 0] if hasattr(base, "pooler_activation") else out.hidden_states[-1]
        )
        found["pooled_output"] = (
            base.pooler_activation(pooled) if hasattr(base, "pooler_activation") else pooled
        )  # (B, H)
        found["next_sentence_logits"] = pairs  # (B, 2)
    found |= {f"gradient/{name}": p.grad for name, p in model.named_parameters() if p.grad is not None}
    return {name: tensor.detach().numpy() for name, tensor in found.items()}


def make(name: str, seed: int) -> None:
    """Writes one folder: the checkpoint and expected.npz."""
    rng = np.random.default_rng(seed)
    config = transformers.BertConfig(
        vocab_size=VOCAB_SIZE, max_position_embeddings=MAX_POSITIONS, attn_implementation="eager", **CONFIGS[name]
    )
    model = transformers.BertForPreTraining(config).eval()
    randomize(model, rng)
    model.save_pretrained(GOLDEN / name)
    arrays = {}
    for num_tokens in LENGTHS:
        inputs = make_inputs(rng, num_tokens, config.type_vocab_size)
        found = run(model, inputs)
        arrays |= {f"{num_tokens}/input/{key}": value.astype(np.int32) for key, value in inputs.items()}
        arrays |= {f"{num_tokens}/output/{key}": value for key, value in found.items() if "gradient/" not in key}
        if num_tokens == max(LENGTHS):
            arrays |= {f"{num_tokens}/{key}": value for key, value in found.items() if "gradient/" in key}
    np.savez_compressed(GOLDEN / name / "expected.npz", **arrays)


if __name__ == "__main__":
    torch.manual_seed(0)
    for seed, name in enumerate(CONFIGS):
        make(name, seed)
        print(f"{GOLDEN / name}: {sum(file.stat().st_size for file in (GOLDEN / name).iterdir()):,} bytes")
