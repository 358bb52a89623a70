"""Measures how fast a pre-training step is, beside transformers on PyTorch and keras-hub, on the same work.

    python -m benchmarks.speed.pretrain                            # 4 × 256, 128 tokens, float32: two CPU cores
    python -m benchmarks.speed.pretrain --size base --batch-size 256 --precision bfloat16        # a GPU
    python -m benchmarks.speed.pretrain --documents builtin        # real documents: our packing against their padding

The same batches, sizes, dropout, optimizer (AdamW, weight decay 0.01, global norm clipped to 1) and precision for all,
each in a process of its own, one after the other, `--rounds` times; the table shows the best round of each. Rows are
padded as the published procedure pads them (one in ten is short). Tokens are counted without padding. The fraction of
the peak is that of the fastest matrix product that any of the frameworks reached on this machine, in this precision.

Supports: benchmarks/speed/README.md, "A pre-training step on a processor, with large pages of memory".
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bertlab.common.large_pages import with_large_pages
from bertlab.config import SIZES, BertConfig
from bertlab.data.pretraining.examples import make_examples
from bertlab.data.pretraining.settings import ExampleSettings

SHORT_ROWS = 0.1


@dataclass(frozen=True)
class Contender:
    """title: in the table. backend: of Keras, where it is Keras. packed: takes the packed rows where there are any."""

    title: str
    backend: str | None = None
    packed: bool = False


CONTENDERS = {
    "bertlab-tensorflow": Contender("bertlab, TensorFlow + XLA", "tensorflow", packed=True),
    "bertlab-jax": Contender("bertlab, JAX", "jax", packed=True),
    "bertlab-torch": Contender("bertlab, PyTorch", "torch", packed=True),
    "bertlab-torch-compiled": Contender("bertlab, PyTorch compiled by Keras", "torch", packed=True),
    "transformers-trainer": Contender("transformers, PyTorch compiled, all positions"),
    "transformers-tuned": Contender("transformers, PyTorch compiled, SDPA, masked positions"),
    "keras-hub": Contender("keras-hub MaskedLM, TensorFlow + XLA (no next sentence)", "tensorflow"),
}


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """The options that define a step's computation."""
    parser.add_argument("--size", choices=SIZES, help="a named size instead of --num-layers and --hidden-size")
    parser.add_argument("--num-layers", type=int, default=4)
    parser.add_argument("--hidden-size", type=int, default=256)
    parser.add_argument("--vocab-size", type=int, default=30522)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")


def config_of(options) -> BertConfig:
    """A named size, or --layers × --hidden; vocabulary and dropout from the options."""
    sizes = {"vocab_size": options.vocab_size, "hidden_dropout": options.dropout, "attention_dropout": options.dropout}
    if options.size:
        return BertConfig.named(options.size, **sizes)
    hidden = options.hidden_size
    return BertConfig(num_layers=options.num_layers, hidden_size=hidden, num_heads=hidden // 64,
                      intermediate_size=4 * hidden, **sizes)  # fmt: skip


# === The rows ===


def random_rows(number: int, length: int, vocab_size: int) -> dict[str, np.ndarray]:
    """Rows of random tokens with the shapes, masks and short rows of the published procedure."""
    rng = np.random.default_rng(0)
    predictions = max(1, round(0.15 * length))
    short = rng.random(number) < SHORT_ROWS
    lengths = np.where(short, rng.integers(2, length + 1, number), length)  # (N,)
    mask = (np.arange(length) < lengths[:, None]).astype("int32")  # (N, T)
    ids = rng.integers(1000, vocab_size, (number, length)).astype("int32") * mask
    order = np.argsort(np.where(mask == 1, rng.random((number, length)), 2.0), axis=1)[:, :predictions]
    positions = np.sort(order, axis=1).astype("int32")  # (N, P), among the tokens that are there
    weights = (positions < lengths[:, None]) & (np.arange(predictions) < np.maximum(1, 0.15 * lengths)[:, None])
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": (np.arange(length) >= lengths[:, None] // 2).astype("int32") * mask,
        "masked_lm_positions": positions * weights,
        "masked_lm_ids": np.take_along_axis(ids, positions, axis=1) * weights,
        "masked_lm_weights": weights.astype("float32"),
        "next_sentence_labels": rng.integers(0, 2, number).astype("int32"),
    }


def rows_of_documents(source: str, length: int, packing: bool, number: int) -> tuple[dict[str, np.ndarray], int]:
    """The first rows that are made of real documents, packed or padded, and the size of their vocabulary.

    Running text without pairs, as only that can be packed; the next-sentence heads, which all models have, get labels
    that mean nothing, so that everybody computes the same.
    """
    from itertools import islice

    from bertlab.data.corpus.build import DOCUMENTS, ensure_corpus
    from bertlab.data.documents import load_documents
    from bertlab.demo.stages import sentences
    from bertlab.tokenizers.wordpiece import WordPieceTokenizer
    from bertlab.tokenizers.wordpiece.learner import learn_vocabulary

    path = str(ensure_corpus() / DOCUMENTS) if source == "builtin" else source
    documents = list(islice(load_documents(path), 1500))
    tokenizer = WordPieceTokenizer(learn_vocabulary(sentences(documents), 8000, progress=False))
    settings = ExampleSettings(sequence_length=length, duplicate_factor=1, next_sentence=False, packing=packing)
    rows = make_examples(documents, tokenizer, settings)
    rows["next_sentence_labels"] = np.zeros(len(rows["input_ids"]), "int32")
    return {name: values[:number] for name, values in rows.items()}, len(tokenizer.vocabulary)


# === The contest ===


def measure(name: str, rows: Path, config: Path, options) -> dict:
    """The measurements of one package, in a separate process."""
    environment = with_large_pages(dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3"))
    if CONTENDERS[name].backend:
        environment["KERAS_BACKEND"] = CONTENDERS[name].backend
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed.pretrain_worker",
        name,
        str(rows),
        str(config),
        options.precision,
    ]
    command += [str(options.batch_size), str(options.steps)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{name} failed:\n{result.stderr[-3000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def best(measurements: list[dict]) -> dict:
    """The round with the most tokens per second; the quickest compilation of all of them."""
    fastest = max(measurements, key=lambda one: one["tokens_per_second"])
    return {**fastest, "compile_seconds": min(one["compile_seconds"] for one in measurements)}


def table(found: dict[str, dict], title: str) -> Table:
    shown = Table(title=title)
    for heading in ("", "real tokens/s", "× compiled default", "× tuned", "of the peak", "peak memory", "compiling"):
        shown.add_column(heading, justify="left" if not heading else "right")
    peak = max(one["peak_flops"] for one in found.values())
    rates = {name: one["tokens_per_second"] for name, one in found.items()}
    for name, one in found.items():
        ratios = [
            f"{rates[name] / rates[other]:.2f}" if other in rates else "–"
            for other in ("transformers-trainer", "transformers-tuned")
        ]
        shown.add_row(
            CONTENDERS[name].title, f"{rates[name]:,.0f}", *ratios, f"{one['flops_per_second'] / peak:.0%}",
            f"{one['memory_mb']:,.0f} MB", f"{one['compile_seconds']:.0f} s",
        )  # fmt: skip
    shown.caption = f"matrix product: {peak / 1e9:,.0f} GFLOP/s; {next(iter(found.values()))['device']}"
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sizes(parser)
    parser.add_argument("--steps", type=int, default=40, help="timed steps in a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--documents", help="'builtin' or a text file: packing against padding on real documents")
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        files = write_rows(Path(folder), options)
        config = config_of(options)
        config.save(Path(folder) / "config.json")
        found = {name: [] for name in options.only}
        for number in range(options.rounds):
            for name in options.only:
                Console(stderr=True).print(f"round {number + 1}: {CONTENDERS[name].title} …")
                rows = files[CONTENDERS[name].packed]
                found[name].append(measure(name, rows, Path(folder) / "config.json", options))
    found = {name: best(measurements) for name, measurements in found.items()}
    if options.json:
        print(json.dumps(found, indent=1))
    title = f"{config.num_layers} × {config.hidden_size}, {options.length} tokens, batch {options.batch_size}, "
    title += f"vocabulary {config.vocab_size:,}, {options.precision}, dropout {options.dropout}"
    Console(width=140).print(table(found, title + (f", documents: {options.documents}" if options.documents else "")))


def write_rows(folder: Path, options) -> dict[bool, Path]:
    """The rows of a round for those who pack and for those who do not; the same ones without --documents."""
    number = options.batch_size * (options.steps + 1)
    if not options.documents:
        np.savez(folder / "rows.npz", **random_rows(number, options.length, options.vocab_size))
        return {True: folder / "rows.npz", False: folder / "rows.npz"}
    files = {}
    for packing in (True, False):
        rows, options.vocab_size = rows_of_documents(options.documents, options.length, packing, number)
        files[packing] = folder / f"packing-{packing}.npz"
        np.savez(files[packing], **rows)
    return files


if __name__ == "__main__":
    main()
