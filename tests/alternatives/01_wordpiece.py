# Other right answers to the exercises of notebook 01, each of another structure.
# A cell has the set-up and the answers before it in the notebook, and must pass its check whole.

# %% clean-text: one function per character
CHINESE_BLOCKS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def cleaned(character):
    if character.isspace() and character in "\t\n\r":
        return " "
    match unicodedata.category(character):
        case "Zs":
            return " "
        case "Cc" | "Cf":
            return ""
    if character == "\N{REPLACEMENT CHARACTER}":
        return ""
    for first, last in CHINESE_BLOCKS:
        if ord(character) in range(first, last + 1):
            return " " + character + " "
    return character


def clean_text(text):
    return "".join(map(cleaned, text))

# %% clean-text: recursion
def clean_text(text):
    if len(text) > 1:
        half = len(text) // 2
        return clean_text(text[:half]) + clean_text(text[half:])
    if text == "" or text == "\ufffd":
        return ""
    kind = unicodedata.category(text)
    if kind == "Zs" or text in ("\t", "\n", "\r"):
        return " "
    if kind[0] == "C" and kind[1] in "cf":
        return ""
    code = ord(text)
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF
    chinese = chinese or 0x20000 <= code <= 0x2A6DF or 0x2A700 <= code <= 0x2CEAF or 0x2F800 <= code <= 0x2FA1F
    return f" {text} " if chinese else text

# %% clean-text: regular expressions
import re


def clean_text(text):
    kept = [c for c in re.sub(r"[\t\n\r]", " ", text) if unicodedata.category(c) not in {"Cc", "Cf"} and c != "\ufffd"]
    plain = "".join(" " if unicodedata.category(c) == "Zs" else c for c in kept)
    blocks = "".join(
        f"{chr(a)}-{chr(b)}"
        for a, b in [
            (0x4E00, 0x9FFF),
            (0x3400, 0x4DBF),
            (0x20000, 0x2A6DF),
            (0x2A700, 0x2B73F),
            (0x2B740, 0x2B81F),
            (0x2B820, 0x2CEAF),
            (0xF900, 0xFAFF),
            (0x2F800, 0x2FA1F),
        ]
    )
    return re.sub(f"([{blocks}])", r" \1 ", plain)

# %% clean-text: three passes
def clean_text(text):
    for blank in "\t\n\r":
        text = text.replace(blank, " ")
    for character in set(text):
        if unicodedata.category(character) == "Zs":
            text = text.replace(character, " ")
        elif unicodedata.category(character) in ("Cc", "Cf") or character == "\ufffd":
            text = text.replace(character, "")
    chinese = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]
    for character in set(text):
        if any(a <= ord(character) <= b for a, b in chinese):
            text = text.replace(character, f" {character} ")
    return text

# %% clean-text: translation table
CHINESE = [range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00)]
CHINESE += [range(0x20000, 0x2A6E0), range(0x2A700, 0x2CEB0), range(0x2F800, 0x2FA20)]


def clean_text(text):
    table = {}
    for character in set(text):
        if character in "\t\r\n" or unicodedata.category(character) == "Zs":
            table[ord(character)] = " "
        elif unicodedata.category(character) in "Cc Cf".split() or ord(character) == 0xFFFD:
            table[ord(character)] = None
        elif any(ord(character) in block for block in CHINESE):
            table[ord(character)] = f" {character} "
    return text.translate(table)

# %% strip-accents: character by character
def apart(character):
    parts = unicodedata.decomposition(character)
    if "\uac00" <= character <= "\ud7a3":
        return unicodedata.normalize("NFD", character)
    if not parts or parts.startswith("<"):
        return character
    return "".join(apart(chr(int(code, 16))) for code in parts.split())


def strip_accents(text):
    taken = "".join(map(apart, text.lower()))
    return "".join(c for c in taken if unicodedata.category(c) != "Mn")

# %% strip-accents: filter
def strip_accents(text):
    def is_letter_or_sign(character):
        return not unicodedata.category(character) == "Mn"

    return "".join(filter(is_letter_or_sign, unicodedata.normalize("NFD", text.lower())))

# %% strip-accents: loop
def strip_accents(text):
    result = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        if unicodedata.category(character) == "Mn":
            continue
        result += character
    return result

# %% strip-accents: regular expression
import re


def strip_accents(text):
    text = unicodedata.normalize("NFD", text.lower())
    marks = "".join({c for c in text if unicodedata.category(c) == "Mn"})
    return re.sub(f"[{marks}]", "", text) if marks else text

# %% strip-accents: replaced one by one
def strip_accents(text):
    text = unicodedata.normalize("NFD", text).lower()
    text = unicodedata.normalize("NFD", text)
    for mark in set(text):
        if unicodedata.category(mark) == "Mn":
            text = text.replace(mark, "")
    return text

# %% strip-accents: translate
def strip_accents(text):
    apart = unicodedata.normalize("NFD", text.lower())
    return apart.translate({ord(c): None for c in apart if unicodedata.category(c) == "Mn"})

# %% split-punctuation: blanks and split
import string


def split_punctuation(word):
    for mark in set(word):
        if mark in string.punctuation or unicodedata.category(mark).startswith("P"):
            word = word.replace(mark, " " + mark + " ")
    return word.split()

# %% split-punctuation: groupby
from itertools import groupby


def is_punctuation(character):
    code = ord(character)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(character)[0] == "P"


def split_punctuation(word):
    parts = []
    for mark, group in groupby(word, key=is_punctuation):
        together = "".join(group)
        parts += list(together) if mark else [together]
    return parts

# %% split-punctuation: places
def split_punctuation(word):
    def alone(c):
        return c.isascii() and c.isprintable() and not c.isalnum() and c != " " or unicodedata.category(c)[0] == "P"

    cuts = {0, len(word)}
    for place, character in enumerate(word):
        if alone(character):
            cuts |= {place, place + 1}
    cuts = sorted(cuts)
    return [word[start:end] for start, end in zip(cuts, cuts[1:])]

# %% split-punctuation: published style
def is_punctuation(character):
    code = ord(character)
    if (33 <= code <= 47) or (58 <= code <= 64) or (91 <= code <= 96) or (123 <= code <= 126):
        return True
    return unicodedata.category(character).startswith("P")


def split_punctuation(word):
    output, begin_new = [], True
    for character in word:
        if is_punctuation(character):
            output.append([character])
            begin_new = True
        else:
            if begin_new:
                output.append([])
            begin_new = False
            output[-1].append(character)
    return ["".join(part) for part in output]

# %% split-punctuation: recursion
def is_punctuation(c):
    return unicodedata.category(c) in ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po") or c in "$+<=>^`|~"


def split_punctuation(word):
    for place, character in enumerate(word):
        if is_punctuation(character):
            before = [word[:place]] if place else []
            return before + [character] + split_punctuation(word[place + 1 :])
    return [word] if word else []

# %% split-punctuation: regular expression
import re


def split_punctuation(word):
    marks = {c for c in word if unicodedata.category(c)[0] == "P"} | set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    pattern = "([" + "".join(map(re.escape, sorted(marks))) + "])"
    return [part for part in re.split(pattern, word) if part]

# %% basic-tokenize: chain
from itertools import chain


def basic_tokenize(text, lower_case=True):
    normalize = strip_accents if lower_case else lambda word: word
    return list(chain.from_iterable(map(split_punctuation, map(normalize, clean_text(text).split()))))

# %% basic-tokenize: comprehension
def basic_tokenize(text, lower_case=True):
    words = clean_text(text).split()
    return [part for word in words for part in split_punctuation(strip_accents(word) if lower_case else word)]

# %% basic-tokenize: one letter at a time
def basic_tokenize(text, lower_case=True):
    words, word = [], ""
    for character in clean_text(text) + " ":
        if character.isspace():
            words += split_punctuation(strip_accents(word) if lower_case else word)
            word = ""
        else:
            word += character
    return words

# %% basic-tokenize: recursion
def basic_tokenize(text, lower_case=True):
    first, *rest = clean_text(text).split(maxsplit=1) or [""]
    if lower_case:
        first = strip_accents(first)
    return split_punctuation(first) + (basic_tokenize(rest[0], lower_case) if rest else [])

# %% basic-tokenize: sum of lists
def basic_tokenize(text, lower_case=True):
    lists = []
    for word in clean_text(text).split():
        lists.append(split_punctuation(strip_accents(word)) if lower_case else split_punctuation(word))
    return sum(lists, [])

# %% basic-tokenize: whole text first
def basic_tokenize(text, lower_case=True):
    text = clean_text(text)
    if lower_case:
        text = strip_accents(text)
    result = []
    for word in text.split():
        result.extend(split_punctuation(word))
    return result

# %% wordpiece: for else
def wordpiece(word, vocabulary):
    if len(word) > 200:
        return ["[UNK]"]
    pieces = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces

# %% wordpiece: published style
def wordpiece(word, vocabulary):
    chars = list(word)
    if len(chars) > 200:
        return ["[UNK]"]
    is_bad, start, sub_tokens = False, 0, []
    while start < len(chars):
        end = len(chars)
        found = None
        while start < end:
            substring = "".join(chars[start:end])
            if start > 0:
                substring = "##" + substring
            if substring in vocabulary:
                found = substring
                break
            end -= 1
        if found is None:
            is_bad = True
            break
        sub_tokens.append(found)
        start = end
    return ["[UNK]"] if is_bad else sub_tokens

# %% wordpiece: recursion
def cut(rest, joiner, vocabulary):
    if not rest:
        return []
    fitting = [end for end in range(1, len(rest) + 1) if joiner + rest[:end] in vocabulary]
    if not fitting:
        return None
    later = cut(rest[fitting[-1] :], "##", vocabulary)
    return None if later is None else [joiner + rest[: fitting[-1]], *later]


def wordpiece(word, vocabulary):
    pieces = cut(word, "", vocabulary) if len(word) <= 200 else None
    return ["[UNK]"] if pieces is None else pieces

# %% wordpiece: rest of the word
def wordpiece(word, vocabulary):
    if len(word) > 200:
        return ["[UNK]"]
    output, joiner = [], ""
    while word:
        head = word
        while head and joiner + head not in vocabulary:
            head = head[:-1]
        if not head:
            return ["[UNK]"]
        output.append(joiner + head)
        word, joiner = word[len(head) :], "##"
    return output

# %% wordpiece: trie
def wordpiece(word, vocabulary):
    roots = {"": {}, "##": {}}
    for piece in vocabulary:
        joiner = "##" if piece.startswith("##") else ""
        node = roots[joiner]
        for character in piece[len(joiner) :]:
            node = node.setdefault(character, {})
        node[None] = piece
    if len(word) > 200:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        node, place, found = roots["##" if start else ""], start, None
        while place < len(word) and word[place] in node:
            node = node[word[place]]
            place += 1
            if None in node:
                found = node[None], place
        if found is None:
            return ["[UNK]"]
        pieces.append(found[0])
        start = found[1]
    return pieces

# %% wordpiece: vocabulary by length
def wordpiece(word, vocabulary):
    beginnings = sorted((p for p in vocabulary if p[:2] != "##" or len(p) == 2), key=len, reverse=True)
    later = sorted((p[2:] for p in vocabulary if p[:2] == "##" and len(p) > 2), key=len, reverse=True)
    pieces, rest = [], word
    while rest and len(word) <= 200:
        candidates = later if pieces else beginnings
        best = next((piece for piece in candidates if rest.startswith(piece)), None)
        if best is None:
            break
        pieces.append("##" + best if pieces else best)
        rest = rest[len(best) :]
    return ["[UNK]"] if rest else pieces

# %% tokenize: chain
import itertools


def tokenize(text, vocabulary, lower_case=True):
    cut = (wordpiece(word, vocabulary) for word in basic_tokenize(text, lower_case))
    return list(itertools.chain(*cut))

# %% tokenize: extend
def tokenize(text, vocabulary, lower_case=True):
    result = []
    for word in basic_tokenize(text, lower_case=lower_case):
        result += wordpiece(word, vocabulary)
    return result

# %% tokenize: loops
def tokenize(text, vocabulary, lower_case=True):
    pieces = []
    for word in basic_tokenize(text, lower_case):
        for piece in wordpiece(word, vocabulary):
            pieces.append(piece)
    return pieces

# %% tokenize: memory
def tokenize(text, vocabulary, lower_case=True):
    words = basic_tokenize(text, lower_case)
    cut = {word: wordpiece(word, vocabulary) for word in set(words)}
    return [piece for word in words for piece in cut[word]]

# %% tokenize: recursion
def tokenize(text, vocabulary, lower_case=True):
    def pieces_of(words):
        return wordpiece(words[0], vocabulary) + pieces_of(words[1:]) if words else []

    return pieces_of(basic_tokenize(text, lower_case))

# %% tokenize: reduce
from functools import reduce


def tokenize(text, vocabulary, lower_case=True):
    return reduce(lambda pieces, word: pieces + wordpiece(word, vocabulary), basic_tokenize(text, lower_case), [])

# %% count-pairs: counter
from collections import Counter


def count_pairs(spelled):
    counts = Counter()
    for pieces, count in spelled:
        for left, right in zip(pieces[:-1], pieces[1:]):
            counts[left, right] += count
    return counts

# %% count-pairs: counter of elements
from collections import Counter


def count_pairs(spelled):
    total = Counter()
    for pieces, count in spelled:
        inside = Counter(zip(pieces, pieces[1:]))
        total.update({pair: times * count for pair, times in inside.items()})
    return dict(total)

# %% count-pairs: defaultdict and index
from collections import defaultdict


def count_pairs(spelled):
    counts = defaultdict(int)
    for pieces, count in spelled:
        for i in range(len(pieces) - 1):
            counts[(pieces[i], pieces[i + 1])] += count
    return dict(counts)

# %% count-pairs: pairwise
from itertools import pairwise


def count_pairs(spelled):
    found = [(pair, count) for pieces, count in spelled for pair in pairwise(pieces)]
    return {pair: sum(n for other, n in found if other == pair) for pair, _ in found}

# %% count-pairs: remembering the last
def count_pairs(spelled):
    counts = {}
    for pieces, count in spelled:
        last = None
        for piece in pieces:
            if last is not None:
                counts.setdefault((last, piece), 0)
                counts[last, piece] += count
            last = piece
    return counts

# %% count-pairs: sort and group
from itertools import groupby


def count_pairs(spelled):
    found = sorted((pieces[i : i + 2], count) for pieces, count in spelled for i in range(len(pieces) - 1))
    return {tuple(pair): sum(n for _, n in group) for pair, group in groupby(found, key=lambda item: item[0])}

# %% pair-scores: counters
from collections import Counter


def pair_scores(spelled):
    pieces_seen, pairs_seen = Counter(), Counter()
    for pieces, count in spelled:
        for piece in pieces:
            pieces_seen[piece] += count
        for pair in zip(pieces, pieces[1:]):
            pairs_seen[pair] += count
    return {(a, b): n / (pieces_seen[a] * pieces_seen[b]) for (a, b), n in pairs_seen.items()}

# %% pair-scores: fractions
from fractions import Fraction


def pair_scores(spelled):
    def occurrences(piece):
        return sum(count * pieces.count(piece) for pieces, count in spelled)

    return {(a, b): float(Fraction(n, occurrences(a) * occurrences(b))) for (a, b), n in count_pairs(spelled).items()}

# %% pair-scores: numpy
import numpy


def pair_scores(spelled):
    pieces = sorted({piece for word, _ in spelled for piece in word})
    number = {piece: i for i, piece in enumerate(pieces)}
    singles, pairs = numpy.zeros(len(pieces)), numpy.zeros((len(pieces), len(pieces)))
    for word, count in spelled:
        for piece in word:
            singles[number[piece]] += count
        for a, b in zip(word, word[1:]):
            pairs[number[a], number[b]] += count
    scores = pairs / numpy.outer(singles, singles)
    return {(pieces[i], pieces[j]): float(scores[i, j]) for i, j in zip(*numpy.nonzero(pairs))}

# %% pair-scores: dataframe-like columns
def pair_scores(spelled):
    pieces = [(piece, count) for word, count in spelled for piece in word]
    names = {name for name, _ in pieces}
    total = {name: sum(count for piece, count in pieces if piece == name) for name in names}
    return {pair: n / (total[pair[0]] * total[pair[1]]) for pair, n in count_pairs(spelled).items()}

# %% pair-scores: written out words
from collections import Counter


def pair_scores(spelled):
    how_often = Counter(piece for pieces, count in spelled for piece in pieces * count)
    both = {(a, b): how_often[a] * how_often[b] for a, b in count_pairs(spelled)}
    return {pair: n / both[pair] for pair, n in count_pairs(spelled).items()}

# %% merge-pair: copy and delete
def merge_pair(pair, spelled):
    result = [(list(pieces), count) for pieces, count in spelled]
    for pieces, _ in result:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == pair[0] and pieces[i + 1] == pair[1]:
                pieces[i] += pieces.pop(i + 1)[2:]
            i += 1
    return result

# %% merge-pair: index with skip
def merge_pair(pair, spelled):
    new_piece = pair[0] + pair[1][2:]
    words = []
    for pieces, count in spelled:
        new, skip = [], False
        for i, piece in enumerate(pieces):
            if skip:
                skip = False
            elif i + 1 < len(pieces) and (piece, pieces[i + 1]) == pair:
                new.append(new_piece)
                skip = True
            else:
                new.append(piece)
        words.append((new, count))
    return words

# %% merge-pair: queue
from collections import deque


def merge_pair(pair, spelled):
    result = []
    for pieces, count in spelled:
        waiting, done = deque(pieces), []
        while waiting:
            piece = waiting.popleft()
            if piece == pair[0] and waiting and waiting[0] == pair[1]:
                piece += waiting.popleft().removeprefix("##")
            done.append(piece)
        result.append((done, count))
    return result

# %% merge-pair: recursion
def merge_pair(pair, spelled):
    def merged(pieces):
        if len(pieces) < 2:
            return pieces
        if tuple(pieces[:2]) == pair:
            return [pair[0] + pair[1][2:]] + merged(pieces[2:])
        return pieces[:1] + merged(pieces[1:])

    return [(merged(pieces), count) for pieces, count in spelled]

# %% merge-pair: stack
def merge_pair(pair, spelled):
    left, right = pair
    result = []
    for pieces, count in spelled:
        stack, fresh = [], False
        for piece in pieces:
            if stack and stack[-1] == left and piece == right and not fresh:
                stack[-1] = left + right[2:]
                fresh = True
            else:
                stack.append(piece)
                fresh = False
        result.append((stack, count))
    return result

# %% merge-pair: text with borders
import re


def merge_pair(pair, spelled):
    left, right = pair
    pattern = re.compile(r"(?<!\S)" + re.escape(left) + " " + re.escape(right) + r"(?!\S)")
    return [
        (pattern.sub(lambda found: left + right[2:], " ".join(pieces)).split(" "), count) for pieces, count in spelled
    ]

# %% learn-vocabulary: heap
import heapq


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()
    pieces.extend(sorted({c for word in word_counts for c in word}))
    pieces.extend("##" + c for c in sorted({c for word in word_counts if len(word) >= 2 for c in word}))
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    for _ in range(size):
        if len(pieces) >= size:
            break
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        heap = [(-scores[pair], -count, pair) for pair, count in counts.items() if not count < min_count]
        heapq.heapify(heap)
        if not heap:
            break
        pair = heapq.heappop(heap)[-1]
        spelled = merge_pair(pair, spelled)
        merged = pair[0] + pair[1][len("##") :]
        pieces += [merged] if merged not in pieces else []
    return pieces

# %% learn-vocabulary: one pass for the best
SPECIAL_PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()


def better(one, other, scores, counts):
    if scores[one] != scores[other]:
        return scores[one] > scores[other]
    if counts[one] != counts[other]:
        return counts[one] > counts[other]
    return one < other


def learn_vocabulary(word_counts, size, min_count=2):
    characters = sorted({c for word in word_counts for c in word})
    joined = sorted({c for word in word_counts for c in word if len(word) > 1})
    pieces = SPECIAL_PIECES + characters + ["##" + c for c in joined]
    spelled = [(spell(word), word_counts[word]) for word in word_counts]
    while len(pieces) < size:
        counts, scores, best = count_pairs(spelled), pair_scores(spelled), None
        for pair in counts:
            if counts[pair] >= min_count and (best is None or better(pair, best, scores, counts)):
                best = pair
        if best is None:
            break
        spelled = merge_pair(best, spelled)
        if best[0] + best[1][2:] not in pieces:
            pieces.append(best[0] + best[1][2:])
    return pieces

# %% learn-vocabulary: own counting
from collections import Counter
from fractions import Fraction


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += sorted(set("".join(word_counts)))
    pieces += ["##" + c for c in sorted(set("".join(w for w in word_counts if len(w) > 1)))]
    words = {word: [word[0]] + ["##" + c for c in word[1:]] for word in word_counts}
    while len(pieces) < size:
        single, pairs = Counter(), Counter()
        for word, spelling in words.items():
            for i, piece in enumerate(spelling):
                single[piece] += word_counts[word]
                if i:
                    pairs[spelling[i - 1], piece] += word_counts[word]
        ranked = [(Fraction(-n, single[a] * single[b]), -n, a, b) for (a, b), n in pairs.items() if n >= min_count]
        if not ranked:
            break
        _, _, left, right = min(ranked)
        merged = left + right[2:]
        for spelling in words.values():
            i = 0
            while i + 1 < len(spelling):
                if spelling[i] == left and spelling[i + 1] == right:
                    spelling[i : i + 2] = [merged]
                i += 1
        if merged not in pieces:
            pieces.append(merged)
    return pieces

# %% learn-vocabulary: recursion
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def learn_vocabulary(word_counts, size, min_count=2):
    one = set().union(*word_counts)
    more = set().union(*(word for word in word_counts if len(word) > 1))
    start = SPECIAL_PIECES + sorted(one) + ["##" + c for c in sorted(more)]
    return grown(start, [(spell(w), n) for w, n in word_counts.items()], size, min_count)


def grown(pieces, spelled, size, min_count):
    counts, scores = count_pairs(spelled), pair_scores(spelled)
    often = [pair for pair in counts if counts[pair] >= min_count]
    if len(pieces) >= size or not often:
        return pieces
    highest = max(scores[pair] for pair in often)
    often = [pair for pair in often if scores[pair] == highest]
    most = max(counts[pair] for pair in often)
    pair = min(pair for pair in often if counts[pair] == most)
    new = pair[0] + pair[1][2:]
    return grown(pieces if new in pieces else [*pieces, new], merge_pair(pair, spelled), size, min_count)

# %% learn-vocabulary: sorted candidates
def learn_vocabulary(word_counts, size, min_count=2):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + alphabet(word_counts)
    words = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts = count_pairs(words)
        scores = pair_scores(words)
        ranked = sorted((-scores[p], -counts[p], p) for p in counts if counts[p] >= min_count)
        if ranked == []:
            return pieces
        pair = ranked[0][2]
        words = merge_pair(pair, words)
        new = pair[0] + pair[1][2:]
        if new not in pieces:
            pieces = pieces + [new]
    return pieces


def alphabet(word_counts):
    return sorted(set("".join(word_counts))) + sorted({"##" + c for w in word_counts if len(w) > 1 for c in w})

# %% learn-vocabulary: stable sorts
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def learn_vocabulary(word_counts, size, min_count=2):
    pieces = dict.fromkeys(SPECIAL_PIECES)
    pieces.update(dict.fromkeys(sorted({c for word in word_counts for c in word})))
    pieces.update(dict.fromkeys("##" + c for c in sorted({c for word in word_counts if word[1:] for c in word})))
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        counts, scores = count_pairs(spelled), pair_scores(spelled)
        pairs = sorted(pair for pair, count in counts.items() if count >= min_count)
        pairs.sort(key=counts.get, reverse=True)
        pairs.sort(key=scores.get, reverse=True)
        if not pairs:
            break
        spelled = merge_pair(pairs[0], spelled)
        pieces[pairs[0][0] + pairs[0][1].removeprefix("##")] = None
    return list(pieces)

# %% truncate-pair: formula
def truncate_pair(first, second, room):
    kept_second = min(len(second), max(room // 2, room - len(first)))
    kept_first = min(len(first), room - kept_second)
    return first[:kept_first], second[:kept_second]

# %% truncate-pair: lengths only
def truncate_pair(first, second, room):
    keep_first, keep_second = len(first), len(second)
    while keep_first + keep_second > room:
        if keep_first > keep_second:
            keep_first -= 1
        else:
            keep_second -= 1
    return first[:keep_first], second[:keep_second]

# %% truncate-pair: recursion
def truncate_pair(first, second, room):
    if len(first) + len(second) <= room:
        return list(first), list(second)
    return (
        truncate_pair(first[:-1], second, room) if len(first) > len(second) else truncate_pair(first, second[:-1], room)
    )

# %% truncate-pair: slices one by one
def truncate_pair(first, second, room):
    while len(first) + len(second) > room:
        if len(first) > len(second):
            first = first[:-1]
        else:
            second = second[:-1]
    return first[:], second[:]

# %% truncate-pair: sort by length
def truncate_pair(first, second, room):
    lists = [[0, list(first)], [1, list(second)]]
    for _ in range(len(first) + len(second) - room):
        max(lists, key=lambda item: (len(item[1]), item[0]))[1].pop()
    return lists[0][1], lists[1][1]

# %% truncate-pair: two stages
def truncate_pair(first, second, room):
    too_many = max(0, len(first) + len(second) - room)
    from_longer = min(too_many, abs(len(first) - len(second)))
    rest = too_many - from_longer
    cut_first = (from_longer if len(first) > len(second) else 0) + rest // 2
    cut_second = (from_longer if len(second) > len(first) else 0) + rest - rest // 2
    return first[: len(first) - cut_first], second[: len(second) - cut_second]

# %% pack: appending
def pack(first, second, vocabulary, length):
    if second is not None:
        first, second = truncate_pair(first, second, length - 3)
    ids, segments, mask = [], [], []

    def add(piece, segment, seen=1):
        ids.append(vocabulary[piece])
        segments.append(segment)
        mask.append(seen)

    add("[CLS]", 0)
    for piece in first[: length - 2]:
        add(piece, 0)
    add("[SEP]", 0)
    if second is not None:
        for piece in [*second, "[SEP]"]:
            add(piece, 1)
    while len(ids) < length:
        add("[PAD]", 0, 0)
    return {"token_ids": ids, "token_type_ids": segments, "attention_mask": mask}

# %% pack: fill in
def pack(first, second, vocabulary, length):
    row = {
        "token_ids": [vocabulary["[PAD]"]] * length,
        "token_type_ids": [0] * length,
        "attention_mask": [0] * length,
    }
    if second is None:
        sequence = ["[CLS]"] + first[: length - 2] + ["[SEP]"]
        border = len(sequence)
    else:
        first, second = truncate_pair(first, second, length - 3)
        sequence = ["[CLS]"] + first + ["[SEP]"] + second + ["[SEP]"]
        border = len(first) + 2
    for place, piece in enumerate(sequence):
        row["token_ids"][place] = vocabulary[piece]
        row["token_type_ids"][place] = int(place >= border)
        row["attention_mask"][place] = 1
    return row

# %% pack: numpy
import numpy


def pack(first, second, vocabulary, length):
    two = second is not None
    if two:
        first, second = truncate_pair(first, second, length - 3)
    else:
        first, second = first[: length - 2], []
    end_of_first = len(first) + 2
    end = end_of_first + (len(second) + 1 if two else 0)
    ids = numpy.full(length, vocabulary["[PAD]"])
    ids[0] = vocabulary["[CLS]"]
    ids[1 : end_of_first - 1] = [vocabulary[p] for p in first]
    ids[end_of_first - 1] = ids[end - 1] = vocabulary["[SEP]"]
    if two:
        ids[end_of_first : end - 1] = [vocabulary[p] for p in second]
    place = numpy.arange(length)
    segments = (place >= end_of_first) & (place < end)
    return {
        "token_ids": ids.tolist(),
        "token_type_ids": segments.astype(int).tolist(),
        "attention_mask": (place < end).astype(int).tolist(),
    }

# %% pack: padded by a helper
def pack(first, second, vocabulary, length):
    def padded(items, filling):
        return items + [filling] * (length - len(items))

    if second is None:
        halves = [["[CLS]"] + first[: length - 2] + ["[SEP]"], []]
    else:
        first, second = truncate_pair(first, second, length - 3)
        halves = [["[CLS]"] + first + ["[SEP]"], second + ["[SEP]"]]
    number = vocabulary.__getitem__
    return {
        "token_ids": padded([*map(number, halves[0]), *map(number, halves[1])], vocabulary["[PAD]"]),
        "token_type_ids": padded([0 for _ in halves[0]] + [1 for _ in halves[1]], 0),
        "attention_mask": padded([1] * sum(map(len, halves)), 0),
    }

# %% pack: segments from separators
from itertools import accumulate


def pack(first, second, vocabulary, length):
    if second is None:
        pieces = ["[CLS]", *first][: length - 1] + ["[SEP]"]
    else:
        a, b = truncate_pair(first, second, length - 3)
        pieces = ["[CLS]"] + a + ["[SEP]"] + b + ["[SEP]"]
    used = len(pieces)
    closed = list(accumulate(piece == "[SEP]" for piece in pieces))
    segments = [0] + [int(done > 0) for done in closed[:-1]]
    ids = [vocabulary[piece] for piece in pieces + ["[PAD]"] * (length - used)]
    return {
        "token_ids": ids,
        "token_type_ids": segments + [0] * (length - used),
        "attention_mask": [int(place < used) for place in range(length)],
    }

# %% pack: zip of triples
def pack(first, second, vocabulary, length):
    if second is None:
        parts = [truncate_pair(first, [], length - 2)[0]]
    else:
        parts = list(truncate_pair(first, second, length - 3))
    triples = [("[CLS]", 0, 1)]
    for segment, part in enumerate(parts):
        triples += [(piece, segment, 1) for piece in part + ["[SEP]"]]
    triples += [("[PAD]", 0, 0)] * (length - len(triples))
    pieces, segments, mask = zip(*triples)
    return dict(token_ids=[vocabulary[p] for p in pieces], token_type_ids=list(segments), attention_mask=list(mask))
