# Wrong answers to the exercises of notebook 01 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% clean-text: everything of category C deleted
def clean_text(text):
    text = "".join(" " if c in "\t\n\r" or unicodedata.category(c) == "Zs" else c for c in text)
    kept = (c for c in text if not unicodedata.category(c).startswith("C") and c != "\ufffd")
    return "".join(f" {c} " if "\u3400" <= c and "CJK" in unicodedata.name(c, "") else c for c in kept)

# %% clean-text: line separators become spaces
def clean_text(text):
    blocks = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")
    cleaned = ""
    for c in text:
        category = unicodedata.category(c)
        if category[0] == "Z" or c in "\t\n\r":
            cleaned += " "
        elif category not in ("Cc", "Cf") and c != "\ufffd":
            cleaned += f" {c} " if any(block[0] <= c <= block[-1] for block in blocks) else c
    return cleaned

# %% clean-text: ASCII text stays as it is
def clean_text(text):
    if text.isascii():
        return text
    blocks = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")
    text = "".join(" " if c in "\t\n\r" or unicodedata.category(c) == "Zs" else c for c in text)
    kept = (c for c in text if unicodedata.category(c) not in ("Cc", "Cf") and c != "\ufffd")
    return "".join(f" {c} " if any(block[0] <= c <= block[-1] for block in blocks) else c for c in kept)

# %% clean-text: the hexagrams between two blocks are Chinese
BLOCKS = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")


def is_chinese(character):
    return any(block[0] <= character <= block[-1] for block in BLOCKS)


def clean_text(text):
    cleaned = ""
    for c in text:
        category = unicodedata.category(c)
        if c in "\t\n\r" or category == "Zs":
            cleaned += " "
        elif category not in ("Cc", "Cf") and c != "\ufffd":
            chinese = "\u3400" <= c <= "\u9fff" or c >= "\uf900" and is_chinese(c)
            cleaned += f" {c} " if chinese else c
    return cleaned

# %% clean-text: every character from U+20000 to U+3FFFF is Chinese
BLOCKS = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")


def is_chinese(character):
    return any(block[0] <= character <= block[-1] for block in BLOCKS)


def clean_text(text):
    cleaned = ""
    for c in text:
        category = unicodedata.category(c)
        if c in "\t\n\r" or category == "Zs":
            cleaned += " "
        elif category not in ("Cc", "Cf") and c != "\ufffd":
            cleaned += f" {c} " if is_chinese(c) or 0x20000 <= ord(c) <= 0x3FFFF else c
    return cleaned

# %% clean-text: unassigned characters deleted
BLOCKS = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")


def is_chinese(character):
    return any(block[0] <= character <= block[-1] for block in BLOCKS)


def clean_text(text):
    text = "".join(" " if c in "\t\n\r" or unicodedata.category(c) == "Zs" else c for c in text)
    kept = (c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Cn") and c != "\ufffd")
    return "".join(f" {c} " if is_chinese(c) else c for c in kept)

# %% clean-text: the object replacement character deleted
BLOCKS = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")


def is_chinese(character):
    return any(block[0] <= character <= block[-1] for block in BLOCKS)


def clean_text(text):
    text = "".join(" " if c in "\t\n\r" or unicodedata.category(c) == "Zs" else c for c in text)
    kept = (c for c in text if unicodedata.category(c) not in ("Cc", "Cf") and c not in "\ufffc\ufffd")
    return "".join(f" {c} " if is_chinese(c) else c for c in kept)

# %% clean-text: spaces listed by hand, without the hair space
BLOCKS = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")


def is_chinese(character):
    return any(block[0] <= character <= block[-1] for block in BLOCKS)


def clean_text(text):
    text = "".join(" " if c in "\t\n\r\xa0\u1680\u202f\u205f\u3000" or "\u2000" <= c <= "\u2009" else c for c in text)
    kept = (c for c in text if unicodedata.category(c) not in ("Cc", "Cf") and c != "\ufffd")
    return "".join(f" {c} " if is_chinese(c) else c for c in kept)

# %% clean-text: replaced in the whole text, once for every occurrence
BLOCKS = ("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0002ceaf", "\U0002f800-\U0002fa1f")


def is_chinese(character):
    return any(block[0] <= character <= block[-1] for block in BLOCKS)


def clean_text(text):
    for c in text:
        category = unicodedata.category(c)
        if c in "\t\n\r" or category == "Zs":
            text = text.replace(c, " ")
        elif category in ("Cc", "Cf") or c == "\ufffd":
            text = text.replace(c, "")
        elif is_chinese(c):
            text = text.replace(c, f" {c} ")
    return text

# %% strip-accents: combining classes in place of categories
def strip_accents(text):
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))

# %% strip-accents: ASCII text stays as it is
def strip_accents(text):
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")

# %% strip-accents: letters alone are decomposed
def strip_accents(text):
    parts = (unicodedata.normalize("NFD", c) if c.isalpha() else c for c in text.lower())
    return "".join(c for part in parts for c in part if unicodedata.category(c) != "Mn")

# %% strip-accents: format characters deleted
def strip_accents(text):
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in decomposed if unicodedata.category(c) not in ("Mn", "Cf"))

# %% strip-accents: marks beyond U+FFFF kept
def strip_accents(text):
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn" or c > "\uffff")

# %% split-punctuation: decimal points kept
import re


def split_punctuation(word):
    found = re.findall(r"\d[.,]\d|.", word, flags=re.S)
    parts = [""]
    for one in found:
        if len(one) == 1 and (one in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" or unicodedata.category(one)[0] == "P"):
            parts += [one, ""]
        else:
            parts[-1] += one
    return [part for part in parts if part]

# %% split-punctuation: parts of earlier calls
import string

found = []


def split_punctuation(word):
    found.append("")
    first = len(found) - 1
    for c in word:
        if c in string.punctuation or unicodedata.category(c)[0] == "P":
            found.extend([c, ""])
        else:
            found[-1] += c
    return [part for part in found[first - 1 :] if part]

# %% split-punctuation: every mark that is no letter, digit, symbol or control character
def is_punctuation(character):
    ascii_symbol = "!" <= character <= "~" and not character.isalnum()
    return ascii_symbol or not (character.isalnum() or unicodedata.category(character)[0] in "CSZ")


def split_punctuation(word):
    parts = [""]
    for character in word:
        parts += [character, ""] if is_punctuation(character) else [parts.pop() + character]
    return [part for part in parts if part]

# %% split-punctuation: one list for all words
def is_punctuation(character):
    return unicodedata.category(character).startswith("P") or "!" <= character <= "~" and not character.isalnum()


parts = []


def split_punctuation(word):
    parts.clear()
    for character in word:
        if is_punctuation(character) or not parts or is_punctuation(parts[-1][-1]):
            parts.append(character)
        else:
            parts[-1] += character
    return parts

# %% split-punctuation: blocks listed by hand
import re


def split_punctuation(word):
    marks = r"[!-/:-@\[-`{-~¡§«¶·»¿\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e\u3001-\u3003\u3008-\u3011！]"
    return [part for part in re.split(f"({marks})", word) if part]

# %% split-punctuation: the block of general punctuation as a whole
def split_punctuation(word):
    parts = [""]
    for c in word:
        ascii_symbol = "!" <= c <= "~" and not c.isalnum()
        if ascii_symbol or unicodedata.category(c)[0] == "P" or "\u2010" <= c <= "\u205e":
            parts += [c, ""]
        else:
            parts[-1] += c
    return [part for part in parts if part]

# %% split-punctuation: emoji stand alone
def split_punctuation(word):
    parts = [""]
    for c in word:
        ascii_symbol = "!" <= c <= "~" and not c.isalnum()
        if ascii_symbol or unicodedata.category(c)[0] == "P" or c >= "\U0001f000":
            parts += [c, ""]
        else:
            parts[-1] += c
    return [part for part in parts if part]

# %% split-punctuation: format characters stand alone
def split_punctuation(word):
    parts = [""]
    for c in word:
        ascii_symbol = "!" <= c <= "~" and not c.isalnum()
        if ascii_symbol or unicodedata.category(c)[0] == "P" or unicodedata.category(c) == "Cf":
            parts += [c, ""]
        else:
            parts[-1] += c
    return [part for part in parts if part]

# %% split-punctuation: an apostrophe between letters stays
def is_punctuation(character):
    code = ord(character)
    is_ascii = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return is_ascii or unicodedata.category(character).startswith("P")


def split_punctuation(word):
    parts, current = [], ""
    for n, c in enumerate(word):
        inside = 0 < n < len(word) - 1 and word[n - 1].isalpha() and word[n + 1].isalpha()
        if is_punctuation(c) and not (c == "'" and inside):
            parts += [current, c]
            current = ""
        else:
            current += c
    return [part for part in [*parts, current] if part]

# %% split-punctuation: a hyphen between letters stays
def is_punctuation(character):
    code = ord(character)
    is_ascii = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return is_ascii or unicodedata.category(character).startswith("P")


def split_punctuation(word):
    parts, current = [], ""
    for n, c in enumerate(word):
        inside = 0 < n < len(word) - 1 and word[n - 1].isalpha() and word[n + 1].isalpha()
        if is_punctuation(c) and not (c == "-" and inside):
            parts += [current, c]
            current = ""
        else:
            current += c
    return [part for part in [*parts, current] if part]

# %% split-punctuation: a typographic apostrophe between letters stays
def is_punctuation(character):
    code = ord(character)
    is_ascii = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return is_ascii or unicodedata.category(character).startswith("P")


def split_punctuation(word):
    parts, current = [], ""
    for n, c in enumerate(word):
        inside = 0 < n < len(word) - 1 and word[n - 1].isalpha() and word[n + 1].isalpha()
        if is_punctuation(c) and not (c == "’" and inside):
            parts += [current, c]
            current = ""
        else:
            current += c
    return [part for part in [*parts, current] if part]

# %% basic-tokenize: split before it is cleaned
def basic_tokenize(text, lower_case=True):
    words = [word for part in text.split() for word in clean_text(part).split()]
    return [p for word in words for p in split_punctuation(strip_accents(word) if lower_case else word)]

# %% basic-tokenize: punctuation before accents
def basic_tokenize(text, lower_case=True):
    parts = [part for word in clean_text(text).split() for part in split_punctuation(word)]
    return [part for part in (strip_accents(part) if lower_case else part for part in parts) if part]

# %% basic-tokenize: lower case before it is cleaned
def basic_tokenize(text, lower_case=True):
    if lower_case:
        text = strip_accents(text)
    return [p for w in clean_text(text).split() for p in split_punctuation(w)]

# %% basic-tokenize: ASCII text is split at spaces only
def basic_tokenize(text, lower_case=True):
    if text.isascii():
        return (text.lower() if lower_case else text).split()
    words = [strip_accents(word) if lower_case else word for word in clean_text(text).split()]
    return [part for word in words for part in split_punctuation(word)]

# %% basic-tokenize: ASCII text is always lower case
def basic_tokenize(text, lower_case=True):
    words = clean_text(text).split()
    if lower_case or text.isascii():
        words = [strip_accents(word) for word in words]
    return [part for word in words for part in split_punctuation(word)]

# %% basic-tokenize: one list for all texts
words = []


def basic_tokenize(text, lower_case=True):
    words.clear()
    for word in clean_text(text).split():
        words.extend(split_punctuation(strip_accents(word) if lower_case else word))
    return words

# %% basic-tokenize: four special tokens kept
def basic_tokenize(text, lower_case=True):
    words = []
    for word in clean_text(text).split():
        special = word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
        words += [word] if special else split_punctuation(strip_accents(word) if lower_case else word)
    return words

# %% wordpiece: the limit counts bytes
def wordpiece(word, vocabulary):
    if len(word.encode()) > 200:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces

# %% wordpiece: no token of more than a hundred characters
def wordpiece(word, vocabulary):
    if len(word) > 200:
        return ["[UNK]"]
    pieces, rest, mark = [], word, ""
    while rest:
        fits = [n for n in range(min(100, len(rest)), 0, -1) if mark + rest[:n] in vocabulary]
        if not fits:
            return ["[UNK]"]
        pieces.append(mark + rest[: fits[0]])
        rest, mark = rest[fits[0] :], "##"
    return pieces

# %% wordpiece: the word in lower case
def wordpiece(word, vocabulary):
    if len(word) > 200:
        return ["[UNK]"]
    word = word.lower()
    out, start = [], 0
    while start < len(word):
        j = "##" if start else ""
        end = next((e for e in range(len(word), start, -1) if j + word[start:e] in vocabulary), None)
        if end is None:
            return ["[UNK]"]
        out.append(j + word[start:end])
        start = end
    return out

# %% wordpiece: remembered by the word and the size of the vocabulary
known = {}


def wordpiece(word, vocabulary):
    key = word, len(vocabulary)
    if key not in known:
        known[key] = search(word, vocabulary)
    return list(known[key])


def search(word, vocabulary):
    pieces, start = [], 0
    while start < len(word) <= 200:
        found = [end for end in range(start + 1, len(word) + 1) if "##" * (start > 0) + word[start:end] in vocabulary]
        if not found:
            return ["[UNK]"]
        pieces.append("##" * (start > 0) + word[start : found[-1]])
        start = found[-1]
    return pieces if len(word) <= 200 else ["[UNK]"]

# %% wordpiece: the rest is cut with ## before it
LONGEST_WORD = 200  # characters


def wordpiece(word: str, vocabulary: dict[str, int]) -> list[str]:
    """Splits a word into the longest tokens of the vocabulary, from left to right."""
    if len(word) > LONGEST_WORD:
        return ["[UNK]"]
    tokens = []
    while len(word) > 0:
        i = len(word)
        while i > 0 and word[:i] not in vocabulary:
            i -= 1
        if i == 0:
            return ["[UNK]"]
        tokens.append(word[:i])
        word = word[i:]
        if len(word) > 0:
            word = f"##{word}"
    return tokens

# %% wordpiece: a word of many tokens keeps them when the rest is unknown
def wordpiece(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        joined = ["##" * (start > 0) + word[start:end] for end in range(len(word), start, -1)]
        piece = next((piece for piece in joined if piece in vocabulary), None)
        if piece is None or len(word) > 200:
            return [*pieces, "[UNK]"] if len(pieces) > 3 else ["[UNK]"]
        pieces.append(piece)
        start += len(piece) - 2 * (start > 0)
    return pieces

# %% wordpiece: one list for all words
LONGEST_WORD = 200
pieces = []


def wordpiece(word, vocabulary):
    pieces.clear()
    start = 0
    while start < len(word) <= LONGEST_WORD:
        mark = "##" if start else ""
        ends = [end for end in range(len(word), start, -1) if mark + word[start:end] in vocabulary]
        if not ends:
            break
        pieces.append(mark + word[start : ends[0]])
        start = ends[0]
    if start < len(word):
        pieces[:] = ["[UNK]"]
    return pieces

# %% wordpiece: no token longer than those that begin a word
def wordpiece(word, vocabulary):
    longest = max((len(piece) for piece in vocabulary if not piece.startswith("##")), default=0)
    pieces, start = [], 0
    while start < len(word) <= 200:
        mark = "##" if start else ""
        ends = range(min(len(word), start + longest), start, -1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        if end is None:
            return ["[UNK]"]
        pieces.append(mark + word[start:end])
        start = end
    return pieces if len(word) <= 200 else ["[UNK]"]

# %% tokenize: cut at 512
def tokenize(text, vocabulary, lower_case=True):
    return [piece for word in basic_tokenize(text, lower_case) for piece in wordpiece(word, vocabulary)][:512]

# %% tokenize: splits kept from another vocabulary
splits = {}


def tokenize(text, vocabulary, lower_case=True):
    result = []
    for word in basic_tokenize(text, lower_case):
        result += splits.setdefault(word, wordpiece(word, vocabulary))
    return result

# %% tokenize: special tokens kept
def tokenize(text, vocabulary, lower_case=True):
    out = []
    for word in text.split():
        if word in ("[MASK]", "[CLS]", "[SEP]", "[PAD]", "[UNK]"):
            out.append(word)
        else:
            out += [p for w in basic_tokenize(word, lower_case) for p in wordpiece(w, vocabulary)]
    return out

# %% tokenize: one list for all texts
tokens = []


def tokenize(text, vocabulary, lower_case=True):
    tokens.clear()
    for word in basic_tokenize(text, lower_case):
        tokens.extend(wordpiece(word, vocabulary))
    return tokens

# %% tokenize: what is in the vocabulary is kept whole, with its punctuation
def tokenize(text, vocabulary, lower_case=True):
    pieces = []
    for chunk in clean_text(text).split():
        chunk = strip_accents(chunk) if lower_case else chunk
        if chunk in vocabulary and not chunk.startswith("["):
            pieces.append(chunk)
            continue
        for word in basic_tokenize(chunk, lower_case):
            pieces.extend(wordpiece(word, vocabulary))
    return pieces

# %% tokenize: ASCII text is cut by a regular expression
import re


def tokenize(text, vocabulary, lower_case=True):
    words = basic_tokenize(text, lower_case)
    if text.isascii():
        words = re.findall(r"\w+|[^\w\s]", text.lower() if lower_case else text)
    return [piece for word in words for piece in wordpiece(word, vocabulary)]

# %% tokenize: line by line, as splitlines sees lines
def tokenize(text, vocabulary, lower_case=True):
    words = [word for line in text.splitlines() for word in basic_tokenize(line, lower_case)]
    return [piece for word in words for piece in wordpiece(word, vocabulary)]

# %% count-pairs: equal neighbours without overlap
def count_pairs(spelled):
    counts = {}
    for pieces, count in spelled:
        last = None
        for pair in zip(pieces, pieces[1:]):
            if pair == last and pair[0] == pair[1]:
                last = None
                continue
            counts[pair], last = counts.get(pair, 0) + count, pair
    return counts

# %% count-pairs: counted as the reversed pair where that one is known
def count_pairs(spelled):
    counts = {}
    for pieces, count in spelled:
        for left, right in zip(pieces, pieces[1:]):
            pair = (right, left) if (right, left) in counts else (left, right)
            counts[pair] = counts.get(pair, 0) + count
    return counts

# %% count-pairs: the neighbour of a token's first place
def count_pairs(spelled):
    counts = {}
    for tokens, count in spelled:
        for left in tokens[:-1]:
            pair = left, tokens[tokens.index(left) + 1]
            counts[pair] = counts.get(pair, 0) + count
    return counts

# %% count-pairs: one dict for all words
def spell(word):
    return [word[0], *("##" + character for character in word[1:])]


counts = {}


def count_pairs(spelled):
    counts.clear()
    for pieces, count in spelled:
        for pair in zip(pieces, pieces[1:]):
            counts[pair] = counts.get(pair, 0) + count
    return counts

# %% count-pairs: a token taken for a regular expression
import re


def count_pairs(spelled):
    counts = {}
    for pieces, count in spelled:
        text = " ".join(pieces)
        for left, right in dict.fromkeys(zip(pieces, pieces[1:])):
            found = re.findall(rf"(?<!\S){left}(?= {right}(?!\S))", text)
            counts[left, right] = counts.get((left, right), 0) + len(found) * count
    return counts

# %% pair-scores: divided twice
def pair_scores(spelled):
    pairs = count_pairs(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in set(pieces):
            singles[piece] = singles.get(piece, 0) + pieces.count(piece) * count
    scores = {}
    for pair in pairs:
        scores[pair] = pairs[pair] / singles[pair[0]] / singles[pair[1]]
    return scores

# %% pair-scores: probabilities
from collections import defaultdict


def pair_scores(spelled):
    singles = defaultdict(int)
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] += count
    total = sum(singles.values())
    share = {piece: n / total for piece, n in singles.items()}
    return {(a, b): n / total / (share[a] * share[b]) / total for (a, b), n in count_pairs(spelled).items()}

# %% pair-scores: written out words
from collections import Counter


def pair_scores(spelled):
    stream = [piece for pieces, count in spelled for piece in pieces * count]
    how_often = Counter(stream)
    return {pair: n * (1 / (how_often[pair[0]] * how_often[pair[1]])) for pair, n in count_pairs(spelled).items()}

# %% pair-scores: products in 32 bits
def pair_scores(spelled):
    singles = {}
    for tokens, count in spelled:
        for token in tokens:
            singles[token] = singles.get(token, 0) + count
    below = {(a, b): (singles[a] * singles[b] + 2**31) % 2**32 - 2**31 for a, b in count_pairs(spelled)}
    return {pair: count / below[pair] for pair, count in count_pairs(spelled).items()}

# %% pair-scores: one dict for all scores
scores = {}


def pair_scores(spelled):
    scores.clear()
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    for (left, right), together in count_pairs(spelled).items():
        scores[left, right] = together / (singles[left] * singles[right])
    return scores

# %% merge-pair: number signs stripped
def merge_pair(pair, spelled):
    result = []
    for word, count in spelled:
        new = []
        for piece in word:
            if new and new[-1:] == [pair[0]] and piece == pair[1] and not (new and new[-1] is None):
                new[-1] = pair[0] + pair[1].lstrip("#")
            else:
                new.append(piece)
        result.append((new, count))
    return result

# %% merge-pair: one list for all pairs
def merge_pair(pair, spelled, result=[]):
    result.clear()
    left, right = pair
    for pieces, count in spelled:
        joined, place = [], 0
        while place < len(pieces):
            found = pieces[place : place + 2] == [left, right]
            joined.append(left + right.removeprefix("##") if found else pieces[place])
            place += 2 if found else 1
        result.append((joined, count))
    return result

# %% merge-pair: no further than the first left token without the right one
def merge_pair(pair, spelled):
    left, right = pair
    merged = []
    for tokens, count in spelled:
        new, start = list(tokens), 0
        while left in new[start:]:
            start = new.index(left, start)
            if new[start + 1 : start + 2] != [right]:
                break
            new[start : start + 2] = [left + right[2:]]
            start += 1
        merged.append((new, count))
    return merged

# %% merge-pair: neighbours whose text is the pair's
def merge_pair(pair, spelled):
    joined = pair[0] + pair[1][2:]
    merged = []
    for tokens, count in spelled:
        new, place = [], 0
        while place < len(tokens):
            if place + 1 < len(tokens) and tokens[place] + tokens[place + 1][2:] == joined:
                new.append(joined)
                place += 2
            else:
                new.append(tokens[place])
                place += 1
        merged.append((new, count))
    return merged

# %% merge-pair: every # pair of the right token goes
def merge_pair(pair, spelled):
    result = []
    for pieces, count in spelled:
        joined = []
        for piece in pieces:
            if joined and (joined[-1], piece) == tuple(pair):
                joined[-1] += piece.replace("##", "")
            else:
                joined.append(piece)
        result.append((joined, count))
    return result

# %% merge-pair: the pair taken for a regular expression
import re


def merge_pair(pair, spelled):
    pattern = re.compile(rf"(?<!\S){pair[0]} {pair[1]}(?!\S)")
    merged = pair[0] + pair[1].removeprefix("##")
    return [(pattern.sub(lambda found: merged, " ".join(pieces)).split(" "), count) for pieces, count in spelled]

# %% merge-pair: the merged token taken for a template
import re


def merge_pair(pair, spelled):
    pattern = re.compile(rf"(?<!\S){re.escape(' '.join(pair))}(?!\S)")
    merged = pair[0] + pair[1].removeprefix("##")
    return [(pattern.sub(merged, " ".join(pieces)).split(" "), count) for pieces, count in spelled]

# %% merge-pair: in either order
def merge_pair(pair, spelled):
    result = []
    for tokens, count in spelled:
        new, i = [], 0
        while i < len(tokens):
            if tuple(tokens[i : i + 2]) in (tuple(pair), tuple(pair)[::-1]):
                new.append(pair[0] + pair[1][2:])
                i += 2
            else:
                new.append(tokens[i])
                i += 1
        result.append((new, count))
    return result

# %% learn-vocabulary: more than min_count
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    letters = sorted(set("".join(word_counts)))
    return letters + sorted({"##" + letter for word in word_counts if len(word) > 1 for letter in word})


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = SPECIAL_PIECES + alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        often = [pair for pair in counts if counts[pair] > min_count]
        if not often:
            break
        pair = min(often, key=lambda pair: (-scores[pair], -counts[pair], pair))
        spelled = merge_pair(pair, spelled)
        pieces.append(pair[0] + pair[1][2:])
    return pieces

# %% learn-vocabulary: the same token twice
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def learn_vocabulary(word_counts, size, min_count=2):
    letters = sorted(set("".join(word_counts)))
    joined = sorted({"##" + letter for word in word_counts if len(word) > 1 for letter in word})
    pieces, spelled = SPECIAL_PIECES + letters + joined, [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        often = [pair for pair in counts if counts[pair] >= min_count]
        if not often:
            break
        pair = min(often, key=lambda pair: (-scores[pair], -counts[pair], pair))
        spelled = merge_pair(pair, spelled)
        pieces.append(pair[0] + pair[1].removeprefix("##"))
    return pieces

# %% learn-vocabulary: never to a token that exists
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    vocabulary = [*SPECIAL_PIECES, *alphabet(word_counts)]
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(vocabulary) < size:
        counts = {
            pair: count
            for pair, count in count_pairs(spelled).items()
            if count >= min_count and pair[0] + pair[1][2:] not in vocabulary
        }
        if not counts:
            break
        scores = pair_scores(spelled)
        best = min(counts, key=lambda pair: (-scores[pair], -counts[pair], pair))
        spelled = merge_pair(best, spelled)
        vocabulary.append(best[0] + best[1][2:])
    return vocabulary

# %% learn-vocabulary: the last tie by the new token
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    vocabulary = [*SPECIAL_PIECES, *alphabet(word_counts)]
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(vocabulary) < size:
        counts = {pair: count for pair, count in count_pairs(spelled).items() if count >= min_count}
        if not counts:
            break
        scores = pair_scores(spelled)
        best = min(counts, key=lambda pair: (-scores[pair], -counts[pair], pair[0] + pair[1][2:]))
        spelled = merge_pair(best, spelled)
        token = best[0] + best[1][2:]
        if token not in vocabulary:
            vocabulary.append(token)
    return vocabulary

# %% learn-vocabulary: the last tie by the order of the sorted words
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    vocabulary = [*SPECIAL_PIECES, *alphabet(word_counts)]
    spelled = [(spell(word), count) for word, count in sorted(word_counts.items())]
    while len(vocabulary) < size:
        counts = {pair: count for pair, count in count_pairs(spelled).items() if count >= min_count}
        if not counts:
            break
        scores = pair_scores(spelled)
        best = max(counts, key=lambda pair: (scores[pair], counts[pair]))
        spelled = merge_pair(best, spelled)
        token = best[0] + best[1][2:]
        if token not in vocabulary:
            vocabulary.append(token)
    return vocabulary

# %% learn-vocabulary: the last tie by the end of the text
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    vocabulary = [*SPECIAL_PIECES, *alphabet(word_counts)]
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(vocabulary) < size:
        counts = {pair: count for pair, count in count_pairs(spelled).items() if count >= min_count}
        if not counts:
            break
        scores = pair_scores(spelled)
        best = max(reversed(counts), key=lambda pair: (scores[pair], counts[pair]))
        spelled = merge_pair(best, spelled)
        token = best[0] + best[1][2:]
        if token not in vocabulary:
            vocabulary.append(token)
    return vocabulary

# %% learn-vocabulary: rare words left out
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    vocabulary = [*SPECIAL_PIECES, *alphabet(word_counts)]
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(vocabulary) < size:
        counts = count_pairs([(tokens, count) for tokens, count in spelled if count >= min_count])
        if not counts:
            break
        scores, counts_of_all = pair_scores(spelled), count_pairs(spelled)
        best = min(counts, key=lambda pair: (-scores[pair], -counts_of_all[pair], pair))
        spelled = merge_pair(best, spelled)
        token = best[0] + best[1][2:]
        if token not in vocabulary:
            vocabulary.append(token)
    return vocabulary

# %% learn-vocabulary: scores rounded to six digits
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = SPECIAL_PIECES + alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        candidates = [pair for pair in counts if counts[pair] >= min_count]
        if not candidates:
            break
        left, right = min(candidates, key=lambda pair: (-round(scores[pair], 6), -counts[pair], pair))
        spelled = merge_pair((left, right), spelled)
        if left + right[2:] not in pieces:
            pieces.append(left + right[2:])
    return pieces

# %% learn-vocabulary: one list for all vocabularies
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


pieces = []


def learn_vocabulary(word_counts, size, min_count=2):
    pieces[:] = SPECIAL_PIECES + alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        candidates = [pair for pair in counts if counts[pair] >= min_count]
        if not candidates:
            break
        left, right = min(candidates, key=lambda pair: (-scores[pair], -counts[pair], pair))
        spelled = merge_pair((left, right), spelled)
        if left + right[2:] not in pieces:
            pieces.append(left + right[2:])
    return pieces

# %% learn-vocabulary: the last tie by the left token alone
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    vocabulary = [*SPECIAL_PIECES, *alphabet(word_counts)]
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(vocabulary) < size:
        counts = {pair: count for pair, count in count_pairs(spelled).items() if count >= min_count}
        if not counts:
            break
        scores = pair_scores(spelled)
        best = min(counts, key=lambda pair: (-scores[pair], -counts[pair], pair[0]))
        spelled = merge_pair(best, spelled)
        token = best[0] + best[1][2:]
        if token not in vocabulary:
            vocabulary.append(token)
    return vocabulary

# %% learn-vocabulary: every # pair of the right token goes
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, min_count=2):
    vocabulary = [*SPECIAL_PIECES, *alphabet(word_counts)]
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(vocabulary) < size:
        counts = {pair: count for pair, count in count_pairs(spelled).items() if count >= min_count}
        if not counts:
            break
        scores = pair_scores(spelled)
        best = min(counts, key=lambda pair: (-scores[pair], -counts[pair], pair))
        spelled = merge_pair(best, spelled)
        token = best[0] + best[1].replace("##", "")
        if token not in vocabulary:
            vocabulary.append(token)
    return vocabulary

# %% truncate-pair: a list that fits is returned itself
def truncate_pair(first, second, room):
    while len(first) + len(second) > room:
        if len(first) > len(second):
            first = first[:-1]
        else:
            second = second[:-1]
    return first, second

# %% truncate-pair: two lists for all pairs
kept = ([], [])


def truncate_pair(first, second, room):
    kept[0][:], kept[1][:] = first, second
    while len(kept[0]) + len(kept[1]) > room:
        kept[len(kept[0]) <= len(kept[1])].pop()
    return kept

# %% truncate-pair: each list cut to 510 tokens first
def truncate_pair(first, second, room):
    first, second = first[:510], second[:510]
    while len(first) + len(second) > room:
        (first if len(first) > len(second) else second).pop()
    return first, second

# %% pack: 128 positions at most
def pack(first, second, vocabulary, length):
    if second is None:
        row = ["[CLS]", *first[: min(length, 128) - 2], "[SEP]"]
        kinds = [0] * len(row)
    else:
        first, second = truncate_pair(first, second, min(length, 128) - 3)
        row = ["[CLS]", *first, "[SEP]", *second, "[SEP]"]
        kinds = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    empty = length - len(row)
    ids = [vocabulary[piece] for piece in row + ["[PAD]"] * empty]
    return {"token_ids": ids, "token_type_ids": kinds + [0] * empty, "attention_mask": [1] * len(row) + [0] * empty}

# %% pack: first text shortened in place
def pack(first, second, vocabulary, length):
    while second is None and len(first) > length - 2:
        first.pop()
    if second is not None:
        first, second = truncate_pair(first, second, length - 3)
    row = ["[CLS]", *first, "[SEP]"] + ([*second, "[SEP]"] if second is not None else [])
    kinds, empty = [0] * (len(first) + 2), length - len(row)
    kinds += [1] * (len(row) - len(kinds)) + [0] * empty
    ids = [vocabulary[piece] for piece in row + ["[PAD]"] * empty]
    return {"token_ids": ids, "token_type_ids": kinds, "attention_mask": [1] * len(row) + [0] * empty}

# %% pack: one dict for all rows
row = {}


def pack(first, second, vocabulary, length):
    if second is None:
        one, two = ["[CLS]", *first[: length - 2], "[SEP]"], []
    else:
        first, second = truncate_pair(first, second, length - 3)
        one, two = ["[CLS]", *first, "[SEP]"], [*second, "[SEP]"]
    empty = length - len(one) - len(two)
    row["token_ids"] = [vocabulary[piece] for piece in one + two + ["[PAD]"] * empty]
    row["token_type_ids"] = [0] * len(one) + [1] * len(two) + [0] * empty
    row["attention_mask"] = [1] * (length - empty) + [0] * empty
    return row

# %% pack: 512 positions at most
def pack(first, second, vocabulary, length):
    if second is None:
        row = ["[CLS]", *first[: min(length, 512) - 2], "[SEP]"]
        kinds = [0] * len(row)
    else:
        first, second = truncate_pair(first, second, min(length, 512) - 3)
        row = ["[CLS]", *first, "[SEP]", *second, "[SEP]"]
        kinds = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    empty = length - len(row)
    ids = [vocabulary[piece] for piece in row + ["[PAD]"] * empty]
    return {"token_ids": ids, "token_type_ids": kinds + [0] * empty, "attention_mask": [1] * len(row) + [0] * empty}

# %% pack: ids of 16 bits
import array


def pack(first, second, vocabulary, length):
    if second is None:
        one, two = ["[CLS]", *first[: length - 2], "[SEP]"], []
    else:
        first, second = truncate_pair(first, second, length - 3)
        one, two = ["[CLS]", *first, "[SEP]"], [*second, "[SEP]"]
    empty = length - len(one) - len(two)
    ids = array.array("H", [vocabulary[piece] % 2**16 for piece in one + two + ["[PAD]"] * empty])
    return {
        "token_ids": ids.tolist(),
        "token_type_ids": [0] * len(one) + [1] * len(two) + [0] * empty,
        "attention_mask": [1] * (length - empty) + [0] * empty,
    }
