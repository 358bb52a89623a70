"""Tokenizing speed, side by side in one run: our three forms, Hugging Face's `encode_batch`, TensorFlow Text's own.

    python -m benchmarks.tokenizer --text corpus.txt --vocab vocab.txt

Every contestant gets the same lines in the same process; the runs are interleaved and the best of each counts, so that
a busy machine does not favour one of them. Without --text and --vocab the benchmark makes up its own English-like text.
MB are 10⁶ bytes of UTF-8. MB per CPU second counts the time of all cores and hardly depends on what else the machine
is doing. Contestants whose package is not installed are left out and named.
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

BATCH_LINES = 2000  # lines that the in-graph forms get at once
READABLE_SHARE = 100  # the readable form gets one line in this many


def make_text(megabytes: int) -> list[str]:
    """Lines of made-up words that are as frequent as English ones (Zipf's law), with some punctuation."""
    rng = random.Random(0)
    syllables = [a + b for a in "bcdfghlmnprstvw" for b in ("a", "e", "i", "o", "u", "er", "in", "ing", "ed", "th")]
    words = ["".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 3, 4)))) for _ in range(50_000)]
    weights = np.cumsum(1 / (np.arange(len(words)) + 3))
    marks = [" "] * 12 + [", ", ". The ", "; ", " “", "” ", "’s "]
    lines, size = [], 0
    while size < megabytes * 1_000_000:
        chosen = rng.choices(words, cum_weights=weights, k=rng.randrange(5, 90))
        lines.append("".join(word + rng.choice(marks) for word in chosen))
        size += len(lines[-1].encode())
    return lines


def make_vocabulary(lines: list[str]) -> Vocabulary:
    """The most frequent words, and every letter."""
    counts = {}
    for line in lines[:20_000]:
        for word in line.lower().split():
            word = word.strip("“”’s,.;")
            counts[word] = counts.get(word, 0) + 1
    frequent = sorted(filter(None, counts), key=lambda word: (-counts[word], word))[:20_000]
    letters = [*"abcdefghijklmnopqrstuvwxyz.,;“”’"]
    return Vocabulary(dict.fromkeys([*SPECIAL_TOKENS, *letters, *("##" + letter for letter in letters), *frequent]))


def data_pipeline(tokenize):
    """Runs a tokenizer on batches of lines in `tf.data`; returns the number of tokens."""
    import tensorflow as tf

    def run(lines: list[str]) -> int:
        texts = tf.constant(lines)  # (lines,)

        def count(start):
            return tf.size(tokenize(texts[start : start + BATCH_LINES]).flat_values)

        data = tf.data.Dataset.range(0, len(lines), BATCH_LINES).map(count, num_parallel_calls=os.cpu_count())
        return sum(int(size) for size in data)

    return run


def contestants(tokenizer: WordPieceTokenizer, folder: Path) -> dict:
    """name → function from lines to the number of tokens."""
    found = {
        "bertlab readable": lambda lines: sum(len(tokenizer.encode(line)) for line in lines),
        "bertlab batch": lambda lines: len(tokenizer.encode_batch(lines).values),
        "bertlab batch, offsets": lambda lines: len(tokenizer.encode_batch_with_offsets(lines).values),
    }
    vocabulary_file = folder / "vocab.txt"
    tokenizer.vocabulary.save(vocabulary_file)
    try:
        import tensorflow_text
    except ImportError:
        print("left out: tensorflow-text is not installed", file=sys.stderr)
    else:
        stock = tensorflow_text.BertTokenizer(str(vocabulary_file), lower_case=tokenizer.lowercase)
        found["bertlab in-graph"] = data_pipeline(tokenizer.graph())
        found["TensorFlow Text BertTokenizer"] = data_pipeline(lambda texts: stock.tokenize(texts).merge_dims(1, 2))
    try:
        import tokenizers
    except ImportError:
        print("left out: tokenizers is not installed", file=sys.stderr)
    else:
        theirs = tokenizers.BertWordPieceTokenizer(str(vocabulary_file), lowercase=tokenizer.lowercase)
        found["Hugging Face encode_batch"] = lambda lines: count_pieces(theirs, lines)
    return found


def count_pieces(theirs, lines: list[str]) -> int:
    """In parts, so that Hugging Face's encodings of the whole text need not fit into memory at once."""
    parts = (lines[start : start + 10 * BATCH_LINES] for start in range(0, len(lines), 10 * BATCH_LINES))
    return sum(len(row.ids) for part in parts for row in theirs.encode_batch(part, add_special_tokens=False))


def measure(functions: dict, lines: list[str], rounds: int) -> dict[str, dict]:
    """Interleaved runs; speeds of the best one, tokens, and how much memory's peak grew in the last round."""
    results = {name: {"mb_per_s": 0.0, "mb_per_cpu_s": 0.0} for name in functions}
    for function in functions.values():
        function(lines[:100])  # traces graphs, imports what is imported late
    for _ in range(rounds):
        for name, function in functions.items():
            part = lines[::READABLE_SHARE] if "readable" in name else lines
            megabytes = sum(len(line.encode()) for line in part) / 1e6
            before = peak_megabytes()
            started, cpu_started = time.perf_counter(), time.process_time()
            pieces = function(part)
            speed = megabytes / (time.perf_counter() - started)
            cpu_speed = megabytes / (time.process_time() - cpu_started)
            result = results[name]
            result["mb_per_s"] = max(result["mb_per_s"], speed)
            result["mb_per_cpu_s"] = max(result["mb_per_cpu_s"], cpu_speed)
            result.update(pieces=pieces, last_growth_mb=round(peak_megabytes() - before))
            print(f"{name:<32} {speed:8.2f} MB/s {cpu_speed:8.2f} MB per CPU second", file=sys.stderr)
    return results


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def report(results: dict[str, dict]) -> str:
    """A Markdown table; × compares with Hugging Face's `encode_batch`, by the clock and by CPU time."""
    reference = results.get("Hugging Face encode_batch")
    lines = ["| tokenizer | MB/s | × | MB per CPU second | × | tokens | peak memory grew in the last round by |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, result in results.items():
        cells = [name]
        for figure in ("mb_per_s", "mb_per_cpu_s"):
            cells.append(f"{result[figure]:.1f}")
            cells.append(f"{result[figure] / reference[figure]:.1f}" if reference else "–")
        cells += [f"{result['pieces']:,}", f"{result['last_growth_mb']} MB"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", type=Path, help="UTF-8 text, one document or paragraph per line")
    parser.add_argument("--vocab", type=Path, help="vocab.txt of an uncased vocabulary")
    parser.add_argument("--megabytes", type=int, default=45, help="how much text is made up or read at most")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    if options.text:
        lines = options.text.read_bytes()[: options.megabytes * 1_000_000].decode("utf-8", "ignore").split("\n")
    else:
        lines = make_text(options.megabytes)
    vocabulary = Vocabulary.from_file(options.vocab) if options.vocab else make_vocabulary(lines)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(contestants(WordPieceTokenizer(vocabulary), Path(folder)), lines, options.rounds)
    print(json.dumps(results, indent=1) if options.json else report(results))


if __name__ == "__main__":
    main()
