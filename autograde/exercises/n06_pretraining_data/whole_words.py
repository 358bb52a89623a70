"""The positions of each word's tokens, from left to right; special tokens belong to no word."""

from autograde.exercises.draws import Random
from autograde.exercises.n06_pretraining_data._shared import LIBRARY
from autograde.exercises.spec import Case, Exercise, cases, mistake, plain_function, values


def whole_words(pieces):
    """Another algorithm than the notebook's: mark where words begin, then split."""
    regular = [piece not in ("[CLS]", "[SEP]", "[PAD]") for piece in pieces]
    goes_on = [
        regular[t] and t > 0 and regular[t - 1] and pieces[t].startswith("##") for t in range(len(pieces))
    ]  # fmt: skip
    begins = [t for t in range(len(pieces)) if regular[t] and not goes_on[t]]
    return [[t for t in range(begin, len(pieces)) if all(goes_on[begin + 1 : t + 1])] for begin in begins]


WORDS = (["the"], ["play", "##ing"], ["bo", "##at"], ["penguin", "##s"], ["flight", "##less"], ["un", "##bel", "##iev",
         "##able"], ["sea"], ["milk"], ["gall", "##on"], ["##s"])  # fmt: skip


def _pieces(rng: Random, count: int) -> list[str]:
    drawn = [WORDS[index] for index in rng.choice(len(WORDS) - 1, count, replace=False)]
    return [piece for word in drawn for piece in word]


def rows_of_words(rng: Random) -> list[Case]:
    example = "[CLS] penguin ##s are flight ##less birds [SEP]".split()
    drawn = ["[CLS]", "un", "##bel", *_pieces(rng, 4), "[SEP]", *_pieces(rng, 3), "[SEP]", "[PAD]", "[PAD]"]
    return [Case((example,)), Case((drawn,))]


def cut_words(rng: Random) -> list[Case]:
    """Truncation at the front leaves the end of a word after a special token, [SEP] or [CLS], or after nothing."""
    return [
        Case((["[CLS]", *_pieces(rng, 2), "[SEP]", "##ing", "##s", *_pieces(rng, 2), "[SEP]"],)),
        Case((["[CLS]", "##s", *_pieces(rng, 2), "[SEP]", "##able", "[SEP]", "[PAD]"],)),
        Case((["##s", *_pieces(rng, 2)],)),
    ]


def unusual_rows(rng: Random) -> list[Case]:
    """Nothing but special tokens; no special token at all; the same word twice, side by side; a word of one #;
    [UNK], a bracket and a word that contains ## are words; [UNK] is continued too, also by a ## alone; so is [MASK]."""
    word = _pieces(rng, 1)
    return [
        Case((["[CLS]", "[SEP]", "[PAD]"],)), Case(([],)), Case(([*word, *word, "#", "##s", *_pieces(rng, 2)],)),
        Case((["[CLS]", *_pieces(rng, 1), "[UNK]", "[", "a##b", "]", "[UNK]", "[SEP]", "[", "##s", "[SEP]"],)),
        Case((["[CLS]", *_pieces(rng, 1), "[UNK]", "##s", *_pieces(rng, 1), "##", "##s", "[SEP]"],)),
        Case((["[CLS]", "[MASK]", *_pieces(rng, 2), "[MASK]", "##s", "[MASK]", "[SEP]"],)),
    ]  # fmt: skip


def longer_rows(rng: Random) -> list[Case]:
    """Many words, three segments; padding of many tokens."""
    first, second = _pieces(rng, 7), _pieces(rng, 5)
    return [Case((["[CLS]", *first, "[SEP]", *second, "[SEP]", *_pieces(rng, 3), "[SEP]", *["[PAD]"] * 9],))]


def longer_cut_rows(rng: Random) -> list[Case]:
    first, second = _pieces(rng, 7), _pieces(rng, 5)
    return [Case((["[CLS]", "##ed", *first, "[SEP]", *second, "[SEP]", "##s", "##s", *_pieces(rng, 3), "[SEP]"],))]


EXERCISE = Exercise(
    probe=plain_function(),
    reference=whole_words,
    returns="list",
    parts=(
        values(2, lambda rng: rows_of_words(rng) + unusual_rows(rng), hidden=longer_rows),
        cases("cut words", 1, cut_words,
            "a token with ## directly behind [CLS] or [SEP], or at the very beginning, begins a new word, and those "
            "behind it continue that word",
            longer_cut_rows),
    ),
    forbidden=LIBRARY,
    hints=(
        "A token that begins with ## continues the word before it; any other regular token begins a new one.",
        "Go from left to right with a growing list of words; only `words[-1]` can still be continued.",
        "Before you extend the last word, test whether it ends directly before this token.",
    ),
    misconceptions=(
        mistake("each-piece-alone", 'piece.startswith("##") and words and words[-1][-1] == t - 1', "False",
            hint="Every token is a separate word in your result. Tokens with ## continue the word before them."),
        mistake("special-tokens-too", "if piece in SPECIAL:", "if False:",
            hint="[CLS], [SEP] or [PAD] count as words in your result. They are never predicted: skip them."),
        mistake("unknown-is-special",
            'SPECIAL = ("[CLS]", "[SEP]", "[PAD]")', 'SPECIAL = ("[CLS]", "[SEP]", "[PAD]", "[UNK]")',
            hint="You skip [UNK]. It stands for a word of the text, so it is a word. Only [CLS], [SEP] and [PAD] "
                 "belong to no word."),
        mistake("across-the-separator", " and words[-1][-1] == t - 1", "",
            hint="A word extends across [SEP]: the rest of a truncated word joins the last word of the other "
                 "segment. The positions of a word must be adjacent."),
        mistake("split-words-only", "return words", "return [word for word in words if len(word) > 1]",
            hint="You list only words of several tokens. A word of a single token is a whole word as well."),
        mistake("counted-without-special-tokens", "for t, piece in enumerate(pieces):",
            "for t, piece in enumerate([piece for piece in pieces if piece not in SPECIAL]):",
            hint="Your positions do not count the special tokens. A position is an index in the whole sequence, "
                 "[CLS] has index 0."),
    ),
)  # fmt: skip
