"""Sentences of the small world: drawing, reading, listing them; their trees."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.small_world.grammar import HOMONYMS, PHRASES, QUALITIES, RESTING, automaton

SHORTEST, LONGEST = 4, 19  # words of a sentence, its full stop included
LISTED = 200_000  # sentences that `every_sentence` is ready to list
RELATIONS = {  # of the words around the one that has the relation of its phrase
    "determiner": "det", "adjective": "amod", "preposition": "case", "and": "cc", "adverb": "advmod", "be": "cop",
    "do": "aux", "not": "advmod", ".": "punct",
}  # fmt: skip
TAGS = {
    "determiner": "DET", "adjective": "ADJ", "quality": "ADJ", "preposition": "ADP", "and": "CCONJ", "noun": "NOUN",
    "adverb": "ADV", "be": "AUX", "do": "AUX", "not": "PART", "resting": "VERB", "acting": "VERB", ".": "PUNCT",
}  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """A sentence and the walk through the grammar that made it; all tuples have one entry for each word.

    words: the last one is ".".   walk: the numbers of the states that wrote them, in `automaton().states`.

    Example:
        >>> sentence = read("the dog near the banks runs .")
        >>> sentence.tags[:4], sentence.relations[-2:], sentence.heads
        (('DET', 'NOUN', 'ADP', 'DET'), ('root', 'punct'), (1, 5, 4, 4, 1, -1, 5))
    """

    words: tuple[str, ...]
    walk: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(self.words)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def states(self) -> tuple:
        """The `State` behind each word."""
        return tuple(automaton().states[number] for number in self.walk)

    @property
    def scene(self) -> str:
        """One of `SCENES`, "country" or "town": it decides what "bank" and "plant" mean."""
        return self.states[0].scene

    @property
    def homonyms(self) -> tuple[int, ...]:
        """The places of words with two senses."""
        both = {noun + ending for noun in HOMONYMS for ending in ("", "s")}
        return tuple(place for place, word in enumerate(self.words) if word in both)

    @property
    def tags(self) -> tuple[str, ...]:
        """Parts of speech, those of Universal Dependencies."""
        return tuple(TAGS[state.kind] for state in self.states)

    @property
    def relations(self) -> tuple[str, ...]:
        """The relation of each word to its head, named as in Universal Dependencies."""
        return tuple(RELATIONS.get(state.kind, PHRASES[state.phrase].relation) for state in self.states)

    @property
    def heads(self) -> tuple[int, ...]:
        """The place of each word's head, −1 for the root."""
        centres = {}  # the noun of each phrase, or what the sentence says of its subject
        for place, state in enumerate(self.states):
            if state.kind in ("noun", "resting", "acting", "quality"):
                centres["predicate" if state.kind != "noun" else state.phrase] = place
        heads = [centres.get(state.phrase, centres["predicate"]) for state in self.states]
        above = [centres.get(PHRASES[state.phrase].head, -1) for state in self.states]
        return tuple(up if head == place else head for place, (head, up) in enumerate(zip(heads, above)))


@cache
def _choices(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The states after each state ("steps"), or its words ("writes"), by number, with summed chances: (S, K) each."""
    table = getattr(automaton(), name)  # (S, S) or (S, V + 1)
    numbers = np.argsort(table == 0, axis=1, kind="stable")[:, : (table > 0).sum(axis=1).max()]  # (S, K)
    summed = np.take_along_axis(table, numbers, axis=1).cumsum(axis=1)
    return numbers, np.where(summed > 1 - 1e-9, 2.0, summed)  # a number below 1 finds the last one, however it rounds


def sample(seed: int, count: int) -> list[Sentence]:
    """`count` sentences; the same for the same seed, and fewer are the first of more.

    Raises DataError for a seed or a count below 0.

    Example:
        >>> print(*sample(seed=0, count=2), sep="\\n")
        the small store beside every bank near the writers writes .
        the doctor behind every guest does not work .
    """
    for name, value in (("seed", seed), ("count", count)):
        if not isinstance(value, int | np.integer) or value < 0:
            raise DataError(f"{name}: expected a whole number of at least 0, got {value!r}; give another one")
    # Raw bits, since NumPy promises the same ones for ever; its numbers between 0 and 1 may change with a version.
    bits = np.random.PCG64(int(seed)).random_raw(count * LONGEST * 2) >> np.uint64(11)
    draws = (bits * 2.0**-53).reshape(count, LONGEST, 2)  # below 1
    state, walks, written = np.zeros(count, int), [], []
    for place in range(LONGEST):
        state = _draw("steps", state, draws[:, place, 0])  # (N,)
        walks.append(state)
        written.append(_draw("writes", state, draws[:, place, 1]))
    words, lengths = automaton().words, (np.array(written) != len(automaton().words) - 1).sum(axis=0)
    return [
        Sentence(tuple(words[number] for number in ids[:length]), tuple(walk[:length]))
        for ids, walk, length in zip(np.transpose(written).tolist(), np.transpose(walks).tolist(), lengths)
    ]


def _draw(name: str, states: np.ndarray, draws: np.ndarray) -> np.ndarray:
    numbers, summed = _choices(name)
    chosen = (draws[:, None] >= summed[states]).sum(axis=1)
    return numbers[states, chosen]  # (N,)


def word_ids(sentences: Sequence[Sentence], longest: int | None = None) -> np.ndarray:
    """The places of the words in `automaton().words`: (N, T) int, T the words of the longest sentence, or `longest`.

    After the end of a sentence it is that of "", the last one. Raises DataError without a sentence.
    """
    if not sentences:
        raise DataError("expected at least one sentence, got none; take some of sample()")
    index = {word: number for number, word in enumerate(automaton().words)}
    ids = np.full((len(sentences), longest or max(map(len, sentences))), index[""])
    for row, sentence in zip(ids, sentences):
        row[: len(sentence)] = [index[word] for word in sentence.words]
    return ids


def read(text: str | Sequence[str]) -> Sentence:
    """The sentence with these words, separated by spaces or in a sequence; lower case, with the full stop.

    Every sentence has one walk alone, so its tree is known and so are the senses of its homonyms.

    Raises DataError for a word that is not in the vocabulary, and for words that are not a sentence of the grammar.

    Example:
        >>> read("the bank pays the lawyer .").scene, read("the bank faces the river .").scene
        ('town', 'country')
    """
    words, world = tuple(text.split() if isinstance(text, str) else text), automaton()
    index = {word: number for number, word in enumerate(world.words[:-1])}
    for place, word in enumerate(words):
        if word not in index:
            raise DataError(
                f"expected words of the small world, got {word!r} at position {place}; "
                "take words of small_world.WORDS, in lower case"
            )
    walks = {0: ()}  # the state that a walk has reached → the walk
    for place, word in enumerate(words):
        walks = {
            int(after): (*walk, int(after))
            for state, walk in walks.items()
            for after in np.flatnonzero(world.steps[state] * world.writes[:, index[word]])
        }
        if not walks:
            before = " ".join(words[:place])
            raise DataError(f"expected another word after {before!r}, got {word!r}; see docs/small_world.md")
    ended = [walk for state, walk in walks.items() if world.states[state].phrase == "stop"]
    if not ended:
        raise DataError(f'expected a whole sentence that ends with ".", got {" ".join(words)!r}; add words')
    return Sentence(words, ended[0])


def number_of_sentences(length: int) -> int:
    """The number of sentences with this many words, the full stop included.

    Raises DataError for a length that no sentence has.
    """
    if not SHORTEST <= length <= LONGEST:
        raise DataError(f"expected a length of {SHORTEST} to {LONGEST} words, got {length}; take one of them")
    world = automaton()
    ways = np.zeros(len(world.states), object)  # Python's integers, of any size
    ways[0] = 1
    for _ in range(length):
        ways = (ways @ (world.steps > 0).astype(object)) * (world.writes[:, :-1] > 0).sum(axis=1)
    return sum(count for count, state in zip(ways, world.states) if state.phrase == "stop")


def every_sentence(length: int) -> Iterator[tuple[Sentence, float]]:
    """All sentences with this number of words (see `number_of_sentences`), each with its probability among all.

    Raises DataError for a length that no sentence has, or that more than `LISTED` sentences have.
    """
    count = number_of_sentences(length)
    if count > LISTED:
        raise DataError(f"expected a length that at most {LISTED:,} sentences have, got {count:,}; take a shorter one")
    found = [((), (0,), 1.0)]  # words, walk with its start, probability
    for _ in range(length):
        found = [
            ((*words, word), (*walk, after), chance * p)
            for words, walk, chance in found
            for after, word, p in _ways(walk[-1])
        ]
    stops = {number for number, state in enumerate(automaton().states) if state.phrase == "stop"}
    return ((Sentence(words, walk[1:]), chance) for words, walk, chance in found if walk[-1] in stops)


@cache
def _ways(state: int) -> list[tuple[int, str, float]]:
    """The next states and their words, with their chances."""
    world = automaton()
    return [
        (after, world.words[word], world.steps[state, after] * world.writes[after, word])
        for after in np.flatnonzero(world.steps[state]).tolist()
        for word in np.flatnonzero(world.writes[after, :-1]).tolist()
    ]


# === A task with labels ===


def who_acts(seed: int, count: int) -> tuple[list[Sentence], np.ndarray]:
    """A task that needs the order of the words: is the one who acts first in the alphabet, of the two nouns?

    Returns 2 · `count` sentences with two nouns each, and the labels (2 · count,) int. They come in twos with the same
    words, "the cat fears the dog ." with label 1 and "the dog fears the cat ." with 0: any bag of words is right on
    exactly half of them.
    """
    sentences, labels = [], []
    for sentence in _first(count, seed, lambda each: _exchangeable(each) is not None):
        first, second = _exchangeable(sentence)
        words = list(sentence.words)
        label = int(words[first] < words[second])
        words[first], words[second] = words[second], words[first]  # of one class, so the walk is the same
        sentences += [sentence, Sentence(tuple(words), sentence.walk)]
        labels += [label, 1 - label]
    return sentences, np.array(labels, int)


def _first(count: int, seed: int, suits: Callable[[Sentence], bool]) -> list[Sentence]:
    """The first `count` sentences of `sample` that suit."""
    size, found = 16 * count, []
    while len(found) < count:
        size *= 2  # fewer are the first of more, so this only adds to what was found
        found = [sentence for sentence in sample(seed, size) if suits(sentence)]
    return found[:count]


def _exchangeable(sentence: Sentence) -> list[int] | None:
    """The places of its two nouns, of one number and different, one before and one after a verb with an object."""
    nouns = [place for place, state in enumerate(sentence.states) if state.kind == "noun"]
    states = [sentence.states[place] for place in nouns]
    if [state.phrase for state in states] != ["subject", "object"] or states[0].number != states[1].number:
        return None
    return nouns if sentence.words[nouns[0]] != sentence.words[nouns[1]] else None


def inference_pairs(seed: int, count: int) -> tuple[list[Sentence], list[Sentence], np.ndarray]:
    """A task about two sentences: does the second follow from the first (0), contradict it (1), or neither (2)?

    Returns the first sentences, the second ones and the labels (count,) int, a third of each. The second has the noun
    of the first's subject, and the same verb or adjective, its negation, or another one.

    Example:
        >>> first, second, labels = inference_pairs(seed=0, count=3)
        >>> print(first[2], second[2], labels[2])
        the teachers are always proud . the teachers are famous . 2
    """

    def says_one_thing(sentence: Sentence) -> bool:  # its subject is one phrase; its verb, not negated, needs no object
        phrases = {state.phrase for state in sentence.states}
        return sentence.states[0].polarity == "plain" and "partner" not in phrases and bool(phrases & {"rests", "is"})

    first, labels = _first(count, seed, says_one_thing), np.arange(count) % 3
    return first, [_hypothesis(*pair) for pair in zip(first, labels, range(count))], labels


def _hypothesis(sentence: Sentence, label: int, turn: int) -> Sentence:
    kept = {
        state.kind: word
        for word, state in reversed(list(zip(sentence.words, sentence.states)))
        if state.phrase in ("subject", "rests", "is") and state.kind != "adjective"
    }
    plural = sentence.states[0].number == 1
    what = "resting" if "resting" in kept else "quality"
    ending = "s" if what == "resting" and not plural else ""
    stem = kept[what].removesuffix(ending)
    if label == 2:
        others = [word for word in (RESTING if what == "resting" else QUALITIES)[sentence.scene] if word != stem]
        kept[what] = others[turn % len(others)] + ending
    middle = [kept.get("be", ""), kept[what]]
    if label == 1:
        middle = [kept.get("be") or ("do" if plural else "does"), "not", stem]
    return read([word for word in (kept["determiner"], kept["noun"], *middle, ".") if word])
