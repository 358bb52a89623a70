"""Examples per second and per core, and peak memory: ours beside the published procedure, on the same text.

    python -m benchmarks.pretraining_data TEXT VOCAB [--megabytes 10] [--passes 5] [--rounds 3]

The peer is the published procedure as the script has it: one process, one token at a time, everything in memory. It
is our own re-implementation (`tests/support/published_procedure.py`), once with a tokenizer in plain Python, as the
script's is, and once with our fast one, so that the ratio of making examples alone can be seen too. All three read and
split the text alike.
Each measurement runs in a fresh process; the rounds alternate between the two.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median


def run_ours(text: Path, vocab: Path, passes: int) -> int:
    """Text to finished shards in one process, as `bertlab data make` does it."""
    from bertlab.data.pretraining.make import make_data
    from bertlab.data.pretraining.settings import ExampleSettings

    with tempfile.TemporaryDirectory() as folder:
        settings = ExampleSettings(duplicate_factor=passes)
        return make_data(text, _tokenizer(vocab), folder, settings)["counts"]["examples"]


def run_published(text: Path, vocab: Path, passes: int) -> int:
    """Text to a list of examples in memory; nothing is written, which flatters the peer."""
    tokenizer = _tokenizer(vocab)
    return _published(text, tokenizer, lambda sentences: [tokenizer.tokenize(each) for each in sentences], passes)


def run_published_fast(text: Path, vocab: Path, passes: int) -> int:
    """The same with our tokenizer for many texts at once."""
    tokenizer = _tokenizer(vocab)

    def tokenize(sentences: list[str]) -> list[list[str]]:
        ragged = tokenizer.encode_batch(sentences)
        pieces = [tokenizer.vocabulary.pieces[token] for token in ragged.values.tolist()]
        splits = ragged.row_splits.tolist()
        return [pieces[start:end] for start, end in zip(splits, splits[1:])]

    return _published(text, tokenizer, tokenize, passes)


def _published(text: Path, tokenizer, tokenize, passes: int) -> int:
    from bertlab.data.documents import load_documents
    from tests.support.published_procedure import create

    documents = []
    for document in load_documents(text):
        sentences = tokenize([sentence for part in document.paragraphs for sentence in part])
        documents.append([sentence for sentence in sentences if sentence])
    return len(create(documents, tokenizer.vocabulary.pieces, passes=passes))


def _tokenizer(vocab: Path):
    from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
    from bertlab.tokenizers.wordpiece.vocabulary import Vocabulary

    return WordPieceTokenizer(Vocabulary.from_file(vocab))


RUNS = {
    "ours": run_ours,
    "published": run_published,
    "published, our tokenizer": run_published_fast,
}


def measure(name: str, text: Path, vocab: Path, passes: int) -> dict:
    """Runs one side in this process: examples per second of processor time, and the peak of memory in MB."""
    start = time.process_time()
    examples = RUNS[name](text, vocab, passes)
    seconds = time.process_time() - start
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return {"examples": examples, "per_second": examples / seconds, "megabytes": int(peak.split()[1]) / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("vocab", type=Path)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", choices=RUNS, help=argparse.SUPPRESS)  # one measurement, in this process
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.text, options.vocab, options.passes)))
        return
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text(documents_of_lines(options.text, int(options.megabytes * 1e6)), encoding="utf-8")
        compare(text, options)


def documents_of_lines(path: Path, size: int, lines: int = 5) -> str:
    """The first `size` bytes of a file of paragraphs, a blank line after every five of them."""
    paragraphs = path.read_bytes()[:size].decode("utf-8", errors="ignore").splitlines()
    return "\n\n".join("\n".join(paragraphs[start : start + lines]) for start in range(0, len(paragraphs), lines))


def compare(text: Path, options) -> None:
    found = {name: [] for name in RUNS}
    for _ in range(options.rounds):
        for name in RUNS:
            command = [sys.executable, "-m", "benchmarks.pretraining_data", str(text), str(options.vocab)]
            command += ["--passes", str(options.passes), "--measure", name]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found[name].append(json.loads(output.splitlines()[-1]))
    print(f"{text.stat().st_size / 1e6:.1f} MB of text, {options.passes} passes, median of {options.rounds} rounds")
    for name, runs in found.items():
        speed, memory = (median(run[key] for run in runs) for key in ("per_second", "megabytes"))
        print(f"{name:>25}: {runs[0]['examples']:>9,} examples  {speed:>8,.0f} per second and core  {memory:>6,.0f} MB")
    for name in list(RUNS)[1:]:
        ratio = median(ours["per_second"] / peer["per_second"] for ours, peer in zip(found["ours"], found[name]))
        print(f"ours: {ratio:.1f} times as fast as {name}")


if __name__ == "__main__":
    main()
