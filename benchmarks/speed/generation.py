"""Measures how fast a left-to-right model continues texts, beside transformers' `generate`, with the same weights.

    python -m benchmarks.speed.generation                                      # 4 × 256: minutes on two cores
    python -m benchmarks.speed.generation --num-layers 12 --hidden-size 768 --rows 1

One GPT-2 with random weights, saved by BertLab and loaded by transformers on PyTorch, in float32 on the processor. Both
take the most likely token and keep keys and values; a first round that compiles is not timed, and the fastest of the
others counts. Both must write the same tokens. BertLab without kept keys reads the whole row again for every token, so
it is measured for a few tokens only. Each side has a process of its own: TensorFlow's waiting threads would slow down
PyTorch's in one process.

Supports: benchmarks/speed/README.md, "Speed of generation".
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from rich.console import Console
from rich.table import Table

PROMPT = 16  # tokens
SIDES = ("bertlab", "bertlab, nothing kept", "transformers")


# === The sides: functions of prompts and the number of new tokens, which return the new tokens ===


def make_model(options, folder: str) -> None:
    """Writes the checkpoint that all sides load."""
    from bertlab import checkpoints
    from bertlab.families import family
    from bertlab.models import PreTrainingModel

    config = family("gpt2").config(
        vocab_size=options.vocab_size, num_layers=options.num_layers, hidden_size=options.hidden_size,
        num_heads=max(1, options.hidden_size // 64), intermediate_size=4 * options.hidden_size,
        max_position_embeddings=PROMPT + max(options.tokens + [options.few]), pad_token_id=0, initializer_range=0.1,
    )  # fmt: skip
    checkpoints.save(PreTrainingModel(config), folder)


def ours(folder: str, cache: bool):
    from bertlab import checkpoints
    from bertlab.generation import GenerationSettings, generate

    model = checkpoints.load(folder, "pretraining")
    return lambda prompts, count: generate(model, prompts, GenerationSettings(max_new_tokens=count, cache=cache))


def theirs(folder: str):
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    model = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    model.generation_config.eos_token_id = None  # no text ends early

    def side(prompts, count):
        ids = torch.tensor(prompts)  # (B, T)
        options = dict(max_new_tokens=count, do_sample=False, pad_token_id=0)
        with torch.no_grad():
            found = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
        return found[:, ids.shape[1] :].tolist()

    return side


# === The contest ===


def cells(options, name: str) -> list[tuple[int, int]]:
    """(rows, new tokens) of every measurement of a side."""
    few, kept = [options.few] * (options.few > 0), [] if name == SIDES[1] else options.tokens
    return [(rows, count) for rows in options.rows for count in few + kept]


def measure(options, name: str) -> list[dict]:
    """The new tokens per second of all rows together, and the tokens, for each cell."""
    side = theirs(options.folder) if name == SIDES[2] else ours(options.folder, cache=name == SIDES[0])
    measured = []
    for rows, count in cells(options, name):
        prompts = np.random.default_rng(rows).integers(1, options.vocab_size, (rows, PROMPT)).tolist()
        seconds = np.inf
        for number in range(options.rounds + 1):
            start = time.perf_counter()
            tokens = side(prompts, count)
            if number:  # the first one compiles
                seconds = min(seconds, time.perf_counter() - start)
        measured.append({"rows": rows, "count": count, "rate": rows * count / seconds, "tokens": tokens})
        print(f"{name}, {rows} rows, {count} new tokens: {measured[-1]['rate']:,.0f}", file=sys.stderr, flush=True)
    return measured


def measured_apart(name: str, folder: str) -> dict[tuple[int, int], dict]:
    """The measurements of a side by (rows, new tokens), made in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.generation", *sys.argv[1:], "--side", name, "--folder", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {(cell["rows"], cell["count"]): cell for cell in json.loads(done.stdout.splitlines()[-1])}


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    found.add_argument("--num-layers", type=int, default=4)
    found.add_argument("--hidden-size", type=int, default=256)
    found.add_argument("--vocab-size", type=int, default=8192)
    found.add_argument("--tokens", type=int, nargs="+", default=[64, 240], help="new tokens of each row")
    found.add_argument("--few", type=int, default=16, help="new tokens where nothing is kept; 0: leave it out")
    found.add_argument("--rows", type=int, nargs="+", default=[1, 8])
    found.add_argument("--rounds", type=int, default=3)
    found.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    found.add_argument("--folder", help=argparse.SUPPRESS)
    return found


def main() -> None:
    options = parser().parse_args()
    if options.side:
        print(json.dumps(measure(options, options.side)))
        return
    table = Table(
        title=f"New tokens per second: {options.num_layers} × {options.hidden_size}, prompts of {PROMPT} tokens"
    )
    for heading in ("rows", "new tokens", *SIDES, "ratio"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        make_model(options, folder)
        found = {name: measured_apart(name, folder) for name in SIDES if cells(options, name)}
    for rows, count in cells(options, SIDES[0]):
        of = {name: cell[rows, count] for name, cell in found.items() if (rows, count) in cell}
        if any(one["tokens"] != of[SIDES[0]]["tokens"] for one in of.values()):
            raise RuntimeError(f"expected the same tokens from all sides for {rows} rows, got different ones")
        rates = [f"{of[name]['rate']:,.0f}" if name in of else "–" for name in SIDES]
        table.add_row(str(rows), str(count), *rates, f"{of[SIDES[0]]['rate'] / of[SIDES[2]]['rate']:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
