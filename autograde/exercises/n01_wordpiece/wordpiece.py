"""Splits a word into the longest tokens of the vocabulary, from left to right."""

from autograde.exercises.n01_wordpiece._shared import (
    WHOLE_TOKENIZERS,
    numbered,
    pick,
    shuffled,
    some,
    stems_and_endings,
)
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values


def wordpiece(word, vocabulary):
    def rest(start):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                return [piece, *rest(end)]
        return [] if start == len(word) else [None]

    found = rest(0) if len(word) <= 200 else [None]
    return ["[UNK]"] if None in found else found


def words_to_cut(rng: Random) -> list[Case]:
    vocabulary, stem, endings = stems_and_endings(rng)
    letter = pick(rng, "xz")
    a, b, c = some(rng, "bcfhj", 3)
    single = numbered_from_zero(rng, [a, "##" + a, "##" + b, a + b, c, "##" + letter])
    whole = numbered(rng, [stem, stem + endings[0]])
    parts = numbered(rng, [stem, "##" + endings[0]])
    shorter = numbered(rng, [stem, stem[:-1], f"##{stem[-1]}{letter}", "##" + endings[0]])
    signs = numbered_from_zero(rng, [a, "#", "###" + b])  # for who puts ## before the rest and looks for its beginning
    inner = numbered_from_zero(rng, [a, "##" + b + c + b])  # no token that begins a word is as long
    return [
        Case((stem + endings[0], vocabulary)),
        Case((stem + endings[0], parts), first=(stem + endings[0], whole)),  # another vocabulary of the same size
        Case((stem + endings[1] + endings[0], vocabulary)),
        Case((stem, vocabulary)),
        Case((stem + endings[0] + letter + endings[1], vocabulary)),
        Case((letter + stem, vocabulary)),
        Case((a + b, signs)),
        Case((a + b + c + b, inner)),
        Case((stem + endings[0] + letter, vocabulary)),
        Case((stem + 2 * (endings[1] + endings[0]) + letter, vocabulary)),  # unknown after five tokens
        Case((stem + letter + endings[0], shorter)),  # only a shorter first token would leave known ones
        *(
            Case((word, single))
            for word in (a, a.upper(), letter, c + b + a, a + a + a, a + b + b + letter, b, b + c, letter + a)
        ),
    ]


def numbered_from_zero(rng: Random, pieces: list[str]) -> dict[str, int]:
    """A vocabulary without special tokens: some id is 0."""
    return {piece: number for number, piece in enumerate(shuffled(rng, pieces))}


def many_words(rng: Random) -> list[Case]:
    """Random words of few letters, and a vocabulary of a third of their parts."""
    letters = [*some(rng, "abcdefghé", 3), "D"]
    words = ["".join(pick(rng, letters) for _ in range(int(rng.integers(1, 9)))) for _ in range(36)]
    parts = [joiner + word[i:j] for word in words for i in range(len(word)) for j in range(i + 1, len(word) + 1)
             for joiner in ("", "##")]  # fmt: skip
    vocabulary = numbered_from_zero(rng, some(rng, sorted(set(parts)), len(set(parts)) // 3))
    return [Case((word, vocabulary)) for word in words]


def greedy_traps(rng: Random) -> list[Case]:
    """Words that can be split, but not by taking the longest token first; and the other way round."""
    a, b, c, d = some(rng, "abcdefgh", 4)
    late = numbered(rng, [a, "##" + b, "##" + b + c, "##" + c + d, "##" + d])
    trap = numbered(rng, [a, a + b, "##" + b + c, "##" + d])
    two_ways = numbered(rng, [a, a + b, "##" + b + c + d, "##" + b, "##" + c, "##" + d, "##" + c + d])
    return [Case((a + b + c + d, trap)), Case((a + b + c + d, two_ways)), Case((a + b + c + d, late))]


def long_words(rng: Random) -> list[Case]:
    """At the limit: in letters of one and of several bytes, and a token of more characters than a word may have."""
    letter, wide = pick(rng, "abc"), pick(rng, "éжü")
    vocabulary = numbered(
        rng, [letter * 3, "##" + letter * 40, "##" + letter, letter * 201, wide, "##" + wide, wide * 150]
    )
    words = [*(letter * length for length in (200, 201, 260)), wide * 101, wide * 200]
    whole = numbered(rng, [letter, "##" + letter * 199, letter * 199])
    return [*(Case((word, vocabulary)) for word in words), Case((letter * 200, whole)), Case((letter * 199, whole))]


# Mistakes that are a different algorithm, not an error in this one.
FROM_THE_END = """
def wordpiece(word, vocabulary):
    pieces, end = [], len(word)
    if end > 200:
        return ["[UNK]"]
    while end > 0:
        for start in range(end):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.insert(0, piece)
        end = start
    return pieces
"""
GOING_BACK = """
def wordpiece(word, vocabulary):
    def cut(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            rest = cut(end) if piece in vocabulary else None
            if rest is not None:
                return [piece] + rest
        return None

    pieces = cut(0) if len(word) <= 200 else None
    return ["[UNK]"] if pieces is None else pieces
"""

EXERCISE = Exercise(
    reference=wordpiece,
    returns="list",
    parts=(
        values(2, words_to_cut),
        cases("greedy", 1, greedy_traps, "always take the longest token, and never go back", many_words),
        cases("long words", 1, long_words,
            "a word of up to 200 characters is split as usual, a longer one is [UNK], even if it is a token"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Use two positions in the word: the start and the end of the next token. The start only ever increases.",
        "For one start, try the end of the word first and move it back. From the second token on look it up with ##.",
        "When the end has reached the start, nothing fits: the whole word is [UNK], regardless of the tokens found "
        "before.",
    ),
    misconceptions=(
        mistake("shortest-first",
            "end = len(word)\n", "end = start + 1\n",
            "while end > start and", "while end <= len(word) and",
            "end -= 1", "end += 1",
            "if end == start:", "if end > len(word):",
            hint="You take the shortest token that fits. Begin with the whole rest of the word and make it shorter."),
        mistake("looked-up-without-joiner", 'joiner = "##" if start > 0 else ""', 'joiner = ""',
            hint="You look up later tokens as if they began a word. From the second token on look up ## and the text."),
        mistake("found-pieces-kept", '        if end == start:\n            return ["[UNK]"]',
            '        if end == start:\n            return [*pieces, "[UNK]"]',
            hint="You keep the tokens found before nothing fitted. Then the whole word must be [UNK]."),
        mistake("hole-skipped", "        if end == start:\n"
            '            return ["[UNK]"]\n'
            "        pieces.append(joiner + word[start:end])",
            "        if end == start:\n"
            "            end = start + 1\n"
            '            pieces.append("[UNK]")\n'
            "        else:\n"
            "            pieces.append(joiner + word[start:end])",
            hint="Where nothing fits you write [UNK] for one character and continue. The whole word must be [UNK]."),
        mistake("goes-back", cell=GOING_BACK,
            hint="Where the longest token leads nowhere you go back and try a shorter one. That finds more, but it "
                 "is a different algorithm: the greedy one never goes back, and the word is [UNK]."),
        mistake("from-the-end", cell=FROM_THE_END,
            hint="You split from the end of the word: longest ending first. WordPiece starts at the beginning."),
        mistake("no-limit", '    if len(word) > LONGEST_WORD:\n        return ["[UNK]"]\n', "",
            hint="Words of more than 200 characters must be [UNK] at once, before any look-up."),
        mistake("joiner-only-written", "joiner + word[start:end] not in", "word[start:end] not in",
            hint="You look up the text without ## and write ## into the result. Look up the token as you write it."),
        mistake("limit-one-too-low", "len(word) > LONGEST_WORD", "len(word) >= LONGEST_WORD",
            hint="A word of exactly 200 characters becomes [UNK] in your version. Only a longer one does."),
        mistake("grown-while-it-fits",
            "end = len(word)\n", "end = start\n",
            "while end > start and joiner + word[start:end] not in", "while end < len(word) and joiner + "
            "word[start : end + 1] in",
            "end -= 1", "end += 1",
            hint="You make the token longer and stop where it is not in the vocabulary. A longer one can be in it "
                 "again: begin with the whole rest of the word and make it shorter."),
    ),
)  # fmt: skip
