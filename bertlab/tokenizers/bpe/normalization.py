"""Unicode's form NFC: a letter and the accents behind it become one character, "e" + "\u0301" → "é".

A tokenizer that normalises texts must still tell which characters of the original text a token stands for. Sources:
Unicode Standard Annex #15, sections 1.2 and 1.3; `tokenizers`, which gives a composed character the place of the first
one that it is made of.
"""

import unicodedata


def nfc(text: str) -> str:
    """The text in NFC.

    Example:
        >>> len(nfc("e\\u0301")), len(nfc("ab"))
        (1, 2)
    """
    return unicodedata.normalize("NFC", text)


def nfc_with_spans(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text in NFC, and for each of its characters the span (start, end) in `text`.

    Example:
        >>> nfc_with_spans("e\\u0301!")[1]
        [(0, 1), (2, 3)]
    """
    if unicodedata.is_normalized("NFC", text):
        return text, [(index, index + 1) for index in range(len(text))]
    characters, spans, read = [], [], 0
    for character, grown in _composed(_decomposed(text)):
        characters.append(character)
        if grown > 0:  # one more than there was: the place of the one before
            spans.append((max(read - 1, 0), read))
        else:
            spans.append((read, read + 1))
            read += 1 - grown
    return "".join(characters), spans


# Below, a pair is a character and by how many the characters grow with it: 0 where it replaces one, 1 where it comes
# in addition to one, −1 where it replaces two.


def _decomposed(text: str) -> list[tuple[str, int]]:
    """Every character in its parts, and accents in their canonical order."""
    pairs, accents = [], []
    for character in text:
        for number, part in enumerate(unicodedata.normalize("NFD", character)):
            if unicodedata.combining(part) == 0:
                pairs += sorted(accents, key=_combining_class)
                accents.clear()
                pairs.append((part, min(number, 1)))
            else:
                accents.append((part, min(number, 1)))
    return pairs + sorted(accents, key=_combining_class)


def _combining_class(pair: tuple[str, int]) -> int:
    return unicodedata.combining(pair[0])


def _composed(pairs: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Each base with all accents that it can be composed with; an accent of the same class blocks those behind it."""
    done, base, kept, last = [], None, [], None  # kept: accents that stay behind the base; last: the class of the last
    for character, grown in pairs:
        own = unicodedata.combining(character)
        if base is None:
            if own:
                done.append((character, grown))
            else:
                base = character, grown
            continue
        blocked = last is not None and last >= own
        whole = "" if blocked else unicodedata.normalize("NFC", base[0] + character)
        if len(whole) == 1:
            base = whole, base[1] + grown - 1
        elif own:
            kept.append((character, grown))
            last = own
        else:
            done += [base, *kept]
            base, kept, last = (character, grown), [], None
    return done + ([] if base is None else [base, *kept])
