"""Splits a text into tokens. The texts are ASCII, where the first version of `basic_tokenize` and BERT's agree."""

import re

from autograde.exercises.n01_wordpiece._shared import (
    WHOLE_TOKENIZERS,
    in_letters,
    numbered,
    pick,
    shuffled,
    stems_and_endings,
)
from autograde.exercises.n01_wordpiece.wordpiece import wordpiece
from autograde.exercises.writing import Case, Exercise, Random, cases, composed, mistake, values


def tokenize(text, vocabulary, lower_case=True):
    words = re.findall(r"[^\W_]+|\S", text.lower() if lower_case else text)
    return sum((wordpiece(word, vocabulary) for word in words), [])


def texts_to_cut(rng: Random) -> list[Case]:
    vocabulary, stem, endings = stems_and_endings(rng, more=["zoe", "!", "."])
    one, two = f"{stem.title()}{endings[0]} zoe{pick(rng, '.!')}", f"{stem}{endings[1]}{pick(rng, '.!')} {stem}xyz"
    return [
        Case((f"{one} {two}", vocabulary)),
        Case((f"{two} [MASK] {one}", vocabulary)),
        Case((f"xyz ZYX\t{two} {two} x-yz\n", vocabulary)),  # unknown words, and equal words, beside each other
        Case((" ".join([stem + endings[0]] * 300 + ["zoe"]), vocabulary)),  # more tokens than BERT has positions
        Case((" \n", vocabulary)),
        Case(("", vocabulary)),
        Case((f"{'a' * 201} {'a' * 200}", numbered(rng, ["a" * 201, "a" * 200]))),
        Case((f"{one} {two}", numbered(rng, [*in_letters(stem), "zoe", "."]))),  # the same words, another vocabulary
        Case((f"{stem.title()}{endings[0]}. {stem}_{endings[1]}! {stem}\r{endings[1]}", vocabulary)),
        not_words(stem),
    ]


def not_words(stem: str) -> Case:
    """Tokens of the vocabulary that are not words, since they have punctuation, or spaces around them."""
    pieces = [stem, f"{stem}'s", "'", "s", "e.g.", "zoe", f"{stem} {stem}"]
    vocabulary = {piece: number for number, piece in enumerate(["[UNK]", *pieces])}
    return Case((f"{stem}'s e.g. zoe {stem} {stem}", vocabulary))


def longer_texts(rng: Random, lower_case: bool = True) -> list[Case]:
    vocabulary, stem, endings = stems_and_endings(rng, more=["zoe", "!", ".", "a", "##b"])
    words = [stem, stem + endings[0], stem.upper() + endings[1], "Zoe!", "ab", "b", "abb...", "xyz", "[UNK]", "a^b"]
    texts = [pick(rng, (" ", "\t", "\n")).join(shuffled(rng, words)) for _ in range(2)]
    return [Case((text, vocabulary), {"lower_case": lower_case}) for text in texts]


def text_after_text(rng: Random) -> list[Case]:
    """Two texts, and one of their words alone, before any list of tokens is read."""
    vocabulary, stem, endings = stems_and_endings(rng, more=["zoe", "!", "."])
    first, second = f"Zoe {stem}{endings[0]}!", f"{stem}{endings[1]} xyz."
    return [
        composed(
            ("tokenize", Case((first, vocabulary))),
            ("tokenize", Case((second, vocabulary))),
            ("wordpiece", Case((stem + endings[0], vocabulary))),
        )
    ]


def cased_texts(rng: Random) -> list[Case]:
    vocabulary, stem, endings = stems_and_endings(rng, more=["Zoe", "."])
    return [
        Case((f"Zoe {stem}{endings[0]} {stem.title()}.", vocabulary), {"lower_case": lower}) for lower in (False, True)
    ]


EXERCISE = Exercise(
    reference=tokenize,
    returns="list",
    parts=(
        values(1, texts_to_cut, hidden=longer_texts),
        cases("cased and uncased", 1, cased_texts, "`lower_case` must reach `basic_tokenize`",
            lambda rng: longer_texts(rng, lower_case=False) + text_after_text(rng)),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "You have both halves: `basic_tokenize` returns words, your `wordpiece` a word's tokens.",
        "Pass `lower_case` on to the function that uses it.",
        "A list of lists is not a list of tokens: use two `for` in one comprehension, or `+=`.",
    ),
    misconceptions=(
        mistake("list-per-word",
            "[piece for word in basic_tokenize(text, lower_case) for piece in wordpiece(word, vocabulary)]",
            "[wordpiece(word, vocabulary) for word in basic_tokenize(text, lower_case)]",
            hint="You return a list for each word. Return one list of all tokens; the ## marks where words continue."),
        mistake("case-not-handed-on", "basic_tokenize(text, lower_case)", "basic_tokenize(text)",
            hint="You do not pass `lower_case` to `basic_tokenize`: cased texts become lower case too."),
        mistake("cut-at-blanks", "basic_tokenize(text, lower_case)", "text.split()",
            hint="You split the text only at spaces. Use `basic_tokenize` for capitals and punctuation."),
        mistake("whole-words-only",
            "[piece for word in basic_tokenize(text, lower_case) for piece in wordpiece(word, vocabulary)]",
            '[word if word in vocabulary else "[UNK]" for word in basic_tokenize(text, lower_case)]',
            hint="A word that is not in the vocabulary as a whole becomes [UNK] in your version. Split it with "
                 "`wordpiece`."),
        mistake("numbers-returned", "return [piece for", "return [vocabulary[piece] for",
            hint="These are the ids. Return the tokens themselves; ids come in 1.10."),
    ),
)  # fmt: skip
