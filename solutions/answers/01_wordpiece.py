# Other answers to the exercises of notebook 01: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% wordpiece: right: for else
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

# %% wordpiece: right: published style
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

# %% wordpiece: right: recursion
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

# %% wordpiece: right: rest of the word
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

# %% wordpiece: right: trie
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

# %% wordpiece: right: vocabulary by length
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

# %% wordpiece: right: idiom of google-research's BERT, a flag for what fits nowhere
LONGEST_WORD = 200


def wordpiece(word, vocabulary):
    letters = list(word)
    if len(letters) > LONGEST_WORD:
        return ["[UNK]"]
    fits_nowhere, start, found = False, 0, []
    while start < len(letters):
        end, current = len(letters), None
        while start < end:
            part = "".join(letters[start:end])
            part = "##" + part if start > 0 else part
            if part in vocabulary:
                current = part
                break
            end -= 1
        if current is None:
            fits_nowhere = True
            break
        found.append(current)
        start = end
    return ["[UNK]"] if fits_nowhere else found

# %% wordpiece: wrong: the limit counts bytes
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

# %% wordpiece: wrong: no token of more than a hundred characters
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

# %% wordpiece: wrong: the word in lower case
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

# %% wordpiece: wrong: remembered by the word and the size of the vocabulary
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

# %% wordpiece: wrong: the rest is cut with ## before it
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

# %% wordpiece: wrong: a word of many tokens keeps them when the rest is unknown
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

# %% wordpiece: wrong: one list for all words
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

# %% wordpiece: wrong: no token longer than those that begin a word
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

# %% tokenize: right: chain
import itertools


def tokenize(text, vocabulary, lower_case=True):
    cut = (wordpiece(word, vocabulary) for word in basic_tokenize(text, lower_case))
    return list(itertools.chain(*cut))

# %% tokenize: right: extend
def tokenize(text, vocabulary, lower_case=True):
    result = []
    for word in basic_tokenize(text, lower_case=lower_case):
        result += wordpiece(word, vocabulary)
    return result

# %% tokenize: right: loops
def tokenize(text, vocabulary, lower_case=True):
    pieces = []
    for word in basic_tokenize(text, lower_case):
        for piece in wordpiece(word, vocabulary):
            pieces.append(piece)
    return pieces

# %% tokenize: right: memory
def tokenize(text, vocabulary, lower_case=True):
    words = basic_tokenize(text, lower_case)
    cut = {word: wordpiece(word, vocabulary) for word in set(words)}
    return [piece for word in words for piece in cut[word]]

# %% tokenize: right: recursion
def tokenize(text, vocabulary, lower_case=True):
    def pieces_of(words):
        return wordpiece(words[0], vocabulary) + pieces_of(words[1:]) if words else []

    return pieces_of(basic_tokenize(text, lower_case))

# %% tokenize: right: reduce
from functools import reduce


def tokenize(text, vocabulary, lower_case=True):
    return reduce(lambda pieces, word: pieces + wordpiece(word, vocabulary), basic_tokenize(text, lower_case), [])

# %% tokenize: wrong: cut at 512
def tokenize(text, vocabulary, lower_case=True):
    return [piece for word in basic_tokenize(text, lower_case) for piece in wordpiece(word, vocabulary)][:512]

# %% tokenize: wrong: splits kept from another vocabulary
splits = {}


def tokenize(text, vocabulary, lower_case=True):
    result = []
    for word in basic_tokenize(text, lower_case):
        result += splits.setdefault(word, wordpiece(word, vocabulary))
    return result

# %% tokenize: wrong: one list for all texts
tokens = []


def tokenize(text, vocabulary, lower_case=True):
    tokens.clear()
    for word in basic_tokenize(text, lower_case):
        tokens.extend(wordpiece(word, vocabulary))
    return tokens

# %% tokenize: wrong: what is in the vocabulary is kept whole, with its punctuation
def tokenize(text, vocabulary, lower_case=True):
    pieces = []
    for chunk in text.split():
        chunk = chunk.lower() if lower_case else chunk
        if chunk in vocabulary and not chunk.startswith("["):
            pieces.append(chunk)
            continue
        for word in basic_tokenize(chunk, lower_case):
            pieces.extend(wordpiece(word, vocabulary))
    return pieces

# %% tokenize: wrong: ASCII text is cut by a regular expression
import re


def tokenize(text, vocabulary, lower_case=True):
    words = basic_tokenize(text, lower_case)
    if text.isascii():
        words = re.findall(r"\w+|[^\w\s]", text.lower() if lower_case else text)
    return [piece for word in words for piece in wordpiece(word, vocabulary)]

# %% count-pairs: right: counter
from collections import Counter


def count_pairs(spelled):
    counts = Counter()
    for pieces, count in spelled:
        for left, right in zip(pieces[:-1], pieces[1:]):
            counts[left, right] += count
    return counts

# %% count-pairs: right: counter of elements
from collections import Counter


def count_pairs(spelled):
    total = Counter()
    for pieces, count in spelled:
        inside = Counter(zip(pieces, pieces[1:]))
        total.update({pair: times * count for pair, times in inside.items()})
    return dict(total)

# %% count-pairs: right: defaultdict and index
from collections import defaultdict


def count_pairs(spelled):
    counts = defaultdict(int)
    for pieces, count in spelled:
        for i in range(len(pieces) - 1):
            counts[(pieces[i], pieces[i + 1])] += count
    return dict(counts)

# %% count-pairs: right: pairwise
from itertools import pairwise


def count_pairs(spelled):
    found = [(pair, count) for pieces, count in spelled for pair in pairwise(pieces)]
    return {pair: sum(n for other, n in found if other == pair) for pair, _ in found}

# %% count-pairs: right: remembering the last
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

# %% count-pairs: right: sort and group
from itertools import groupby


def count_pairs(spelled):
    found = sorted((pieces[i : i + 2], count) for pieces, count in spelled for i in range(len(pieces) - 1))
    return {tuple(pair): sum(n for _, n in group) for pair, group in groupby(found, key=lambda item: item[0])}

# %% count-pairs: wrong: equal neighbours without overlap
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

# %% count-pairs: wrong: one dict for all words
def spell(word):
    return [word[0], *("##" + character for character in word[1:])]


counts = {}


def count_pairs(spelled):
    counts.clear()
    for pieces, count in spelled:
        for pair in zip(pieces, pieces[1:]):
            counts[pair] = counts.get(pair, 0) + count
    return counts

# %% best-pair: right: counters, all scores first
from collections import Counter


def best_pair(spelled, rule, min_count=1):
    tokens, pairs = Counter(), Counter()
    for pieces, count in spelled:
        for piece in pieces:
            tokens[piece] += count
        for pair in zip(pieces, pieces[1:]):
            pairs[pair] += count
    total = tokens.total()
    scores = {}
    for (a, b), n in pairs.items():
        if n < min_count:
            continue
        match rule:
            case "count":
                scores[a, b] = n
            case "ratio":
                scores[a, b] = n / (tokens[a] * tokens[b])
            case "gain":
                scores[a, b] = n * math.log(total * n / (tokens[a] * tokens[b]))
    if not scores:
        return ()
    best = max(scores.values())
    return min((pair for pair in scores if scores[pair] == best), key=lambda pair: (-pairs[pair], pair))

# %% best-pair: right: fractions, and stable sorts
from fractions import Fraction


def best_pair(spelled, rule, min_count=1):
    pairs = count_pairs(spelled)

    def occurrences(piece):
        return sum(count * pieces.count(piece) for pieces, count in spelled)

    every = sum(count * len(pieces) for pieces, count in spelled)
    ratio = {(a, b): Fraction(n, occurrences(a) * occurrences(b)) for (a, b), n in pairs.items()}
    rules = {
        "count": pairs.get,
        "ratio": ratio.get,
        "gain": lambda pair: pairs[pair] * math.log(every * ratio[pair]),
    }
    ranked = sorted(pair for pair in pairs if pairs[pair] >= min_count)
    ranked.sort(key=pairs.get, reverse=True)
    ranked.sort(key=rules[rule], reverse=True)
    return ranked[0] if ranked else ()

# %% best-pair: right: one pass, comparing by hand
def score_of(rule, together, left, right, total):
    if rule == "count":
        return together
    if rule == "ratio":
        return together / (left * right)
    return together * math.log(together * total / (left * right))


def best_pair(spelled, rule, min_count=1):
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    total, best, top = sum(singles.values()), (), None
    for pair, together in count_pairs(spelled).items():
        if together < min_count:
            continue
        score = score_of(rule, together, singles[pair[0]], singles[pair[1]], total)
        if top is None or score > top[0] or score == top[0] and (-together, pair) < top[1]:
            best, top = pair, (score, (-together, pair))
    return best

# %% best-pair: right: written out words, a table of functions
from collections import Counter


def best_pair(spelled, rule, min_count=1):
    stream = Counter(piece for pieces, count in spelled for piece in pieces * count)
    total = stream.total()
    score = {
        "count": lambda n, below: n,
        "ratio": lambda n, below: n / below,
        "gain": lambda n, below: n * math.log2(total * n / below),
    }[rule]
    candidates = [
        (-score(n, stream[pair[0]] * stream[pair[1]]), -n, pair)
        for pair, n in count_pairs(spelled).items()
        if n >= min_count
    ]
    return min(candidates)[2] if candidates else ()

# %% best-pair: right: probabilities in the gain
import numpy


def best_pair(spelled, rule, min_count=1):
    pairs = {pair: n for pair, n in count_pairs(spelled).items() if n >= min_count}
    if not pairs:
        return ()
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    p = {piece: n / sum(singles.values()) for piece, n in singles.items()}
    total = sum(singles.values())
    names = sorted(pairs, key=lambda pair: (-pairs[pair], pair))
    n = numpy.array([pairs[pair] for pair in names], dtype=float)
    if rule == "ratio":
        n /= numpy.array([singles[a] * singles[b] for a, b in names], dtype=float)
    elif rule == "gain":
        n *= numpy.log(n / total / numpy.array([p[a] * p[b] for a, b in names]))
    return names[int(numpy.argmax(n))]

# %% best-pair: wrong: the limit for words
def best_pair(spelled, rule, min_count=1):
    counts, often = count_pairs(spelled), count_pairs([(pieces, n) for pieces, n in spelled if n >= min_count])
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    total = sum(singles.values())

    def score(pair):
        ratio = counts[pair] / (singles[pair[0]] * singles[pair[1]])
        return {"count": counts[pair], "ratio": ratio, "gain": counts[pair] * math.log(total * ratio)}[rule]

    return min(often, key=lambda pair: (-score(pair), -counts[pair], pair), default=())

# %% best-pair: wrong: scores rounded to six digits
def best_pair(spelled, rule, min_count=1):
    counts = count_pairs(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    total = sum(singles.values())

    def score(pair):
        ratio = counts[pair] / (singles[pair[0]] * singles[pair[1]])
        return round({"count": counts[pair], "ratio": ratio, "gain": counts[pair] * math.log(total * ratio)}[rule], 6)

    often = [pair for pair in counts if counts[pair] >= min_count]
    return min(often, key=lambda pair: (-score(pair), -counts[pair], pair), default=())

# %% best-pair: wrong: the last tie by the new token
def best_pair(spelled, rule, min_count=1):
    counts = count_pairs(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    total = sum(singles.values())

    def score(pair):
        ratio = counts[pair] / (singles[pair[0]] * singles[pair[1]])
        return {"count": counts[pair], "ratio": ratio, "gain": counts[pair] * math.log(total * ratio)}[rule]

    often = [pair for pair in counts if counts[pair] >= min_count]
    return min(often, key=lambda pair: (-score(pair), -counts[pair], pair[0] + pair[1][2:]), default=())

# %% best-pair: wrong: the last tie by the left token alone
def best_pair(spelled, rule, min_count=1):
    counts = count_pairs(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    total = sum(singles.values())

    def score(pair):
        ratio = counts[pair] / (singles[pair[0]] * singles[pair[1]])
        return {"count": counts[pair], "ratio": ratio, "gain": counts[pair] * math.log(total * ratio)}[rule]

    often = [pair for pair in counts if counts[pair] >= min_count]
    return min(often, key=lambda pair: (-score(pair), -counts[pair], pair[0]), default=())

# %% best-pair: wrong: None if no pair is left
def best_pair(spelled, rule, min_count=1):
    counts = count_pairs(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    total = sum(singles.values())

    def score(pair):
        ratio = counts[pair] / (singles[pair[0]] * singles[pair[1]])
        return {"count": counts[pair], "ratio": ratio, "gain": counts[pair] * math.log(total * ratio)}[rule]

    often = [pair for pair in counts if counts[pair] >= min_count]
    return min(often, key=lambda pair: (-score(pair), -counts[pair], pair), default=None)

# %% best-pair: wrong: no score below 0 is ever the best
from collections import Counter


def best_pair(spelled, rule, min_count=1):
    singles, pairs = Counter(), count_pairs(spelled)
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] += count
    best, best_score = (), 0
    for pair, count in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        ratio = count / (singles[pair[0]] * singles[pair[1]])
        score = {"count": count, "ratio": ratio, "gain": count * math.log(singles.total() * ratio)}[rule]
        if count >= min_count and score > best_score:
            best, best_score = pair, score
    return best

# %% merge-pair: right: copy and delete
def merge_pair(pair, spelled):
    result = [(list(pieces), count) for pieces, count in spelled]
    for pieces, _ in result:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == pair[0] and pieces[i + 1] == pair[1]:
                pieces[i] += pieces.pop(i + 1)[2:]
            i += 1
    return result

# %% merge-pair: right: index with skip
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

# %% merge-pair: right: queue
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

# %% merge-pair: right: recursion
def merge_pair(pair, spelled):
    def merged(pieces):
        if len(pieces) < 2:
            return pieces
        if tuple(pieces[:2]) == pair:
            return [pair[0] + pair[1][2:]] + merged(pieces[2:])
        return pieces[:1] + merged(pieces[1:])

    return [(merged(pieces), count) for pieces, count in spelled]

# %% merge-pair: right: stack
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

# %% merge-pair: right: text with borders
import re


def merge_pair(pair, spelled):
    left, right = pair
    pattern = re.compile(r"(?<!\S)" + re.escape(left) + " " + re.escape(right) + r"(?!\S)")
    return [
        (pattern.sub(lambda found: left + right[2:], " ".join(pieces)).split(" "), count) for pieces, count in spelled
    ]

# %% merge-pair: wrong: one list for all pairs
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

# %% merge-pair: wrong: no further than the first left token without the right one
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

# %% merge-pair: wrong: neighbours whose text is the pair's
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

# %% merge-pair: wrong: every # pair of the right token goes
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

# %% merge-pair: wrong: the merged token taken for a template
import re


def merge_pair(pair, spelled):
    pattern = re.compile(rf"(?<!\S){re.escape(' '.join(pair))}(?!\S)")
    merged = pair[0] + pair[1].removeprefix("##")
    return [(pattern.sub(merged, " ".join(pieces)).split(" "), count) for pieces, count in spelled]

# %% merge-pair: wrong: in either order
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

# %% learn-vocabulary: right: a for loop over merges
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, rule, min_count=2):
    vocabulary = dict.fromkeys([*SPECIAL_PIECES, *alphabet(word_counts)])
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    pair = best_pair(spelled, rule, min_count)
    while pair and len(vocabulary) < size:
        vocabulary[pair[0] + pair[1][2:]] = None
        spelled = merge_pair(pair, spelled)
        pair = best_pair(spelled, rule, min_count)
    return list(vocabulary)

# %% learn-vocabulary: right: recursion over chunks
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def grown(spelled, known, rule, min_count, most):
    """New tokens, at most so many merges."""
    for _ in range(most):
        pair = best_pair(spelled, rule, min_count=min_count)
        if pair == ():
            return spelled, True
        token = "".join([pair[0], pair[1][2:]])
        spelled = merge_pair(pair, spelled)
        if token not in known:
            known.append(token)
    return spelled, False


def learn_vocabulary(word_counts, size, rule, min_count=2):
    known = SPECIAL_PIECES + alphabet(word_counts)
    spelled, is_over = [(spell(word), count) for word, count in word_counts.items()], False
    while len(known) < size and not is_over:
        spelled, is_over = grown(spelled, known, rule, min_count, size - len(known))
    return known

# %% learn-vocabulary: right: a generator of merges
from itertools import islice

SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def new_tokens(word_counts, rule, min_count):
    """Each different token that a merge gives, in order."""
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    seen = set(SPECIAL_PIECES) | set(alphabet(word_counts))
    while pair := best_pair(spelled, rule, min_count):
        spelled = merge_pair(pair, spelled)
        token = pair[0] + pair[1].removeprefix("##")
        if token not in seen:
            seen.add(token)
            yield token


def learn_vocabulary(word_counts, size, rule, min_count=2):
    start = [*SPECIAL_PIECES, *alphabet(word_counts)]
    return start + list(islice(new_tokens(word_counts, rule, min_count), max(0, size - len(start))))

# %% learn-vocabulary: right: an endless loop that is left
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, rule, min_count=2):
    pieces, spelled = SPECIAL_PIECES[:], []
    pieces.extend(alphabet(word_counts))
    for word in word_counts:
        spelled.append((spell(word), word_counts[word]))
    while True:
        if len(pieces) >= size:
            return pieces
        choice = best_pair(spelled, rule, min_count)
        if len(choice) == 0:
            return pieces
        left, right = choice
        spelled = merge_pair((left, right), spelled)
        token = left + right[2:]
        pieces += [] if token in pieces else [token]

# %% learn-vocabulary: right: words kept apart from their counts
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, rule, min_count=2):
    pieces = SPECIAL_PIECES + alphabet(word_counts)
    spellings, counts = [spell(word) for word in word_counts], list(word_counts.values())
    done = False
    while not done and len(pieces) < size:
        pair = best_pair(list(zip(spellings, counts)), rule, min_count)
        done = not pair
        if not done:
            spellings = [merge_pair(pair, [(spelling, 1)])[0][0] for spelling in spellings]
            token = pair[0] + pair[1].removeprefix("##")
            if pieces.count(token) == 0:
                pieces.append(token)
    return pieces

# %% learn-vocabulary: wrong: rare words left out
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, rule, min_count=2):
    pieces = SPECIAL_PIECES + alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items() if count >= min_count]
    while len(pieces) < size:
        pair = best_pair(spelled, rule, min_count)
        if not pair:
            break
        spelled = merge_pair(pair, spelled)
        if pair[0] + pair[1][2:] not in pieces:
            pieces.append(pair[0] + pair[1][2:])
    return pieces

# %% learn-vocabulary: wrong: one list for all vocabularies
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


pieces = []


def learn_vocabulary(word_counts, size, rule, min_count=2):
    pieces[:] = SPECIAL_PIECES + alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        pair = best_pair(spelled, rule, min_count)
        if not pair:
            break
        spelled = merge_pair(pair, spelled)
        if pair[0] + pair[1][2:] not in pieces:
            pieces.append(pair[0] + pair[1][2:])
    return pieces

# %% learn-vocabulary: wrong: every # pair of the right token goes
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, rule, min_count=2):
    pieces = SPECIAL_PIECES + alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        pair = best_pair(spelled, rule, min_count)
        if not pair:
            break
        spelled = merge_pair(pair, spelled)
        token = pair[0] + pair[1].replace("##", "")
        if token not in pieces:
            pieces.append(token)
    return pieces

# %% learn-vocabulary: wrong: special tokens added again
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts):
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts, size, rule, min_count=2):
    learned = alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(SPECIAL_PIECES) + len(learned) < size and (pair := best_pair(spelled, rule, min_count)):
        spelled = merge_pair(pair, spelled)
        if pair[0] + pair[1].removeprefix("##") not in learned:
            learned.append(pair[0] + pair[1].removeprefix("##"))
    return SPECIAL_PIECES + learned

# %% strip-accents: right: character by character
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

# %% strip-accents: right: filter
def strip_accents(text):
    def is_letter_or_sign(character):
        return not unicodedata.category(character) == "Mn"

    return "".join(filter(is_letter_or_sign, unicodedata.normalize("NFD", text.lower())))

# %% strip-accents: right: loop
def strip_accents(text):
    result = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        if unicodedata.category(character) == "Mn":
            continue
        result += character
    return result

# %% strip-accents: right: regular expression
import re


def strip_accents(text):
    text = unicodedata.normalize("NFD", text.lower())
    marks = "".join({c for c in text if unicodedata.category(c) == "Mn"})
    return re.sub(f"[{marks}]", "", text) if marks else text

# %% strip-accents: right: replaced one by one
def strip_accents(text):
    text = unicodedata.normalize("NFD", text).lower()
    text = unicodedata.normalize("NFD", text)
    for mark in set(text):
        if unicodedata.category(mark) == "Mn":
            text = text.replace(mark, "")
    return text

# %% strip-accents: right: translate
def strip_accents(text):
    apart = unicodedata.normalize("NFD", text.lower())
    return apart.translate({ord(c): None for c in apart if unicodedata.category(c) == "Mn"})

# %% strip-accents: wrong: combining classes in place of categories
def strip_accents(text):
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))

# %% strip-accents: wrong: ASCII text stays as it is
def strip_accents(text):
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")

# %% strip-accents: wrong: letters alone are decomposed
def strip_accents(text):
    parts = (unicodedata.normalize("NFD", c) if c.isalpha() else c for c in text.lower())
    return "".join(c for part in parts for c in part if unicodedata.category(c) != "Mn")

# %% split-punctuation: right: blanks and split
import string


def split_punctuation(word):
    for mark in set(word):
        if mark in string.punctuation or unicodedata.category(mark).startswith("P"):
            word = word.replace(mark, " " + mark + " ")
    return word.split()

# %% split-punctuation: right: groupby
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

# %% split-punctuation: right: places
def split_punctuation(word):
    def alone(c):
        return c.isascii() and c.isprintable() and not c.isalnum() and c != " " or unicodedata.category(c)[0] == "P"

    cuts = {0, len(word)}
    for place, character in enumerate(word):
        if alone(character):
            cuts |= {place, place + 1}
    cuts = sorted(cuts)
    return [word[start:end] for start, end in zip(cuts, cuts[1:])]

# %% split-punctuation: right: published style
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

# %% split-punctuation: right: recursion
def is_punctuation(c):
    return unicodedata.category(c) in ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po") or c in "$+<=>^`|~"


def split_punctuation(word):
    for place, character in enumerate(word):
        if is_punctuation(character):
            before = [word[:place]] if place else []
            return before + [character] + split_punctuation(word[place + 1 :])
    return [word] if word else []

# %% split-punctuation: right: regular expression
import re


def split_punctuation(word):
    marks = {c for c in word if unicodedata.category(c)[0] == "P"} | set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    pattern = "([" + "".join(map(re.escape, sorted(marks))) + "])"
    return [part for part in re.split(pattern, word) if part]

# %% split-punctuation: wrong: decimal points kept
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

# %% split-punctuation: wrong: every mark that is no letter, digit, symbol or control character
def is_punctuation(character):
    ascii_symbol = "!" <= character <= "~" and not character.isalnum()
    return ascii_symbol or not (character.isalnum() or unicodedata.category(character)[0] in "CSZ")


def split_punctuation(word):
    parts = [""]
    for character in word:
        parts += [character, ""] if is_punctuation(character) else [parts.pop() + character]
    return [part for part in parts if part]

# %% split-punctuation: wrong: one list for all words
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

# %% split-punctuation: wrong: blocks listed by hand
import re


def split_punctuation(word):
    marks = r"[!-/:-@\[-`{-~¡§«¶·»¿\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e\u3001-\u3003\u3008-\u3011！]"
    return [part for part in re.split(f"({marks})", word) if part]

# %% split-punctuation: wrong: an apostrophe between letters stays
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

# %% split-punctuation: wrong: a hyphen between letters stays
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

# %% split-punctuation: wrong: a typographic apostrophe between letters stays
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

# %% truncate-pair: right: formula
def truncate_pair(first, second, room):
    kept_second = min(len(second), max(room // 2, room - len(first)))
    kept_first = min(len(first), room - kept_second)
    return first[:kept_first], second[:kept_second]

# %% truncate-pair: right: lengths only
def truncate_pair(first, second, room):
    keep_first, keep_second = len(first), len(second)
    while keep_first + keep_second > room:
        if keep_first > keep_second:
            keep_first -= 1
        else:
            keep_second -= 1
    return first[:keep_first], second[:keep_second]

# %% truncate-pair: right: recursion
def truncate_pair(first, second, room):
    if len(first) + len(second) <= room:
        return list(first), list(second)
    return (
        truncate_pair(first[:-1], second, room) if len(first) > len(second) else truncate_pair(first, second[:-1], room)
    )

# %% truncate-pair: right: slices one by one
def truncate_pair(first, second, room):
    while len(first) + len(second) > room:
        if len(first) > len(second):
            first = first[:-1]
        else:
            second = second[:-1]
    return first[:], second[:]

# %% truncate-pair: right: sort by length
def truncate_pair(first, second, room):
    lists = [[0, list(first)], [1, list(second)]]
    for _ in range(len(first) + len(second) - room):
        max(lists, key=lambda item: (len(item[1]), item[0]))[1].pop()
    return lists[0][1], lists[1][1]

# %% truncate-pair: right: two stages
def truncate_pair(first, second, room):
    too_many = max(0, len(first) + len(second) - room)
    from_longer = min(too_many, abs(len(first) - len(second)))
    rest = too_many - from_longer
    cut_first = (from_longer if len(first) > len(second) else 0) + rest // 2
    cut_second = (from_longer if len(second) > len(first) else 0) + rest - rest // 2
    return first[: len(first) - cut_first], second[: len(second) - cut_second]

# %% truncate-pair: right: idiom of google-research's BERT, an endless loop that is left
def truncate_pair(first, second, room):
    first, second = first[:], second[:]
    while True:
        if len(first) + len(second) <= room:
            break
        if len(first) > len(second):
            first.pop()
        else:
            second.pop()
    return first, second

# %% truncate-pair: wrong: a list that fits is returned itself
def truncate_pair(first, second, room):
    while len(first) + len(second) > room:
        if len(first) > len(second):
            first = first[:-1]
        else:
            second = second[:-1]
    return first, second

# %% truncate-pair: wrong: two lists for all pairs
kept = ([], [])


def truncate_pair(first, second, room):
    kept[0][:], kept[1][:] = first, second
    while len(kept[0]) + len(kept[1]) > room:
        kept[len(kept[0]) <= len(kept[1])].pop()
    return kept

# %% truncate-pair: wrong: each list cut to 510 tokens first
def truncate_pair(first, second, room):
    first, second = first[:510], second[:510]
    while len(first) + len(second) > room:
        (first if len(first) > len(second) else second).pop()
    return first, second

# %% pack: right: appending
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

# %% pack: right: fill in
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

# %% pack: right: numpy
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

# %% pack: right: padded by a helper
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

# %% pack: right: segments from separators
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

# %% pack: right: zip of triples
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

# %% pack: wrong: 128 positions at most
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

# %% pack: wrong: one dict for all rows
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
