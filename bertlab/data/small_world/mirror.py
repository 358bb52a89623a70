"""The mirror language: every sentence of the small world in other words, with the verb last.

    the  dog  near  the  river  does not follow  some  cats .
    river-inside the near dog the · cats-object some · follow-singular-not

Each phrase before or after the verb is written from its last word to its first, the subject with what belongs to it
before the object; then comes what was around the verb, and the verb itself. Nouns and their adjectives take an ending
for their number and one for their case; the verb takes one for its number and one for "not". A homonym has two stems,
and the scene of the sentence decides between them. There is no full stop.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from bertlab.data.small_world import grammar
from bertlab.data.small_world.sentences import LONGEST, Sentence, read

NUMBER, VERB_NUMBER, NEGATION = ("a", "i"), ("e", "o"), "k"  # singular, plural
CASES = {"subject": "", "partner": "", "attractor": "l", "attractor 2": "l"}
CASES |= {"object": "n", "object 2": "n", "place": "m"}
VERBS = ("resting", "acting", "be")
# The ids of a translator's rows: padding, the token in front of a target, the one behind a sentence.
PAD, START, END = 0, 1, 2
MOST_TOKENS = 26  # of a target, the token behind it included: the longest translation has 25 tokens
_CONSONANTS, _VOWELS = "klmnprstv", "aeiou"


@cache
def stems() -> dict[tuple[str, str], str]:
    """(English word without ending, its scene or "") → stem: consonant, vowel, consonant."""
    tables = (grammar.NOUNS, grammar.RESTING, grammar.ACTING, grammar.QUALITIES)
    words = [(word, scene) for table in tables for scene in grammar.SCENES for word in table[scene]]
    others = [*grammar.ADJECTIVES, *grammar.DETERMINERS[0], "some", "no", "any", *grammar.PREPOSITIONS, "and", "be"]
    words += [(word, "") for word in [*others, *grammar.ADVERBS["plain"], *grammar.ADVERBS["no"]]]
    possible = [first + vowel + last for first in _CONSONANTS for vowel in _VOWELS for last in _CONSONANTS]
    # Neighbours in the list get stems that are not alike: 59 and the number of stems have no common factor.
    return {word: possible[number * 59 % len(possible)] for number, word in enumerate(words)}


def mirror_pieces() -> tuple[str, ...]:
    """The closed vocabulary of the mirror language, as WordPiece cuts its words: all stems, and all "##" endings."""
    nouns = [number + case for number in NUMBER for case in dict.fromkeys(CASES.values())]
    verbs = [number + negation for number in VERB_NUMBER for negation in ("", NEGATION)]
    return (*stems().values(), *(f"##{ending}" for ending in nouns + verbs))


def translation_tokens() -> tuple[str, ...]:
    """The vocabulary of a translator, which source and target share: three special tokens, all words, and all
    tokens of the mirror language.

    Example:
        >>> translation_tokens()[:4], len(translation_tokens())
        (('[PAD]', '[START]', '[END]', 'the'), 218)
    """
    return ("[PAD]", "[START]", "[END]", *grammar.automaton().words[:-1], *mirror_pieces())


def translation_rows(sentences: Sequence[Sentence]) -> tuple[np.ndarray, np.ndarray]:
    """Sentences and their translations as ids of `translation_tokens`, each with END behind it, padded with PAD.

    Returns (sentences, LONGEST + 1) and (sentences, MOST_TOKENS) int32.
    """
    ids = {token: number for number, token in enumerate(translation_tokens())}
    sources = np.full((len(sentences), LONGEST + 1), PAD, "int32")
    targets = np.full((len(sentences), MOST_TOKENS), PAD, "int32")
    for source, target, sentence in zip(sources, targets, sentences):
        cut = [(word[:3], f"##{word[3:]}") for word in to_mirror(sentence)]  # stem and ending, as WordPiece cuts
        pieces = [piece for pieces in cut for piece in pieces if piece != "##"]
        for row, tokens in ((source, sentence.words), (target, pieces)):
            row[: len(tokens) + 1] = [*(ids[token] for token in tokens), END]
    return sources, targets


def to_mirror(sentence: Sentence | str) -> tuple[str, ...]:
    """The words of the sentence in the mirror language. Raises what `read` raises.

    Example:
        >>> " ".join(to_mirror("the dog near the river does not follow some cats ."))
        'tunal kep vat kaka kep lerin pel vivek'
    """
    sentence = read(sentence) if isinstance(sentence, str) else sentence
    verb = next(place for place, state in enumerate(sentence.states) if state.phrase not in CASES)
    after = [place for place, state in enumerate(sentence.states) if state.phrase in CASES and place > verb]
    around = [place for place, state in enumerate(sentence.states) if state.phrase not in CASES]
    order = [*reversed(range(verb)), *reversed(after)]
    order += [place for place in around if sentence.states[place].kind in ("adverb", "quality")]
    order += [place for place in around if sentence.states[place].kind in VERBS]
    return tuple(_word(sentence, place) for place in order)


def _word(sentence: Sentence, place: int) -> str:
    word, state = sentence.words[place], sentence.states[place]
    agreement = next(other.agreement for other in sentence.states[::-1] if other.kind in VERBS)
    if state.kind in VERBS:
        bare = "be" if state.kind == "be" else word.removesuffix("s")
        return _stem_of(bare, state.scene) + VERB_NUMBER[agreement] + NEGATION * ("not" in sentence.words)
    if state.kind in ("noun", "adjective"):
        bare = word[:-1] if state.kind == "noun" and state.number else word
        return _stem_of(bare, state.scene) + NUMBER[state.number] + CASES[state.phrase]
    return _stem_of(word, state.scene)


def _stem_of(word: str, scene: str) -> str:
    return stems().get((word, scene)) or stems()[word, ""]
