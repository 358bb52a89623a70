"""Objectives on the small world: each beside its exact floor, then one task for all.

    python -m benchmarks.training.small_world_objectives          # about five minutes on two free cores

Models of 2 × 64 read the same number of sentences: masked words (BERT), left to right (GPT), and words in a random
order (XLNet). After every interval the loss on held-out sentences is written beside that of the best possible reader
who sees the same words.

Then each is fine-tuned on a few labelled sentences: is "bank" or "plant" meant as in the country, or as in town? One
who reads from left to right cannot know it where the words before do not tell; `share_known` says how often they do.
A fresh model is the baseline, and the one that reads from left to right is also tried with a BiLSTM on top. Writes
small_world_objectives.csv.

Supports: docs/small_world.md, "Objectives and their floors".
"""

import csv
import io
import time
from pathlib import Path

import click
import numpy as np

from benchmarks.training.small_world import HELD_OUT, SHAPE
from bertlab.common.backend import load_backend
from bertlab.common.files import write_text
from bertlab.data import small_world
from bertlab.data.small_world.masking import CLS, SEP, TOKENS, floor_of, masked_rows
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS

COLUMNS = ("objective", "seed", "step", "cpu_seconds", "loss", "floor", "parameters", "accuracy")
BATCH, RATE, INTERVAL = 64, 5e-3, 100
LABELLED, JUDGED, EPOCHS = 40, 1000, 30  # sentences with "bank" or "plant"
COMMON = dict(
    vocab_size=len(TOKENS), initializer_range=SHAPE["hidden_size"] ** -0.5, hidden_dropout=0.0, attention_dropout=0.0
)
LONGEST = {"max_position_embeddings": small_world.LONGEST + 2}


# === Rows: for each objective what is seen and where it is asked; and the best reader's loss ===


def whole_rows(sentences: list[small_world.Sentence]) -> dict[str, np.ndarray]:
    """[CLS] words [SEP], nothing hidden."""
    words = small_world.word_ids(sentences, small_world.LONGEST)  # (N, T)
    lengths = np.array([len(sentence) for sentence in sentences])[:, None]  # (N, 1)
    ids = np.zeros((len(words), words.shape[1] + 2), "int32")  # (N, T + 2)
    ids[:, 0] = CLS
    ids[:, 1:-1] = np.where(np.arange(words.shape[1]) < lengths, words + len(SPECIAL_TOKENS), 0)
    np.put_along_axis(ids, lengths + 1, SEP, axis=1)
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}


def left_to_right(rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The rows with a mask that hides the future."""
    count, tokens = rows["input_ids"].shape
    return rows | {"attention_mask": np.tril(np.ones((count, tokens, tokens), "int32"))}


def next_words(sentences: list[small_world.Sentence], seed: int) -> dict:
    """Every word from those before it."""
    rows = left_to_right(whole_rows(sentences))
    ids = rows["input_ids"]
    places = np.arange(ids.shape[1] - 2)
    return rows | {
        "masked_lm_positions": np.broadcast_to(places, (len(ids), len(places))).astype("int32"),
        "masked_lm_ids": ids[:, 1:-1],
        "masked_lm_weights": (ids[:, 1:-1] >= len(SPECIAL_TOKENS)).astype("float32"),
    }


def hidden_words(sentences: list[small_world.Sentence], seed: int) -> dict:
    return masked_rows(sentences, seed)[0]


def words_in_order(sentences: list[small_world.Sentence], seed: int) -> dict:
    """The last two words of a random order, each from all words that are earlier in it."""
    rows = masked_rows(sentences, seed)[0]
    order, turned = np.zeros_like(rows["input_ids"]), np.random.default_rng(seed + 1).random(len(sentences)) < 0.5
    turns = np.where(turned[:, None], [2, 1], [1, 2])  # (N, 2)
    np.put_along_axis(order, rows["masked_lm_positions"], turns, axis=1)
    return rows | whole_rows(sentences) | {"order_ids": order}


def best_loss(objective: str, sentences: list[small_world.Sentence], seed: int) -> float:
    """The mean loss of the best reader of the same words, with the same words visible."""
    if objective == "left to right":
        return small_world.floors(sentences, ["left-to-right"])["left-to-right"]
    hidden = masked_rows(sentences, seed)[1]
    if objective != "permutation":
        return floor_of(sentences, hidden)
    turns = words_in_order(sentences, seed)["order_ids"][:, 1:-1]  # (N, T)
    words = small_world.word_ids(sentences, small_world.LONGEST)
    losses = []
    for turn, unseen in ((1, hidden), (2, turns == 2)):  # the first one sees neither, the second one the first
        chances = np.take_along_axis(small_world.conditionals(words, unseen), words[..., None], axis=-1)[..., 0]
        losses.append(-np.log(chances[turns == turn]).mean())
    return float(np.mean(losses))


ROWS = {"masked": hidden_words, "left to right": next_words, "permutation": words_in_order}


# === One run ===


def model_of(objective: str):
    """A new model, and its objective."""
    from bertlab.config import BertConfig
    from bertlab.families.xlnet import XLNetConfig
    from bertlab.models import PreTrainingModel
    from bertlab.training.objectives import MaskedLM, Permutation

    if objective == "permutation":
        return PreTrainingModel(XLNetConfig(**COMMON, **SHAPE)), Permutation()
    return PreTrainingModel(BertConfig(**COMMON, **LONGEST, **SHAPE), next_sentence=False), MaskedLM()


def pretrained(objective: str, seed: int, steps: int):
    """Trains once: a row for each interval, and the model."""
    import keras
    import tensorflow as tf

    from bertlab.training.recipes.optimizer import muon
    from bertlab.training.recipes.schedule import WarmupLinearDecay
    from bertlab.training.runs.pretrainer import PreTrainer

    keras.utils.set_random_seed(seed)
    model, its_objective = model_of(objective)
    held_out = small_world.sample(1, HELD_OUT)
    train = ROWS[objective](small_world.sample(1000 + seed, steps * BATCH), seed)
    rows, floor = ROWS[objective](held_out, 1), best_loss(objective, held_out, 1)
    trainer = PreTrainer(model, objectives=(its_objective,))
    schedule = WarmupLinearDecay(RATE, steps, steps // 10)
    trainer.compile(muon(schedule, trainer, beta_2=0.98), jit_compile=False, steps_per_execution=INTERVAL)
    batches = tf.data.Dataset.from_tensor_slices(train).batch(BATCH)
    evaluated = tf.data.Dataset.from_tensor_slices(rows).batch(HELD_OUT)
    parameters = int(sum(np.prod(weight.shape) for weight in model.trainable_weights))
    results, seconds, start = [], 0.0, time.process_time()

    def measure(epoch: int, logs=None) -> None:
        nonlocal seconds, start
        seconds += time.process_time() - start
        loss = trainer.evaluate(evaluated, verbose=0, return_dict=True)[f"{its_objective.name}_loss"]
        row = dict(objective=objective, seed=seed, step=(epoch + 1) * INTERVAL, cpu_seconds=round(seconds, 1))
        results.append(row | dict(loss=round(float(loss), 4), floor=round(floor, 4), parameters=parameters))
        start = time.process_time()

    trainer.fit(
        batches, epochs=steps // INTERVAL, steps_per_epoch=INTERVAL, shuffle=False, verbose=0,
        callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=measure)],
    )  # fmt: skip
    return results, model


# === The task ===


def senses(seed: int, count: int) -> tuple[list[small_world.Sentence], np.ndarray, np.ndarray]:
    """Sentences with "bank" or "plant": the place of the first one, and 1 for the sense of the town."""
    drawn = [one for one in small_world.sample(seed, 12 * count) if one.homonyms][:count]
    return drawn, np.array([one.homonyms[0] for one in drawn]), np.array([int(one.scene == "town") for one in drawn])


def share_known(sentences: list[small_world.Sentence], places: np.ndarray) -> float:
    """The fraction of the sentences in which a word before the homonym belongs to one scene only.

    Where none does, both senses are equally likely for one who reads from left to right.
    """
    world, scenes = small_world.automaton(), {}
    for number, state in enumerate(world.states):
        for word in np.flatnonzero(world.writes[number]):
            scenes.setdefault(world.words[word], set()).add(state.scene)
    telling = {word for word, of in scenes.items() if len(of) == 1}
    return float(np.mean([bool(telling & set(one.words[:place])) for one, place in zip(sentences, places)]))


def accuracy(model, future_hidden: bool, seed: int, on_top: bool = False) -> float:
    """Fine-tunes everything on the labelled sentences: a linear layer on the homonym's vector."""
    import keras
    from keras import ops

    class Judge(keras.Model):
        def __init__(self):
            super().__init__()
            self.backbone = model.backbone
            self.top = keras.layers.Bidirectional(keras.layers.LSTM(32, return_sequences=True)) if on_top else None
            self.head = keras.layers.Dense(2)

        def call(self, inputs):
            read = {name: inputs[name] for name in ("input_ids", "attention_mask")}
            x = self.backbone(read)["sequence_output"]
            if self.top is not None:
                x = self.top(x, mask=inputs["input_ids"] > 0)
            place = ops.reshape(inputs["place"], (-1, 1, 1))
            return self.head(ops.take_along_axis(x, place, axis=1)[:, 0])

    def rows_of(seed: int, count: int):
        sentences, places, labels = senses(seed, count)
        rows = whole_rows(sentences)
        return (left_to_right(rows) if future_hidden else rows) | {"place": (places + 1).astype("int32")}, labels

    keras.utils.set_random_seed(seed)
    judge = Judge()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    judge.compile(keras.optimizers.Adam(1e-3, global_clipnorm=1.0), loss, metrics=["accuracy"], jit_compile=False)
    judge.fit(*rows_of(50 + seed, LABELLED), batch_size=20, epochs=EPOCHS, verbose=0)
    return round(judge.evaluate(*rows_of(2, JUDGED), batch_size=JUDGED, verbose=0)[1], 4)


def run(objective: str, seed: int, steps: int) -> list[dict]:
    """All rows of a run; the last one has the accuracy of the task."""
    import keras

    if objective == "none":
        keras.utils.set_random_seed(seed)
        return [dict(objective="none", seed=seed, step=0, accuracy=accuracy(model_of("masked")[0], False, seed))]
    results, model = pretrained(objective, seed, steps)
    weights, future_hidden = model.get_weights(), objective == "left to right"
    results[-1]["accuracy"] = accuracy(model, future_hidden, seed)
    if future_hidden:
        model.set_weights(weights)
        found = accuracy(model, future_hidden, seed, on_top=True)
        results.append(dict(objective="left to right + BiLSTM", seed=seed, step=steps, accuracy=found))
    return results


@click.command(help=__doc__)
@click.option("--steps", default=800, show_default=True)
@click.option("--seed", "seeds", multiple=True, type=int, default=[1, 2, 3], show_default=True, help="repeatable")
@click.option("--only", multiple=True, type=click.Choice(["none", *ROWS]), default=["none", *ROWS], show_default=True)
@click.option("--out", type=Path, default=Path("build/small_world_objectives.csv"), show_default=True)
def main(steps: int, seeds: tuple[int], only: tuple[str], out: Path) -> None:
    load_backend()
    sentences, places, _ = senses(2, JUDGED)
    known = share_known(sentences, places)
    print(f"the words before tell the sense in {known:.1%}: the best left-to-right reader has {(1 + known) / 2:.1%}")
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for objective in only:
        for seed in seeds:
            rows = run(objective, seed, steps)
            writer.writerows(rows)
            write_text(out, text.getvalue())
            print(*(row for row in rows if "accuracy" in row), sep="\n", flush=True)


if __name__ == "__main__":
    main()
