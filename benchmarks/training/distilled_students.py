"""Ways to a student of 2 × 256 with bertlab-mini as its teacher: `python -m benchmarks.training.distilled_students`.

Each way trains for as many steps on the documentation of Python as notebook 12's run. Half of the ways begin with every
second layer of the teacher, half with random weights; half learn from DistilBERT's three losses, half from the
original tokens alone. Writes distilled_students.csv, a row for each way and seed: the share of the masked tokens of
held-out documents that are right.

Supports: the table at the end of notebook 12 (`recorded_runs/distilled_students.csv`).
"""

import csv
import io
import time
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import write_text

COLUMNS = ("way", "seed", "steps", "accuracy", "loss", "seconds")
WAYS = {
    "every second layer, three losses": (True, True),
    "every second layer, original tokens alone": (True, False),
    "random weights, three losses": (False, True),
    "random weights, original tokens alone": (False, False),
}


def read(batch: dict) -> dict:
    """A batch of `RunData` by the names of the library's models."""
    names = {"input_ids": "token_ids", "token_type_ids": "token_type_ids", "attention_mask": "attention_mask",
             "masked_lm_positions": "positions"}  # fmt: skip
    return {theirs: batch[ours] for theirs, ours in names.items()}


def student_of(teacher, settings, from_teacher: bool):
    """A student of 2 layers. The teacher's layers 0 and 2 are its first weights, or it has random ones."""
    from autograde.student.training_run import initialise
    from bertlab.models import PreTrainingModel

    config = teacher.backbone.config.replace(num_layers=2)
    student = PreTrainingModel(config)
    student({"input_ids": np.zeros((1, 2), "int32"), "masked_lm_positions": np.zeros((1, 1), "int32")})
    if not from_teacher:
        initialise(student, settings)
        return student
    weights = {weight.path: weight for weight in teacher.weights}
    for weight in student.weights:
        weight.assign(weights[weight.path.replace("/layer_1/", "/layer_2/")])
    return student


def train(teacher, data, settings, from_teacher: bool, three_losses: bool) -> dict:
    """Trains one student and returns its accuracy and loss on held-out documents, and the seconds of training."""
    import keras
    import tensorflow as tf
    from keras import ops

    from bertlab.training.distillation.losses import direction_losses, soft_target_losses
    from bertlab.training.objectives.losses import token_hits, token_losses, weighted_mean
    from bertlab.training.recipes.schedule import WarmupLinearDecay

    keras.utils.set_random_seed(settings.seed)
    student = student_of(teacher, settings, from_teacher)
    optimizer = keras.optimizers.Adam(WarmupLinearDecay(settings.peak, settings.steps, settings.warmup_steps))
    trained = [
        weight for weight in student.trainable_variables if "pool" not in weight.path and "next" not in weight.path
    ]
    optimizer.build(trained)

    def outputs(model, batch, training=False):
        hidden = model.backbone(
            {name: batch[name] for name in ("input_ids", "token_type_ids", "attention_mask")}, training=training
        )["sequence_output"]
        return hidden, model(batch, training=training)["masked_lm_logits"]

    @tf.function
    def step(batch, labels, weights):
        teacher_hidden, teacher_logits = outputs(teacher, batch)
        with tf.GradientTape() as tape:
            hidden, logits = outputs(student, batch, training=True)
            loss = weighted_mean(token_losses(logits, labels), weights)
            if three_losses:
                real = ops.cast(batch["attention_mask"], "float32")
                soft = weighted_mean(soft_target_losses(logits, teacher_logits, 2.0), weights)
                loss = 5 * soft + 2 * loss + weighted_mean(direction_losses(hidden, teacher_hidden), real)
        optimizer.apply(tape.gradient(loss, trained), trained)

    began = time.perf_counter()
    for number in range(settings.steps):
        batch = {name: ops.convert_to_tensor(array) for name, array in data.batch(number).items()}
        step(read(batch), batch["labels"], batch["weights"])
    seconds = time.perf_counter() - began
    guess = tf.function(lambda batch: student(batch, training=False)["masked_lm_logits"])
    hits, losses, counts = [], [], []
    for batch in data.held_out:
        logits = guess({name: ops.convert_to_tensor(array) for name, array in read(batch).items()})
        counts.append(batch["weights"].sum())
        hits.append(float(ops.sum(token_hits(logits, batch["labels"]) * batch["weights"])))
        losses.append(float(ops.sum(token_losses(logits, batch["labels"]) * batch["weights"])))
    return {"accuracy": sum(hits) / sum(counts), "loss": sum(losses) / sum(counts), "seconds": seconds}


@click.command(help=__doc__.split("\n\n")[1])
@click.option("--out", type=click.Path(path_type=Path), default=Path("distilled_students.csv"), show_default=True)
@click.option("--seeds", default=3, show_default=True, help="Runs of each way.")
@click.option("--steps", default=None, type=int, help="Default: those of the notebook.")
@click.option("--only", multiple=True, type=click.Choice(tuple(WAYS)), help="Only these ways.")
@click.option("--peak", default=None, type=float, help="The highest learning rate. Default: that of the notebook.")
def main(out: Path, seeds: int, steps: int | None, only: tuple[str, ...], peak: float | None) -> None:
    load_backend()
    from autograde.student.distilling import distillation_settings
    from autograde.student.training_run import prepare, vocabulary_of
    from bertlab import checkpoints

    teacher = checkpoints.load("bertlab-mini")
    config = teacher.backbone.config
    changes = {name: value for name, value in (("steps", steps), ("peak", peak)) if value is not None}
    rows = []
    for seed in range(seeds):
        sizes = {"hidden_size": config.hidden_size, "num_layers": 2}
        settings = distillation_settings(sizes, seed=seed, **changes)
        data = prepare(settings, vocabulary=vocabulary_of("bertlab-mini"))
        for way in only or WAYS:
            scores = train(teacher, data, settings, *WAYS[way])
            rows.append({"way": way, "seed": seed, "steps": settings.steps, **scores})
            print(f"{way}, seed {seed}: {scores['accuracy']:.1%}, loss {scores['loss']:.2f}, {scores['seconds']:.0f} s")
            write_text(out, _csv(rows))


def _csv(rows: list[dict]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow({**row, **{name: f"{row[name]:.4g}" for name in ("accuracy", "loss", "seconds")}})
    return text.getvalue()


if __name__ == "__main__":
    main()
