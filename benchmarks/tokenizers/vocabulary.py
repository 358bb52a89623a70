"""Learning a vocabulary: time and quality beside Hugging Face's Rust trainer and TensorFlow Text, in one run.

    python -m benchmarks.tokenizers.vocabulary TEXT --held-out OTHER_TEXT [--megabytes 43] [--sizes 4000,8000]

Needs `tokenizers` (requirements/peers.txt) and `tensorflow-text`; what is not installed is left out and named.
Times go from a text file to a list of tokens, imports not counted. Rounds are interleaved (every learner once, then
every learner again) and the fastest round counts. Quality is measured on the held-out text, by one and the same
tokenizer, so the learners' own ideas of a word cannot differ.

Supports: bertlab/tokenizers/wordpiece/learner.py, "8,000 tokens need 2.9 tokens per word".
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from bertlab.tokenizers.wordpiece.learner import SPECIAL_TOKENS, count_words, learn_vocabulary, read_texts
from bertlab.tokenizers.wordpiece.vocabulary import Vocabulary
from bertlab.tokenizers.wordpiece.vocabulary_report import measure

TARGET = "tensorflow_text"  # what the speed is compared with


def ours(path: Path, size: int, **settings) -> list[str]:
    return list(learn_vocabulary(read_texts([path]), size, progress=False, **settings).pieces)


def hugging_face(path: Path, size: int) -> list[str]:
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(lowercase=True)
    tokenizer.train([str(path)], vocab_size=size, special_tokens=list(SPECIAL_TOKENS), show_progress=False)
    return sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)


def tensorflow_text(path: Path, size: int) -> list[str]:
    import tensorflow as tf
    from tensorflow_text.tools.wordpiece_vocab import bert_vocab_from_dataset

    lines = tf.data.TextLineDataset(str(path)).batch(1000).prefetch(2)  # as in its guide
    return bert_vocab_from_dataset.bert_vocab_from_dataset(
        lines, size, list(SPECIAL_TOKENS), bert_tokenizer_params={"lower_case": True}
    )


LEARNERS = {
    "bertlab, wordpiece (default)": ours,
    "bertlab, wordpiece, 2 processes": lambda path, size: ours(path, size, workers=2),
    "bertlab, frequency": lambda path, size: ours(path, size, score="frequency"),
    "bertlab, wordpiece, min_frequency=2": lambda path, size: ours(path, size, min_frequency=2),
    "bertlab, wordpiece, min_frequency=300": lambda path, size: ours(path, size, min_frequency=300),
    "tokenizers (Rust)": hugging_face,
    TARGET: tensorflow_text,
}


def cpu_seconds() -> float:
    """Used so far by this process and by those of its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def installed_learners() -> dict:
    """All learners whose packages are there; imports them, so that no time is charged for it."""
    learners = dict(LEARNERS)
    for name, modules in (("tokenizers (Rust)", ["tokenizers"]), (TARGET, ["tensorflow", "tensorflow_text"])):
        try:
            for module in modules:
                __import__(module)
        except ImportError as error:
            print(f"left out: {name} ({error})", file=sys.stderr)
            del learners[name]
    return learners


def run(path: Path, sizes: list[int], rounds: int, held_out) -> list[dict]:
    """One row per size and learner."""
    learners = installed_learners()
    best, pieces = {}, {}  # (size, learner) → (elapsed, CPU) seconds of its fastest round; → its vocabulary
    for _ in range(rounds):
        for size in sizes:
            for name, learn in learners.items():
                elapsed, cpu = time.perf_counter(), cpu_seconds()
                pieces[size, name] = learn(path, size)
                spent = (time.perf_counter() - elapsed, cpu_seconds() - cpu)
                best[size, name] = min(spent, best.get((size, name), spent))
                print(f"{name}, {size:,} tokens: {spent[0]:.1f} s, CPU {spent[1]:.1f} s", file=sys.stderr, flush=True)
    rows = []
    for (size, name), found in pieces.items():
        report = measure(Vocabulary(found), held_out)
        elapsed, cpu = best[size, name]
        target, target_cpu = best.get((size, TARGET), (None, None))
        rows.append({
            "asked": size, "learner": name, "pieces": report.size, "seconds": elapsed, "cpu_seconds": cpu,
            "times_faster": target / elapsed if target else None,
            "times_less_cpu": target_cpu / cpu if target else None,
            "pieces_per_word": report.fertility, "whole_words": report.coverage, "unknown": report.unknown,
        })  # fmt: skip
    return rows


def print_table(rows: list[dict]) -> None:
    print("| asked | learner | tokens | s | CPU s | × TF Text | × CPU | tokens/word | whole words | [UNK] |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        ratios = [f"{row[name]:.1f}" if row[name] else "—" for name in ("times_faster", "times_less_cpu")]
        print(
            f"| {row['asked']:,} | {row['learner']} | {row['pieces']:,} | {row['seconds']:.1f} "
            f"| {row['cpu_seconds']:.1f} | {' | '.join(ratios)} | {row['pieces_per_word']:.4f} "
            f"| {row['whole_words']:.2%} | {row['unknown']:.4%} |"
        )


def first_megabytes(path: Path, megabytes: float, folder: str) -> Path:
    """A file with the first lines of a text, about so many million bytes."""
    with open(path, "rb") as file:
        text = file.read(int(megabytes * 1e6))
    part = Path(folder) / "part.txt"
    part.write_bytes(text[: text.rfind(b"\n") + 1])
    return part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--megabytes", type=float, default=43)
    parser.add_argument("--sizes", default="4000,8000")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    held_out = count_words(read_texts([arguments.held_out]), progress=False)
    with tempfile.TemporaryDirectory() as folder:
        part = first_megabytes(arguments.text, arguments.megabytes, folder)
        rows = run(part, [int(size) for size in arguments.sizes.split(",")], arguments.rounds, held_out)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
