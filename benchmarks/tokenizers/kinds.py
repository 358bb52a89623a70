"""Tokenizing text that was never seen before, kind by kind, beside Hugging Face's `encode_batch`.

    python -m benchmarks.tokenizers.kinds [--rounds 7] [--megabytes 1] [--lines-per-call 2000]

Each round makes new lines of every kind, in which no word is like one before, so that no table of words helps. Both
get the same lines one after the other in one process (who is first alternates), on one thread each, and must return
the same ids. A ratio is the median over the rounds of our speed divided by theirs in the same round; beside it are the
smallest and the largest. The vocabulary is made of other words of the same kinds; ours reads it before the first
round, as theirs does. MB are 10⁶ bytes of UTF-8.

Supports: benchmarks/tokenizers/README.md, "Text that was never seen before".
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, BasicTokenizer, Vocabulary, WordPieceTokenizer

WORDS_PER_LINE = 20
GREEK_CAPITALS = "Greek, capitals"  # theirs has no final sigma (ς), which the published tokenizer has: other ids
WITHOUT_TOKENS = {"unknown words", "too long words"}
_SYLLABLES = [a + b for a in "bcdfghlmnprstvw" for b in ("a", "e", "i", "o", "u", "er", "in", "ing", "ed", "th")]
_CYRILLIC = [a + b for a in "бвгдзклмнпрст" for b in "аеиоуыя"] + ["ость", "ский", "ение", "ть"]
_GREEK = [a + b for a in "βγδκλμνπρστφ" for b in "αεηιου"] + ["ος", "ων", "ση"]
_ACCENTS = [a + b for a in "bcçdfgñršžł" for b in "áàâäéèêëíîïóôöúü"]
_ARABIC = [a + b for a in "بتثجحدرسشعفقكلمن" for b in "اوي"]
_DEVANAGARI = [a + b for a in "कखगचजतदनपबमरलवस" for b in ("", "ा", "ि", "ी", "ु", "े", "ो", "्")]
_THAI = [a + b for a in "กขคจชดตทนบปมยรลวสห" for b in ("า", "ิ", "ี", "ุ", "ู", "่", "้")]


def _joined(parts: list[str], min_length: int, max_length: int):
    return lambda rng: "".join(rng.choices(parts, k=rng.randint(min_length, max_length)))


def _characters(first: int, last: int, min_length: int, max_length: int):
    return lambda rng: "".join(map(chr, rng.choices(range(first, last), k=rng.randint(min_length, max_length))))


def _shouted(word):
    return lambda rng: word(rng).upper()


def _marked(rng: random.Random) -> str:
    word = "".join(rng.choices(_SYLLABLES, k=4))
    return rng.choice(("https://{0}.org/{1}?q={0}", "“{0}”-{1}…", "({0}_{1});", "{0}'s/{1},")).format(
        word[:6], word[3:]
    )


ENGLISH = _joined(_SYLLABLES, 3, 5)
# name → function from a generator of random numbers to a word
KINDS = {
    "English": ENGLISH,
    "Cyrillic": _joined(_CYRILLIC, 3, 5),
    "Greek": _joined(_GREEK, 3, 5),
    GREEK_CAPITALS: _shouted(_joined(_GREEK, 3, 5)),
    "accents": _joined(_ACCENTS, 3, 6),
    "accents as marks": lambda rng: "".join(a + rng.choice("\u0301\u0308\u0327") for a in ENGLISH(rng)),
    "digits": lambda rng: str(rng.randrange(10**5, 10**10)),
    "marks and addresses": _marked,
    "unknown words": lambda rng: ENGLISH(rng) + rng.choice("𓀀𓀁𓀂𓀃") + ENGLISH(rng)[:3],
    "long words": _joined(_SYLLABLES, 20, 40),
    "too long words": _joined(_SYLLABLES, 60, 90),
    "Chinese": _characters(0x4E00, 0x9FA5, 10, 30),
    "Japanese": lambda rng: _characters(0x3041, 0x3096, 4, 12)(rng) + _characters(0x4E00, 0x9FA5, 1, 4)(rng),
    "Korean": _characters(0xAC00, 0xD7A3, 2, 5),
    "Arabic": _joined(_ARABIC, 3, 5),
    "Devanagari": _joined(_DEVANAGARI, 3, 6),
    "Thai": _joined(_THAI, 10, 30),
    "emoji": _characters(0x1F300, 0x1F5FF, 1, 4),
}


def make_lines(word, megabytes: float, rng: random.Random) -> list[str]:
    """Lines of new words of one kind."""
    lines, size = [], 0
    while size < megabytes * 1_000_000:
        lines.append(" ".join(word(rng) for _ in range(WORDS_PER_LINE)))
        size += len(lines[-1].encode())
    return lines


def make_vocabulary(size: int = 20_000) -> Vocabulary:
    """Every letter of other words of these kinds, and the most frequent strings of two to six letters in them."""
    rng, basic, counts = random.Random("vocabulary"), BasicTokenizer(), Counter()
    for kind, word in KINDS.items():
        lines = make_lines(word, 0.3 if kind == "English" else 0.06, rng)
        for text in (word.text for line in lines for word in basic.words(line) if kind not in WITHOUT_TOKENS):
            counts.update(text[:end] for end in range(1, 7))
            counts.update("##" + text[start : start + end] for start in range(1, len(text)) for end in range(1, 7))
    letters = {char for piece in counts for char in piece.removeprefix("##")}
    alphabet = [form + letter for form in ("", "##") for letter in sorted(letters)]
    frequent = sorted(counts, key=lambda piece: (-counts[piece], piece))
    return Vocabulary(list(dict.fromkeys([*SPECIAL_TOKENS, *alphabet, *frequent]))[: len(alphabet) + size])


def compare(functions: dict, lines: list[str], first: str, same_ids: bool = True) -> dict[str, float]:
    """MB/s of both on the same lines. Ends the program if their ids should be the same and differ."""
    megabytes = sum(len(line.encode()) for line in lines) / 1e6
    speeds, found = {}, {}
    for name in sorted(functions, key=lambda name: name != first):
        started = time.perf_counter()
        rows = functions[name](lines)
        speeds[name] = megabytes / (time.perf_counter() - started)
        found[name] = [ids for part in rows for ids in (part.to_list() if hasattr(part, "to_list") else part)]
    if same_ids and found["ours"] != found["theirs"]:
        index = next(n for n, (a, b) in enumerate(zip(found["ours"], found["theirs"])) if a != b)
        sys.exit(f"different ids: {lines[index]!r}\nours   {found['ours'][index]}\ntheirs {found['theirs'][index]}")
    return speeds


def measure(vocabulary: Vocabulary, kinds: list[str], megabytes: float, rounds: int, per_call: int) -> dict:
    """kind → (our MB/s, their MB/s) of every round."""
    import tokenizers

    with tempfile.TemporaryDirectory() as folder:
        vocabulary.save(Path(folder) / "vocab.txt")
        theirs = tokenizers.BertWordPieceTokenizer(str(Path(folder) / "vocab.txt"), lowercase=True)
    ours = WordPieceTokenizer(vocabulary, max_chars_per_word=100)  # as theirs has it
    functions = {
        "ours": lambda lines: [ours.encode_batch(part) for part in _calls(lines, per_call)],
        "theirs": lambda lines: [
            [row.ids for row in theirs.encode_batch(part, add_special_tokens=False)] for part in _calls(lines, per_call)
        ],
    }
    results = {kind: [] for kind in kinds}
    compare(functions, make_lines(ENGLISH, 0.1, random.Random("warm-up")), "ours")
    for number in range(rounds):
        for kind in kinds:
            lines = make_lines(KINDS[kind], megabytes, random.Random(f"{kind} {number}"))
            speeds = compare(functions, lines, ("ours", "theirs")[number % 2], kind != GREEK_CAPITALS)
            results[kind].append((speeds["ours"], speeds["theirs"]))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return results


def _calls(lines: list[str], per_call: int) -> list[list[str]]:
    return [lines[start : start + per_call] for start in range(0, len(lines), per_call)]


def report(results: dict) -> str:
    """A Markdown table."""
    rows = ["| text, all words new | ours, MB/s | theirs, MB/s | ratio (smallest to largest) |", "|---|---|---|---|"]
    for kind, speeds in results.items():
        ratios = [ours / theirs for ours, theirs in speeds]
        middle = [statistics.median(column) for column in zip(*speeds)]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        rows.append(f"| {kind} | {middle[0]:.1f} | {middle[1]:.1f} | {spread} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vocab", type=Path, help="vocab.txt of an uncased vocabulary, in place of a learnt one")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS), metavar="KIND")
    parser.add_argument("--megabytes", type=float, default=1.0, help="of each kind in a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lines-per-call", type=int, default=2000, help="lines that `encode_batch` gets at once")
    options = parser.parse_args()
    vocabulary = Vocabulary.from_file(options.vocab) if options.vocab else make_vocabulary()
    print(report(measure(vocabulary, options.kinds, options.megabytes, options.rounds, options.lines_per_call)))


if __name__ == "__main__":
    main()
