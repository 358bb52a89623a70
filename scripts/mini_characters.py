"""Gives a trained model the characters of ASCII that its vocabulary lacks, in place of characters that never occurred.

    python -m scripts.mini_characters mini-run/bertlab-mini mini-tokens --out bertlab-mini

The cleaned text of `scripts.make_mini_text` has no mark-up, so its vocabulary lacks [ ] { } < > | \\ ^ ~ and _. In
documentation and code each of them would be [UNK], and could not be told from the others. Each one takes the place of
a character of another script that occurs in none of the tokens, and starts with the vector of [UNK], which stood for it
in training: the model computes the same as before, until it is fine-tuned.
"""

import argparse
import string
import sys
from pathlib import Path

import numpy as np
from keras import ops

from bertlab import checkpoints
from bertlab.wordpiece import Vocabulary, WordPieceTokenizer


def new_places(pieces: list[str], counts: np.ndarray) -> dict[int, str]:
    """Id → the missing character that it is given. counts: how often each token occurs. Exits if too few are free."""
    missing = [character for character in string.punctuation if character not in pieces]
    free = [i for i, piece in enumerate(pieces) if len(piece) == 1 and not piece.isascii() and counts[i] == 0]
    if len(free) < len(missing):
        sys.exit(f"expected {len(missing)} characters that never occur, found {len(free)}; learn another vocabulary")
    return dict(zip(free[len(free) - len(missing) :], missing))


def occurrences(tokens: Path, size: int) -> np.ndarray:
    """How often each token of the vocabulary occurs in the arrays of `scripts.mini_tokens`."""
    counts = np.zeros(size, np.int64)
    for path in sorted(tokens.glob("*/*.npz")):
        with np.load(path) as arrays:
            counts += np.bincount(arrays["ids"], minlength=size)
    if not counts.any():
        sys.exit(f"{tokens}: expected the arrays of `python -m scripts.mini_tokens`; give its folder")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of `scripts.make_mini`")
    parser.add_argument("tokens", type=Path, help="folder of `scripts.mini_tokens`")
    parser.add_argument("--out", type=Path, required=True, help="folder of the new model")
    options = parser.parse_args()
    model, tokenizer = checkpoints.load(options.model, "pretraining"), checkpoints.load_tokenizer(options.model)
    pieces = list(tokenizer.vocabulary.pieces)
    places = new_places(pieces, occurrences(options.tokens, len(pieces)))
    table = model.backbone.embeddings.token.embeddings
    vectors = ops.convert_to_numpy(table).copy()
    for place, character in places.items():
        print(f"{place}: {pieces[place]} → {character}")
        pieces[place], vectors[place] = character, vectors[tokenizer.vocabulary.unk_id]
    table.assign(vectors)
    checkpoints.save(model, options.out, WordPieceTokenizer(Vocabulary(pieces)), dtype="float16")


if __name__ == "__main__":
    main()
