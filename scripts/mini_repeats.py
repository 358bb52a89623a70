"""Repeated text, near-duplicate documents and overlap with benchmarks, by hashed n-grams of words in NumPy.

Two documents are near-duplicates if the smaller shares at least half of its runs of five words (shingles) with the
other. Only the shingles whose hash is a multiple of 8 are looked at, the same ones in every document
(Broder 1997, "On the resemblance and containment of documents").
"""

import csv
import functools
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

SHINGLE = 5
ONE_IN = 8
SHARED = 0.5
LEAST_SHINGLES = 4  # a document with fewer sampled shingles is too short to judge
MAX_DOCUMENTS = 50  # a shingle in more documents than this is a common phrase
SUFFIXES = (".json", ".jsonl", ".tsv", ".conllu", ".conll", ".txt")  # of a benchmark's files

_WORDS = re.compile(r"[a-z0-9]+")
_FACTOR = 0x9E3779B97F4A7C15 | 1
_MASK = 2**64 - 1


def words_of(text: str) -> list[str]:
    """The words that n-grams are made of: lower case, without punctuation."""
    return _WORDS.findall(text.lower())


@functools.lru_cache(maxsize=2**21)
def _word_hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def word_hashes(words: Iterable[str]) -> np.ndarray:
    """(words,) uint64, the same on every machine."""
    return np.fromiter(map(_word_hash, words), np.uint64)


def ngram_hashes(words: np.ndarray, n: int) -> np.ndarray:
    """The hash of each run of n words. words: (W,) uint64. Returns (max(W − n + 1, 0),) uint64.

    Example:
        >>> len(ngram_hashes(word_hashes("to be or not to be".split()), 2))
        5
    """
    count = max(len(words) - n + 1, 0)
    total = np.zeros(count, np.uint64)
    factor = 1
    for k in range(n):
        total += words[k : k + count] * np.uint64(factor)
        factor = factor * _FACTOR & _MASK
    total ^= total >> np.uint64(31)
    total *= np.uint64(0xBF58476D1CE4E5B9)
    return total ^ (total >> np.uint64(29))


def sampled_shingles(words: np.ndarray) -> np.ndarray:
    """The distinct hashes of a document's shingles that are multiples of `ONE_IN`, sorted."""
    hashes = ngram_hashes(words, SHINGLE)
    return np.unique(hashes[hashes % np.uint64(ONE_IN) == 0])


def near_duplicates(documents: list[np.ndarray]) -> dict[int, int]:
    """Document → the document that it repeats, by their numbers. Of two, the one with more shingles stays.

    documents: the sampled shingles of each. A document that repeats only a dropped one stays.
    """
    sizes = np.array([len(each) for each in documents])
    if not len(sizes) or not sizes.sum():
        return {}
    owners = np.repeat(np.arange(len(documents)), sizes)
    hashes = np.concatenate(documents)
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], owners[order]
    starts = np.flatnonzero(np.r_[True, hashes[1:] != hashes[:-1]])
    pairs = [_pairs(owners[start:stop]) for start, stop in zip(starts, np.r_[starts[1:], len(hashes)], strict=True)
             if 2 <= stop - start <= MAX_DOCUMENTS]  # fmt: skip
    if not pairs:
        return {}
    codes, shared = np.unique(np.concatenate(pairs), return_counts=True)
    first, second = (codes >> np.int64(32)).astype(int), (codes & np.int64(2**32 - 1)).astype(int)
    smaller = np.minimum(sizes[first], sizes[second])
    alike = (smaller >= LEAST_SHINGLES) & (shared >= SHARED * smaller)
    repeats: dict[int, int] = {}
    for a, b in sorted(
        zip(first[alike], second[alike], strict=True), key=lambda pair: (-sizes[list(pair)].max(), pair)
    ):
        keep, drop = (int(a), int(b)) if sizes[a] >= sizes[b] else (int(b), int(a))
        if keep not in repeats and drop not in repeats:
            repeats[drop] = keep
    return repeats


def _pairs(owners: np.ndarray) -> np.ndarray:
    """All pairs of a sorted array's numbers a < b, as a · 2³² + b, int64."""
    first, second = np.triu_indices(len(owners), 1)
    return (owners[first].astype(np.int64) << np.int64(32)) | owners[second].astype(np.int64)


# === Benchmarks ===


def all_benchmark_texts(paths: Iterable[Path]) -> list[str]:
    """The texts of all benchmarks. Exits in one line where a path has none: its overlap would not be removed."""
    texts = []
    for path in paths:
        found = list(benchmark_texts(path))
        if not found:
            sys.exit(f"{path}: expected texts of a benchmark, got none; give its files as {', '.join(SUFFIXES)}")
        texts += found
    return texts


def texts_digest(texts: Iterable[str]) -> str:
    """The first 16 digits of a SHA-256 of the texts, in their order."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:16]


def benchmark_texts(path: Path) -> Iterator[str]:
    """The texts of a benchmark's file, or of all files in a folder; empty ones are left out.

    .json: every "context", as in SQuAD; .jsonl: every string; .tsv: every cell; .conllu: every "# text"; .txt: lines.
    .conll and .conll.txt: every sentence, from the first column.
    Exits in one line at a missing path and at a file of another kind.
    """
    if path.is_dir():
        for each in sorted(path.rglob("*")):
            if each.is_file():
                yield from benchmark_texts(each)
    elif not path.is_file():
        sys.exit(f"{path}: no such file or folder; give a benchmark's file, or a folder of them")
    elif path.suffix not in SUFFIXES:
        sys.exit(f"{path}: expected a file with one of {', '.join(SUFFIXES)}; convert it, or move it elsewhere")
    else:
        yield from (text for text in _file_texts(path) if text.strip())


def _file_texts(path: Path) -> Iterator[str]:
    if path.suffix == ".json":
        yield from _strings(json.loads(path.read_text(encoding="utf-8-sig")), "context")
    elif path.suffix == ".jsonl":
        for line in filter(str.strip, _lines(path)):
            yield from (value for value in json.loads(line).values() if isinstance(value, str))
    elif path.suffix == ".tsv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from (cell for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) for cell in row)
    elif path.suffix == ".conllu":
        yield from (line.removeprefix("# text = ") for line in _lines(path) if line.startswith("# text = "))
    elif ".conll" in path.suffixes:
        for sentence in "\n".join(_lines(path)).split("\n\n"):
            yield " ".join(line.split()[0] for line in sentence.split("\n") if line.strip())
    else:
        for line in _lines(path):
            yield from line.split("\t")


def _lines(path: Path) -> list[str]:
    """The lines of a file. A text may contain U+2028 and others at which str.splitlines divides too."""
    return path.read_text(encoding="utf-8-sig").split("\n")


def _strings(value, key: str) -> Iterator[str]:
    """Every string under `key`, at any depth of JSON values."""
    if isinstance(value, list):
        for each in value:
            yield from _strings(each, key)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name == key and isinstance(each, str):
                yield each
            else:
                yield from _strings(each, key)


def all_ngrams(texts: Iterable[str], n: int) -> np.ndarray:
    """The distinct n-gram hashes of all texts, sorted."""
    found = [ngram_hashes(word_hashes(words_of(text)), n) for text in texts]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint64)


def is_in(hashes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which hashes occur among `known`, which is sorted. (n,) bool."""
    if not len(known):
        return np.zeros(len(hashes), bool)
    indices = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    return known[indices] == hashes
