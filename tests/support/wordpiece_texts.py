"""Texts and vocabularies for the tests of the tokenizer: many scripts, and everything awkward in between."""

import random
import sysconfig
from pathlib import Path

from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary

SCRIPTS = {
    "Latin": (0x20, 0x24F), "Greek": (0x370, 0x3FF), "Cyrillic": (0x400, 0x52F), "Hebrew": (0x590, 0x5FF),
    "Arabic": (0x600, 0x6FF), "Devanagari": (0x900, 0x97F), "Bengali": (0x980, 0x9FF), "Tamil": (0xB80, 0xBFF),
    "Thai": (0xE00, 0xE7F), "Tibetan": (0xF00, 0xFFF), "Georgian": (0x10A0, 0x10FF), "Cherokee": (0x13A0, 0x13FF),
    "Greek extended": (0x1F00, 0x1FFF), "Japanese": (0x3040, 0x30FF), "Chinese": (0x4E00, 0x4FFF),
    "Chinese compatibility": (0xF900, 0xFAFF), "Korean": (0xAC00, 0xAFFF), "Musical": (0x1D150, 0x1D1FF),
    "Emoji": (0x1F300, 0x1F6FF), "Balinese": (0x1B00, 0x1B7F),
}  # fmt: skip
# Blanks, controls, punctuation, combining characters of several kinds, Σ and İ: what matters between letters.
GLUE = "   \t\n\xa0\u3000\u2028\x00\x0b\x1f\x7f\x85\xad\u200d\ufeff\ufffd.,'’-“—_^`·;\u0301\u0307\u0345\u05b0\u093c"
GLUE += "ΣΣİıẞßﬁǅÅé\u302e\u302f\U0001d165\U0001d16d\u1b44\u0f71\u0f39中"


def vocabulary_of(words) -> Vocabulary:
    """Every character of the words alone and as a continuation, and some longer tokens."""
    words = list(words)
    letters = sorted({letter for word in words for letter in word if not 0xD800 <= ord(letter) < 0xE000})
    longer = sorted({word[:3] for word in words[::7] if len(word) > 3} | {"##" + word[-2:] for word in words[::5]})
    longer = [piece for piece in longer if "\ufffd" not in piece and len(piece.removeprefix("##")) > 1]
    pieces = [*SPECIAL_TOKENS, *letters, *("##" + letter for letter in letters), *longer]
    return Vocabulary(piece for piece in dict.fromkeys(pieces) if piece.encode("utf-8", "ignore").decode() == piece)


def random_lines(count: int, seed: int) -> list[str]:
    """Lines of words in one script, some in two, with anything in between."""
    rng = random.Random(seed)
    ranges = list(SCRIPTS.values())
    lines = []
    for _ in range(count):
        alphabets = [range(first, last + 1) for first, last in rng.choices(ranges, k=rng.choice((1, 1, 2)))]
        letters = (chr(rng.choice(rng.choice(alphabets))) for _ in range(rng.randrange(1, 24)))
        lines.append("".join(letter + (rng.choice(GLUE) if rng.random() < 0.4 else "") for letter in letters))
    return lines


def real_lines() -> list[str]:
    """The lines of Python's own library: prose, code and, in its tests and codecs, text in many scripts."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))
    files = [file for file in files if "site-packages" not in file.parts]
    return [line for file in files for line in file.read_text(encoding="utf-8", errors="ignore").split("\n")]
