"""The short run of notebook 07: sentences of the small world with two masked words each, and the floor of the loss.

`bertlab.data.small_world` knows the probability of every word in every context, so the smallest loss that any model can
reach on the held-out sentences is known: `SmallWorldRun.floor`.
"""

import re
from dataclasses import dataclass

import numpy as np

from autograde.student.training_run import renamed
from bertlab.data import small_world
from bertlab.data.small_world.masking import CLS, MASK, SEP, TOKENS, floor_of, masked_rows

STEPS, BATCH, HELD_OUT, PEAK = 1500, 64, 500, 3e-3
MODEL = dict(
    vocab_size=len(TOKENS), hidden_size=64, num_layers=2, num_heads=4, intermediate_size=256,
    max_positions=small_world.LONGEST + 2, dropout=0.0,
)  # fmt: skip


@dataclass(frozen=True)
class SmallWorldRun:
    """Batches of new sentences, held-out sentences, and the loss of the best possible reader of these.

    rows: all training sentences, as a batch is; each is seen once. sentences: the held-out ones.
    """

    rows: dict[str, np.ndarray]
    held_out: dict[str, np.ndarray]
    sentences: list
    floor: float

    def batch(self, step: int) -> dict[str, np.ndarray]:
        return {name: array[BATCH * step : BATCH * (step + 1)] for name, array in self.rows.items()}


def prepare_small_world(seed: int = 1, steps: int = STEPS) -> SmallWorldRun:
    """The data of a run."""
    held_out = small_world.sample(1, HELD_OUT)
    rows, hidden = masked_rows(held_out, 1)
    training, _ = masked_rows(small_world.sample(1000 + seed, steps * BATCH), seed)
    return SmallWorldRun(_batch(training), _batch(rows), held_out, floor_of(held_out, hidden))


def _batch(rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rows by the notebook's names. There are no pairs: the next-sentence label is always the same."""
    ids = rows["input_ids"]
    return renamed(rows | {"token_type_ids": 0 * ids, "next_sentence_labels": np.zeros(len(ids), "int32")})


def optimizer_for(model, steps: int = STEPS):
    """The optimizer that comes to the floor, for a model whose weights exist: Muon for the matrices of the encoder.

    The initial weights are drawn again, with a standard deviation of 1/√(hidden size).
    """
    import keras

    from bertlab.training.recipes.optimizer import muon
    from bertlab.training.recipes.schedule import WarmupLinearDecay

    draw = keras.initializers.TruncatedNormal(stddev=MODEL["hidden_size"] ** -0.5)
    for variable in model.trainable_variables:
        if len(variable.shape) > 1:
            variable.assign(draw(variable.shape))
    optimizer = muon(WarmupLinearDecay(PEAK, steps, steps // 10), model, beta_2=0.98, global_clipnorm=None)
    matrices = {id(variable) for variable in model.bert.encoder.trainable_variables if len(variable.shape) == 2}
    others = [variable.path for variable in model.trainable_variables if id(variable) not in matrices]
    optimizer.exclude_layers = [f"^{re.escape(path)}$" for path in others]  # an encoder may have any name
    optimizer.build(model.trainable_variables)
    return optimizer


def exact_and_yours(text: str, position: int, blanks_of, shown: int = 4) -> None:
    """Prints the most likely words at a hidden position: the exact probabilities, and a model's.

    blanks_of: a batch → MLM logits (batch, predictions, V).
    """
    words = text.split()
    ids = np.array([[CLS, *(TOKENS.index(word) for word in words), SEP]], "int32")
    ids[0, position + 1] = MASK
    batch = {
        "token_ids": ids, "token_type_ids": 0 * ids, "attention_mask": 0 * ids + 1,
        "positions": np.array([[position + 1]], "int32"),
    }  # fmt: skip
    logits = np.asarray(blanks_of(batch))[0, 0].astype("float64")
    shares = np.exp(logits - logits.max())
    shares = dict(zip(TOKENS, shares / shares.sum()))
    exact = small_world.exact(text, position)
    print(" ".join("[MASK]" if place == position else word for place, word in enumerate(words)))
    for word in sorted(set(exact) | set(shares), key=lambda one: -exact.get(one, 0) - shares[one])[:shown]:
        print(f"   {word:12} exact {exact.get(word, 0):.3f}   yours {shares[word]:.3f}")
