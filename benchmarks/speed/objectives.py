"""Measures how fast a training step of each objective is, beside transformers on PyTorch, on the same shapes.

    python -m benchmarks.speed.objectives                   # 2 × 128, 16 rows of 128 tokens: minutes on two cores
    python -m benchmarks.speed.objectives --num-layers 4 --hidden-size 256 --compile

Each measurement has a process of its own, one after the other, `--rounds` times; the table shows the best of each.
Every one is printed and written to the CSV file --out at once; the same command resumes, and a larger `--rounds` adds
to it. Both have the same rows, sizes, dropout (none) and optimizer (AdamW, the global norm clipped to 1), in float32.
Ours predicts at the masked positions only and is compiled with XLA; transformers' models compute their heads at all
positions, except its XLNet, which has two streams too. Its ELECTRA step is written here from its two models, as it has
none: shared embeddings, guesses drawn from the softmax.

Supports: benchmarks/speed/README.md, "Speed of each objective's training step".
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.speed.pretrain import random_rows
from benchmarks.speed.pretrain_worker import Job, fit, train_in_torch
from benchmarks.training.objectives import CONTENDERS
from bertlab.common.files import write_text
from bertlab.data.pretraining.collators import DrawOrder
from bertlab.families import family

STEPS = 20
GENERATOR_WIDTH = 0.25
SIDES = ("ours", "theirs")
SIZES = ("num_layers", "hidden_size", "length", "batch_size", "vocab_size", "steps")
COLUMNS = (*SIZES, "compile", "objective", "side", "round", "tokens_per_second")


def config_of(name: str, options):
    """The configuration of an objective's family, of the given sizes."""
    hidden = options.hidden_size
    sizes = dict(
        vocab_size=options.vocab_size, num_layers=options.num_layers, hidden_size=hidden,
        num_heads=max(1, hidden // 64), intermediate_size=4 * hidden, max_position_embeddings=options.length,
        hidden_dropout=0.0, attention_dropout=0.0,
    )  # fmt: skip
    return family(CONTENDERS[name].family).config(**sizes, **CONTENDERS[name].config)


# === Ours ===


def ours(name: str, job: Job) -> dict:
    from bertlab.models.replaced_tokens import generator_config_of
    from bertlab.training.objectives import objectives_for
    from bertlab.training.recipes.optimizer import adamw
    from bertlab.training.runs.models import new_model
    from bertlab.training.runs.pretrainer import PreTrainer

    generator = generator_config_of(job.config, GENERATOR_WIDTH) if name == "replaced" else None
    objectives = objectives_for(
        job.config, CONTENDERS[name].pairs, CONTENDERS[name].pairs, replaced_tokens=generator is not None
    )
    trainer = PreTrainer(new_model(job.config, objectives, "float32", generator), objectives=objectives)
    optimizer = adamw(1e-4, trainer, weight_decay=0.01, global_clipnorm=1.0)
    trainer.compile(optimizer, jit_compile=True, steps_per_execution=10)
    return fit(job, trainer, lambda batch: batch)


# === transformers ===


def theirs(name: str, job: Job, compile: bool) -> dict:
    import transformers

    config = transformers.AutoConfig.for_model(**job.config.to_huggingface())
    if name == "replaced":
        return train_in_torch(job, pair_loss, pair_of(job.config), compile)
    if name == "permutation":
        return train_in_torch(job, permutation_loss, transformers.XLNetLMHeadModel(config), compile)
    its_class = transformers.AlbertForPreTraining if CONTENDERS[name].pairs else transformers.BertForMaskedLM

    def loss_of(model, batch):
        inputs = {key: batch[key] for key in ("input_ids", "attention_mask", "token_type_ids", "labels")}
        if CONTENDERS[name].pairs:
            inputs["sentence_order_label"] = batch["next_sentence_labels"]
        return model(**inputs).loss

    return train_in_torch(job, loss_of, its_class(config), compile)


def permutation_loss(model, batch):
    """The loss of XLNet: perm_mask hides what comes later in the order, as in tests/peers/test_xlnet_peers.py."""
    import torch

    order, positions = batch["order_ids"], batch["masked_lm_positions"]  # (B, T), (B, P)
    target = order > 0
    sees = (order[:, None, :] < order[:, :, None]) | ~(target[:, None, :] | target[:, :, None])  # (B, T, T)
    return model(
        batch["input_ids"],
        attention_mask=batch["attention_mask"].float(),
        token_type_ids=batch["token_type_ids"],
        perm_mask=1.0 - sees.float(),
        target_mapping=torch.nn.functional.one_hot(positions, order.shape[1]).float(),  # (B, P, T)
        labels=batch["masked_lm_ids"].masked_fill(batch["masked_lm_weights"] == 0, -100),
    ).loss


def pair_of(config):
    """Both models of transformers, with the same embeddings."""
    import torch
    import transformers

    from bertlab.models.replaced_tokens import generator_config_of

    configs = [config, generator_config_of(config, GENERATOR_WIDTH)]
    configs = [transformers.AutoConfig.for_model(**one.to_huggingface()) for one in configs]
    discriminator = transformers.ElectraForPreTraining(configs[0])
    generator = transformers.ElectraForMaskedLM(configs[1])
    generator.electra.embeddings = discriminator.electra.embeddings
    generator.generator_lm_head.weight = discriminator.electra.embeddings.word_embeddings.weight
    return torch.nn.ModuleList([discriminator, generator])


def pair_loss(pair, batch):
    import torch

    discriminator, generator = pair
    labels = batch["labels"]  # (B, T), −100 where nothing is predicted
    masked = torch.where(labels >= 0, 4, batch["input_ids"])
    others = {name: batch[name] for name in ("attention_mask", "token_type_ids")}
    guessed = generator(input_ids=masked, labels=labels, **others)
    with torch.no_grad():
        noise = -torch.log(-torch.log(torch.rand_like(guessed.logits).clamp_min(1e-9)))
        drawn = torch.where(labels >= 0, (guessed.logits + noise).argmax(-1), batch["input_ids"])
    replaced = (drawn != batch["input_ids"]).long()
    return guessed.loss + 50 * discriminator(input_ids=drawn, labels=replaced, **others).loss


# === The contest ===


def measure(side: str, name: str, rows: Path, options) -> float:
    """Tokens per second, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.objectives", "--worker", side, name, str(rows)]
    for option in SIZES:
        command += [f"--{option.replace('_', '-')}", str(getattr(options, option))]
    command += ["--compile"] if options.compile else []
    environment = os.environ | {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{side}, {name}:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])["tokens_per_second"]


def work(options) -> None:
    side, name, path = options.worker
    rows = dict(np.load(path))
    if name == "permutation":
        rows = DrawOrder()(rows, 0)
    elif side == "ours" and not CONTENDERS[name].pairs:
        del rows["next_sentence_labels"]
    job = Job(rows, config_of(name, options), "float32", options.batch_size, options.steps)
    print(json.dumps(ours(name, job) if side == "ours" else theirs(name, job, options.compile)))


class Results:
    """The measurements of a CSV file, which is written again after each: tokens per second, by all other columns."""

    def __init__(self, path: Path):
        self.path, self.rates = path, {}
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.rates = {tuple(row[name] for name in COLUMNS[:-1]): float(row[COLUMNS[-1]]) for row in rows}

    def rate(self, side: str, name: str, number: int, rows: Path, options) -> float:
        """Tokens per second of a round, measured unless the file has it."""
        compiled = options.compile and side == "theirs"
        key = tuple(str(value) for value in (*(getattr(options, size) for size in SIZES), compiled, name, side, number))
        if key not in self.rates:
            self.rates[key] = round(measure(side, name, rows, options), 1)
            self._write()
        print(f"{name}, {side}, round {number}: {self.rates[key]:,.0f} tokens/s", flush=True)
        return self.rates[key]

    def _write(self) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([COLUMNS, *((*key, rate) for key, rate in self.rates.items())])
        write_text(self.path, text.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/objectives_speed.csv"), help="CSV file, resumed")
    parser.add_argument("--num-layers", type=int, default=2)
    parser.add_argument("--hidden-size", type=int, default=128)
    parser.add_argument("--vocab-size", type=int, default=4096)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--steps", type=int, default=STEPS, help="timed steps in a round, a multiple of 10")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--compile", action="store_true", help="compile transformers' step with torch.compile")
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--worker", nargs=3, metavar=("SIDE", "OBJECTIVE", "ROWS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    table = Table(title=f"Tokens/s of a training step: {options.num_layers} × {options.hidden_size}, "
                  f"{options.batch_size} rows of {options.length} tokens")  # fmt: skip
    for heading in ("objective", "bertlab", "transformers" + (", compiled" if options.compile else ""), "ratio"):
        table.add_column(heading, justify="left" if heading == "objective" else "right")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    results = Results(options.out)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, **random_rows(options.batch_size * (options.steps + 10), options.length, options.vocab_size))
        for name in options.only:
            rounds = range(1, options.rounds + 1)
            found = [[results.rate(side, name, number, path, options) for side in SIDES] for number in rounds]
            best = np.max(found, axis=0)
            table.add_row(CONTENDERS[name].title, *(f"{rate:,.0f}" for rate in best), f"{best[0] / best[1]:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
