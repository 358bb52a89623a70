"""Turns the text of `scripts.make_mini_text` into arrays of token ids, from which `scripts.make_mini` draws its rows.

    nice python -m scripts.mini_tokens mini-text --vocabulary mini-text/vocab-12k.txt --out mini-tokens

mini-tokens/train/SOURCE.npz and held_out/SOURCE.npz have the arrays of `Tokens`. A finished file is not made again.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.common.files import write_atomically
from bertlab.common.progress import track
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

PARTS = ("train", "held_out")
BATCH_SIZE = 2000  # documents


@dataclass(frozen=True)
class Tokens:
    """Documents as token ids without [CLS] and [SEP], all sentences one after the other.

    ids: (N,) uint16. starts: (S + 1,) int64, where each sentence starts in ids, and N at the end. document_ends: (S,)
    int64, for each sentence the number of the first sentence after its document.
    """

    ids: np.ndarray
    starts: np.ndarray
    document_ends: np.ndarray

    @classmethod
    def load(cls, path: Path) -> "Tokens":
        """Reads what `write` wrote."""
        with np.load(path) as arrays:
            lengths, sentences = arrays["lengths"].astype(np.int64), arrays["sentences"].astype(np.int64)
            ends = np.repeat(np.cumsum(sentences), sentences)
            return cls(arrays["ids"], np.concatenate([[0], np.cumsum(lengths)]), ends)


def write(source: Path, tokenizer: WordPieceTokenizer, out: Path) -> None:
    """The tokens of a .jsonl file of documents. lengths: tokens of each sentence; sentences: of each document."""
    ids, lengths, sentences = [], [], []
    lines = source.read_text(encoding="utf-8").splitlines()
    for start in track(range(0, len(lines), BATCH_SIZE), f"{source.parent.name}/{source.stem}", lines=True):
        documents = [json.loads(line)["paragraphs"] for line in lines[start : start + BATCH_SIZE]]
        texts = [[sentence for paragraph in document for sentence in paragraph] for document in documents]
        encoded = tokenizer.encode_batch([sentence for text in texts for sentence in text])
        ids.append(encoded.values.astype(np.uint16))
        lengths.append(np.diff(encoded.row_splits))
        sentences.append([len(text) for text in texts])
    arrays = {"ids": np.concatenate(ids), "lengths": np.concatenate(lengths).astype(np.uint16),
              "sentences": np.concatenate(sentences).astype(np.uint32)}  # fmt: skip
    write_atomically(out, lambda partial: _save(partial, arrays))


def _save(partial: Path, arrays: dict[str, np.ndarray]) -> None:
    with partial.open("wb") as file:
        np.savez(file, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path, help="folder of the prepared text")
    parser.add_argument("--vocabulary", type=Path, required=True, help="vocab.txt of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder of the arrays")
    parser.add_argument("--only", nargs="*", help="names of sources; all if left out")
    options = parser.parse_args()
    tokenizer = WordPieceTokenizer(Vocabulary.from_file(options.vocabulary))
    for part in PARTS:
        (options.out / part).mkdir(parents=True, exist_ok=True)
        for source in sorted((options.text / part).glob("*.jsonl")):
            out = options.out / part / f"{source.stem}.npz"
            if not out.is_file() and (not options.only or source.stem in options.only):
                write(source, tokenizer, out)


if __name__ == "__main__":
    main()
