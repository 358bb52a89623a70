"""Tokens a second of `bertlab.generation` beside transformers' `generate`: `python -m benchmarks.generation`.

One GPT-2 with random weights, saved by BertLab and loaded by transformers, on the processor. Both take the most likely
token with kept keys and values, in turns, several rounds; the fastest of each counts. Both must write the same tokens.
Without transformers, BertLab is measured alone, with and without kept keys.
"""

import argparse
import sys
import tempfile
import time
from importlib.util import find_spec

import numpy as np
from rich.console import Console
from rich.table import Table

PROMPT = 16


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generation", description=__doc__.split("\n")[0])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--tokens", type=int, nargs="+", default=[32, 64, 128, 256])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    shown = Table(
        "rows", "new tokens", "bertlab", "without kept keys", "transformers", "times", title="Tokens a second"
    )
    with tempfile.TemporaryDirectory() as folder:
        sides = make_sides(options, folder)
        rng = np.random.default_rng(0)
        for rows in options.rows:
            prompts = rng.integers(1, options.vocabulary, (rows, PROMPT)).tolist()
            for count in options.tokens:
                shown.add_row(str(rows), str(count), *measure(sides, prompts, count, options.rounds))
    Console().print(shown)
    return 0


def make_sides(options, folder: str) -> dict:
    """Name → function of prompts and the number of new tokens, which returns the new tokens."""
    from bertlab import checkpoints, families, models
    from bertlab.generation import GenerationSettings, generate

    config = families.family("gpt2").config(
        vocab_size=options.vocabulary, hidden_size=options.hidden, num_layers=options.layers,
        num_heads=options.hidden // 64, intermediate_size=4 * options.hidden, pad_token_id=0, initializer_range=0.1,
    )  # fmt: skip
    model = models.PreTrainingModel(config)
    sides = {
        name: lambda prompts, count, cache=cache: generate(
            model, prompts, GenerationSettings(max_new_tokens=count, cache=cache)
        )
        for name, cache in (("bertlab", True), ("without kept keys", False))
    }
    if find_spec("transformers") and find_spec("torch"):
        checkpoints.save(model, folder)
        sides["transformers"] = transformers_side(folder)
    return sides


def transformers_side(folder: str):
    import torch
    import transformers

    model = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()

    def side(prompts, count):
        ids = torch.tensor(prompts)
        options = dict(max_new_tokens=count, min_new_tokens=count, do_sample=False, pad_token_id=0)
        with torch.no_grad():
            found = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
        return found[:, ids.shape[1] :].tolist()

    return side


def measure(sides: dict, prompts: list, count: int, rounds: int) -> list[str]:
    """A row of the table."""
    seconds, texts = {}, {}
    for number in range(rounds + 1):  # the first compiles
        for name, side in sides.items():
            start = time.perf_counter()
            texts[name] = side(prompts, count)
            if number:
                seconds[name] = min(seconds.get(name, np.inf), time.perf_counter() - start)
    if any(text != texts["bertlab"] for text in texts.values()):
        raise RuntimeError("expected the same tokens from every side, got different ones")
    rates = {name: len(prompts) * count / value for name, value in seconds.items()}
    known = "transformers" in rates
    times = f"{rates['bertlab'] / rates['transformers']:.2f}" if known else "–"
    others = [f"{rates[name]:,.0f}" for name in ("bertlab", "without kept keys")]
    return [*others, f"{rates['transformers']:,.0f}" if known else "not installed", times]


if __name__ == "__main__":
    sys.exit(main())
