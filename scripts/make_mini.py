"""Makes bertlab-mini from arrays of tokens, on one device: a GPU in minutes. Needs JAX, not TensorFlow.

    python -m scripts.make_mini_text ENGLISH NOVELS --out mini-text
    python -m scripts.mini_tokens mini-text --vocabulary mini-text/vocab-12k.txt --out mini-tokens
    KERAS_BACKEND=jax python -m scripts.make_mini mini-tokens --vocabulary mini-text/vocab-12k.txt --out mini-run \
        --steps 22560

The first two commands prepare the text and its tokens. In the third all tokens lie in the device's memory. A program
that is compiled once per kind of row puts rows together, masks them and updates the weights many times before control
returns to Python: with a model as small as this one, a GPU would otherwise wait for its data.

Two kinds of rows take turns (`kinds_of`): one or more sentences of up to 32 tokens; and pairs of segments of up to 128
tokens, of which half are neighbours in the text (next-sentence prediction). Each row starts at a random sentence: first
a source is drawn, by the weights of the mixture (`MIXES`), then a sentence of it. The rate rises, stays and falls
(warm-up, stable, decay); while it falls, the fraction of masked tokens falls from --masked to --masked-at-end. First
weights, rows and masks follow from --seed. --minutes in place of --steps measures the speed first and plans as many
updates as fit. After a kill the same command resumes from the last state. `docs/pretraining.md` shows what it gave.

The layers are BERT's own (post-LN, learned positions, tied output), so that the folder loads wherever a published BERT
does, including a student's model. OUT/bertlab-mini has the model in 16 bits with metrics.csv, the losses of training
rows and of held-out text, and curve.png. OUT/run.json has the settings. On a processor take `bertlab pretrain`.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import keras
import numpy as np

from bertlab import checkpoints
from bertlab.common.files import read_json, write_atomically, write_json
from bertlab.common.progress import track
from bertlab.families import BertConfig
from bertlab.models import PreTrainingModel
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.training.objectives import token_losses, weighted_mean
from bertlab.training.recipes.optimizer import muon
from bertlab.training.runs.curves import METRICS, read_metrics, write_metrics
from scripts.mini_rows import LONGEST, MIXES, Kind, Marks, Text, examples_of, kinds_of, rows_of
from scripts.text_kinds import KINDS

STATE = "state.npz"
UPDATES_PER_CALL = 20
WARMUP, STABLE = 0.03, 0.5  # fractions of the updates; then the rate falls to 0
INTERVALS = 12  # evaluations and saved states
HELD_OUT_ROWS = 512


class Trainer:
    """The model, its optimizer and the compiled programs; `state` has the values of all variables."""

    def __init__(self, model: PreTrainingModel, optimizer, ids: np.ndarray, marks: Marks, kinds: Sequence[Kind]):
        self.model, self.optimizer, self.marks = model, optimizer, marks
        optimizer.build(model.trainable_variables)
        self.rate_index = [v is optimizer._learning_rate for v in optimizer.variables].index(True)
        self.ids = jax.device_put(ids)
        self.frozen = [v.value for v in model.non_trainable_variables]
        self.state = ([v.value for v in model.trainable_variables], [v.value for v in optimizer.variables])
        self.programs: dict = {}
        self.losses = {kind: jax.jit(partial(self._held_out_losses, kind)) for kind in kinds}

    def _loss(self, weights, batch):
        """The loss that is minimised, and [masked-LM loss, next-sentence loss]."""
        inputs = {name: batch[name] for name in self.model.reads if name in batch}
        outputs, _ = self.model.stateless_call(weights, self.frozen, inputs, training=True)
        losses = token_losses(outputs["masked_lm_logits"], batch["masked_lm_ids"])
        masked_lm, pairs = weighted_mean(losses, batch["masked_lm_weights"]), 0.0
        if "next_sentence_labels" in batch:
            pairs = jnp.mean(token_losses(outputs["next_sentence_logits"], batch["next_sentence_labels"]))
        return masked_lm + pairs, jnp.stack([masked_lm, jnp.asarray(pairs, jnp.float32)])

    def _updates(self, kind, state, ids, spans, keys, rates, fractions):
        """One update for each of spans (U, B, 5), keys, rates, fractions (U,). Returns the state and losses (U, 2)."""

        def update(state, given):
            weights, variables = state
            spans, key, rate, fraction = given
            batch = examples_of(rows_of(spans, ids, kind, self.marks), key, fraction, kind, self.marks)
            (_, losses), gradients = jax.value_and_grad(self._loss, has_aux=True)(weights, batch)
            variables = [*variables[: self.rate_index], rate, *variables[self.rate_index + 1 :]]
            weights, variables = self.optimizer.stateless_apply(variables, gradients, weights)
            return (weights, variables), losses

        return jax.lax.scan(update, state, (spans, keys, rates, fractions))

    def _held_out_losses(self, kind, weights, ids, spans, key):
        batch = examples_of(rows_of(spans, ids, kind, self.marks), key, 0.15, kind, self.marks)
        return self._loss(weights, batch)[1]

    def compile(self) -> None:
        """Compiles the updates of all kinds of rows at the same time."""

        def lowered_program(kind: Kind):
            spans = jax.ShapeDtypeStruct((UPDATES_PER_CALL, kind.rows, 5), jnp.int32)
            keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), UPDATES_PER_CALL))
            numbers = jax.ShapeDtypeStruct((UPDATES_PER_CALL,), jnp.float32)
            program = jax.jit(partial(self._updates, kind), donate_argnums=0)
            return program.lower(self.state, self.ids, spans, keys, numbers, numbers)

        used = [kind for kind in self.losses if kind.share]
        lowered = {kind: lowered_program(kind) for kind in used}  # Keras's scopes are not made for threads
        with ThreadPoolExecutor() as pool:
            programs = pool.map(lambda each: each.compile(), lowered.values())
            self.programs = dict(zip(lowered, programs))

    def update(self, kind: Kind, spans: np.ndarray, key, rates: np.ndarray, fractions: np.ndarray):
        """Updates the state; returns the losses, which may still be in computation."""
        keys = jax.random.split(key, len(rates))
        self.state, losses = self.programs[kind](self.state, self.ids, spans, keys, rates, fractions)
        return losses

    def finish(self) -> PreTrainingModel:
        """A model with the trained weights, and with BERT's own dropout for fine-tuning: text is hardly seen twice,
        labelled rows are (Geiping and Goldstein 2023, "Cramming", section 4)."""
        config = self.model.config.replace(hidden_dropout=0.1, attention_dropout=0.1)
        model = PreTrainingModel(config)
        for variable, value in zip(model.trainable_variables, self.state[0]):
            variable.assign(value)
        return model


@dataclass(frozen=True)
class Plan:
    """The rates, masks and rows of each update; updates are counted from 0.

    kinds: as `kinds_of` returns them. stable: the fraction of the updates in which the rate is highest, after `WARMUP`
    and before it falls.
    """

    kinds: tuple[Kind, ...]
    steps: int
    rate: float
    masked: float
    masked_at_end: float
    stable: float = STABLE

    @property
    def calls(self) -> int:
        return -(-self.steps // UPDATES_PER_CALL)

    def numbers(self, call: int) -> np.ndarray:
        return np.arange(call * UPDATES_PER_CALL, (call + 1) * UPDATES_PER_CALL)

    def rates(self, numbers: np.ndarray) -> np.ndarray:
        done = numbers / (self.calls * UPDATES_PER_CALL)
        rising, falling = (done + 1 / self.steps) / WARMUP, (1 - done) / (1 - WARMUP - self.stable)
        return (self.rate * np.clip(np.minimum(rising, falling), 0, 1)).astype(np.float32)

    def fractions(self, numbers: np.ndarray) -> np.ndarray:
        falling = np.clip((1 - numbers / self.steps) / (1 - WARMUP - self.stable), 0, 1)
        return (self.masked_at_end + (self.masked - self.masked_at_end) * falling).astype(np.float32)

    def kind(self, call: int) -> Kind:
        """The kinds take turns so that each gets its fraction of any number of calls."""
        short, long, *others = self.kinds
        for other in others:
            before, after = int(call * other.share), int((call + 1) * other.share)
            if after > before:
                return other
            call -= before
        share = short.share / (short.share + long.share)
        return short if int((call + 1) * share) > int(call * share) else long


def train(trainer: Trainer, text: Text, held_out: "HeldOut", plan: Plan, options) -> None:
    """All updates of a plan, with states and metrics; from the last state, if there is one."""
    state, metrics = options.out / STATE, options.out / METRICS
    first = load_state(trainer, state)
    rows = [row for row in read_metrics(metrics) if row["step"] <= first * UPDATES_PER_CALL] if first else []
    before = rows[-1]["seconds"] if rows else 0.0
    every, losses, began = max(1, plan.calls // INTERVALS), {kind: [] for kind in plan.kinds}, time.monotonic()
    for call in track(range(first, plan.calls), "Training", lines=True):
        losses[plan.kind(call)].append(updated(trainer, text, plan, call, options.seed))
        if (call + 1) % every and call + 1 < plan.calls:
            continue
        step = (call + 1) * UPDATES_PER_CALL
        row = {"step": step} | means(losses) | evaluate(trainer, held_out)
        row["seconds"] = before + time.monotonic() - began
        row["tokens"] = (step - (rows[-1]["step"] if rows else 0)) * options.tokens_per_update
        if not np.isfinite(row["loss"]):
            sys.exit(f"update {step}: expected a finite loss, got {row['loss']}; choose a lower --learning-rate")
        rows.append(row)
        write_metrics(metrics, rows)
        if not options.no_states:
            save_state(trainer, state, call + 1)
        losses = {kind: [] for kind in plan.kinds}


def updated(trainer: Trainer, text: Text, plan: Plan, call: int, seed: int):
    """Makes the updates of a call; returns their losses."""
    kind, numbers = plan.kind(call), plan.numbers(call)
    spans = text.spans(kind, np.random.default_rng([seed, call]), kind.rows * UPDATES_PER_CALL)
    key = jax.random.fold_in(jax.random.key(seed), call)
    return trainer.update(kind, in_batches(spans, kind), key, plan.rates(numbers), plan.fractions(numbers))


def in_batches(spans: np.ndarray, kind: Kind) -> np.ndarray:
    """(U · B, 5) → (U, B, 5)."""
    return spans.reshape(UPDATES_PER_CALL, kind.rows, 5)


def means(losses: dict) -> dict:
    """Means of the training losses since the last time: of all rows, and of the pairs' labels."""
    short, long = (np.concatenate([np.zeros((0, 2)), *map(np.asarray, each)]) for each in losses.values())
    both = np.concatenate([short, long])
    found = {"masked_lm_loss": both[:, 0].mean(), "next_sentence_loss": long[:, 1].mean() if len(long) else 0.0}
    return {"loss": float(sum(found.values()))} | {name: float(value) for name, value in found.items()}


def evaluate(trainer: Trainer, held_out: "HeldOut") -> dict:
    """The losses of held-out text of each kind of text, at 15 % masked, the same rows and masks every time."""
    found, key, weights = {}, jax.random.key(0), trainer.state[0]
    for name, spans in held_out.spans.items():
        sums = [np.asarray(trainer.losses[kind](weights, held_out.ids, spans[kind], key)) for kind in trainer.losses]
        found[f"val_masked_lm_loss_{name}"] = float(np.mean([each[0] for each in sums]))
        found[f"val_next_sentence_loss_{name}"] = float(sums[-1][1])
    return found | {"val_masked_lm_loss": float(np.mean([v for n, v in found.items() if "masked" in n]))}


class HeldOut:
    """The tokens of all held-out text, and for each kind of text that is there, and of row, `HELD_OUT_ROWS` spans."""

    def __init__(self, folder: Path, mix: dict, kinds: Sequence[Kind]):
        ids, self.spans = [], {}
        for name in mix:
            if not any((folder / f"{source}.npz").is_file() for source in KINDS[name]):
                continue
            text = Text(folder, {name: 1.0})
            spans = {kind: text.spans(kind, np.random.default_rng(0), HELD_OUT_ROWS) for kind in kinds}
            for each in spans.values():
                each[:, [0, 2]] += sum(map(len, ids))
            self.spans[name] = spans
            ids.append(text.ids)
        if not ids:
            sys.exit(f"{folder}: expected the arrays of held-out text that `python -m scripts.mini_tokens` writes")
        self.ids = jax.device_put(np.concatenate(ids))


# === Saving ===


def save_state(trainer: Trainer, path: Path, calls: int) -> None:
    weights, variables = trainer.state
    arrays = {f"weight{i}": np.asarray(v) for i, v in enumerate(weights)}
    arrays |= {f"variable{i}": np.asarray(v) for i, v in enumerate(variables)}

    def write(partial_path: Path):
        with partial_path.open("wb") as file:
            np.savez(file, calls=calls, **arrays)

    write_atomically(path, write)


def load_state(trainer: Trainer, path: Path) -> int:
    """Puts back a saved state; the number of calls that it has done, 0 without one."""
    if not path.is_file():
        return 0
    with np.load(path) as arrays:
        weights, variables = trainer.state
        trainer.state = ([jnp.asarray(arrays[f"weight{i}"]) for i in range(len(weights))],
                         [jnp.asarray(arrays[f"variable{i}"]) for i in range(len(variables))])  # fmt: skip
        return int(arrays["calls"])


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    result.add_argument("tokens", type=Path, help="folder of `scripts.mini_tokens`")
    result.add_argument("--vocabulary", type=Path, required=True, help="the vocab.txt that made the tokens")
    result.add_argument("--out", type=Path, required=True, help="folder of the run")
    length = result.add_mutually_exclusive_group(required=True)
    length.add_argument("--steps", type=int, help="updates")
    length.add_argument("--minutes", type=float, help="train as many updates as fit into this time")
    result.add_argument("--tokens-per-update", type=int, default=65_536, help="places for tokens in a batch")
    result.add_argument("--layers", type=int, default=4, help="layers of the model")
    result.add_argument("--mix", choices=list(MIXES), default="standard", help="mixture of the text")
    result.add_argument("--learning-rate", type=float, default=2e-3, help="the highest rate")
    result.add_argument("--weight-decay", type=float, default=0.05, help="decoupled weight decay")
    result.add_argument("--masked", type=float, default=0.3, help="fraction of the tokens that is predicted")
    result.add_argument("--masked-at-end", type=float, default=0.15, help="the same when the rate reaches 0")
    result.add_argument("--precision", choices=("float32", "bfloat16"), default="bfloat16", help="of the products")
    result.add_argument("--seed", type=int, default=1, help="seed of weights, rows and masks")
    result.add_argument("--no-states", action="store_true", help="do not save states to resume from")
    return result


def config_of(vocab_size: int, layers: int, hidden: int = 256) -> BertConfig:
    """The configuration in pre-training: heads of 64 dimensions, no dropout."""
    return BertConfig(
        vocab_size=vocab_size, num_layers=layers, hidden_size=hidden, num_heads=hidden // 64,
        intermediate_size=4 * hidden, max_position_embeddings=LONGEST, hidden_dropout=0.0, attention_dropout=0.0,
        initializer_range=0.02 * (768 / hidden) ** 0.5,
    )  # fmt: skip


def new_model(options, vocabulary: Vocabulary) -> PreTrainingModel:
    keras.utils.set_random_seed(options.seed)
    dtype = "float32" if options.precision == "float32" else "mixed_bfloat16"
    return PreTrainingModel(config_of(len(vocabulary), options.layers), dtype=dtype)


def measured_plan(trainer: Trainer, text: Text, plan: Plan, seconds: float) -> Plan:
    """The plan for as many updates as fit into `seconds`, by the time of a few of each kind; undoes those."""
    kept, needed = jax.tree.map(jnp.copy, trainer.state), 0.0
    rng, zeros = np.random.default_rng(0), np.zeros(UPDATES_PER_CALL, np.float32)
    for kind in plan.kinds:
        for _ in range(3):  # the first one is slower
            begin = time.monotonic()
            spans = in_batches(text.spans(kind, rng, kind.rows * UPDATES_PER_CALL), kind)
            jax.block_until_ready(trainer.update(kind, spans, jax.random.key(0), zeros, zeros + np.float32(0.15)))
            print(f"rows of {kind.tokens}: {time.monotonic() - begin:.2f} s for {UPDATES_PER_CALL} updates", flush=True)
        needed += kind.share * (time.monotonic() - begin) / UPDATES_PER_CALL
    trainer.state = kept
    return replace(plan, steps=max(UPDATES_PER_CALL, int(seconds / needed)))


def settings_of(options) -> dict:
    """The options that decide the result, beside the number of updates."""
    values = {name: value for name, value in vars(options).items() if name not in ("minutes", "steps", "no_states")}
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def planned(trainer: Trainer, text: Text, kinds: tuple[Kind, Kind], options, began: float) -> Plan:
    """The plan of a run: that of run.json if it was started before. Exits if that was with other options."""
    file, settings = options.out / "run.json", settings_of(options)
    plan = Plan(kinds, options.steps or 1, options.learning_rate, options.masked, options.masked_at_end)
    if file.is_file():
        known = read_json(file)
        given = settings if options.minutes else settings | {"steps": options.steps}
        for name, value in given.items():
            if known[name] != value:
                sys.exit(f"{file}: expected {name} {known[name]}, got {value}; give the same options or another --out")
        return replace(plan, steps=known["steps"])
    if options.minutes:
        plan = measured_plan(trainer, text, plan, 60 * options.minutes - (time.monotonic() - began))
    write_json(file, settings | {"steps": plan.steps, "device": jax.devices()[0].device_kind})
    return plan


def draw(rows: list[dict], path: Path) -> None:
    """The losses of held-out text along the tokens that were read."""
    from bertlab.plots import new_figure

    read = np.cumsum([row["tokens"] for row in rows]) / 1e6
    figure, axes = new_figure(11.0, 4.2, columns=2)
    for panel, what, title in zip(axes, ("masked_lm", "next_sentence"), ("masked tokens", "next sentence")):
        start = f"val_{what}_loss_"
        for name in filter(lambda name: name.startswith(start), rows[0]):
            panel.plot(read, [row[name] for row in rows], label=name.removeprefix(start))
        panel.set(title=f"Loss of held-out text: {title} (nats)", xlabel="million places for tokens")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    began, options = time.monotonic(), parser().parse_args()
    vocabulary = Vocabulary.from_file(options.vocabulary)
    mix, kinds, folder = MIXES[options.mix], kinds_of(options.tokens_per_update), options.out / "bertlab-mini"
    text, model = Text(options.tokens / "train", mix), new_model(options, vocabulary)
    optimizer = muon(options.learning_rate, model, weight_decay=options.weight_decay)
    trainer = Trainer(model, optimizer, text.ids, Marks.of(vocabulary), kinds)
    trainer.compile()
    print(f"compiled after {time.monotonic() - began:.0f} s", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    plan = planned(trainer, text, kinds, options, began)
    print(f"{plan.calls * UPDATES_PER_CALL} updates of {options.tokens_per_update:,} tokens", flush=True)
    train(trainer, text, HeldOut(options.tokens / "held_out", mix, kinds), plan, options)
    checkpoints.save(trainer.finish(), folder, WordPieceTokenizer(vocabulary), dtype="float16")
    rows = read_metrics(options.out / METRICS)
    write_metrics(folder / METRICS, rows)
    draw(rows, folder / "curve.png")
    print(f"{folder} after {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
