"""Compares a predicted text with the best of the right answers."""

import string
from collections import Counter

from autograde.exercises.n08_finetuning._shared import EXACTLY, READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values

NAMES = ("owl", "castle", "letter", "train", "stone", "platform", "wizard", "feather", "lantern", "broom")


def _words(text):
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return [word for word in bare.split() if word not in ("a", "an", "the")]


def _overlap(gold, guess):
    if not gold or not guess:
        return float(gold == guess)
    shared = sum(min(count, guess.count(word)) for word, count in Counter(gold).items())
    precision, recall = shared / len(guess), shared / len(gold)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def span_scores(prediction, answers):
    guess, golds = _words(prediction), [_words(answer) for answer in answers] or [[]]
    return max(float(gold == guess) for gold in golds), max(_overlap(gold, guess) for gold in golds)


def one_answer(rng: Random) -> list[Case]:
    a, b, c, d, e = (str(word) for word in rng.permutation(NAMES)[:5])
    return [
        Case((f"The {a} and {b}.", [f"{a} and {b}"])),
        Case((f"{a.title()}, {a} {b} {d} {e}", [f"an {a} {c} {b} {a}"])),
        Case((f"a {c} {d}", [f"{a} {b} {c}"])),
        Case((a, [b])),
        Case((f"{a} {a} {a} {b}", [f"{a} {c} {a}"])),  # a word three times here and twice there
        Case((f"{a} {b}", [f"{a} {a} {a}"])),
        Case((f"{c} {b} {a}", [f"{a} {b} {c}"])),  # other order: not exact, but all shared
        Case((f"{a} {b}", [f"{a}{b}"])),  # other words
        *other_texts(rng),
    ]


def other_texts(rng: Random) -> list[Case]:
    a, b, c = (str(word) for word in rng.permutation(NAMES)[:3])
    return [
        Case((f"{a} {a} {b} {b}", [f"{b} {b} {b} {a} {c}"])), Case((f"  THE   {a}-{b}!", [f"{a}{b}"])),
        Case((f"Theatre {a} another", [f"atre {a} another", f"theatre {b}"])),
    ]  # fmt: skip


def long_texts(rng: Random) -> list[Case]:
    drawn = [" ".join(str(word) for word in rng.choice(NAMES, count)) for count in (12, 15)]
    return [Case((drawn[0], [drawn[1]]))]


def long_texts_of_several(rng: Random) -> list[Case]:
    drawn = [" ".join(str(word) for word in rng.choice(NAMES, count)) for count in (12, 15)]
    return [Case((drawn[1], [drawn[0], drawn[1] + " owl"]))]


def several_answers(rng: Random) -> list[Case]:
    """The best is the last, the first, one in the middle; exact match and F1 come from different answers, also where
    two answers have the same F1."""
    a, b, c, d = (str(word) for word in rng.permutation(NAMES)[:4])
    return [
        Case((f"{a} {b}", [f"{c} {a}", f"{a} {b} {d}", f"the {a} {b}"])), Case((f"{a} {b}", [c, f"{a} {d} {b}"])),
        Case((f"{a} {b}", [c, d, f"{c} {d}", f"{d} {c}", f"{c} {c}", f"{d} {d}", f"{a} {b}"])),
        Case((f"{a} {b}", [f"{b} {a}", f"{a} {b}"])), Case((f"{a} {b}", [f"{a} {b}", f"{b} {a}"])),
        Case((f"{a} {b}", [f"{b} {a}!", f"{c}", f"{d} {c}"])), Case((f"{a} {b} {c}", [d, f"{a} {c}", f"{b} {d} {d}"])),
    ]  # fmt: skip


def empty_answers(rng: Random) -> list[Case]:
    """Nothing on one side or on both, also where only articles and punctuation are left.

    Two answers of which one has no words are left out: SQuAD's own program drops that answer.
    """
    a, b = (str(word) for word in rng.permutation(NAMES)[:2])
    return [
        Case(("", [])), Case(("The.", [])), Case((f"{a} {b}", [])), Case(("", [f"{a} {b}"])), Case(("the", [f"{b}"])),
        Case(("The.", ["a!"])), Case((a, ["an", b])),
    ]  # fmt: skip


EXERCISE = Exercise(
    probe=plain_function(),
    reference=span_scores,
    returns="anything",
    tolerance=EXACTLY,
    parts=(
        values(1, one_answer, hidden=long_texts),
        cases("several right answers", 1, several_answers, "of several right answers the best score must count",
            long_texts_of_several),
        cases("no answer", 1, empty_answers,
            "a text is empty if `normal_words` leaves no word of it, as of 'The.'; without a right answer, an empty "
            "prediction gets 1.0 twice, any other 0.0 twice"),
    ),
    forbidden=READY_MADE,
    hints=(
        "Turn both texts into lists of words with `normal_words`, which is given, and use only these lists.",
        "Count shared words with repetitions: a word that occurs twice in one list and once in the other is shared "
        "once. `Counter(a) & Counter(b)` does that.",
        "F1 = 2 · shared / (words here + words there). If one of the lists is empty, 1.0 if both are, otherwise 0.0.",
    ),
    misconceptions=(
        mistake("set-of-words", "sum((Counter(gold) & Counter(guess)).values())", "len(set(gold) & set(guess))",
            hint="You count each word once, even if it occurs several times. F1 uses bags of words: twice counts "
                 "twice."),
        mistake("looked-up-words", "sum((Counter(gold) & Counter(guess)).values())",
            "sum(word in gold for word in guess)",
            hint="For each predicted word you ask whether it is in the right answer. If the prediction repeats a word, "
                 "the single one in the answer counts several times."),
        mistake("recall", "2 * shared / (len(gold) + len(guess))", "shared / len(gold)",
            hint="You divide only by the words of the right answer (recall). Then a prediction of the whole "
                 "paragraph is always right."),
        mistake("precision", "2 * shared / (len(gold) + len(guess))", "shared / len(guess)",
            hint="You divide only by the predicted words (precision). Then a single right word gets the full score."),
        mistake("first-answer-only", 'for answer in answers or [""]:', 'for answer in answers[:1] or [""]:',
            hint="You use only the first right answer. All of them are right: the best score counts."),
        mistake("raw-words",
            "normal_words(prediction)", "prediction.split()",
            "normal_words(answer)", "answer.split()",
            hint="You compare the words as they are. Ignore capitals, punctuation and a, an, the: use `normal_words`."),
        mistake("nothing-is-wrong",
            "overlap = float(gold == guess)", "overlap = 0.0",
            "exact, float(gold == guess)", "exact, float(gold == guess != [])",
            hint="An empty prediction gets 0 in your version even if there is no answer; then it is exactly right "
                 "(SQuAD 2.0)."),
    ),
)  # fmt: skip
