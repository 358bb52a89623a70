"""The grammar of the small world: its words, its phrases, and the automaton that they make.

A sentence is a walk from `START` to `END` through states; each state on the way writes one word. A state knows all that
what follows can depend on, so each step depends on the state before it alone (a hidden Markov model).
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

# === Words: all words of a class are equally likely, except determiners ===

SCENES = ("country", "town")  # half of the sentences each; nouns, verbs and some adjectives belong to one of them
HOMONYMS = ("bank", "plant")  # nouns of both scenes: beside a river or with money; with leaves or with machines
NOUNS = {
    "country": ("dog", "cat", "horse", "bird", "bear", "tree", "river", "hill", "farmer", "boy", *HOMONYMS),
    "town": ("lawyer", "doctor", "king", "teacher", "writer", "guest", "judge", "servant", "store", "court", *HOMONYMS),
}
RESTING = {  # verbs without an object
    "country": ("run", "fall", "rise", "move", "grow"),
    "town": ("work", "talk", "write", "travel", "win"),
}
ACTING = {  # verbs with an object
    "country": ("follow", "fear", "cover", "face", "hold", "like"),
    "town": ("pay", "call", "help", "need", "know", "own"),
}
QUALITIES = {  # adjectives of a scene; they alone can follow "is"
    "country": ("wild", "wet", "cold", "brown", "grey"),
    "town": ("rich", "busy", "famous", "modern", "proud"),
}
ADJECTIVES = ("small", "large", "quiet", "strong", "beautiful", "strange")  # of both scenes
DETERMINERS = (  # for a singular noun, for a plural noun
    {"the": 0.5, "a": 0.3, "every": 0.2},
    {"the": 0.6, "some": 0.4},
)
ANY = 0.5  # how often a determiner after a negation is "any"
PREPOSITIONS = ("near", "behind", "beside", "beyond")
ADVERBS = {"plain": ("often", "always", "sometimes"), "no": ("ever",)}
PLURAL = 0.5
OPTIONAL = 0.4  # how often a part with a "?" is there

# === Phrases ===

POLARITIES = {"plain": 0.6, "no": 0.2, "not": 0.2}  # "the dog runs"; "no dog ever runs"; "the dog does not run"


class Phrase(NamedTuple):
    """parts: what it consists of; a part with a "?" may be missing. then: the chances of the phrases after it.

    relation, head: that of its noun in the tree, and the phrase that its noun depends on ("" for the root).
    """

    parts: tuple[str, ...]
    then: dict[str, float]
    relation: str = "root"
    head: str = ""

    @property
    def numbered(self) -> bool:
        """Whether it has a number of its own: it has a noun."""
        return "noun" in self.parts


def _phrase(parts: str, then: dict[str, float], relation: str = "root", head: str = "") -> Phrase:
    return Phrase(tuple(parts.split()), then, relation, head)


_NOUN, _INSIDE, _JOINED = "determiner adjective? noun", "preposition determiner noun", "and determiner noun"
PHRASES = {
    "start": _phrase("", {"subject": 1.0}),
    "subject": _phrase(_NOUN, {"predicate": 0.5, "attractor": 0.4, "partner": 0.1}, "nsubj", "predicate"),
    "attractor": _phrase(_INSIDE, {"predicate": 0.6, "attractor 2": 0.4}, "nmod", "subject"),
    "attractor 2": _phrase(_INSIDE, {"predicate": 1.0}, "nmod", "attractor"),
    "partner": _phrase(_JOINED, {"predicate": 1.0}, "conj", "subject"),
    "rests": _phrase("adverb? resting", {"stop": 0.5, "place": 0.5}),
    "acts": _phrase("adverb? acting", {"object": 1.0}),
    "is": _phrase("be adverb? quality", {"stop": 1.0}),
    "does not rest": _phrase("do not resting", {"stop": 0.5, "place": 0.5}),
    "does not act": _phrase("do not acting", {"object": 1.0}),
    "is not": _phrase("be not quality", {"stop": 1.0}),
    "place": _phrase(_INSIDE, {"stop": 1.0}, "obl", "predicate"),
    "object": _phrase(_NOUN, {"stop": 0.7, "object 2": 0.3}, "obj", "predicate"),
    "object 2": _phrase(_JOINED, {"stop": 1.0}, "conj", "object"),
    "stop": _phrase(".", {"end": 1.0}),
    "end": _phrase("", {"end": 1.0}),
}
_AFFIRMED = {"rests": 0.3, "acts": 0.5, "is": 0.2}
PREDICATES = {  # what "predicate" above means
    "plain": _AFFIRMED,
    "no": _AFFIRMED,
    "not": {"does not rest": 0.3, "does not act": 0.5, "is not": 0.2},
}
BEFORE_VERB = ("subject", "attractor", "attractor 2", "partner")

# === States ===


class State(NamedTuple):
    """A place in a walk. part: its number in the phrase; number, agreement: 1 for a plural phrase, a plural verb.

    What no longer matters is 0: a number outside of phrases with a noun, the agreement after the verb.
    """

    phrase: str
    part: int
    scene: str
    polarity: str
    agreement: int = 0
    number: int = 0

    @property
    def kind(self) -> str:
        """The part without its "?": "determiner", "noun" …; "" at the start and the end."""
        return PHRASES[self.phrase].parts[self.part].rstrip("?") if PHRASES[self.phrase].parts else ""


START, END = State("start", -1, "", ""), State("end", -1, "", "")


def successors(state: State) -> Iterator[tuple[float, State]]:
    """The states that may come next, with their chances."""
    if state == START:
        for scene in SCENES:
            for polarity, chance in POLARITIES.items():
                for q, after in _enter("subject", State("start", -1, scene, polarity)):
                    yield chance / len(SCENES) * q, after
    elif state.part + 1 < len(PHRASES[state.phrase].parts):
        for p, part in _next_parts(state.phrase, state.part):
            yield p, state._replace(part=part)
    else:
        for phrase, p in PHRASES[state.phrase].then.items():
            choices = PREDICATES[state.polarity] if phrase == "predicate" else {phrase: 1.0}
            for chosen, q in choices.items():
                for r, after in _enter(chosen, state):
                    yield p * q * r, after


def _next_parts(phrase: str, part: int) -> Iterator[tuple[float, int]]:
    """The numbers of the parts that may follow part number `part`, −1 for the first ones, with their chances."""
    optional = PHRASES[phrase].parts[part + 1].endswith("?")
    yield (OPTIONAL if optional else 1.0), part + 1
    if optional:
        yield 1 - OPTIONAL, part + 2


def _enter(phrase: str, before: State) -> Iterator[tuple[float, State]]:
    """The first states of a phrase after another state, with their chances."""
    if phrase in ("stop", "end"):
        yield 1.0, END if phrase == "end" else State("stop", 0, "", "")
        return
    polarity, agreement = before.polarity, before.agreement
    if phrase in ("place", "object", "object 2"):
        polarity, agreement = "plain" if polarity == "plain" else "no", 0
    for chance, number in ((1 - PLURAL, 0), (PLURAL, 1)) if PHRASES[phrase].numbered else ((1.0, 0),):
        verb = {"subject": number, "partner": 1}.get(phrase, agreement)
        for p, part in _next_parts(phrase, -1):
            yield chance * p, State(phrase, part, before.scene, polarity, verb, number)


def words_of(state: State) -> dict[str, float]:
    """The words that a state can write, with their chances; at the end it is "", no word."""
    scene, kind = state.scene, state.kind
    if kind == "determiner":
        usual = DETERMINERS[state.number]
        if state.polarity != "no":
            return usual
        if state.phrase in ("subject", "partner"):
            return {"no": 1.0}
        if state.phrase in BEFORE_VERB:
            return usual
        return {"any": ANY} | {word: chance * (1 - ANY) for word, chance in usual.items()}
    if kind in ("resting", "acting"):
        verbs = (RESTING if kind == "resting" else ACTING)[scene]
        bare = state.agreement == 1 or state.polarity == "not"
        return _equally([verb if bare else verb + "s" for verb in verbs])
    choices = {
        "noun": [noun + "s" * state.number for noun in NOUNS[scene]] if scene else [],
        "adjective": [*ADJECTIVES, *QUALITIES.get(scene, ())],
        "quality": QUALITIES.get(scene, ()),
        "preposition": PREPOSITIONS,
        "adverb": ADVERBS.get(state.polarity, ()),
        "be": ["are" if state.agreement else "is"],
        "do": ["do" if state.agreement else "does"],
    }
    return _equally(choices.get(kind, [kind]))


def _equally(words) -> dict[str, float]:
    return {word: 1 / len(words) for word in words}


# === The automaton ===


class Automaton(NamedTuple):
    """The grammar as matrices, float64. S states, V words and, as the last of V + 1, "" after the end.

    states: the S states, `START` first.   words: the V + 1 words.   steps (S, S): chance of each state after each.
    writes (S, V + 1): chance of each word in each state.
    """

    states: tuple[State, ...]
    words: tuple[str, ...]
    steps: np.ndarray
    writes: np.ndarray


@cache
def automaton() -> Automaton:
    """All states that can be reached, in the order in which they are found."""
    found, following = {START: 0}, []
    for state in (queue := [START]):
        following.append(list(successors(state)) if state != END else [(1.0, END)])
        for _, after in following[-1]:
            if after not in found:
                found[after] = len(found)
                queue.append(after)
    chances = [words_of(state) for state in queue]
    words = dict.fromkeys(word for given in chances for word in given if word)
    index = {word: number for number, word in enumerate((*words, ""))}
    steps, writes = np.zeros((len(queue), len(queue))), np.zeros((len(queue), len(index)))
    for number, (after, given) in enumerate(zip(following, chances)):
        for chance, state in after:
            steps[number, found[state]] += chance
        for word, chance in given.items():
            writes[number, index[word]] = chance
    return Automaton(tuple(queue), tuple(index), steps, writes)
