"""A vocabulary and documents for the tests of training examples: made-up words, so that every test knows its text."""

import numpy as np

from bertlab.data.documents import Document
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

LETTERS = "abcdefghijklmnopqrst"
WORDS = [first + second for first in LETTERS for second in LETTERS]  # 400 tokens that begin a word
TAILS = ["##" + word for word in WORDS[:100]]
PIECES = [*SPECIAL_TOKENS, "[unused0]", ".", *WORDS, *TAILS]


def make_tokenizer() -> WordPieceTokenizer:
    return WordPieceTokenizer(Vocabulary(PIECES))


def make_documents(count: int, seed: int = 0, sentences: tuple[int, int] = (1, 12)) -> list[Document]:
    """Documents of random sentences of 3 to 24 words; a word is one to three tokens."""
    rng = np.random.default_rng(seed)
    return [
        Document(f"text#{number}", (tuple(_sentence(rng) for _ in range(rng.integers(*sentences))),), "text")
        for number in range(count)
    ]


def _sentence(rng: np.random.Generator) -> str:
    words = []
    for tails in rng.integers(10, size=rng.integers(3, 25)):
        pieces = [WORDS[rng.integers(len(WORDS))]]
        pieces += [TAILS[each][2:] for each in rng.integers(len(TAILS), size=max(0, tails - 7))]  # 80%: no tail
        words.append("".join(pieces))
    return " ".join(words) + " ."


def as_text(documents: list[Document]) -> str:
    """The documents as a `.txt` file that `load_documents` reads: a sentence per line, a blank line between them."""
    return "\n".join("".join(f"{sentence}\n" for part in each.paragraphs for sentence in part) for each in documents)


SMALL = ExampleSettings(sequence_length=48, duplicate_factor=2)
