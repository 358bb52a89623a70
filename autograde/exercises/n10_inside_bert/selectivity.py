"""The labels of a control task: a random tag for each word type."""

from itertools import combinations

from autograde.exercises.n06_pretraining_data._shared import chancy, obeying
from autograde.exercises.n10_inside_bert._shared import LIBRARY
from autograde.exercises.writing import Exercise, Part, Random, Trial, mistake, random_function

RULE = "control tags"
NAMES = ("DET", "NOUN", "VERB", "ADP", "ADJ", "ADV")


def sentence(rng: Random, types: int, tokens: int, kinds: int) -> tuple[list[str], list[str]]:
    """Words in which each of so many types occurs, in any order, and a tag for each token: all kinds occur."""
    names = [str(word) for word in rng.choice([f"word{number}" for number in range(90)], types, replace=False)]
    words = [*names, *(names[int(number)] for number in rng.integers(types, size=tokens - types))]
    tags = [NAMES[number] for number in (*range(kinds), *rng.integers(kinds, size=tokens - kinds))]
    return [words[int(place)] for place in rng.permutation(tokens)], tags


def sentences(rng: Random) -> list[Trial]:
    """Many words of few types; a type for each token; one type alone; one tag alone."""
    alone = sentence(rng, 3, 5, 1)
    given = [sentence(rng, 4, 14, 3), sentence(rng, 6, 6, 4), (["the"] * 4, ["DET", "DET", "X", "DET"]), alone]
    return [obeying(rng, RULE, *one) for one in given]


def rates_of(words: list[str], tags: list[str]) -> dict:
    """Each tag for each type as often as it occurs among the tokens; and how often two types have the same tag."""
    chances = {tag: tags.count(tag) / len(tags) for tag in dict.fromkeys(tags)}
    types = list(dict.fromkeys(words))
    rates = {f"{word}: {tag}": (1, chance) for word in types for tag, chance in chances.items()}
    alike = sum(chance**2 for chance in chances.values())
    return rates | {f"{one} and {other} alike": (1, alike) for one, other in combinations(types, 2)}


def as_often(rng: Random) -> list[Trial]:
    """Six tokens of four types, and three tags in unequal numbers: 3, 2 and 1; a type that is most of the tokens."""
    one, two, three, four = sentence(rng, 4, 4, 3)[0]
    tags = [NAMES[number] for number in rng.permutation([0, 0, 0, 1, 1, 2])]
    given = [([one, two, one, three, four, three], tags), ([one] * 8 + [two], [NAMES[0]] * 7 + [NAMES[1]] * 2)]
    return [chancy(rng, RULE, rates_of(*each), *each) for each in given]


EXERCISE = Exercise(
    probe=random_function(),
    returns="list",
    parts=(
        Part("one tag for each type", 2, sentences, hidden=lambda rng: [obeying(rng, RULE, *sentence(rng, 7, 30, 6))]),
        Part("as often as the tags", 1, as_often,
            "over many calls the tags do not come as often as they do in the text, each type's by itself"),
    ),
    forbidden=LIBRARY,
    hints=(
        "First one tag for each *type*, in a dict; then look every token up in it.",
        "Types are `set(words)`. A set's order may differ from run to run: sort it, so that a seed gives one result.",
        "`rng.choice(tags)` draws from the tokens' tags, so that a frequent tag comes often. `str(…)` of it is a plain "
        "string.",
    ),
    misconceptions=(
        mistake("a-tag-for-each-token", "return [of_type[word] for word in words]",
            "return [str(rng.choice(tags)) for word in words]",
            hint="You draw for each token, so that a word has another tag each time. Nobody could learn that: a "
                 "control task can be learnt by heart, word by word."),
        mistake("tags-shuffled", "return [of_type[word] for word in words]",
            "return [str(tag) for tag in rng.permutation(tags)]",
            hint="You shuffle the tags of the tokens. The same word must have the same tag wherever it occurs."),
        mistake("every-tag-alike", "rng.choice(tags)", "rng.choice(sorted(set(tags)))",
            hint="All kinds of tags are equally frequent in your task. Draw from the tokens' tags, so that it is as "
                 "easy to guess as the real one."),
        mistake("one-draw-for-all", "of_type = {word: str(rng.choice(tags)) for word in sorted(set(words))}",
            "of_type = dict.fromkeys(words, str(rng.choice(tags)))",
            hint="One draw decides for all words. Draw for each type."),
        mistake("tags-of-the-text", "rng.choice(tags)", "tags[words.index(word)]",
            hint="These are the real tags. A control task has random ones: what is right there has nothing to do with "
                 "grammar."),
        mistake("drawn-without-return", "of_type = {word: str(rng.choice(tags)) for word in sorted(set(words))}",
            "dealt = zip(sorted(set(words)), rng.permutation(tags))\n"
            "    of_type = {word: str(tag) for word, tag in dealt}",
            hint="You deal the tags out, so that what one type gets, another cannot have. Draw each type's tag by "
                 "itself."),
    ),
)  # fmt: skip
