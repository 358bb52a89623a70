"""What is right in notebook 01, in plain Python: other roads than the solutions take, and nothing of the library's.

Scores are exact fractions, so no rounding can decide a tie.
"""

import re
import unicodedata
from collections import Counter
from fractions import Fraction
from itertools import pairwise

CHINESE = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f])"
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def clean_text(text):
    text = re.sub(r"[\t\n\r]", " ", text).replace("\ufffd", "")
    kinds = [(character, unicodedata.category(character)) for character in text]
    text = "".join(" " if kind == "Zs" else character for character, kind in kinds if kind not in ("Cc", "Cf"))
    return CHINESE.sub(r" \1 ", text)


def strip_accents(text):
    marks = {ord(character): None for character in unicodedata.normalize("NFD", text)}
    marks = {code: None for code in marks if unicodedata.category(chr(code)) == "Mn"}
    return unicodedata.normalize("NFD", text.lower()).translate(marks | {0x307: None})  # İ lowers to i and U+0307


def is_punctuation(character):
    return bool(re.match(r"[!-/:-@\[-`{-~]", character)) or unicodedata.category(character)[0] == "P"


def split_punctuation(word):
    return "".join(f" {character} " if is_punctuation(character) else character for character in word).split()


def basic_tokenize(text, lower_case=True):
    normalize = strip_accents if lower_case else str
    return [part for word in clean_text(text).split() for part in split_punctuation(normalize(word))]


def wordpiece(word, vocabulary):
    def rest(start):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                return [piece, *rest(end)]
        return [] if start == len(word) else [None]

    found = rest(0) if len(word) <= 200 else [None]
    return ["[UNK]"] if None in found else found


def tokenize(text, vocabulary, lower_case=True):
    return sum((wordpiece(word, vocabulary) for word in basic_tokenize(text, lower_case)), [])


def count_pairs(spelled):
    counts = Counter()
    for pieces, count in spelled:
        for pair in pairwise(pieces):
            counts[pair] += count
    return dict(counts)


def exact_scores(spelled):
    """Scores as fractions."""
    singles = Counter()
    for pieces, count in spelled:
        singles.update({piece: count * pieces.count(piece) for piece in set(pieces)})
    return {pair: Fraction(count, singles[pair[0]] * singles[pair[1]]) for pair, count in count_pairs(spelled).items()}


def pair_scores(spelled):
    return {pair: float(score) for pair, score in exact_scores(spelled).items()}


def merge_pair(pair, spelled):
    return [(_merged(pair, list(pieces)), count) for pieces, count in spelled]


def _merged(pair, pieces):
    for place in range(len(pieces) - 1):
        if (pieces[place], pieces[place + 1]) == tuple(pair):
            return [*pieces[:place], pair[0] + pair[1][2:], *_merged(pair, pieces[place + 2 :])]
    return pieces


def fixed_size(word_counts):
    """How many pieces there are before the first merge."""
    return len(learn_vocabulary(word_counts, 0))


def learn_vocabulary(word_counts, size, min_count=2, scores=exact_scores):
    """scores: exact ones, or the same with another rounding (see `n01_draws.robust`)."""
    first = sorted(set("".join(word_counts)))
    later = sorted(set("".join(word for word in word_counts if len(word) > 1)))
    pieces = [*SPECIAL, *first, *("##" + character for character in later)]
    spelled = [([word[0]] + ["##" + c for c in word[1:]], count) for word, count in word_counts.items()]
    while len(pieces) < size:
        ranked = scores(spelled)
        counts = count_pairs(spelled)
        often = [pair for pair in ranked if counts[pair] >= min_count]
        if not often:
            break
        best = max(ranked[pair] for pair in often)
        often = [pair for pair in often if ranked[pair] == best]
        most = max(counts[pair] for pair in often)
        pair = sorted(pair for pair in often if counts[pair] == most)[0]
        spelled = merge_pair(pair, spelled)
        if pair[0] + pair[1][2:] not in pieces:
            pieces.append(pair[0] + pair[1][2:])
    return pieces


def truncate_pair(first, second, room):
    if len(first) + len(second) <= room:
        return list(first), list(second)
    if len(first) > len(second):
        return truncate_pair(first[:-1], second, room)
    return truncate_pair(first, second[:-1], room)


def pack(first, second, vocabulary, length):
    if second is None:
        groups = [["[CLS]", *first[: length - 2], "[SEP]"], []]
    else:
        first, second = truncate_pair(first, second, length - 3)
        groups = [["[CLS]", *first, "[SEP]"], [*second, "[SEP]"]]
    row = [(vocabulary[piece], segment, 1) for segment, group in enumerate(groups) for piece in group]
    row += [(vocabulary["[PAD]"], 0, 0)] * (length - len(row))
    token_ids, token_type_ids, attention_mask = map(list, zip(*row))
    return {"token_ids": token_ids, "token_type_ids": token_type_ids, "attention_mask": attention_mask}
