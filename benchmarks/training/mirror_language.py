"""Translation of the small world into its mirror language, with and without attention to the source:
`python -m benchmarks.training.mirror_language`.

Two encoder–decoders of 2 + 2 layers are alike but for what the decoder sees of the source: all of its vectors, or
their mean alone. Each is trained on new sentences, for as many steps, with three seeds, and judged by exact match on
held-out sentences, by the number of words of the source. Writes mirror_language.csv.

Supports: notebook 13, "One vector, or all of them"; docs/small_world.md, "A translator into the mirror language".
"""

import csv
import io
import time
from pathlib import Path

import click
import numpy as np

from benchmarks.training.translation import WITH, WITHOUT, mean_alone
from bertlab.common.backend import load_backend
from bertlab.common.files import write_text
from bertlab.data import small_world
from bertlab.data.small_world.mirror import PAD, START

COLUMNS = ("decoder_sees", "seed", "steps", "words", "sources", "exact", "cpu_seconds")
LENGTHS = ((4, 6), (7, 8), (9, 11), (12, 16))  # words of a source, the full stop included
HELD_OUT, HELD_OUT_SEED = 1500, 1  # sentences; none of them is trained on
SHAPE = dict(hidden_size=64, num_layers=2, decoder_layers=2, num_heads=4, intermediate_size=128)


def translator(kind: str):
    """A new model of a kind."""
    from bertlab.families import TransformerConfig
    from bertlab.models import SequenceToSequenceModel

    config = TransformerConfig(
        vocab_size=len(small_world.translation_tokens()), max_position_embeddings=32, hidden_dropout=0.0,
        initializer_range=SHAPE["hidden_size"] ** -0.5, **SHAPE,
    )  # fmt: skip
    return (SequenceToSequenceModel if kind == WITH else mean_alone())(config)


def trained(kind: str, steps: int, batch_size: int, rate: float, seed: int):
    """A model of a kind after so many steps of new sentences, and the CPU seconds of its training."""
    import keras
    import tensorflow as tf

    from bertlab.training.recipes.schedule import WarmupLinearDecay

    keras.utils.set_random_seed(seed)
    held_out = {sentence.words for sentence in small_world.sample(HELD_OUT_SEED, HELD_OUT)}
    drawn = small_world.sample(1000 + seed, 2 * steps * batch_size)
    new = [sentence for sentence in drawn if sentence.words not in held_out][: steps * batch_size]
    sources, targets = small_world.translation_rows(new)
    model = translator(kind)
    optimizer = keras.optimizers.Adam(WarmupLinearDecay(rate, steps, steps // 10), beta_2=0.98, global_clipnorm=1.0)
    optimizer.build(model.trainable_variables)
    start = time.process_time()

    @tf.function(jit_compile=True)
    def step(source, target):
        with tf.GradientTape() as tape:
            logits = model(inputs(source) | {"decoder_input_ids": shifted(target)}, training=True)["masked_lm_logits"]
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits)  # (B, U)
            real = tf.cast(target != PAD, losses.dtype)
            loss = tf.reduce_sum(losses * real) / tf.reduce_sum(real)
        gradients = map(tf.convert_to_tensor, tape.gradient(loss, model.trainable_variables))
        optimizer.apply(list(gradients), model.trainable_variables)

    for first in range(0, steps * batch_size, batch_size):
        step(sources[first : first + batch_size], targets[first : first + batch_size])
    return model, time.process_time() - start


def shifted(target):
    """The target after START, without its last token. target (B, U)."""
    from keras import ops

    return ops.concatenate([ops.full((len(target), 1), START, dtype="int32"), target[:, :-1]], axis=1)


def inputs(source):
    """A source as the model reads it. source (B, S)."""
    from keras import ops

    source = ops.convert_to_tensor(source)
    return {"input_ids": source, "attention_mask": ops.cast(source != PAD, "int32")}


def is_right(model, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Whether each source's most likely tokens, one after the other, are those of the target.

    One pass finds it: if the target is right up to a token, the model that writes has read what it reads here.
    """
    import tensorflow as tf

    guess = tf.function(lambda batch: tf.argmax(model(batch)["masked_lm_logits"], axis=-1))
    right = []
    for first in range(0, len(sources), 250):
        target = targets[first : first + 250]
        guessed = guess(inputs(sources[first : first + 250]) | {"decoder_input_ids": shifted(target)})
        right.append(((np.asarray(guessed) == target) | (target == PAD)).all(axis=1))
    return np.concatenate(right)


@click.command(help=__doc__)
@click.option("--steps", default=600, show_default=True)
@click.option("--batch-size", default=64, show_default=True)
@click.option("--rate", default=3e-3, show_default=True, help="the highest learning rate")
@click.option("--seed", "seeds", multiple=True, type=int, default=[1, 2, 3], show_default=True, help="repeatable")
@click.option("--out", type=Path, default=Path("build/mirror_language.csv"), show_default=True)
def main(steps: int, batch_size: int, rate: float, seeds: tuple[int], out: Path) -> None:
    load_backend()
    held_out = small_world.sample(HELD_OUT_SEED, HELD_OUT)
    sources, targets = small_world.translation_rows(held_out)
    words = np.array([len(sentence) for sentence in held_out])
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for kind in (WITH, WITHOUT):
        for seed in seeds:
            model, seconds = trained(kind, steps, batch_size, rate, seed)
            right = is_right(model, sources, targets)
            for shortest, longest in LENGTHS:
                chosen = right[(words >= shortest) & (words <= longest)]
                row = dict(decoder_sees=kind, seed=seed, steps=steps, words=f"{shortest}–{longest}",
                           sources=len(chosen), exact=round(float(chosen.mean()), 4),
                           cpu_seconds=round(seconds))  # fmt: skip
                writer.writerow(row)
                print(row, flush=True)
            write_text(out, text.getvalue())


if __name__ == "__main__":
    main()
