"""The loss of a BERT of 2 × 64 beside the floor of the small world: `python -m benchmarks.training.small_world`.

In every sentence two words are [MASK], and the model learns to predict them. Each sentence is seen once. After every
interval the loss on held-out sentences is printed beside that of the best possible reader of the same sentences with
the same words hidden. Writes small_world.csv.

Supports: docs/small_world.md, "A small BERT comes to its floor".
"""

import csv
import io
import time
from pathlib import Path

import click

from bertlab.common.backend import load_backend
from bertlab.common.files import write_text
from bertlab.data import small_world
from bertlab.data.small_world.masking import TOKENS, floor_of, masked_rows

COLUMNS = ("seed", "step", "cpu_seconds", "loss", "floor")
HELD_OUT = 2000  # sentences
SHAPE = dict(num_layers=2, hidden_size=64, num_heads=4, intermediate_size=256)


def curve(steps: int, batch_size: int, rate: float, interval: int, seed: int) -> list[dict]:
    """Trains once and returns a row for each interval.

    cpu_seconds: of training and its compilation, summed over the cores; other programs change it little.
    """
    import keras
    import tensorflow as tf

    from bertlab.config import BertConfig
    from bertlab.models import PreTrainingModel
    from bertlab.training.recipes.optimizer import muon
    from bertlab.training.recipes.schedule import WarmupLinearDecay
    from bertlab.training.runs.pretrainer import PreTrainer

    keras.utils.set_random_seed(seed)
    train, _ = masked_rows(small_world.sample(1000 + seed, steps * batch_size), seed)
    held_out = small_world.sample(1, HELD_OUT)
    rows, hidden = masked_rows(held_out, 1)
    floor = floor_of(held_out, hidden)

    config = BertConfig(
        vocab_size=len(TOKENS), max_position_embeddings=rows["input_ids"].shape[1], hidden_dropout=0.0,
        attention_dropout=0.0, initializer_range=SHAPE["hidden_size"] ** -0.5, **SHAPE,
    )  # fmt: skip
    trainer = PreTrainer(PreTrainingModel(config, next_sentence=False))
    schedule = WarmupLinearDecay(rate, steps, steps // 10)
    trainer.compile(muon(schedule, trainer, beta_2=0.98), jit_compile=True, steps_per_execution=interval)
    batches = tf.data.Dataset.from_tensor_slices(train).batch(batch_size)
    evaluated = tf.data.Dataset.from_tensor_slices(rows).batch(HELD_OUT)
    results, seconds, start = [], 0.0, time.process_time()

    def measure(epoch: int, logs=None) -> None:
        nonlocal seconds, start
        seconds += time.process_time() - start
        loss = trainer.evaluate(evaluated, verbose=0, return_dict=True)["masked_lm_loss"]
        row = dict(seed=seed, step=(epoch + 1) * interval, cpu_seconds=round(seconds, 1))
        results.append(row | dict(loss=round(loss, 4), floor=round(floor, 4)))
        above = f"loss {loss:.3f}, floor {floor:.3f} ({loss / floor - 1:+.1%})"
        print(f"step {row['step']:5}, {seconds:5.1f} CPU seconds: {above}", flush=True)
        start = time.process_time()

    trainer.fit(
        batches, epochs=steps // interval, steps_per_epoch=interval, shuffle=False, verbose=0,
        callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=measure)],
    )  # fmt: skip
    return results


@click.command(help=__doc__)
@click.option("--steps", default=1500, show_default=True)
@click.option("--batch-size", default=64, show_default=True)
@click.option("--rate", default=3e-3, show_default=True, help="the highest learning rate")
@click.option("--interval", default=100, show_default=True, help="steps between two lines")
@click.option("--seed", "seeds", multiple=True, type=int, default=[1, 2, 3], show_default=True, help="repeatable")
@click.option("--out", type=Path, default=Path("build/small_world.csv"), show_default=True)
def main(steps: int, batch_size: int, rate: float, interval: int, seeds: tuple[int], out: Path) -> None:
    load_backend()
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for seed in seeds:
        writer.writerows(curve(steps, batch_size, rate, interval, seed))
    write_text(out, text.getvalue())


if __name__ == "__main__":
    main()
