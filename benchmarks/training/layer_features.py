"""Which layers of bertlab-mini would a tagger take? `python -m benchmarks.training.layer_features`

The vectors of the packaged model are computed once. On them are trained, for several seeds:

- on names, a BiLSTM of two layers for each way to take layers (Devlin et al. 2019, table 7); beside it the whole
  model, fine-tuned;
- a linear layer on a weighted sum of the embeddings and all layers: the weights that four tasks learn.

Writes layer_features.csv: the score on held-out sentences, F1 of whole names or the fraction of right words, and the
weight of each layer in a weighted sum. About ten minutes on two free cores.

Supports: solutions/09_features.py, "The recorded runs are made by".
"""

import csv
import io
import time
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import write_text

SHARES = tuple(f"share_{layer}" for layer in range(5))
COLUMNS = ("task", "layers", "head", "seed", "score", *SHARES)
WAYS = ("embeddings", "second-to-last", "last", "last4-sum", "last4-mix", "last4-concat", "embeddings-and-all-mix")
TABLE = "names"
UNITS, EPOCHS = 64, 15  # of the BiLSTM
LINEAR = dict(epochs=30, rate=1e-2, mix_rate=5.0)
FINE_TUNED = dict(epochs=15, rate=5e-4)


def taken(states: list[np.ndarray], layers: str) -> np.ndarray:
    """The kept vectors (sentences, words, width), of a mix (sentences, words, layers, hidden)."""
    single = {"embeddings": 0, "second-to-last": -2, "last": -1}
    if layers in single:
        return states[single[layers]]
    if layers == "last4-sum":
        return sum(states[-4:])
    if layers == "last4-concat":
        return np.concatenate(states[-4:], axis=-1)
    return np.stack(states[-4:] if layers == "last4-mix" else states, axis=2)


def trained(task, words, vectors, layers: str, head: str, seed: int) -> dict:
    """The score of one tagger, and the weights of a mix. words, vectors: of the two splits."""
    from autograde.student import kept_vectors
    from bertlab.layers.scalar_mix import ScalarMix

    mix = ScalarMix(vectors[0].shape[2]) if layers.endswith("mix") else None
    settings = LINEAR if head == "linear" else dict(units=UNITS, epochs=EPOCHS)
    given = (vectors[0], words[0].tags, len(task.tags))
    model = kept_vectors.train_tagger(*given, mix=mix, seed=seed, **settings)
    score = kept_vectors.score_of(task, words[1].tags, kept_vectors.tags_from(model, vectors[1]))
    row = dict(task=task.name, layers=layers, head=head, seed=seed, score=round(score, 4))
    if mix is not None:
        powers = np.exp(np.asarray(mix.weights_of_layers))
        row |= dict(zip(SHARES[-len(powers) :], (powers / powers.sum()).astype("float64").round(3).tolist()))
    return row


def fine_tuned(task, words, start, seed: int) -> dict:
    """The score of the whole model, trained with a linear layer."""
    import keras

    from autograde.student import fine_tuning, kept_vectors

    targets = np.full_like(words[0].rows["token_ids"], kept_vectors.IGNORED)
    for row, first, tags in zip(targets, words[0].first, words[0].tags):
        counts = tags != kept_vectors.IGNORED
        row[first[counts]] = tags[counts]
    keras.utils.set_random_seed(seed)
    model = fine_tuning.fine_tune(
        fine_tuning.new_bert(start), keras.layers.Dense(len(task.tags)), words[0].rows, targets,
        kept_vectors.tagging_loss, **FINE_TUNED,
    )  # fmt: skip
    scores = np.take_along_axis(fine_tuning.predict(model, words[1].rows), words[1].first[..., None], axis=1)
    score = kept_vectors.score_of(task, words[1].tags, scores.argmax(axis=-1))
    return dict(task=task.name, layers="fine-tuned", head="linear", seed=seed, score=round(score, 4))


def runs(seeds: tuple[int, ...]):
    """All rows, one after the other."""
    from autograde.student import fine_tuning, kept_vectors
    from autograde.student.starting_points import published

    start = published("bertlab-mini")
    bert = fine_tuning.new_bert(start)
    for name in kept_vectors.WORD_TASKS:
        task = kept_vectors.word_task(name)
        words = [kept_vectors.tagged_words(rows, start) for rows in (task.train, task.held_out)]
        states = [[one.vectors_of(state) for state in kept_vectors.every_state(bert, one.rows)] for one in words]
        for seed in seeds:
            yield trained(task, words, [np.stack(some, axis=2) for some in states], "all-mix", "linear", seed)
        for seed in seeds if name == TABLE else ():
            for layers in WAYS:
                yield trained(task, words, [taken(some, layers) for some in states], layers, "bilstm", seed)
            yield fine_tuned(task, words, start, seed)


@click.command(help=__doc__)
@click.option("--seed", "seeds", multiple=True, type=int, default=[1, 2, 3, 4, 5], show_default=True, help="repeatable")
@click.option("--out", type=Path, default=Path("build/layer_features.csv"), show_default=True)
def main(seeds: tuple[int], out: Path) -> None:
    load_backend()
    from autograde.boundary import mybert_importer

    text, began = io.StringIO(), time.monotonic()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    with mybert_importer.only_stand_ins():
        for row in runs(seeds):
            writer.writerow(row)
            write_text(out, text.getvalue())
            print(f"{time.monotonic() - began:5.0f} s", *row.values(), flush=True)


if __name__ == "__main__":
    main()
