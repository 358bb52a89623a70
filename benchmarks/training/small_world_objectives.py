"""Objectives on the small world: each beside its exact floor, then one task for all.

    python -m benchmarks.training.small_world_objectives          # about ten minutes on two cores

Models of 2 × 64 read the same sentences for the same number of steps: masked words (BERT), masked words with one shared
layer and a narrow table (ALBERT), left to right, two stacks in opposite directions (2 × 48 each, as ELMo joins them),
replaced words (ELECTRA), and words in a random order (XLNet). After every interval the loss on held-out sentences is
printed beside that of the best possible reader who sees the same words. (For replaced words that is not known: the
row has the discriminator's loss, and as `floor` the loss of one who knows only how many words are replaced.)

Then each is fine-tuned on a few labelled sentences: is "bank" or "plant" meant as in the country, or as in town? One who
reads from left to right cannot know it where the words before do not tell; `share_known` computes how often they do.
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

from benchmarks.training.small_world import CLS, HELD_OUT, MASK, SEP, SHAPE, TOKENS, floor_of, masked_rows
from bertlab.common.backend import load_backend
from bertlab.common.files import write_text
from bertlab.data import small_world
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS

COLUMNS = ("objective", "seed", "step", "cpu_seconds", "loss", "floor", "parameters", "accuracy")
BATCH, RATE, INTERVAL = 64, 3e-3, 100
LABELLED, JUDGED, EPOCHS = 40, 1000, 30  # sentences with "bank" or "plant"
COMMON = dict(vocab_size=len(TOKENS), max_position_embeddings=small_world.LONGEST + 2, initializer_range=0.125)
NO_DROPOUT = dict(hidden_dropout=0.0, attention_dropout=0.0)


# === Rows: for each objective what is seen, where it is asked, and the best reader's loss ===


def whole_rows(sentences: list[small_world.Sentence]) -> dict[str, np.ndarray]:
    """[CLS] words [SEP], nothing hidden."""
    words = small_world.word_ids(sentences, small_world.LONGEST)  # (N, T)
    lengths = np.array([len(sentence) for sentence in sentences])[:, None]  # (N, 1)
    ids = np.zeros((len(words), words.shape[1] + 2), "int32")
    ids[:, 0] = CLS
    ids[:, 1:-1] = np.where(np.arange(words.shape[1]) < lengths, words + len(SPECIAL_TOKENS), 0)
    np.put_along_axis(ids, lengths + 1, SEP, axis=1)
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}


def next_word_rows(sentences: list[small_world.Sentence], seed: int) -> tuple[dict, float]:
    """Every word from those before it. The best reader's loss is the language's own."""
    rows = whole_rows(sentences)
    ids, places = rows["input_ids"], np.arange(rows["input_ids"].shape[1] - 2)
    floor = small_world.floors(sentences, ["left-to-right"])["left-to-right"] if len(sentences) <= HELD_OUT else np.nan
    asked = dict(
        attention_mask=np.tril(np.ones((len(ids), ids.shape[1], ids.shape[1]), "int32")),
        masked_lm_positions=np.broadcast_to(places, (len(ids), len(places))).astype("int32"),
        masked_lm_ids=ids[:, 1:-1],
        masked_lm_weights=(ids[:, 1:-1] >= len(SPECIAL_TOKENS)).astype("float32"),
    )
    return rows | asked, floor


def both_ways_rows(sentences: list[small_world.Sentence], seed: int) -> tuple[dict, float]:
    """The next word, and for the second stack the one before; it also has to say where the sentence begins.

    The product of either's predictions is the probability of the sentence, so both floors are the same in sum.
    """
    rows, floor = next_word_rows(sentences, seed)
    words = np.array([len(sentence) for sentence in sentences])
    ids, length = rows["input_ids"], rows["input_ids"].shape[1]
    backwards = np.zeros_like(ids)
    for row, mine, count in zip(backwards, ids, words):
        row[: count + 2] = mine[: count + 2][::-1]
    weights = (np.arange(length - 1) <= words[:, None]).astype("float32")  # the words and [CLS]
    second = dict(backward_ids=backwards, backward_targets=backwards[:, 1:], backward_weights=weights)
    per_prediction = floor * words.sum() / (words.sum() + len(words))
    return rows | second, (floor + per_prediction) / 2


def masked(sentences: list[small_world.Sentence], seed: int) -> tuple[dict, float]:
    rows, hidden = masked_rows(sentences, seed)
    return rows, floor_of(sentences, hidden) if len(sentences) <= HELD_OUT else np.nan


def replaced_rows(sentences: list[small_world.Sentence], seed: int) -> tuple[dict, float]:
    """The masks of `masked`; what is known without a look at the words is how many were asked."""
    return masked_rows(sentences, seed)[0], np.nan


def ordered_rows(sentences: list[small_world.Sentence], seed: int) -> tuple[dict, float]:
    """The last two words of a random order, each from all words before it in that order."""
    rows, hidden = masked_rows(sentences, seed)
    chosen = rows["masked_lm_positions"] - 1  # (N, 2) in ascending order
    swapped = np.random.default_rng(seed + 1).random(len(chosen)) < 0.5
    first, second = np.where(swapped[:, None], chosen[:, ::-1], chosen).T
    order = np.zeros_like(rows["input_ids"])
    order[np.arange(len(order)), first + 1], order[np.arange(len(order)), second + 1] = 1, 2
    floor = np.nan
    if len(sentences) <= HELD_OUT:
        words, last = small_world.word_ids(sentences, small_world.LONGEST), np.zeros_like(hidden)
        last[np.arange(len(last)), second] = True
        tables = small_world.conditionals(words, hidden), small_world.conditionals(words, last)
        at = [table[np.arange(len(words)), place] for table, place in zip(tables, (first, second))]  # (N, V + 1) twice
        own = [words[np.arange(len(words)), place] for place in (first, second)]
        floor = float(np.mean([-np.log(np.take_along_axis(t, w[:, None], 1)) for t, w in zip(at, own)]))
    return whole_rows(sentences) | {
        "masked_lm_positions": rows["masked_lm_positions"], "masked_lm_ids": rows["masked_lm_ids"],
        "masked_lm_weights": rows["masked_lm_weights"], "order_ids": order,
    }, floor  # fmt: skip


# === Models ===


def config_of(objective: str):
    from bertlab.config import BertConfig
    from bertlab.families.albert import AlbertConfig
    from bertlab.families.electra import ElectraConfig
    from bertlab.families.xlnet import XLNetConfig

    if objective == "ALBERT":
        return AlbertConfig(**COMMON, **NO_DROPOUT, **SHAPE, embedding_size=32, hidden_act="gelu")
    if objective == "replaced":
        return ElectraConfig(**COMMON, **NO_DROPOUT, **SHAPE, embedding_size=64)
    if objective == "permutation":
        shape = COMMON | SHAPE
        return XLNetConfig(**{name: shape[name] for name in shape if name != "max_position_embeddings"}, **NO_DROPOUT)
    if objective == "both ways":
        return BertConfig(**COMMON, **NO_DROPOUT, **SHAPE | dict(hidden_size=48, intermediate_size=192))
    return BertConfig(**COMMON, **NO_DROPOUT, **SHAPE)


def both_ways_model():
    """Two stacks, one for each direction; the loss is the mean of theirs."""
    import keras
    from keras import ops

    from bertlab.models import PreTrainingModel

    class BothWays(keras.Model):
        reads = ("input_ids", "attention_mask", "masked_lm_positions", "backward_ids")

        def __init__(self):
            super().__init__()
            self.forward, self.backward = (PreTrainingModel(config_of("both ways"), next_sentence=False) for _ in "ab")
            self.built = True

        def vectors(self, inputs):
            """Both stacks' vectors of each word, side by side; padding stays where it is."""
            ids, back = inputs["input_ids"], inputs["backward_ids"]
            count = ops.sum(ops.cast(ids > 0, "int32"), axis=1, keepdims=True)
            tokens = ops.shape(ids)[1]
            causal = ops.ones((ops.shape(ids)[0], tokens, tokens), "int32")
            causal = ops.tril(causal)
            one = self.forward.backbone({"input_ids": ids, "attention_mask": causal})["sequence_output"]
            two = self.backward.backbone({"input_ids": back, "attention_mask": causal})["sequence_output"]
            turned = ops.maximum(count - 1 - ops.arange(tokens, dtype="int32"), 0)  # (B, T)
            return ops.concatenate([one, ops.take_along_axis(two, turned[..., None], axis=1)], axis=-1)

        def call(self, inputs, training=False):
            one = dict(inputs)
            back = one.pop("backward_ids")
            places = ops.arange(ops.shape(back)[1] - 1, dtype="int32")
            places = ops.broadcast_to(places, (ops.shape(back)[0], ops.shape(back)[1] - 1))
            two = one | {"input_ids": back, "masked_lm_positions": places}
            return {
                "masked_lm_logits": self.forward(one, training=training)["masked_lm_logits"],
                "backward_logits": self.backward(two, training=training)["masked_lm_logits"],
            }

    return BothWays()


def model_of(objective: str):
    """A new model, the function of its last layer's vectors, and its objectives (None: those of its heads)."""
    from bertlab.models import GeneratorAndDiscriminator, PreTrainingModel
    from bertlab.training.objectives import MaskedLM, Permutation

    if objective == "both ways":
        model = both_ways_model()
        return model, model.vectors, (MaskedLM(), BackwardLM())
    config = config_of(objective)
    if objective == "replaced":
        model = GeneratorAndDiscriminator(config, config.replace(hidden_size=32, num_heads=2, intermediate_size=128))
        backbone, objectives = model.discriminator.backbone, None
    else:
        model = PreTrainingModel(config, next_sentence=False)
        backbone, objectives = model.backbone, (Permutation() if objective == "permutation" else MaskedLM(),)

    def vectors(inputs):
        read = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        return backbone(read)["sequence_output"]

    return model, vectors, objectives


def _backward_objective():
    from bertlab.training.objectives import MaskedLM

    class Backward(MaskedLM):
        name, short_name = "backward_lm", "backwards"
        logits, targets = "backward_logits", ("backward_targets", "backward_weights")

        def labels(self, batch, outputs):
            return batch["backward_targets"]

        def weights(self, batch):
            return batch["backward_weights"]

    return Backward()


def BackwardLM():  # noqa: N802 (made when Keras is loaded)
    return _backward_objective()


ROWS = {
    "masked": masked, "ALBERT": masked, "left to right": next_word_rows, "both ways": both_ways_rows,
    "replaced": replaced_rows, "permutation": ordered_rows,
}  # fmt: skip


# === One run ===


def pretrained(objective: str, seed: int, steps: int):
    """Trains once: a row for each interval, the model and the function of its vectors."""
    import keras
    import tensorflow as tf

    from bertlab.training.recipes.optimizer import muon
    from bertlab.training.recipes.schedule import WarmupLinearDecay
    from bertlab.training.runs.pretrainer import PreTrainer

    keras.utils.set_random_seed(seed)
    model, vectors, objectives = model_of(objective)
    train, _ = ROWS[objective](small_world.sample(1000 + seed, steps * BATCH), seed)
    rows, floor = ROWS[objective](small_world.sample(1, HELD_OUT), 1)
    trainer = PreTrainer(model, objectives=objectives)
    schedule = WarmupLinearDecay(RATE, steps, steps // 10)
    trainer.compile(muon(schedule, trainer, beta_2=0.98), jit_compile=False, steps_per_execution=INTERVAL)
    batches = tf.data.Dataset.from_tensor_slices(train).batch(BATCH, drop_remainder=True)
    evaluated = tf.data.Dataset.from_tensor_slices(rows).batch(HELD_OUT)
    parameters = int(sum(np.prod(weight.shape) for weight in model.trainable_weights))
    results, seconds, start = [], 0.0, time.process_time()

    def measure(epoch: int, logs=None) -> None:
        nonlocal seconds, start
        seconds += time.process_time() - start
        found = trainer.evaluate(evaluated, verbose=0, return_dict=True)
        if objective == "replaced":
            loss, floor_now = found["replaced_token_loss"], unknowing(model, rows)
        else:
            kinds = [found[name] for name in ("masked_lm_loss", "permutation_loss", "backward_lm_loss") if name in found]
            loss, floor_now = float(np.mean(kinds)), floor
        results.append(
            dict(objective=objective, seed=seed, step=(epoch + 1) * INTERVAL, cpu_seconds=round(seconds, 1),
                 loss=round(float(loss), 4), floor=round(float(floor_now), 4), parameters=parameters)
        )  # fmt: skip
        start = time.process_time()

    trainer.fit(
        batches, epochs=steps // INTERVAL, steps_per_epoch=INTERVAL, shuffle=False, verbose=0,
        callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=measure)],
    )  # fmt: skip
    return results, vectors, model


def unknowing(model, rows: dict) -> float:
    """The loss of one who knows only the share of the replaced tokens, which the generator decides."""
    fakes = np.array(model({name: value for name, value in rows.items()})["is_replaced"])[rows["attention_mask"] > 0]
    share = fakes.mean()
    return float(-share * np.log(share) - (1 - share) * np.log(1 - share))


# === The task ===


def senses(seed: int, count: int) -> tuple[list[small_world.Sentence], np.ndarray, np.ndarray]:
    """Sentences with "bank" or "plant": the place of the first one, and 1 for the sense of the town."""
    drawn = [one for one in small_world.sample(seed, 12 * count) if one.homonyms][:count]
    return drawn, np.array([one.homonyms[0] for one in drawn]), np.array([int(one.scene == "town") for one in drawn])


def share_known(sentences: list[small_world.Sentence], places: np.ndarray) -> float:
    """The share of the sentences in which a word before the homonym, or with it, belongs to one scene only."""
    world, scenes = small_world.automaton(), {}
    for number, state in enumerate(world.states):
        for word in np.flatnonzero(world.writes[number]):
            scenes.setdefault(world.words[word], set()).add(state.scene)
    telling = {word for word, of in scenes.items() if len(of) == 1}
    return float(np.mean([bool(telling & set(one.words[:place])) for one, place in zip(sentences, places)]))


def accuracy(vectors, model, objective: str, seed: int, on_top: bool = False) -> float:
    """Fine-tunes everything on the labelled sentences: a linear layer on the homonym's vector."""
    import keras
    from keras import ops

    class Judge(keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder = model
            self.top = keras.layers.Bidirectional(keras.layers.LSTM(32, return_sequences=True)) if on_top else None
            self.head = keras.layers.Dense(2)

        def call(self, inputs):
            x = vectors(inputs)
            if self.top is not None:
                x = self.top(x, mask=inputs["input_ids"] > 0)
            place = ops.reshape(inputs["place"], (-1, 1, 1))
            return self.head(ops.take_along_axis(x, place, axis=1)[:, 0])

    def rows_of(seed: int, count: int):
        sentences, places, labels = senses(seed, count)
        rows = both_ways_rows(sentences, 0)[0] if objective == "both ways" else whole_rows(sentences)
        if objective == "left to right":
            rows = next_word_rows(sentences, 0)[0]
        kept = {name: rows[name] for name in ("input_ids", "attention_mask", "backward_ids") if name in rows}
        return kept | {"place": (places + 1).astype("int32")}, labels

    keras.utils.set_random_seed(seed)
    judge = Judge()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    judge.compile(keras.optimizers.Adam(1e-3, global_clipnorm=1.0), loss, metrics=["accuracy"], jit_compile=False)
    judge.fit(*rows_of(50 + seed, LABELLED), batch_size=20, epochs=EPOCHS, verbose=0)
    return judge.evaluate(*rows_of(2, JUDGED), batch_size=JUDGED, verbose=0)[1]


def run(objective: str, seed: int, steps: int) -> list[dict]:
    """All rows of a run; the last one has the accuracy of the task."""
    import keras

    if objective == "none":
        keras.utils.set_random_seed(seed)
        model, vectors, _ = model_of("masked")
        row = dict(objective="none", seed=seed, step=0, accuracy=round(accuracy(vectors, model, "none", seed), 4))
        print(row, flush=True)
        return [row]
    results, vectors, model = pretrained(objective, seed, steps)
    weights = model.get_weights()
    results[-1]["accuracy"] = round(accuracy(vectors, model, objective, seed), 4)
    print(results[-1], flush=True)
    if objective == "left to right":
        model.set_weights(weights)
        found = round(accuracy(vectors, model, objective, seed, on_top=True), 4)
        results.append(dict(objective="left to right + BiLSTM", seed=seed, step=steps, accuracy=found))
        print(results[-1], flush=True)
    return results


@click.command(help=__doc__)
@click.option("--steps", default=600, show_default=True)
@click.option("--seed", "seeds", multiple=True, type=int, default=[1, 2, 3], show_default=True, help="repeatable")
@click.option("--only", multiple=True, type=click.Choice(["none", *ROWS]), default=["none", *ROWS])
@click.option("--out", type=Path, default=Path("build/small_world_objectives.csv"), show_default=True)
def main(steps: int, seeds: tuple[int], only: tuple[str], out: Path) -> None:
    load_backend()
    sentences, places, _ = senses(2, JUDGED)
    known = share_known(sentences, places)
    print(f"the words before tell the sense in {known:.1%}: the best left-to-right reader has {(1 + known) / 2:.1%}")
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for seed in seeds:
        for objective in only:
            writer.writerows(run(objective, seed, steps))
            write_text(out, text.getvalue())


if __name__ == "__main__":
    main()
