"""Measures how fast fine-tuning and prediction are, beside transformers on PyTorch, on the same texts.

    python -m benchmarks.finetune                                          # built-in task, 4 × 256, two CPU cores
    python -m benchmarks.finetune --task sst2 --data-dir glue_data --size base

Everybody starts from the same files: a classifier with random weights, its vocabulary, and texts. Each contender has a
process of its own, one after the other, `--rounds` times; the table shows the best of the rounds. float32, dropout 0.1,
AdamW with decay 0.01, gradients clipped at 1.

training     rows per second of whole epochs on rows tokenized before, after an epoch that is not counted (compiling)
prediction   texts per second from raw strings to labels, tokenizing included, in batches
latency      one text alone, from string to label, the quickest of five times: median and 95th percentile over texts

All must agree about the probabilities of the texts before training; the caption says how far they are apart.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bertlab.common.large_pages import with_large_pages
from bertlab.config import SIZES, BertConfig
from bertlab.data.tasks.load import load_task
from bertlab.tokenizers.wordpiece.learner import learn_vocabulary

CONTENDERS = {
    "bertlab": "bertlab, TensorFlow + XLA",
    "transformers-script": "transformers as its examples: all rows padded to the limit; pipeline()",
    "transformers-tuned": "transformers by hand: compiled, like lengths together, inference mode",
}
AGREEMENT = 1e-3  # probabilities may differ by so much
VOCABULARY_SIZE = 8000


def write_job(folder: Path, options) -> None:
    """Writes what all contenders read: job.json, config.json, vocab.txt."""
    task = load_task(options.task, data_dir=options.data_dir)
    if task.shape != "sentence" or not task.labels:
        raise SystemExit(f"{options.task}: this benchmark is about single sentences with classes")
    train, texts = task.train[: options.train_rows], [row.text for row in task.validation[: options.texts]]
    vocabulary = learn_vocabulary([row.text for row in train], VOCABULARY_SIZE, progress=False)
    vocabulary.save(folder / "vocab.txt")
    config_of(options, len(vocabulary)).save(folder / "config.json")
    job = {
        "train": [row.text for row in train], "train_labels": [row.label for row in train], "texts": texts,
        "labels": list(task.labels), "max_length": options.length, "batch_size": options.batch_size,
        "epochs": options.epochs, "single_texts": options.single_texts,
    }  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")


def config_of(options, vocab_size: int) -> BertConfig:
    """A named size, or --num-layers × --hidden-size."""
    if options.size:
        return BertConfig.named(options.size, vocab_size=vocab_size)
    hidden = options.hidden_size
    return BertConfig(num_layers=options.num_layers, hidden_size=hidden, num_heads=hidden // 64,
                      intermediate_size=4 * hidden, vocab_size=vocab_size)  # fmt: skip


def worker(name: str, folder: Path) -> dict | None:
    """Runs one contender, or "prepare", in a process of its own and returns what it prints."""
    own = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "HF_HUB_OFFLINE": "1"}
    environment = with_large_pages(os.environ | own)
    command = [sys.executable, "-m", "benchmarks.finetune_worker", name, str(folder)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{name} failed:\n{result.stderr[-3000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def best(rounds: list[dict]) -> dict:
    """The best value of each metric over the rounds: the one least disturbed by other programs."""
    largest = ("rows_per_second", "texts_per_second")
    numbers = [name for name, value in rounds[0].items() if isinstance(value, float)]
    found = {name: (max if name in largest else min)(one[name] for one in rounds) for name in numbers}
    return rounds[0] | found


def table(found: dict[str, dict], title: str) -> Table:
    shown = Table(title=title)
    columns = ("", "rows/s in training", "×", "texts/s predicted", "×", "latency, 95 %", "×", "first epoch", "memory")
    for heading in columns:
        shown.add_column(heading, justify="right" if heading else "left")
    for name, one in found.items():
        first = next(iter(found.values()))
        shown.add_row(
            CONTENDERS[name],
            f"{one['rows_per_second']:,.0f}", f"{first['rows_per_second'] / one['rows_per_second']:.2f}",
            f"{one['texts_per_second']:,.0f}", f"{first['texts_per_second'] / one['texts_per_second']:.2f}",
            f"{one['latency_ms']:.1f}, {one['latency_95_ms']:.1f} ms", f"{one['latency_ms'] / first['latency_ms']:.2f}",
            f"+ {one['compile_seconds']:.0f} s", f"{one['memory_mb']:,.0f} MB",
        )  # fmt: skip
    shown.caption = f"×: how many times as fast the first line is; probabilities agree within {disagreement(found):.0e}"
    return shown


def disagreement(found: dict[str, dict]) -> float:
    """The largest difference between the probabilities of any contender and those of the first."""
    first, *others = (np.array(one["probabilities"]) for one in found.values())
    return max((float(np.abs(first - other).max()) for other in others), default=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="package", help="a task of single sentences; see `bertlab task list`")
    parser.add_argument("--data-dir", help="where its files are, if it is not built in")
    parser.add_argument("--size", choices=SIZES, help="a named size instead of --num-layers and --hidden-size")
    parser.add_argument("--num-layers", type=int, default=4)
    parser.add_argument("--hidden-size", type=int, default=256)
    parser.add_argument("--length", type=int, default=128, help="the longest row")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--train-rows", type=int, default=2048)
    parser.add_argument("--epochs", type=int, default=1, help="counted epochs in a round")
    parser.add_argument("--texts", type=int, default=1024, help="texts to predict")
    parser.add_argument("--single-texts", type=int, default=50, help="texts predicted alone")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_job(folder, options)
        worker("prepare", folder)
        found = {name: [] for name in options.only}
        for number in range(options.rounds):
            for name in options.only:
                Console(stderr=True).print(f"round {number + 1}: {CONTENDERS[name]} …")
                found[name].append(worker(name, folder))
        config = BertConfig.load(folder / "config.json")
    found = {name: best(rounds) for name, rounds in found.items()}
    if options.json:
        print(json.dumps(found, indent=1))
    title = f"{options.task}: {config.num_layers} × {config.hidden_size}, at most {options.length} tokens, "
    title += f"batch {options.batch_size}, {next(iter(found.values()))['device']}"
    Console(width=150, stderr=options.json).print(table(found, title))
    if disagreement(found) > AGREEMENT:
        raise SystemExit("the contenders do not compute the same: their speed cannot be compared")


if __name__ == "__main__":
    main()
