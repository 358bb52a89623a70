"""Prepares the text that bertlab-mini is trained on: cleaned, without repeats, without benchmarks' paragraphs.

    nice python -m scripts.make_mini_text ENGLISH NOVELS --benchmark squad --benchmark glue --out mini-text

ENGLISH is a folder with the files that `SOURCES` lists: one paragraph or utterance per line, a blank line between
documents. NOVELS is a folder with novels.train.txt and novels.valid.txt in the same format. The built-in corpus is
added. The result:

    train/SOURCE.jsonl       documents of sentences, which `bertlab data make` reads
    held_out/SOURCE.jsonl    documents of the same kinds that are never trained on
    vocab-8k.txt …           vocabularies of several sizes, learned from a sample of every source
    report.md, report.json   words of each source after each step, and what was dropped for which reason

The same input gives the same bytes. After a kill the same command resumes at the step that was interrupted.
"""

import argparse
import hashlib
import json
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.common.files import read_json, write_atomically, write_text
from bertlab.common.job import Job
from bertlab.data.corpus.build import DOCUMENTS, ensure_corpus
from bertlab.data.documents import is_validation, load_documents
from scripts import mini_repeats as repeats
from scripts.mini_cleaning import clean_paragraphs, join_broken_lines

VERSION = 1  # raise it when the steps change, so that an older folder is refused
PASSAGE = 50  # paragraphs of a novel that make one document
LONG_PARAGRAPH = 8  # words: a shorter one may occur twice
MAX_OCCURRENCES = 10  # of a sentence of 6 or more words
OVERLAP, REPORTED_OVERLAP = 13, 8  # words
MAX_OVERLAPS = 20  # shared runs of 13 words for which a whole document is dropped
SAMPLE_WORDS = 3_000_000  # of each source at most, for the vocabulary
PUNCTUATION_LINES = 1_000  # often enough to be among the characters that the vocabulary keeps
VOCABULARIES = (8192, 12288, 16384)


@dataclass(frozen=True)
class Source:
    """A file of text. strict: edited prose. held_out: percent of its documents; keep: percent that is used at all."""

    name: str
    strict: bool = True
    held_out: float = 5.0
    keep: float = 100.0


# In this order: of a repeated paragraph the first one stays.
SOURCES = (
    Source("openstax_ccby"),
    Source("wikinews"),
    Source("world_factbook"),
    Source("onestop_english"),
    Source("enwiki_a", held_out=1.0),
    Source("enwiki_b"),
    Source("masc", strict=False),
    Source("state_union", strict=False),
    Source("ud_ewt", strict=False),
    Source("topical_chat", strict=False),
    Source("sgd_dialogues", strict=False, keep=25.0),  # made from templates
)
NOVELS = Source("novels", strict=False, held_out=0.0)
NOVELS_HELD_OUT = Source("novels_valid", strict=False, held_out=100.0)
BUILTIN = Source("builtin")
STEPS = ("read", "cleaned", "no repeats or overlap", "no near-duplicates")


def main(arguments=None):
    options = parser().parse_args(arguments)
    files = source_files(options)
    texts = repeats.all_benchmark_texts(options.benchmark)
    work = Job(options.out, "identity.json", identity(options, files, texts))
    work.start()
    for source, path in files:
        clean(source, path, work)
    drop_repeats([source for source, _ in files], texts, work)
    split([source for source, _ in files], work)
    for size in options.vocabulary:
        learn_vocabulary(work.path, size)
    report([source for source, _ in files], work)


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    result.add_argument("english", type=Path, help="folder with the files of SOURCES; missing ones are left out")
    result.add_argument("novels", type=Path, help="folder with novels.train.txt and novels.valid.txt")
    result.add_argument("--benchmark", type=Path, action="append", default=[], help="file or folder; may be repeated")
    result.add_argument("--out", type=Path, required=True, help="folder for the result")
    result.add_argument("--no-builtin", action="store_true", help="leave the built-in corpus out")
    result.add_argument("--vocabulary", type=int, nargs="*", default=VOCABULARIES, help="sizes to learn")
    return result


def source_files(options) -> list[tuple[Source, Path]]:
    """The sources that are there, each with its file."""
    found = [(source, options.english / f"{source.name}.txt") for source in SOURCES]
    found += [(NOVELS, options.novels / "novels.train.txt"), (NOVELS_HELD_OUT, options.novels / "novels.valid.txt")]
    if not options.no_builtin:
        found.append((BUILTIN, ensure_corpus(None) / DOCUMENTS))
    found = [(source, path) for source, path in found if path.is_file()]
    if not found:
        sys.exit(f"{options.english}: expected at least one of {', '.join(each.name + '.txt' for each in SOURCES)}")
    return found


def identity(options, files: list[tuple[Source, Path]], texts: list[str]) -> dict:
    """The values that decide the result."""
    sizes = {source.name: [path.stat().st_size, source.held_out, source.keep] for source, path in files}
    names = [path.name for path in options.benchmark]
    benchmarks = {"names": names, "texts": len(texts), "digest": repeats.texts_digest(texts)}
    return {"version": VERSION, "sources": sizes, "benchmarks": benchmarks}


def is_kept(name: str, percent: float) -> bool:
    """Whether a document is among the given percent, decided by its name alone."""
    return int(hashlib.sha256(b"keep " + name.encode()).hexdigest(), 16) % 10_000 < 100 * percent


# === Step 1: clean ===


def read_source(source: Source, path: Path) -> Iterator[tuple[str, list[str]]]:
    """(id, paragraphs) of each document."""
    if source is BUILTIN:
        for document in load_documents("builtin"):
            yield document.id, [" ".join(sentences) for sentences in document.paragraphs]
        return
    novels = source.name.startswith("novels")
    number, lines = 0, []
    with path.open(encoding="utf-8") as file:
        for line in (*file, "\n"):
            if line.strip():
                lines.append(line.strip())
                continue
            if not lines:
                continue
            number += 1
            paragraphs = join_broken_lines(lines) if novels else lines
            step = PASSAGE if novels else len(paragraphs)
            for start in range(0, len(paragraphs), step):
                passage = f"-{start // step + 1}" if novels else ""
                yield f"{source.name}-{number}{passage}", paragraphs[start : start + step]
            lines = []


def clean(source: Source, path: Path, work: Job) -> None:
    """cleaned/SOURCE.jsonl and the counts of the step."""
    target = work.path / "cleaned" / f"{source.name}.jsonl"
    if target.is_file():
        return
    target.parent.mkdir(exist_ok=True)
    words, dropped = Counter(), Counter()

    def write(partial: Path):
        with partial.open("w", encoding="utf-8") as file:
            for name, paragraphs in read_source(source, path):
                words["read"] += sum(len(each.split()) for each in paragraphs)
                if not is_kept(name, source.keep):
                    continue
                kept = clean_paragraphs(paragraphs, source.strict, dropped)
                if kept:
                    words["cleaned"] += count_words(kept)
                    file.write(as_line(name, source.name, kept))
        note(work, source, {"words": words, "dropped": dropped})

    write_atomically(target, write)
    print(f"{source.name}: {words['read']:,} words read, {words['cleaned']:,} after cleaning", flush=True)


def count_words(paragraphs: list[list[str]]) -> int:
    return sum(len(sentence.split()) for sentences in paragraphs for sentence in sentences)


def as_line(name: str, source: str, paragraphs: list[list[str]]) -> str:
    return json.dumps({"id": name, "source": source, "paragraphs": paragraphs}, ensure_ascii=False) + "\n"


def lines_of(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def note(work: Job, source: Source, values: dict) -> None:
    """Adds to the counts of a source."""
    path = work.path / "counts" / f"{source.name}.json"
    path.parent.mkdir(exist_ok=True)
    found = read_json(path) if path.is_file() else {"words": {}, "dropped": {}}
    write_text(path, json.dumps({name: found[name] | values[name] for name in found}, indent=1) + "\n")


# === Step 2: repeats, overlap, near-duplicates ===


def drop_repeats(sources: list[Source], texts: list[str], work: Job) -> None:
    """unique/SOURCE.jsonl: without repeated and overlapping paragraphs, and near_duplicates.json.

    texts: of the benchmarks.
    """
    done = work.path / "near_duplicates.json"
    if done.is_file():
        return
    (work.path / "unique").mkdir(exist_ok=True)
    known = {n: repeats.all_ngrams(texts, n) for n in (OVERLAP, REPORTED_OVERLAP)}
    seen = Seen()
    names, shingles = [], []
    for source in sources:
        words, dropped = Counter(), Counter()
        with (work.path / "unique" / f"{source.name}.jsonl").open("w", encoding="utf-8") as file:
            for record in lines_of(work.path / "cleaned" / f"{source.name}.jsonl"):
                paragraphs = unique_paragraphs(record["paragraphs"], known, seen, dropped)
                if not paragraphs:
                    continue
                words[STEPS[2]] += count_words(paragraphs)
                file.write(as_line(record["id"], source.name, paragraphs))
                names.append(record["id"])
                shingles.append(repeats.sampled_shingles(document_hashes(paragraphs)[0]))
        note(work, source, {"words": words, "dropped": dropped})
        print(f"{source.name}: {words[STEPS[2]]:,} words without repeats and overlap", flush=True)
    found = repeats.near_duplicates(shingles)
    pairs = {names[drop]: names[keep] for drop, keep in sorted(found.items())}
    write_text(done, json.dumps(pairs, indent=1) + "\n")


class Seen:
    """The paragraphs and sentences that occurred before, by their hashes."""

    def __init__(self):
        self.paragraphs: set[int] = set()
        self.sentences: Counter[int] = Counter()

    def is_new(self, words: list[str]) -> bool:
        """Whether a paragraph of at least `LONG_PARAGRAPH` words has not occurred; a shorter one always is new."""
        if len(words) < LONG_PARAGRAPH:
            return True
        value = text_hash(words)
        if value in self.paragraphs:
            return False
        self.paragraphs.add(value)
        return True

    def is_rare(self, words: list[str]) -> bool:
        """Whether a sentence has occurred fewer than `MAX_OCCURRENCES` times."""
        if len(words) < 6:
            return True
        value = text_hash(words)
        self.sentences[value] += 1
        return self.sentences[value] <= MAX_OCCURRENCES


def text_hash(words: list[str]) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest(), "little")


def document_hashes(paragraphs: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """The hashes of a document's words, and the number of the paragraph that each belongs to."""
    words = [repeats.words_of(" ".join(sentences)) for sentences in paragraphs]
    owners = np.repeat(np.arange(len(words)), [len(each) for each in words])
    return repeats.word_hashes(word for each in words for word in each), owners


def unique_paragraphs(paragraphs, known, seen: Seen, dropped: Counter) -> list[list[str]]:
    """The paragraphs of one document that are new and share no run of 13 words with a benchmark."""
    hashes, owners = document_hashes(paragraphs)
    hits = {n: overlapping(hashes, owners, n, grams) for n, grams in known.items()}
    dropped[f"documents with a run of {REPORTED_OVERLAP} words of a benchmark"] += bool(len(hits[REPORTED_OVERLAP]))
    dropped[f"documents with a run of {OVERLAP} words of a benchmark"] += bool(len(hits[OVERLAP]))
    if len(hits[OVERLAP]) > MAX_OVERLAPS:
        dropped["documents that overlap with a benchmark"] += 1
        return []
    overlaps = set(hits[OVERLAP].tolist())
    kept = []
    for number, sentences in enumerate(paragraphs):
        if number in overlaps:
            dropped["paragraphs that overlap with a benchmark"] += 1
            continue
        words = [repeats.words_of(sentence) for sentence in sentences]
        if not seen.is_new([word for each in words for word in each]):
            dropped["repeated paragraphs"] += 1
            continue
        rare = [sentence for sentence, each in zip(sentences, words, strict=True) if seen.is_rare(each)]
        dropped["sentences that occur too often"] += len(sentences) - len(rare)
        if rare:
            kept.append(rare)
    return kept


def overlapping(hashes: np.ndarray, owners: np.ndarray, n: int, known: np.ndarray) -> np.ndarray:
    """The paragraph of each run of n words that is known; runs across two paragraphs do not count."""
    grams = repeats.ngram_hashes(hashes, n)
    inside = owners[: len(grams)] == owners[n - 1 :]
    return owners[: len(grams)][inside & repeats.is_in(grams, known)]


# === Step 3: held-out documents, vocabulary, report ===


def split(sources: list[Source], work: Job) -> None:
    """train/SOURCE.jsonl and held_out/SOURCE.jsonl."""
    repeated = read_json(work.path / "near_duplicates.json")
    for folder in ("train", "held_out"):
        (work.path / folder).mkdir(exist_ok=True)
    for source in sources:
        words, dropped = Counter(), Counter()
        parts: dict[str, list[str]] = {"train": [], "held_out": []}
        for record in lines_of(work.path / "unique" / f"{source.name}.jsonl"):
            if record["id"] in repeated:
                dropped["near-duplicate documents"] += 1
                continue
            part = "held_out" if is_validation(record["id"], source.held_out) else "train"
            count = count_words(record["paragraphs"])
            words[STEPS[3]] += count
            words[part] += count
            parts[part].append(as_line(record["id"], source.name, record["paragraphs"]))
        for part, lines in parts.items():
            if lines:
                write_text(work.path / part / f"{source.name}.jsonl", "".join(lines))
        note(work, source, {"words": words, "dropped": dropped})


def learn_vocabulary(folder: Path, size: int) -> None:
    """vocab-Nk.txt, with the library's learner."""
    target, sample = folder / f"vocab-{size // 1024}k.txt", folder / "vocabulary_sample.txt"
    if target.is_file():
        return
    if not sample.is_file():
        write_atomically(sample, lambda partial: write_sample(folder, partial))
    command = ["vocab", "learn", str(sample), "--size", str(size), "--out", str(target), "--score", "frequency"]
    subprocess.run([sys.executable, "-m", "bertlab", *command], check=True)


def write_sample(folder: Path, path: Path) -> None:
    """Up to `SAMPLE_WORDS` of each source's documents, chosen by their names, one sentence per line.

    The cleaned text has no mark-up, so [ ] { } < > | \\ ^ ~ and _ are added: a vocabulary without them turns each one
    into [UNK], and code and documentation are full of them.
    """
    counts = {path.stem: read_json(path)["words"] for path in (folder / "counts").glob("*.json")}
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{' '.join(string.punctuation)}\n" * PUNCTUATION_LINES)
        for source in sorted((folder / "train").glob("*.jsonl")):
            percent = 100 * SAMPLE_WORDS / max(counts[source.stem].get("train", 0), 1)
            for record in lines_of(source):
                if is_kept(record["id"], percent):
                    file.writelines(f"{sentence}\n" for sentences in record["paragraphs"] for sentence in sentences)


def report(sources: list[Source], work: Job) -> None:
    """report.json and report.md."""
    counts = {source.name: read_json(work.path / "counts" / f"{source.name}.json") for source in sources}
    benchmarks = work.identity["benchmarks"]
    write_text(work.path / "report.json", json.dumps(counts | {"benchmarks": benchmarks}, indent=1) + "\n")
    columns = (*STEPS, "train", "held_out")
    lines = ["| source | " + " | ".join(f"words, {name}" for name in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    totals = {name: sum(each["words"].get(name, 0) for each in counts.values()) for name in columns}
    for name, words in [*((name, each["words"]) for name, each in counts.items()), ("all", totals)]:
        lines.append(f"| {name} | " + " | ".join(f"{words.get(column, 0):,}" for column in columns) + " |")
    reasons = dict.fromkeys(reason for each in counts.values() for reason in each["dropped"])
    lines += ["", "| dropped | " + " | ".join(counts) + " |", "|---" * (len(counts) + 1) + "|"]
    for reason in reasons:
        lines.append(
            f"| {reason} | " + " | ".join(f"{each['dropped'].get(reason, 0):,}" for each in counts.values()) + " |"
        )
    names = ", ".join(benchmarks["names"]) or "none"
    lines += ["", f"Benchmarks: {names}; {benchmarks['texts']:,} texts, digest {benchmarks['digest']}."]
    write_text(work.path / "report.md", "\n".join(lines) + "\n")
    print("\n".join(lines[: len(counts) + 3]), flush=True)


if __name__ == "__main__":
    main()
