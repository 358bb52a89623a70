"""Judges a small English model without training: minimal pairs, everyday blanks, similarity, held-out text.

    python -m benchmarks.english.mini [MODEL …] [--held-out FOLDER] [--made-pairs 50] [--out FILE.json]

The material is our own: `benchmarks/english/material`, and with --made-pairs the pairs of
`benchmarks.english.grammar_pairs`. With --held-out, a folder of .jsonl documents as `scripts.make_mini_text` writes it,
the bits per character of each kind of text are added: pseudo-log-likelihood with the later tokens of a word masked too,
so that models with different vocabularies can be compared.

Supports: benchmarks/english/README.md, "What bertlab-mini knows".
"""

import argparse
import hashlib
import json
import math
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.english.grammar_pairs import write_pairs
from bertlab.common.files import write_json
from scripts.text_kinds import KINDS

MATERIAL = Path(__file__).parent / "material"
TOP = 5
SENTENCES = 150  # of each kind of held-out text
WORDS = (5, 40)  # in a held-out sentence
HELD_OUT_KINDS = tuple(kind for kind in KINDS if kind != "packages")


def judge(folder: str | Path, held_out: Path | None = None, sentences: int = SENTENCES, made: int = 0) -> dict:
    """The results of one model: fractions, a rank correlation and bits per character.

    folder: a checkpoint with a masked-LM head. made: made pairs of each paradigm. Keys: pairs (a dict: phenomenon →
    fraction, with "all"), made_pairs (field of grammar → fraction, with "all"; {} for none), blanks (development,
    judgement), similarity, bits_per_character (kind → bits, with "mean"; {} without held-out text).
    """
    from bertlab import checkpoints

    model, tokenizer = checkpoints.load(folder, "pretraining"), checkpoints.load_tokenizer(folder)
    return {
        "pairs": pair_accuracy(model, tokenizer, MATERIAL / "minimal_pairs.jsonl"),
        "made_pairs": made_pair_accuracy(model, tokenizer, made),
        "blanks": {part: blanks_found(model, tokenizer, part) for part in ("development", "judgement")},
        "similarity": similarity(model.backbone, tokenizer),
        "bits_per_character": {} if held_out is None else bits_per_character(model, tokenizer, held_out, sentences),
    }


def rows_of(path: Path) -> list[dict]:
    """The objects of a .jsonl file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def made_pair_accuracy(model, tokenizer, each: int) -> dict[str, float]:
    """Field of grammar → the fraction of its made pairs that are right, and "all"; {} for no pairs."""
    if not each:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        write_pairs(file, each, seed=0)
        return pair_accuracy(model, tokenizer, file, "field")


def pair_accuracy(model, tokenizer, file: Path, group: str = "phenomenon") -> dict[str, float]:
    """Phenomenon, or another group → the fraction of its pairs that are right, and "all"."""
    from bertlab.analysis.minimal_pairs import group_results, read_pairs, score_pairs

    pairs = read_pairs(file)
    results = group_results(pairs, score_pairs(model, tokenizer, pairs))
    return {each.name: each.accuracy for each in results if each.group == group} | {"all": results[-1].accuracy}


def blanks_found(model, tokenizer, part: str) -> dict:
    """Counts the blanks of a part with an accepted answer among the first five predictions, and lists those without."""
    from bertlab.analysis.fill_mask import fill_mask

    rows = [row for row in rows_of(MATERIAL / "blanks.jsonl") if row["part"] == part]
    missed = {}
    for row in rows:
        (guesses,) = fill_mask(model, tokenizer, row["text"], TOP)
        pieces = [guess.piece for guess in guesses]
        if not set(pieces) & set(row["answers"]):
            missed[row["text"]] = pieces
    return {"right": len(rows) - len(missed), "of": len(rows), "missed": missed}


def similarity(backbone, tokenizer) -> float:
    """Spearman's correlation of the grades with the cosines of the sentences' centred mean vectors."""
    from bertlab.analysis.vectors import encode_texts
    from bertlab.data.tasks.metrics import spearman

    rows = rows_of(MATERIAL / "similarity.jsonl")
    texts = [row[side] for side in ("first", "second") for row in rows]
    vectors = encode_texts(backbone, tokenizer, texts)
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = np.sum(vectors[: len(rows)] * vectors[len(rows) :], axis=1)
    return float(spearman([row["grade"] for row in rows], cosines))


# === Held-out text ===


def bits_per_character(model, tokenizer, folder: Path, sentences: int = SENTENCES) -> dict[str, float]:
    """Kind of text → −log₂ of the pseudo-likelihood of its sentences, divided by their characters; and the mean."""
    from bertlab.analysis.pseudo_likelihood import pseudo_log_likelihood

    bits = {}
    for kind in HELD_OUT_KINDS:
        chosen = chosen_sentences([folder / f"{name}.jsonl" for name in KINDS[kind]], sentences)
        if chosen:
            longest = model.config.max_tokens - 2
            chosen = [text for text in chosen if len(tokenizer.encode(text)) <= longest]
            scores = pseudo_log_likelihood(model, tokenizer, chosen, masking="word-left-to-right")
            bits[kind] = float(-scores.sum() / math.log(2) / sum(map(len, chosen)))
    return bits | {"mean": sum(bits.values()) / len(bits)} if bits else {}


def chosen_sentences(files: Iterable[Path], count: int) -> list[str]:
    """Sentences of medium length from the files, the same ones every time: those with the smallest SHA-256."""
    found = {
        sentence
        for file in files
        if file.is_file()
        for record in rows_of(file)
        for sentences in record["paragraphs"]
        for sentence in sentences
        if WORDS[0] <= len(sentence.split()) <= WORDS[1]
    }
    return sorted(found, key=lambda sentence: hashlib.sha256(sentence.encode()).digest())[:count]


# === The command ===


def table(results: dict[str, dict]) -> str:
    """A Markdown table with a column per model."""
    rows = [("", *results), ("---", *("---" for _ in results))]
    phenomena = next(iter(results.values()))["pairs"]
    rows += [
        (f"minimal pairs: {name}", *(f"{each['pairs'][name]:.1%}" for each in results.values())) for name in phenomena
    ]
    for name in next(iter(results.values()))["made_pairs"]:
        rows.append((f"made pairs: {name}", *(f"{each['made_pairs'][name]:.1%}" for each in results.values())))
    for part in ("development", "judgement"):
        found = (each["blanks"][part] for each in results.values())
        rows.append((f"blanks: {part}", *(f"{each['right']} of {each['of']}" for each in found)))
    rows.append(("similarity (Spearman)", *(f"{each['similarity']:.3f}" for each in results.values())))
    for kind in next(iter(results.values()))["bits_per_character"]:
        bits = (each["bits_per_character"][kind] for each in results.values())
        rows.append((f"bits per character: {kind}", *(f"{each:.3f}" for each in bits)))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["bertlab-mini"], help="checkpoints; default: bertlab-mini")
    parser.add_argument("--held-out", type=Path, help="folder of .jsonl documents")
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="held-out sentences of each kind")
    parser.add_argument(
        "--made-pairs", type=int, default=0, help="pairs of each paradigm of benchmarks.english.grammar_pairs"
    )
    parser.add_argument("--out", type=Path, help="JSON file with all results")
    options = parser.parse_args(arguments)

    from bertlab.common.backend import load_backend

    load_backend()
    results = {
        str(model): judge(model, options.held_out, options.sentences, options.made_pairs) for model in options.models
    }
    if options.out:
        write_json(options.out, results)
    print(table(results))
    for name, result in results.items():
        for text, pieces in result["blanks"]["judgement"]["missed"].items():
            print(f"{name}: {text} {', '.join(pieces)}")


if __name__ == "__main__":
    main()
