"""Four small tasks, from bertlab-mini and from random weights: `python -m benchmarks.training.task_types`.

Trains one model for each task, number of labels, initial weights and seed, with the settings of notebook 08 and the
library's versions of what students write there. Writes task_types.csv: accuracy of classes, F1 of whole names, exact
match of answers, on the held-out examples.

Supports: solutions/08_finetuning.py, "the grey bars are the"; solutions/08b_how_good.py, "How many labels?".
"""

import csv
import io
import itertools
import time
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import write_text

COLUMNS = ("task", "weights", "labels", "seed", "score")
TASKS = (("sentiment", 214), ("follows", 600), ("names", 196), ("who-where", 400), ("sentiment", 25), ("sentiment", 75))
EPOCHS = {"sentiment": 4, "follows": 3, "names": 6, "who-where": 4}
LENGTH, QUESTION_LENGTH, RATE = 32, 40, 5e-4
LEAST_STEPS = 52  # with few labels: as many steps as with all 214 sentences, so that only the labels differ


def score(task_name: str, labels: int, start, seed: int) -> float:
    """Trains once and returns the score on the held-out examples."""
    import keras

    from autograde.student import fine_tuning as tools
    from autograde.student.small_tasks import small_task
    from autograde.student.stand_ins import finetuning as heads

    task = small_task(task_name)
    rows, held_out = task.train[:labels], task.validation
    epochs = max(EPOCHS[task_name], -(-LEAST_STEPS // max(1, len(rows) // 16)))
    keras.utils.set_random_seed(seed)
    bert = tools.new_bert(start)

    def trained(head, inputs, targets, loss):
        return tools.fine_tune(bert, head, inputs, targets, loss, epochs, RATE)

    if task.shape == "tagging":
        targets = _tags(rows, start)
        loss = lambda labels, logits: heads.tagging_loss(logits, keras.ops.cast(labels, "int32"))  # noqa: E731
        model = trained(keras.layers.Dense(len(task.labels)), *targets, loss)
        inputs, truth = _tags(held_out, start)
        return _entities(truth, tools.predict(model, inputs).argmax(axis=-1), task.labels)
    if task.shape == "question":
        asked, judged = (tools.fitting_questions(some, start, QUESTION_LENGTH) for some in (rows, held_out))
        spans = np.array([one.span for one in asked], "int32")
        model = trained(heads.SpanHead(), tools.encode_questions(asked, start, QUESTION_LENGTH), spans, tools.span_loss)
        logits = tools.predict(model, tools.encode_questions(judged, start, QUESTION_LENGTH))
        found = [heads.best_span(*pair, one.first, one.last, 20) for pair, one in zip(logits, judged)]
        return float(np.mean([tuple(span) == one.span for span, one in zip(found, judged)]))
    inputs, judged = (tools.encode([_text(row) for row in some], start, LENGTH) for some in (rows, held_out))
    head = heads.ClassificationHead(len(task.labels))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model = trained(head, inputs, np.array([row.label for row in rows]), loss)
    given = tools.predict(model, judged).argmax(axis=1)
    return float(np.mean(given == [row.label for row in held_out]))


def _text(row):
    """A sentence, or a pair of them."""
    return (row.text_a, row.text_b) if hasattr(row, "text_a") else row.text


def _tags(rows, start) -> tuple[dict, np.ndarray]:
    """Packed sentences and the labels of their tokens."""
    from autograde.student import fine_tuning as tools
    from autograde.student.stand_ins import finetuning, wordpiece

    packed, labels = [], []
    for row in rows:
        pieces = [tools.cut(word, start) for word in row.words]
        packed.append(wordpiece.pack(sum(pieces, []), None, start.vocabulary, LENGTH))
        wanted = finetuning.align_labels(pieces, list(row.tags))[: LENGTH - 1]
        labels.append(wanted + [-100] * (LENGTH - len(wanted)))
    return tools.arrays(packed), np.array(labels, "int32")


def _entities(truth, given, names) -> float:
    """F1 of whole entities."""
    from bertlab.data.tasks.metrics_entities import entity_scores

    def named(tags):
        return [[names[tag] for tag in line[mask]] for line, mask in zip(tags, truth != -100)]

    return entity_scores(named(truth), named(given))["f1"]


@click.command(help=__doc__)
@click.option("--seed", "seeds", multiple=True, type=int, default=[1, 2, 3], show_default=True, help="repeatable")
@click.option("--out", type=Path, default=Path("build/task_types.csv"), show_default=True)
def main(seeds: tuple[int], out: Path) -> None:
    load_backend()
    from autograde.boundary import mybert_importer
    from autograde.student.starting_points import published

    rows, begin = [], published("bertlab-mini")
    starts = {"bertlab-mini": begin, "random": begin.untrained()}
    with mybert_importer.only_stand_ins():
        for (task, labels), (weights, start), seed in itertools.product(TASKS, starts.items(), seeds):
            began = time.monotonic()
            found = score(task, labels, start, seed)
            rows.append(dict(task=task, weights=weights, labels=labels, seed=seed, score=round(found, 4)))
            print(f"{task} {labels} {weights} seed {seed}: {found:.3f} in {time.monotonic() - began:.0f} s", flush=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(out, text.getvalue())


if __name__ == "__main__":
    main()
