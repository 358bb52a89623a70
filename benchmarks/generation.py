"""How fast does a left-to-right model continue texts, beside transformers' `generate`, with the same weights?

    python -m benchmarks.generation                                      # 4 × 256: minutes on two cores
    python -m benchmarks.generation --num-layers 12 --hidden-size 768 --rows 1

One GPT-2 with random weights, saved by BertLab and loaded by transformers on PyTorch, in float32 on the processor. Both
take the most likely token and keep keys and values, in turns; a first round that compiles is not timed, and the fastest
of the others counts. Both must write the same tokens. BertLab without kept keys reads the whole row again for every
token, so it is measured for a few tokens only, beside both others.
"""

import argparse
import os
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


def sides_of(options, folder: str) -> dict:
    from bertlab import checkpoints
    from bertlab.families import family
    from bertlab.generation import GenerationSettings, generate
    from bertlab.models import PreTrainingModel

    config = family("gpt2").config(
        vocab_size=options.vocab_size, num_layers=options.num_layers, hidden_size=options.hidden_size,
        num_heads=max(1, options.hidden_size // 64), intermediate_size=4 * options.hidden_size,
        max_position_embeddings=PROMPT + max(options.tokens + [options.few]), pad_token_id=0, initializer_range=0.1,
    )  # fmt: skip
    model = PreTrainingModel(config)
    checkpoints.save(model, folder)

    def ours(cache: bool):
        return lambda prompts, count: generate(model, prompts, GenerationSettings(max_new_tokens=count, cache=cache))

    return dict(zip(SIDES, (ours(True), ours(False), theirs(folder))))


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


def measure(sides: dict, prompts: list, count: int, rounds: int) -> dict[str, float]:
    """New tokens per second of each side, of all rows together. Raises RuntimeError if the sides' tokens differ."""
    seconds, texts = dict.fromkeys(sides, np.inf), {}
    for number in range(rounds + 1):
        for name, side in sides.items():
            start = time.perf_counter()
            texts[name] = side(prompts, count)
            if number:  # the first one compiles
                seconds[name] = min(seconds[name], time.perf_counter() - start)
    for name, text in texts.items():
        if text != texts["bertlab"]:
            raise RuntimeError(f"expected the same tokens from bertlab and {name}, got different ones")
    return {name: len(prompts) * count / value for name, value in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-layers", type=int, default=4)
    parser.add_argument("--hidden-size", type=int, default=256)
    parser.add_argument("--vocab-size", type=int, default=8192)
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 240], help="new tokens of each row")
    parser.add_argument("--few", type=int, default=16, help="new tokens where nothing is kept; 0: leave it out")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    title = f"New tokens per second: {options.num_layers} × {options.hidden_size}, prompts of {PROMPT} tokens"
    table = Table(title=title)
    for heading in ("rows", "new tokens", *SIDES, "ratio"):
        table.add_column(heading, justify="right")
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        sides = sides_of(options, folder)
        kept = {name: side for name, side in sides.items() if name != SIDES[1]}
        for rows in options.rows:
            prompts = rng.integers(1, options.vocab_size, (rows, PROMPT)).tolist()
            for count in [options.few] * (options.few > 0) + options.tokens:
                rates = measure(sides if count == options.few else kept, prompts, count, options.rounds)
                cells = [f"{rates[name]:,.0f}" if name in rates else "–" for name in SIDES]
                cells.append(f"{rates['bertlab'] / rates['transformers']:.2f}")
                print(f"{rows} rows, {count} new tokens: {' | '.join(cells)}", flush=True)
                table.add_row(str(rows), str(count), *cells)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
