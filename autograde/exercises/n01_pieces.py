"""Notebook 01, exercises 1.5 and 1.6: words into pieces."""

from autograde.exercises import n01_draws as draws
from autograde.exercises import n01_references as right
from autograde.exercises.n01_common import BUILD_IT, MODULE, NOTEBOOK, WHOLE_TOKENIZERS
from autograde.exercises.spec import Exercise, Misconception, cases, function, values

# Mistakes that are another algorithm, not a slip in this one.
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

WORDPIECE = Exercise(
    id="wordpiece",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.5",
    title="The longest piece that fits",
    minutes=9,
    lines="",
    names=("wordpiece",),
    arguments=("word", "vocabulary"),
    probe=function("wordpiece"),
    reference=right.wordpiece,
    returns="list",
    parts=(
        values(2, draws.words_to_cut),
        cases("greedy", 1, draws.greedy_traps, "always the longest piece, and never back"),
        cases("long words", 1, draws.long_words, "200 characters are cut into pieces, 201 are [UNK]"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Two places in the word: where the next piece starts and where it ends. The start only ever moves on.",
        "For one start, try the end of the word first and come nearer. From the second piece on look it up with ##.",
        "When the end has come down to the start, nothing fits: the whole word is [UNK], whatever was found before.",
    ),
    misconceptions=(
        Misconception(
            "shortest-first",
            "You take the shortest piece that fits. Begin with all that is left of the word and make it shorter.",
            (
                ("end = len(word)\n", "end = start + 1\n"),
                ("while end > start and", "while end <= len(word) and"),
                ("end -= 1", "end += 1"),
                ("if end == start:", "if end > len(word):"),
            ),
        ),
        Misconception(
            "looked-up-without-joiner",
            "You look up the later pieces as if they began a word. From the second piece on it is ## and the text.",
            (('joiner = "##" if start > 0 else ""', 'joiner = ""'),),
        ),
        Misconception(
            "found-pieces-kept",
            "You keep the pieces found before nothing fitted. A word with a hole is [UNK] as a whole.",
            (
                (
                    '        if end == start:\n            return ["[UNK]"]',
                    '        if end == start:\n            return [*pieces, "[UNK]"]',
                ),
            ),
        ),
        Misconception(
            "hole-skipped",
            "Where nothing fits you write [UNK] for one character and go on. A word with a hole is [UNK] as a whole.",
            (
                (
                    '        if end == start:\n            return ["[UNK]"]\n'
                    "        pieces.append(joiner + word[start:end])",
                    '        if end == start:\n            end = start + 1\n            pieces.append("[UNK]")\n'
                    "        else:\n            pieces.append(joiner + word[start:end])",
                ),
            ),
        ),
        Misconception(
            "goes-back",
            (
                "Where the longest piece leads nowhere you go back and try a shorter one. That finds more, but it is "
                "another algorithm: greedy never goes back, the word is [UNK]."
            ),
            cell=GOING_BACK,
        ),
        Misconception(
            "from-the-end",
            "You cut from the end of the word: longest ending first. WordPiece starts at the beginning.",
            cell=FROM_THE_END,
        ),
        Misconception(
            "no-limit",
            "Words of more than 200 characters are [UNK] at once, before any piece is looked for.",
            (('    if len(word) > LONGEST_WORD:\n        return ["[UNK]"]\n', ""),),
        ),
    ),
)

TOKENIZE = Exercise(
    id="tokenize",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.6",
    title="The whole tokenizer",
    minutes=2,
    lines="",
    names=("tokenize",),
    arguments=("text", "vocabulary"),
    probe=function("tokenize"),
    reference=right.tokenize,
    returns="list",
    parts=(
        values(1, draws.texts_to_cut),
        cases("cased and uncased", 1, draws.cased_texts, "`lower_case` must reach `basic_tokenize`"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "You have both halves: one gives words, the other gives a word's pieces.",
        "Hand `lower_case` on to the half that knows what to do with it.",
        "A list of lists is not a list of pieces: two `for` in one comprehension, or `+=`.",
    ),
    misconceptions=(
        Misconception(
            "list-per-word",
            "You return a list for each word. One list of all pieces is wanted; the ## tells where words go on.",
            (
                (
                    "[piece for word in basic_tokenize(text, lower_case) for piece in wordpiece(word, vocabulary)]",
                    "[wordpiece(word, vocabulary) for word in basic_tokenize(text, lower_case)]",
                ),
            ),
        ),
        Misconception(
            "case-not-handed-on",
            "`lower_case` does not reach `basic_tokenize`: cased texts are lower-cased all the same.",
            (("basic_tokenize(text, lower_case)", "basic_tokenize(text)"),),
        ),
        Misconception(
            "cut-at-blanks",
            "You cut the text at blanks only. Capitals, accents and punctuation are the basic tokenizer's work.",
            (("basic_tokenize(text, lower_case)", "text.split()"),),
        ),
        Misconception(
            "whole-words-only",
            "A word that is not in the list as a whole is [UNK] in your version. That is what pieces are for.",
            (
                (
                    "[piece for word in basic_tokenize(text, lower_case) for piece in wordpiece(word, vocabulary)]",
                    '[word if word in vocabulary else "[UNK]" for word in basic_tokenize(text, lower_case)]',
                ),
            ),
        ),
        Misconception(
            "numbers-returned",
            "These are the pieces' numbers. Here the pieces themselves are wanted; numbers come in 1.12.",
            (("return [piece for", "return [vocabulary[piece] for"),),
        ),
    ),
)
