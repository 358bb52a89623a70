"""Merges every occurrence of a pair of neighbours into one token."""

from autograde.exercises.n01_wordpiece._shared import (
    WHOLE_TOKENIZERS,
    count_pairs,
    counted,
    in_letters,
    many_words,
    merge_pair,
    repeating_words,
    some,
)
from autograde.exercises.writing import Case, Exercise, Random, cases, composed, mistake, result_of, values


def pairs_to_merge(rng: Random) -> list[Case]:
    words = repeating_words(rng)
    spelled = counted(rng, words)
    first, twice = in_letters(words[0]), in_letters(words[1])
    a, b, c = some(rng, "abdegilmn", 3)
    return [
        Case((tuple(first[:2]), spelled[:3])),
        Case((tuple(first[1:3]), spelled)),
        Case((tuple(twice[-2:]), spelled)),
        Case((("##" + a, "##" + b), [([c, "##" + a, "##" + c, "##" + a, "##" + b], 3)])),  # not at the first ##a
        Case((("##" + a, "##" + b), [([c, "##" + b, "##" + a], 2), ([c, "##" + a, "##" + b], 4)])),  # not the wrong way
    ]


def awkward_merges(rng: Random) -> list[Case]:
    """The same letter many times, and tokens that only begin or end like those of the pair."""
    a, b, c = some(rng, "abdegilmn", 3)
    same = [(in_letters(a * 4), 3), (in_letters(c + a * 5), 2), (in_letters(b + c), 4)]
    alike = [([c + a, "##" + b], 4), ([a, "##" + b + c], 2), ([a, "##" + b, "##" + a, "##" + b], 3), ([a], 7)]
    signs = [([c, "###"], 4), ([c, "###", "##" + a], 2), ([a, "###", "###"], 5)]  # words with the character "#"
    marks = [([a, "##" + b], 2), ([a, "##."], 3), ([a, "##\\", "##" + b], 4), (["(", "##+"], 5)]  # regular expressions
    return [
        Case((("##" + a, "##" + a), same)),
        Case(((a, "##" + a), same)),
        Case(((a, "##" + b), alike)),
        Case(((b, "##" + a), alike)),  # occurs nowhere
        Case(((a + b, "##" + c), [*alike, ([a + b, "##" + c], 2)])),  # not where a and ##bc give the same text
        Case(((c, "###"), signs)),
        Case((("###", "##" + a), signs)),
        Case(((c, "####"), [([c, "####"], 3), ([c, "###", "###"], 2)])),
        Case((("####", "##" + a), [([c, "####", "##" + a], 4)])),
        *(Case((pair, marks)) for pair in ((a, "##."), (a, "##\\"), ("(", "##+"))),
        Case(((a, "##" + b), [])),
    ]


def all_pairs(rng: Random) -> list[Case]:
    """Every pair of a longer list."""
    spelled = many_words(rng)[0].arguments[0]
    return [Case((pair, spelled)) for pair in some(rng, list(count_pairs(spelled)), 6)]


def merge_after_merge(rng: Random) -> list[Case]:
    """Two steps of learning: the second merges a pair of the first one's result."""
    a, b, c = some(rng, "abdegilmn", 3)
    spelled = [(in_letters(a + b + c), 3), (in_letters(c + b + a + b), 5), (in_letters(a + c), 2)]
    return [
        composed(
            ("merge-pair", Case((("##" + b, "##" + c), spelled))),
            ("count-pairs", Case((result_of(0),))),
            ("merge-pair", Case(((a, "##" + b + c), result_of(0)))),
            ("count-pairs", Case((result_of(2),))),
        )
    ]


EXERCISE = Exercise(
    reference=merge_pair,
    returns="list",
    parts=(
        values(2, pairs_to_merge),
        cases("awkward words", 1, awkward_merges,
            "from left to right, each token once, whole tokens only; of the right one only the two # in front go",
            lambda rng: all_pairs(rng) + merge_after_merge(rng)),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Write it for one word first: go through its tokens and build a new list.",
        "Where the next two tokens are the pair, append the merged token and move on by two.",
        "The merged token is the left text, then the right one without its ##. If the left begins with ##, so does "
        "the result.",
    ),
    misconceptions=(
        mistake("last-pair-missed",
            "if pieces[place : place + 2] == [left, right]:",
            "if place < len(pieces) - 2 and pieces[place : place + 2] == [left, right]:",
            hint="You never merge the last two tokens of a word. A pair may also begin at the last token but one."),
        mistake("joiner-inside", 'left + right.removeprefix("##")', "left + right",
            hint="Your merged token has ## in its middle. The mark belongs only at the beginning of a token: remove "
                 "it from the right one."),
        mistake("beginning-of-word", 'left + right.removeprefix("##")', '(left + right).replace("##", "")',
            hint="Your merged token has lost its ##. If the left token continues a word, the merged one does too."),
        mistake("first-place-only", "if pieces[place : place + 2] == [left, right]:",
            "if pieces[place : place + 2] == [left, right] and merged not in joined:",
            hint="You merge the first occurrence in each word and leave the others. Merge every occurrence."),
        mistake("from-the-right", "        joined, place = [], 0\n"
            "        while place < len(pieces):\n"
            "            if pieces[place : place + 2] == [left, right]:\n"
            "                joined.append(merged)\n"
            "                place += 2\n"
            "            else:\n"
            "                joined.append(pieces[place])\n"
            "                place += 1\n",
            "        joined = list(pieces)\n"
            "        for place in range(len(pieces) - 2, -1, -1):\n"
            "            if joined[place : place + 2] == [left, right]:\n"
            "                joined[place : place + 2] = [merged]\n",
            hint="You merge from the right. With three or more equal tokens in a row that gives a different spelling."),
        mistake("text-replaced", cell="def merge_pair(pair, spelled):\n    left, right = pair\n"
                '    merged = left + right.removeprefix("##")\n'
                '    both = left + " " + right\n'
                '    return [(" ".join(pieces).replace(both, merged).split(), n) for pieces, n in spelled]\n',
            hint="You replaced text, so tokens that only begin or end like those of the pair were changed, too. "
                 "Compare whole tokens."),
        mistake("other-words-dropped", "        result.append((joined, count))",
            "        if merged in joined:\n            result.append((joined, count))",
            hint="Words without the pair are missing from your result. They must stay, with their old spelling."),
        mistake("list-against-tuple", "if pieces[place : place + 2] == [left, right]:",
            "if pieces[place : place + 2] == pair:",
            hint="Nothing is merged. A part of a list is a list, the pair is a tuple, and in Python these two are "
                 "never equal."),
        mistake("right-one-kept", "place += 2", "place += 1",
            hint="The right token is still there behind the merged one. It is part of the merged token: move on by "
                 "two."),
        mistake("last-one-lost", "while place < len(pieces):", "while place < len(pieces) - 1:",
            hint="Your loop ends before the last token, so a word that does not end with the pair loses it. It must "
                 "stay."),
    ),
)  # fmt: skip
