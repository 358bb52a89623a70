"""Entity-level precision, recall and F1 with the semantics of CoNLL's `conlleval`.

An entity is right only if its first word, its last word and its type are all right. Tags are O, B-TYPE, I-TYPE, and
nothing is malformed: an I-TYPE after O or after another type begins an entity, as in the original IOB scheme, so both
IOB1 (wikigold) and IOB2 (CoNLL-2003 as it is usually distributed, WNUT-17) are read correctly. No entity crosses the
end of a sentence. Source: Tjong Kim Sang & Buchholz 2000, the evaluation script of the CoNLL shared tasks.

Schemes with a tag for the last word of an entity and for an entity of one word are read, too: E- and S- (IOBES, BIOES),
or L- and U- (BILOU). After an entity's last word, any tag but O begins another.
"""

from collections import Counter
from collections.abc import Sequence

from bertlab.common.errors import DataError

Entity = tuple[int, int, str]  # first word, last word (inclusive), type

_FIRST, _LAST = "BSU", "ELSU"  # prefixes that always mark an entity's first word, or its last word


def is_entity_tag(tag: str) -> bool:
    """Whether a tag is O or one of B-, I-, E-, S-, L-, U- with a type after it."""
    prefix, _, kind = tag.partition("-")
    return tag == "O" or (prefix in tuple("BIESLU") and kind != "")


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of one sentence, in order. Raises DataError for a tag that `is_entity_tag` does not accept."""
    found, start, kind = [], 0, None  # kind: the type of the entity that is open
    for position, tag in enumerate([*tags, "O"]):
        if not is_entity_tag(tag):
            raise DataError(f"the tag {tag!r} is neither O nor B-TYPE nor I-TYPE (nor E-, S-, L- or U-TYPE)")
        prefix, _, tag_kind = tag.partition("-")
        goes_on = prefix not in _FIRST and tag_kind == kind
        if kind is not None and not goes_on:
            found.append((start, position - 1, kind))
        if not goes_on:
            start, kind = position, tag_kind or None
        if prefix in _LAST:
            found.append((start, position, tag_kind))
            kind = None
    return found


def _f1(hits: int, gold: int, predicted: int) -> float:
    return 2 * hits / (gold + predicted) if gold + predicted else 0.0


def entity_scores(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Micro-averaged f1, precision, recall over all entities, the accuracy of tags, and `f1:TYPE` for each type.

    gold, predicted: for each sentence its tags. Ratios without a denominator are 0. Raises DataError if the
    numbers of sentences or tags differ, or if there are no words.
    """
    hits, there, claimed = entity_counts(gold, predicted)
    pairs = [pair for truth, guess in zip(gold, predicted) for pair in zip(truth, guess)]
    scores = {
        "f1": _f1(hits.total(), there.total(), claimed.total()),
        "precision": hits.total() / claimed.total() if claimed else 0.0,
        "recall": hits.total() / there.total() if there else 0.0,
        "accuracy": sum(a == b for a, b in pairs) / len(pairs),
    }
    for kind in sorted(there | claimed):
        scores[f"f1:{kind}"] = _f1(hits[kind], there[kind], claimed[kind])
    return scores


def entity_counts(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> tuple[Counter, Counter, Counter]:
    """The number of entities of each type that are right, that there are, and that were predicted.

    Arguments and errors: those of `entity_scores`.
    """
    if [len(tags) for tags in gold] != [len(tags) for tags in predicted]:
        raise DataError("expected one predicted tag for each word of each sentence")
    if not any(gold):
        raise DataError("expected at least one word to evaluate")
    hits, there, claimed = Counter(), Counter(), Counter()
    for truth, guess in zip(gold, predicted):
        true_entities, guessed_entities = entities(truth), entities(guess)
        there.update(kind for _, _, kind in true_entities)
        claimed.update(kind for _, _, kind in guessed_entities)
        hits.update(kind for _, _, kind in set(true_entities) & set(guessed_entities))
    return hits, there, claimed
