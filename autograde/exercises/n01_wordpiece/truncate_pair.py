"""Shortens two lists of tokens until both together have at most `room`."""

from autograde.exercises.n01_wordpiece._shared import WHOLE_TOKENIZERS, pieces_of
from autograde.exercises.writing import Case, Exercise, OwnLists, Part, Random, Reference, Trial, cases, mistake


def truncate_pair(first, second, room):
    if len(first) + len(second) <= room:
        return list(first), list(second)
    if len(first) > len(second):
        return truncate_pair(first[:-1], second, room)
    return truncate_pair(first, second[:-1], room)


def lists_to_shorten(rng: Random) -> list[Case]:
    longer, shorter = int(rng.integers(7, 10)), int(rng.integers(2, 4))
    a, b = pieces_of(rng, longer), pieces_of(rng, shorter)
    return [Case((a, b, longer + shorter - 2)), Case((b, a, longer + shorter - 3)), Case((b, a, 40))]


def new_lists(rng: Random) -> list[Trial]:
    """Both results are new lists, whether one, both or none is shortened; nothing is left of them at the end."""
    a, b = pieces_of(rng, 6), pieces_of(rng, 4)
    rooms = (40, 10, 9, 8, 7, 5, 1, 0)
    pairs = [(a, b, room) for room in rooms] + [(b, a, 8), ([], b, 3), (a, [], 6), (a, [], 4), ([], [], 0)]
    pairs += [(100 * a, 160 * b, 1210)]  # longer than BERT's input
    return [Trial((Case(pair),), (Reference(), OwnLists())) for pair in pairs]


def any_lengths(rng: Random) -> list[Trial]:
    lengths = rng.integers(0, 12, size=(8, 2))
    pairs = [(pieces_of(rng, int(one)), pieces_of(rng, int(two)), int(rng.integers(0, one + two + 2)))
             for one, two in lengths]  # fmt: skip
    return [Trial((Case(pair),)) for pair in pairs]


def first_lists(rng: Random) -> list[Trial]:
    return [Trial((case,)) for case in lists_to_shorten(rng)] + new_lists(rng)


def equally_long(rng: Random) -> list[Case]:
    length = int(rng.integers(4, 7))
    alike = [Case((pieces_of(rng, length), pieces_of(rng, length), 2 * length - cut)) for cut in (1, 2, 3)]
    return [*alike, Case((pieces_of(rng, length), pieces_of(rng, 2 * length), 2 * length - 1))]


EXERCISE = Exercise(
    reference=truncate_pair,
    returns="tuple",
    parts=(
        Part("values", 2, first_lists, "expected two new lists of the right lengths", hidden=any_lengths),
        cases("ties", 1, equally_long, "if both are equally long, the second one must lose a token"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Remove one token at a time: while there are too many, test which list is longer now.",
        "Work on copies: the lists belong to the caller.",
        "The first list loses a token only if it is strictly longer; otherwise the second one does.",
    ),
    misconceptions=(
        mistake("one-token-too-many", "len(second) > room:", "len(second) > room + 1:",
            hint="Together your texts have one token more than fits. Continue while they have more than "
                 "`room`."),
        mistake("tie-shortens-the-first", "len(first) > len(second) else", "len(first) >= len(second) else",
            hint="If both are equally long you shorten the first. The rule shortens the second."),
        mistake("cut-from-the-front", "longer.pop()", "longer.pop(0)",
            hint="You remove tokens from the beginning. Texts lose their end."),
        mistake("second-only",
            "longer = first if len(first) > len(second) else second", "longer = second if second else first",
            hint="You shorten the second text until it fits, or is empty. In each step the longer one must lose a "
                 "token."),
        mistake("in-turn", "    while len(first) + len(second) > room:\n"
            "        longer = first if len(first) > len(second) else second\n"
            "        longer.pop()\n",
            "    longer, other = second, first\n"
            "    while len(first) + len(second) > room:\n"
            "        if longer:\n"
            "            longer.pop()\n"
            "        longer, other = other, longer\n",
            hint="You shorten both in turn, regardless of their lengths. Shorten the longer one until both are "
                 "equally long."),
        mistake("half-each", "    while len(first) + len(second) > room:\n"
            "        longer = first if len(first) > len(second) else second\n"
            "        longer.pop()\n"
            "    return first, second",
            "    half = room // 2\n    return first[: room - half], second[:half]",
            hint="You give each text half of the length. If one text is short, the other may use the rest."),
        mistake("shorter-shortened", "len(first) > len(second) else", "len(first) < len(second) else",
            hint="You shorten the shorter text. The longer one must lose a token."),
        mistake("one-too-few", "len(second) > room:", "len(second) >= room:",
            hint="You also shorten lists that fit exactly. Both together may have `room` tokens: stop there."),
        mistake("half-rounded-down", "    while len(first) + len(second) > room:\n"
            "        longer = first if len(first) > len(second) else second\n"
            "        longer.pop()\n"
            "    return first, second",
            "    return first[: room // 2], second[: room // 2]",
            hint="You cut both texts at half of `room`. If one text is short, the other may use the rest, and an odd "
                 "`room` leaves one position empty."),
        mistake("half-if-too-long", "    while len(first) + len(second) > room:\n"
            "        longer = first if len(first) > len(second) else second\n"
            "        longer.pop()\n",
            "    if len(first) + len(second) > room:\n"
            "        first, second = first[: room // 2], second[: room // 2]\n",
            hint="If both are too long together, you cut each at half of `room`. Remove single tokens instead, "
                 "always from the longer one: a short text stays whole."),
    ),
)  # fmt: skip
