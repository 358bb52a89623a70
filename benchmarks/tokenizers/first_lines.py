"""The first lines of a new tokenizer, beside Hugging Face's `encode_batch`.

    python -m benchmarks.tokenizers.first_lines [--kinds English Chinese] [--words 1 10 40] [--at-once] [--rounds 15]

Each round builds both tokenizers from the same vocabulary and gives them the same new lines, one line per call, or with
--at-once all in one call (of a tokenizer that is built again for each number of lines). The first of the two
alternates; the ids must be the same. A ratio is their processor time for the first 1, 10, 100 … lines divided by ours,
the median over the rounds; above 1 ours is faster. Building is measured by itself. "English, real" is Python's
documentation and "code" its library, with the vocabulary of bertlab-mini; the other kinds are those of
`benchmarks.tokenizers.kinds`, in which hardly a word comes again, with a vocabulary of other words of these kinds.

Supports: benchmarks/tokenizers/README.md, "The first lines of a new tokenizer".
"""

import argparse
import random
import statistics
import sys
import sysconfig
import time
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics

from benchmarks.tokenizers.kinds import GREEK_CAPITALS, KINDS, make_vocabulary
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.fast import character_forms

MINI = Path(__file__).parents[2] / "bertlab" / "pretrained" / "bertlab-mini" / "vocab.txt"
MODULES = 120  # of Python's library
REAL = ("English, real", "code")


@cache
def words_of_python(kind: str) -> list[str]:
    """Its documentation or its library, cut at spaces."""
    if kind == "English, real":
        texts = topics.values()
    else:
        files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:MODULES]
        texts = (file.read_text(encoding="utf-8", errors="ignore") for file in files)
    return " ".join(texts).split()


def make_lines(kind: str, count: int, words: int, rng: random.Random) -> list[str]:
    """Lines of some words each."""
    if kind not in REAL:
        return [" ".join(KINDS[kind](rng) for _ in range(words)) for _ in range(count)]
    source = words_of_python(kind)
    start = rng.randrange(len(source) - count * words)
    return [" ".join(source[first : first + words]) for first in range(start, start + count * words, words)]


def build(name: str, vocabulary: Vocabulary):
    """A new tokenizer, as in a new process, and the seconds that building it took."""
    import tokenizers

    character_forms.cache_clear()
    started = time.process_time()
    if name == "ours":
        built = WordPieceTokenizer(vocabulary, max_chars_per_word=100)  # as theirs has it
        built.encode_batch([])  # makes its tables
    else:
        built = tokenizers.BertWordPieceTokenizer(dict(vocabulary.ids), lowercase=True)
    return built, time.process_time() - started


def encode(name: str, tokenizer, calls: list[list[str]]) -> tuple[list, float]:
    """The ids of each line, and the seconds that the calls took."""
    started = time.process_time()
    if name == "ours":
        rows = [tokenizer.encode_batch(call) for call in calls]
    else:
        rows = [[row.ids for row in tokenizer.encode_batch(call, add_special_tokens=False)] for call in calls]
    seconds = time.process_time() - started
    return [ids for part in rows for ids in (part.to_list() if name == "ours" else part)], seconds


def one_round(kind: str, vocabulary: Vocabulary, lines: list[str], counts: list[int], order, at_once: bool) -> list:
    """Their seconds divided by ours for the first lines, for each of these numbers of lines."""
    ratios, done, seconds = [], 0, dict.fromkeys(order, 0.0)
    tokenizers = {name: build(name, vocabulary)[0] for name in order}
    for count in counts:
        if at_once:
            tokenizers = {name: build(name, vocabulary)[0] for name in order}
            seconds, calls = dict.fromkeys(order, 0.0), [lines[:count]]
        else:
            calls = [[line] for line in lines[done:count]]
        found = {}
        for name in order:
            found[name], more = encode(name, tokenizers[name], calls)
            seconds[name] += more
        if found["ours"] != found["theirs"] and kind != GREEK_CAPITALS:
            sys.exit(f"{kind}: different ids in lines {done + 1} to {count}")
        ratios.append(seconds["theirs"] / seconds["ours"])
        done = count
    return ratios


def measure(kind: str, vocabulary: Vocabulary, words: int, options: argparse.Namespace) -> list[float]:
    """The median ratio for each number of lines."""
    rounds = []
    for number in range(options.rounds):
        lines = make_lines(kind, max(options.lines), words, random.Random(f"{kind} {words} {number}"))
        order = ("ours", "theirs") if number % 2 else ("theirs", "ours")
        rounds.append(one_round(kind, vocabulary, lines, options.lines, order, options.at_once))
    return [statistics.median(column) for column in zip(*rounds)]


def building(vocabulary: Vocabulary, rounds: int) -> str:
    """Median milliseconds of building either tokenizer from a vocabulary."""
    seconds = {name: [build(name, vocabulary)[1] for _ in range(rounds)] for name in ("ours", "theirs")}
    ours, theirs = (1000 * statistics.median(column) for column in seconds.values())
    return f"building with {len(vocabulary):,} tokens: ours {ours:.1f} ms, theirs {theirs:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    kinds = [*REAL, *KINDS]
    parser.add_argument("--kinds", nargs="*", default=kinds, choices=kinds, metavar="KIND")
    parser.add_argument("--words", nargs="*", type=int, default=[1, 10, 40], help="words of a line")
    parser.add_argument("--lines", nargs="*", type=int, default=[1, 10, 100, 300, 1000], help="first lines, ascending")
    parser.add_argument("--at-once", action="store_true", help="all lines in one call, not one line per call")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    made, mini = make_vocabulary(), Vocabulary.from_file(MINI)
    for name in ("ours", "theirs"):  # what a process does once, such as imports, counts for neither
        encode(name, build(name, mini)[0], [["a", "中"]])
    print(building(mini, options.rounds), building(made, options.rounds), sep="\n", end="\n\n")
    print("| text, " + "/".join(map(str, options.words)) + " words | " + " | ".join(map(str, options.lines)) + " |")
    print("|---" * (1 + len(options.lines)) + "|")
    for kind in options.kinds:
        found = [measure(kind, mini if kind in REAL else made, words, options) for words in options.words]
        cells = [" / ".join(f"{ratio:.2f}" for ratio in column) for column in zip(*found)]
        print("| " + " | ".join([kind, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
