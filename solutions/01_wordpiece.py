# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · WordPiece
#
# BERT reads integers, and you write text. The tokenizer converts one into the other: it cleans the text, splits it into
# words, splits the words into **tokens** from a fixed list (*subwords*; the papers also call them *WordPieces*), and
# looks up the integer id of each token. You write all of it here, and the algorithm that learns the list.
#
# By the end you will have built
#
# - `wordpiece` and `tokenize`: words into tokens;
# - `count_pairs`, `best_pair`, `merge_pair`, `learn_vocabulary`: a list of tokens learned from text, by three rules;
# - `strip_accents` and `split_punctuation`, with which text becomes words as in BERT;
# - `truncate_pair` and `pack`: one or two texts as the three lists of integers that BERT takes as input.
#
# About 85 minutes, 31 points. Everything runs on this machine, without a network.
#
# **Notation.** `##ing` is a token that continues a word, `ing` one that begins a word. A *vocabulary* is a dict from
# token to id. Five special tokens never come from the text itself: `[CLS]` begins every input, `[SEP]` ends each text
# in it, `[PAD]` fills up the remaining positions, `[UNK]` (*unknown*) replaces a word that cannot be split into known
# tokens, and `[MASK]` will mark the tokens to predict (notebook 06). In the code a token is often called `piece`. All
# terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
import random
import time
from collections import Counter
from itertools import islice

from autograde.student import answer, check, colour_pieces, curves, explain_unsolved, input_table, load_backend
from autograde.student import merge_trees, progress, show_guess
from bertlab.data.documents import load_documents
from bertlab.common.errors import MissingDependencyError
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

explain_unsolved()

# %% tags=["setup"]
import math
import re
import unicodedata

# %% [markdown]
# Here is what BERT sees of two sentences. Each box is a token. At the end of this notebook your own code produces the
# boxes.

# %%
colour_pieces(
    [["[CLS]", "my", "dog", "is", "cute", "[SEP]", "he", "likes", "play", "##ing", "[SEP]"]],
    alt="Eleven tokens: [CLS] my dog is cute [SEP] he likes play ##ing [SEP]; play and ##ing share a colour",
)

# %% [markdown]
# ## Why not simply words?
#
# The oldest way to turn a text into numbers counts its words: a *bag of words*. It loses two things. The first is the
# order:

# %%
for sentence in ("Dog bites man", "Man bites dog"):
    bag = Counter(sentence.lower().split())
    print(f"{sentence}:", [bag[word] for word in ("bites", "dog", "man")])

# %% [markdown]
# The two vectors are equal, although the sentences tell different stories. (Notebook 02 brings the order back, as
# positions.) The second loss is worse: a word that was not in the list when the list was made has no id at all. It is
# *out of vocabulary*, and however often you meet it, the model reads the same "unknown". A longer list only postpones
# the problem, because new words appear every day.
#
# The other extreme is a list of characters. Then nothing is unknown, but `t`, `h`, `e` mean little by themselves and a
# text becomes four to five times as long (you will measure it). **Subwords** lie between the two: frequent words stay
# whole, and rare ones are split into a few tokens. Schuster & Nakajima (2012) introduced *WordPieces* for Japanese and
# Korean voice search, Wu et al. (2016) used them for translation, Devlin et al. (2019) for BERT.
#
# ---
# # Words into tokens
#
# ## 1.1 The longest token that fits · 4 points · ~9 minutes
#
# Given a vocabulary, how is a word split? By *greedy longest match first*, also called *maximum matching*
# (`WordpieceTokenizer` in google-research/bert; Song et al. 2021):
#
# > take the longest token of the vocabulary that begins the word; then the longest that continues from there, now among
# > the tokens with `##`; and so on to the end.
#
# Two rules complete it. If no token matches at some point, the **whole** word becomes `[UNK]`: the algorithm does not
# go back to a shorter token, and it does not keep what it found. And a word of more than 200 characters becomes `[UNK]`
# at once (Hugging Face's tokenizers use 100).

# %% nbgrader={"grade": false, "grade_id": "wordpiece", "locked": false, "schema_version": 3, "solution": true, "task": false}
LONGEST_WORD = 200  # characters


def wordpiece(word: str, vocabulary: dict[str, int]) -> list[str]:
    """Splits a word into the longest tokens of the vocabulary, from left to right.

    vocabulary: token → id
    returns the tokens, the second and later ones with "##"; or ["[UNK]"]
    """
    ### BEGIN SOLUTION
    if len(word) > LONGEST_WORD:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        joiner = "##" if start > 0 else ""
        end = len(word)
        while end > start and joiner + word[start:end] not in vocabulary:
            end -= 1
        if end == start:
            return ["[UNK]"]
        pieces.append(joiner + word[start:end])
        start = end
    return pieces
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-wordpiece", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(wordpiece)

# %% [markdown]
# **See it.** Your first tokens, with a small vocabulary. How many tokens will *unaffable* have? Write your guess.

# %%
my_guess = ""  # a number

# %%
special = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()


def numbered(pieces):
    """The vocabulary of some tokens, special tokens first."""
    return {piece: number for number, piece in enumerate(dict.fromkeys([*special, *pieces]))}


english = numbered("my dog is cute he likes play run ##ing ##ning ##s un ##aff ##able".split())
words = ["playing", "running", "unaffable", "plays", "cat"]
colour_pieces(
    [wordpiece(word, english) for word in words],
    labels=words,
    alt="playing is play ##ing, running is run ##ning, unaffable is un ##aff ##able, plays is play ##s, cat is [UNK]",
)
show_guess(my_guess, len(wordpiece("unaffable", english)), what="tokens of unaffable")

# %% [markdown]
# ⚠ This vocabulary is only an example: the vocabularies published with BERT contain *playing* and *running* as whole
# words and split neither.
#
# And greedy matching has a price. Below, `a ##bc` would spell the word; but the longest beginning is `ab`, nothing
# continues from there, and the algorithm does not go back:

# %%
print(wordpiece("abc", numbered(["a", "ab", "##bc"])))

# %% [markdown]
# ## 1.2 The whole tokenizer · 2 points · ~3 minutes
#
# Text into words, words into tokens, all in one list. What is a word? Below is a first version of `basic_tokenize`, good
# enough for plain English: runs of letters and digits, and each punctuation character as a word of its own. The third
# part of this notebook replaces it by BERT's. An *uncased* vocabulary has no capitals, so texts for it are made lower case;
# for a *cased* one `lower_case` is False.

# %% tags=["setup"]
def basic_tokenize(text: str, lower_case: bool = True) -> list[str]:
    """Splits a text into words (given): a first version."""
    return re.findall(r"[^\W_]+|\S", text.lower() if lower_case else text)

# %% nbgrader={"grade": false, "grade_id": "tokenize", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tokenize(text: str, vocabulary: dict[str, int], lower_case: bool = True) -> list[str]:
    """Splits a text into tokens.

    vocabulary: as in `wordpiece`    lower_case: as in `basic_tokenize`
    returns the tokens of all words in one list
    """
    ### BEGIN SOLUTION
    return [piece for word in basic_tokenize(text, lower_case) for piece in wordpiece(word, vocabulary)]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-tokenize", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(tokenize)

# %% [markdown]
# **See it.** The lectures' examples, split by your own code. Each has a small vocabulary made for it.
#
# ⚠ A lecture splits "TinyBERT is fascinating." into `Tiny ##B ##ER ##T is fascinating` and an empty token. The empty
# token should be the full stop: punctuation is a word, and tokens are never empty. With a cased vocabulary:

# %%
tiny = numbered("Tiny ##B ##ER ##T is fascinating .".split())
pieces_of_tiny = tokenize("TinyBERT is fascinating.", tiny, lower_case=False)
colour_pieces([pieces_of_tiny], alt="Tiny ##B ##ER ##T is fascinating and the full stop, seven tokens")

# %% [markdown]
# The next sentence is from Wu et al. (2016, section 4.1). They marked where a word *begins*: `_J et _makers`. BERT
# marks where it *continues*: `J ##et makers`. Both notations contain the same information, and either can be converted
# into the other.

# %%
headline = "Jet makers feud over seat width with big orders at stake"
news = numbered("J ##et makers fe ##ud over seat width with big orders at stake".split())
pieces_of_news = tokenize(headline, news, lower_case=False)
older = [piece[2:] if piece.startswith("##") else "_" + piece for piece in pieces_of_news]
colour_pieces([pieces_of_news], alt="Jet is split into J and ##et, feud into fe and ##ud, the rest are whole")
print("in the notation of 2016:", *older)

# %% [markdown]
# Korean attaches small grammatical words to the end of others, so whole words repeat rarely and parts of words often:
# 공연 *performance*, 개막 *opening*; 은 and 을 mark topic and object; 끝 *end*, 해 *do*; 났어 and 냈어 form the past tense, of
# something that happened or that somebody brought about. Three sentences, six words, none of them twice; of the eight
# tokens, four occur twice.

# %%
korean = numbered("공연 개막 끝 해 ##은 ##을 ##났어 ##냈어".split())
korean_lines = ["공연은 끝났어", "공연을 끝냈어", "개막을 해냈어"]
colour_pieces(
    [tokenize(line, korean, lower_case=False) for line in korean_lines],
    alt="Three Korean sentences, every word split into stem and ending",
)

# %% [markdown]
# ---
# # How the vocabulary is learned
#
# A vocabulary is learned from text, in a loop: spell every word in single characters, find the best pair of neighbours,
# merge it into one token everywhere, repeat until the list is long enough. The program that made BERT's own
# vocabularies was never published (google-research/bert, README, *Learning a new WordPiece vocabulary*); this is the
# algorithm of Schuster & Nakajima (2012, section 3) in the form in which it is usually taught.
#
# First, how much depends on it? The cell below loads some English text: by default the built-in corpus, which is the
# documentation inside the Python packages of this machine (built once, within a minute). `SOURCE` is the only setting: with
# a network, `"hf:Salesforce/wikitext/wikitext-2-raw-v1:train"` gives the same cells another text. It collects all words of
# the first half. How many words of the second half are missing from that list?

# %%
SOURCE = "builtin"  # or a .txt file, a folder, "hf:Salesforce/wikitext/wikitext-2-raw-v1:train"

documents = islice(load_documents(SOURCE), 400)
sentences = [sentence for document in documents for paragraph in document.paragraphs for sentence in paragraph][:3000]
half = len(sentences) // 2
seen = Counter(word for sentence in sentences[:half] for word in basic_tokenize(sentence))
later = [word for sentence in sentences[half:] for word in basic_tokenize(sentence)]
unknown = [word for word in later if word not in seen]
print(f"{len(sentences)} sentences; the first half has {seen.total()} words, {len(seen)} of them different")
print(f"in the second half {len(unknown) / len(later):.1%} of the words are unknown, for example:")
print(*(word for word, _ in Counter(unknown).most_common(12)), sep=", ")

# %% [markdown]
# ## 1.3 Count the neighbours · 2 points · ~5 minutes
#
# The input is a list of the different words of the text. Each word is spelled as a list of tokens and comes with the
# number of times it occurs:
#
# ```
# [(["h", "##u", "##g"], 10), (["p", "##u", "##g"], 5)]
# ```
#
# Here `("##u", "##g")` are neighbours 15 times. Count neighbours only inside words, in order, left before right, and
# every time: in `x ##a ##a ##a` the pair `("##a", "##a")` occurs twice.

# %% nbgrader={"grade": false, "grade_id": "count-pairs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def spell(word: str) -> list[str]:
    """A word in single characters: "hug" gives ["h", "##u", "##g"] (given)."""
    return [word[0], *("##" + character for character in word[1:])]


def count_pairs(spelled: list[tuple[list[str], int]]) -> dict[tuple[str, str], int]:
    """Counts how often two tokens are neighbours.

    spelled: (tokens of a word, how often the word occurs), for each different word
    returns (left token, right token) → count, for the pairs that occur
    """
    ### BEGIN SOLUTION
    counts = {}
    for pieces, count in spelled:
        for pair in zip(pieces, pieces[1:]):
            counts[pair] = counts.get(pair, 0) + count
    return counts
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-count-pairs", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(count_pairs)

# %% [markdown]
# ## 1.4 The best pair, by three rules · 4 points · ~10 minutes
#
# Which pair is best? With $n(ab)$ the count of a pair, $n(a)$ and $n(b)$ the counts of its two tokens and $N$ the number
# of all tokens, three rules are in use:
#
# | `rule` | the largest … wins | |
# |---|---|---|
# | `"count"` | $n(ab)$ | byte-pair encoding, BPE (Sennrich et al. 2016): the most frequent pair |
# | `"ratio"` | $\frac{n(ab)}{n(a)\, n(b)}$ | taught as WordPiece's: more often together than their frequencies would give |
# | `"gain"` | $n(ab) \cdot \log \frac{N \, n(ab)}{n(a)\, n(b)}$ | about how much more likely the merge makes the text (Schuster & Nakajima 2012) |
#
# $n(a)$ counts *all* occurrences of token $a$ in the text, at any position in a word, and also as a whole word; `g` and
# `##g` are two tokens. Up to the factor $N$ the ratio is $p(ab)\,/\,p(a)\,p(b)$, and the gain is the logarithm of that, times
# the count. Divide once, by the product, so that equal ratios give exactly equal numbers.
#
# **Breaking ties** needs a rule, which few descriptions state: among the pairs with the highest score take the one that
# occurs most often; if several are left, take the one that comes first in the order of `(left, right)`, as Python compares
# tuples of strings. And pairs that occur fewer than `min_count` times are never chosen.
#
# ⚠ Which of them is *the* rule of WordPiece? Nobody outside Google knows. Schuster & Nakajima describe the gain; tutorials
# keep the bare ratio; and the `tokenizers` library trains its WordPiece by the count alone, as BPE does.

# %% nbgrader={"grade": false, "grade_id": "best-pair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_pair(spelled: list[tuple[list[str], int]], rule: str, min_count: int = 1) -> tuple[str, ...]:
    """The pair of neighbours to merge.

    spelled: as in `count_pairs`    rule: "count", "ratio" or "gain"
    min_count: pairs that occur less often are never chosen
    returns (left token, right token); () if there is no pair
    """
    # 1. how often each token occurs   2. a score for each pair of `count_pairs`   3. the best one, by the rule for ties
    ### BEGIN SOLUTION
    counts, singles = count_pairs(spelled), {}
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] = singles.get(piece, 0) + count
    total = sum(singles.values())

    def score(pair):
        ratio = counts[pair] / (singles[pair[0]] * singles[pair[1]])
        if rule == "ratio":
            return ratio
        return counts[pair] * math.log(total * ratio) if rule == "gain" else counts[pair]

    often = [pair for pair in counts if counts[pair] >= min_count]
    return min(often, key=lambda pair: (-score(pair), -counts[pair], pair), default=())
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-best-pair", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(best_pair)

# %% [markdown]
# **See it.** A small text about games, and the three rules. Which pair does the ratio choose? Write the word that you think
# it is in.

# %%
my_guess = ""  # one of the seven words

# %%
games = {"play": 6, "plays": 3, "playing": 4, "going": 5, "goes": 2, "sing": 3, "jazz": 1}
spelled_games = [(spell(word), count) for word, count in games.items()]
chosen = {rule: best_pair(spelled_games, rule) for rule in ("count", "ratio", "gain")}
for rule, pair in chosen.items():
    print(f"{rule:6} {pair[0]:>4} {pair[1]:<5} occurs {count_pairs(spelled_games)[pair]} times")
found_in = [word for word, pieces in zip(games, map(spell, games)) if chosen["ratio"] in zip(pieces, pieces[1:])]
show_guess(my_guess, " ".join(found_in), what="the pair of the highest ratio is in")

# %% [markdown]
# *jazz* occurs once and wins by the ratio: its two `##z` occur nowhere else, so the ratio is 1 / (2 · 2). A ratio of small
# counts is easily large; multiplied by the count, as in the gain, it does not win. With `min_count=2` it may not be chosen.
#
# ## 1.5 Merge · 3 points · ~7 minutes
#
# The chosen pair becomes one token wherever it occurs: from left to right, each token used once. The text of the new
# token is the two texts joined, and the `##` in front of the right one disappears:
#
# `("p", "##l")` → `pl` &nbsp;&nbsp;&nbsp; `("##l", "##a")` → `##la` &nbsp;&nbsp;&nbsp; in `a ##a ##a ##a` the pair
# `("##a", "##a")` gives `a ##aa ##a`

# %% nbgrader={"grade": false, "grade_id": "merge-pair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_pair(pair: tuple[str, str], spelled: list[tuple[list[str], int]]) -> list[tuple[list[str], int]]:
    """Merges every occurrence of a pair of neighbours into one token.

    returns the words in the same order with the same counts and their new spelling; does not
    change `spelled`
    """
    ### BEGIN SOLUTION
    left, right = pair
    merged = left + right.removeprefix("##")
    result = []
    for pieces, count in spelled:
        joined, place = [], 0
        while place < len(pieces):
            if pieces[place : place + 2] == [left, right]:
                joined.append(merged)
                place += 2
            else:
                joined.append(pieces[place])
                place += 1
        result.append((joined, count))
    return result
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-merge-pair", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(merge_pair)

# %% [markdown]
# ## 1.6 Learn a vocabulary · 3 points · ~8 minutes
#
# Now the loop: choose a pair, merge it everywhere, add the new token to the list; again, until the list is long enough.

# %% nbgrader={"grade": false, "grade_id": "learn-vocabulary", "locked": false, "schema_version": 3, "solution": true, "task": false}
SPECIAL_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def alphabet(word_counts: dict[str, int]) -> list[str]:
    """All characters, then (with ##) all characters of words that have more than one; both sorted (given)."""
    characters = {character for word in word_counts for character in word}
    joined = {character for word in word_counts if len(word) > 1 for character in word}
    return [*sorted(characters), *("##" + character for character in sorted(joined))]


def learn_vocabulary(word_counts: dict[str, int], size: int, rule: str, min_count: int = 2) -> list[str]:
    """Learns a vocabulary as a list of tokens; the index of a token in the list is its id.

    word_counts: word → how often it occurs
    size: number of tokens, at least the special tokens and the alphabet
    rule, min_count: as in `best_pair`
    returns SPECIAL_PIECES, the alphabet, then the token of each merge, in the order of merging,
    without duplicates (a merge can give a token that is already in the list, for example if the text
    has the word "##a"); fewer than `size` if no pair is left to merge
    """
    # until there are enough tokens: 1. choose a pair   2. merge it   3. add its token to the list
    ### BEGIN SOLUTION
    pieces = SPECIAL_PIECES + alphabet(word_counts)
    spelled = [(spell(word), count) for word, count in word_counts.items()]
    while len(pieces) < size:
        pair = best_pair(spelled, rule, min_count)
        if not pair:
            break
        spelled = merge_pair(pair, spelled)
        merged = pair[0] + pair[1].removeprefix("##")
        if merged not in pieces:
            pieces.append(merged)
    return pieces
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-learn-vocabulary", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(learn_vocabulary)

# %% [markdown]
# **See it.** The games again: how two words grow together, from letters upwards, in the first twelve merges of your
# `best_pair` and `merge_pair`. The numbers are the merges.

# %%
for rule in ("count", "ratio"):
    stages = [spelled_games]
    for _ in range(12):
        pair = best_pair(stages[-1], rule)
        stages.append(merge_pair(pair, stages[-1]) if pair else stages[-1])
    merge_trees(
        {word: [stage[place][0] for stage in stages] for place, word in enumerate(games) if word in ("playing", "jazz")},
        title=f"rule: {rule}",
        alt=f"Trees of the merges of playing and jazz by the rule {rule}: {stages[-1][2][0]} and {stages[-1][6][0]}",
    )

# %% [markdown]
# By the count *play* and *ing* grow first, and *jazz* stays in letters; by the ratio its `##zz` comes first of all, and
# *playing* is cut behind *pla*. A minimum count changes that:

# %%
fixed = len(special) + len(alphabet(games))
for rule, least in (("count", 1), ("ratio", 1), ("ratio", 5), ("gain", 1)):
    learnt = learn_vocabulary(games, fixed + 12, rule, min_count=least)
    cut = ["   ".join([word, "→", *wordpiece(word, numbered(learnt))]) for word in ("playing", "jazz")]
    print(f"{rule:6} min_count {least}:", *learnt[fixed:], "\n      ", *cut, sep="  ")

# %% [markdown]
# On real text the difference is larger. Four vocabularies are learned from the 800 most frequent words of the first
# half and measured on words of the second half: *coverage* is the fraction of words that are a single token, and
# *tokens per word* determines how long a text becomes. Because merges happen in order, a shorter vocabulary is the
# beginning of a longer one, so one run gives the whole curve. (Half a minute at most, in plain Python.)

# %%
training_words = dict(seen.most_common(800))
held_out = Counter(word for word in later if set(word) <= set("".join(training_words)))
smallest = len(special) + len(alphabet(training_words))
sizes = [smallest + merges for merges in (0, 100, 200, 300, 400, 500, 600)]
kinds = {"count (BPE)": ("count", 2), "gain": ("gain", 2), "ratio": ("ratio", 2), "ratio, min_count 10": ("ratio", 10)}
learnt_pieces = {name: learn_vocabulary(training_words, sizes[-1], *kind) for name, kind in kinds.items()}


def measured(pieces):
    """The fraction of the held-out words that is one token, and their tokens per word."""
    numbers = numbered(pieces)
    cut = {word: wordpiece(word, numbers) for word in held_out}
    whole = sum(count for word, count in held_out.items() if cut[word] == [word])
    return whole / held_out.total(), sum(count * len(cut[word]) for word, count in held_out.items()) / held_out.total()


figures = {name: [measured(pieces[:size]) for size in sizes] for name, pieces in learnt_pieces.items()}
curves(
    sizes,
    {
        title: {name: [pair[which] for pair in pairs] for name, pairs in figures.items()}
        for which, title in enumerate(("Coverage: words that are one token", "Tokens per word"))
    },
    x="tokens in the vocabulary",
    alt="Coverage and tokens per word against the size of the vocabulary. With all tokens: "
    + "; ".join(f"{name} {pairs[-1][0]:.2f} and {pairs[-1][1]:.2f}" for name, pairs in figures.items()),
)
for name, pieces in learnt_pieces.items():
    print(f"{name:20} coverage {figures[name][-1][0]:.2f}; the first merges:", *pieces[smallest : smallest + 9])

# %% [markdown]
# The same sentence as the vocabulary grows: first letters, then parts of words, then words.

# %%
line = "the default method returns the number of arguments"
grown = {size: tokenize(line, numbered(learnt_pieces["count (BPE)"][:size])) for size in sizes[::3]}
colour_pieces(
    list(grown.values()),
    labels=[f"vocabulary of {size}" for size in grown],
    alt="; ".join(f"with a vocabulary of {size} the sentence is {len(pieces)} tokens" for size, pieces in grown.items()),
)

# %% [markdown]
# Without a limit, the ratio fills the vocabulary with the rarest neighbours; with a minimum count it learns useful tokens,
# though *the*, the most frequent word of all, usually stays in two: `th` and `##e` both occur with so many other
# neighbours that their ratio stays low. Count and gain need no limit. (The library's own algorithm takes the ratio with a
# high minimum count and halves it whenever no pair is left: `bertlab/tokenizers/wordpiece/learner.py`.)
#
# **How large should the vocabulary be?** The lecture gives 30,000 tokens for English and 110,000 for 100 languages. ⚠
# Those are round numbers: BERT's English vocabularies have 30,522 (uncased) and 28,996 (cased) tokens, the multilingual
# ones 105,879 (uncased, 102 languages) and 119,547 (cased, 104 languages; google-research/bert, README and
# `multilingual.md`). Every token costs a vector of 768 parameters in BERT-Base:

# %%
rest = 86_041_344  # parameters of BERT-Base without the token vectors; notebook 05 counts them
for name, size in (("English, uncased", 30_522), ("multilingual, cased", 119_547)):
    print(f"{name:<20} {size:>7,} tokens × 768 = {size * 768:>11,} parameters, of {size * 768 + rest:,} in all")

# %% [markdown]
# Half of the multilingual model's parameters belong to its vocabulary, and still that is only about a thousand tokens
# for each language.
#
# ---
# # Text into words
#
# What was `basic_tokenize` missing? Run it on text that is not plain English:

# %%
not_plain = ("Zoë’s café costs €5", "BERT读中文 well", "soft\u00adhyphen")
for text in not_plain:
    print(repr(text), "→", basic_tokenize(text))

# %% [markdown]
# `zoë` and `zoe` are two words, a whole Chinese phrase is one, an invisible soft hyphen splits a word in two, and `€` counts
# as punctuation. BERT has a rule for each. You write two of them and read the others.
#
# ## 1.7 Lower case, no accents · 3 points · ~5 minutes
#
# An *uncased* vocabulary contains no capitals and no accents, so `Zoë`, `zoe` and `ZOE` are one word. Converting the
# whole text to lower case is easy (`text.lower()`, which also knows that a Σ at the end of a word becomes ς). Accents
# are removed in two steps: the Unicode decomposition **NFD** splits `ë` into `e` and a combining mark; then every
# *nonspacing mark* (category `Mn`) is deleted.
#
# > `ë` U+00EB &nbsp; NFD → &nbsp; `e` U+0065, `◌̈` U+0308 &nbsp; without `Mn` → &nbsp; `e` U+0065
#
# ø and ß have no decomposition, so they stay.

# %% nbgrader={"grade": false, "grade_id": "strip-accents", "locked": false, "schema_version": 3, "solution": true, "task": false}
def strip_accents(text: str) -> str:
    """Converts a text to lower case and removes the accents of its letters.

    returns the lower-case text, decomposed, without nonspacing marks
    """
    # 1. lower case   2. decompose   3. delete the marks
    ### BEGIN SOLUTION
    taken_apart = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in taken_apart if unicodedata.category(character) != "Mn")
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-strip-accents", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(strip_accents)

# %% [markdown]
# ⚠ NFD decomposes more than accents. A Korean syllable is *one* character made of two or three letters, and NFD splits
# it into them. It looks the same on the screen, but for a computer it is a different text.

# %%
word = "공연은"
for text in (word, strip_accents(word)):
    print(text, len(text), "characters", ascii(text))

# %% [markdown]
# So an uncased tokenizer finds no Korean word in a vocabulary of whole syllables. This is one reason why the *cased*
# multilingual BERT is recommended for most languages (google-research/bert, `multilingual.md`).
#
# ## 1.8 Punctuation on its own · 3 points · ~7 minutes
#
# `bird.` and `bird` should be the same word. So every punctuation character becomes its own word. Which characters
# count as punctuation?
#
# - all whose Unicode category begins with `P`: `.` `!` `'` `-` `“` `—` `¿` `。` …
# - and **every ASCII character that is neither a letter, a digit, a space nor a control character**, in any Unicode
#   category: `$ + < = > ^ | ~` and the backtick are *symbols* (category `S…`) in Unicode, but punctuation in BERT.
#
# Symbols beyond ASCII (`€ © ×`) are not punctuation.

# %% nbgrader={"grade": false, "grade_id": "split-punctuation", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_punctuation(character: str) -> bool:
    """Whether BERT treats this character as punctuation."""
    ### BEGIN SOLUTION
    ascii_symbol = "!" <= character <= "~" and not character.isalnum()
    return ascii_symbol or unicodedata.category(character).startswith("P")
    ### END SOLUTION


def split_punctuation(word: str) -> list[str]:
    """Splits a word before and after every punctuation character.

    word: text without spaces
    returns its parts in order, none of them empty: "don't." gives ["don", "'", "t", "."]; no parts
    of an empty word
    """
    ### BEGIN SOLUTION
    parts, current = [], ""
    for character in word:
        if is_punctuation(character):
            parts += [current, character]
            current = ""
        else:
            current += character
    parts.append(current)
    return [part for part in parts if part]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-split-punctuation", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(split_punctuation)

# %% [markdown]
# ## The rest of it, to read
#
# Text from the web is full of characters that nobody sees: line ends, spaces of unusual widths, soft hyphens, byte
# order marks, the `�` of a broken file. Unicode gives every character a *category*:
#
# | category | characters | becomes |
# |---|---|---|
# | — | tab, line feed, carriage return (though their category is `Cc`) | a plain space |
# | `Zs` | spaces of any width | a plain space |
# | `Cc`, `Cf` | other control characters, format characters (soft hyphen, zero-width space) | nothing |
# | — | U+FFFD `�`, which replaces bytes that could not be decoded | nothing |
#
# Chinese is written without spaces, and each character is roughly a word. So BERT puts a space on both sides of every
# Chinese character, and each becomes its own word. Japanese kana and Korean Hangul are not Chinese characters: their
# words have more than one character, and they stay as they are. (`_clean_text` and `_is_chinese_char` in
# google-research/bert, `tokenization.py`.)
#
# Read the cell: it replaces the first version of `basic_tokenize`, and uses the two functions that you have just written.
# The order matters: clean the text; split it at white space; for an uncased vocabulary convert each word to lower case and
# remove its accents; split each word at its punctuation.

# %%
CHINESE_BLOCKS = (  # first and last code point
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)


def is_chinese(character: str) -> bool:
    """Whether this is a Chinese character."""
    return any(first <= ord(character) <= last for first, last in CHINESE_BLOCKS)


def clean_text(text: str) -> str:
    """Replaces white space by plain spaces, deletes invisible characters, and isolates Chinese characters.

    text: any string
    returns the string with the table above applied to each character, and with one extra space
    before and one after every Chinese character
    """
    cleaned = []
    for character in text:
        category = unicodedata.category(character)
        if character in "\t\n\r" or category == "Zs":
            cleaned.append(" ")
        elif category in ("Cc", "Cf") or character == "\ufffd":
            continue
        elif is_chinese(character):
            cleaned.append(f" {character} ")
        else:
            cleaned.append(character)
    return "".join(cleaned)


def basic_tokenize(text: str, lower_case: bool = True) -> list[str]:
    """Splits a text into words, as BERT does."""
    words = []
    for word in clean_text(text).split():
        if lower_case:
            word = strip_accents(word)
        words += split_punctuation(word)
    return words

# %%
for text in not_plain:
    print(repr(text), "→", basic_tokenize(text))

# %% [markdown]
# Your `tokenize` of 1.2 now uses this version. Check it again, so that later notebooks get it together with these functions:

# %%
assert basic_tokenize("Zoë!") == ["zoe", "!"], "1.7 and 1.8 must pass first"
check(tokenize)

# %% [markdown]
# **See it.** The Korean sentence of above, cased and "lower-cased": NFD decomposed its syllables, and no token of this
# vocabulary matches any longer.

# %%
colour_pieces(
    [tokenize(korean_lines[0], korean, lower_case=False), tokenize(korean_lines[0], korean)],
    labels=["cased", "uncased"],
    alt="Cased: every word split into stem and ending. Lower-cased with NFD, both words are [UNK]",
)

# %% [markdown]
# ⚠ So BERT can "consume" any language, as a lecture concludes, only if its characters are in the list: a word with a missing
# one becomes `[UNK]`. One sentence in five languages, with the list that you learned from English text; `LIST` may be the
# `vocab.txt` of another model, for example of multilingual BERT.

# %%
LIST = ""  # or the path of a vocab.txt
with_list = numbered(open(LIST, encoding="utf-8").read().split("\n") if LIST else learnt_pieces["count (BPE)"])
for language, text in {
    "English": "The man goes to the store and buys milk.",
    "French": "L'homme va au magasin et achète du lait.",
    "German": "Der Mann geht in den Laden und kauft Milch für die Söhne.",
    "Korean": "남자는 가게에 가서 우유를 산다.",
    "Chinese": "男人去商店买牛奶。",
}.items():
    parts = basic_tokenize(text)
    cut = tokenize(text, with_list)
    unknown_share = cut.count("[UNK]") / len(parts)
    print(f"{language:8} {len(parts):2} words, {len(cut) / len(parts):.1f} tokens per word, {unknown_share:4.0%} of the words [UNK]")

# %% [markdown]
# ---
# # Compared with BERT's own tokenizer
#
# Is your tokenizer equal to BERT's? The library implements the published algorithm as TensorFlow operations, for
# `tf.data` and SavedModel, on top of TensorFlow Text's search for the longest match (Song et al. 2021). The next cell
# gives both the same vocabulary and the same texts: every sentence from above, and a few hundred made of the most
# difficult characters.

# %%
load_backend()
pieces = learnt_pieces["count (BPE)"]
vocabulary = numbered(pieces)
library = WordPieceTokenizer(Vocabulary(pieces))
try:
    in_graph = library.graph()
    theirs_by, encode_texts = "TensorFlow Text", lambda texts: in_graph(texts).to_list()
except MissingDependencyError:  # TensorFlow Text is not available for some machines
    theirs_by, encode_texts = "the library's batch form", lambda texts: library.encode_batch(texts).to_list()

rng = random.Random(1)
nasty = "the Zoë’s ÀÉÎ naïve it's e.g. 3.5% 中文字 ﬁne İstanbul ΟΔΟΣ 가나 — $x^2$ co-op `id`".split()
nasty += ["\u200b", "a\u00adb", "\ufffd", "x\u0301", "\u3000", "\t", " ", " "]
texts = sentences + ["".join(rng.choices(nasty, k=12)) for _ in range(300)]

encode_texts(texts[:1])  # the first call also builds the graph
start = time.perf_counter()
mine = [[vocabulary[piece] for piece in tokenize(text, vocabulary)] for text in texts]
middle = time.perf_counter()
theirs = encode_texts(texts)
end = time.perf_counter()
different = [text for text, a, b in zip(texts, mine, theirs) if a != b]
print(f"{len(texts)} texts, {sum(map(len, mine))} tokens; texts that differ: {len(different)}")
for text in different[:3]:
    print(ascii(text))
print(f"yours {middle - start:.2f} s, {theirs_by} {end - middle:.2f} s")

# %%
example = "Zoë's naïve tokenizer returned 3.5% of the arguments."
colour_pieces(
    [tokenize(example, vocabulary), [pieces[number] for number in encode_texts([example])[0]]],
    labels=["yours", theirs_by],
    alt=f"The same tokens twice: {' '.join(tokenize(example, vocabulary))}",
)

# %% [markdown]
# ---
# # Tokens into BERT's input
#
# ## 1.9 Shorten a pair · 3 points · ~5 minutes
#
# BERT has a fixed number of positions. Two texts that are too long together are shortened token by token: always the
# **longer** one loses its **last** token; if both are equally long, the **second** one does (`_truncate_seq_pair` in
# google-research/bert, `run_classifier.py`). The argument `room` is the maximum number of tokens of both together.

# %% nbgrader={"grade": false, "grade_id": "truncate-pair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def truncate_pair(first: list[str], second: list[str], room: int) -> tuple[list[str], list[str]]:
    """Shortens two lists of tokens until both together have at most `room`.

    returns both as new lists; does not change the arguments
    """
    ### BEGIN SOLUTION
    first, second = list(first), list(second)
    while len(first) + len(second) > room:
        longer = first if len(first) > len(second) else second
        longer.pop()
    return first, second
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-truncate-pair", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(truncate_pair)

# %% [markdown]
# ## 1.10 Pack · 4 points · ~8 minutes
#
# The last step makes the three lists of integers (Devlin et al. 2019, section 3 and figure 2). One text becomes
# `[CLS] a [SEP]`, two texts `[CLS] a [SEP] b [SEP]`. Then `[PAD]` follows up to the given length, which is the same for
# all inputs.
#
# - `token_ids`: the ids of the tokens;
# - `token_type_ids`: 0 from `[CLS]` to the first `[SEP]`, which belongs to the first text; 1 for the second text and
#   its `[SEP]`; 0 on padding;
# - `attention_mask`: 1 on tokens, 0 on padding.
#
# Subtract the special tokens from the length before you shorten anything. A single text that is too long loses its end,
# two texts are shortened by your `truncate_pair`.

# %% nbgrader={"grade": false, "grade_id": "pack", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pack(first: list[str], second: list[str] | None, vocabulary: dict[str, int], length: int) -> dict[str, list[int]]:
    """One example of BERT's input.

    first, second: tokens, without special tokens; second is None if there is one text only (an
    empty list is a text)
    vocabulary: token → id    length: number of tokens, special tokens and padding included; the
    special tokens always fit
    returns {"token_ids": …, "token_type_ids": …, "attention_mask": …}, each a list of `length`
    integers; does not change the arguments
    """
    ### BEGIN SOLUTION
    if second is None:
        pieces = ["[CLS]", *first[: length - 2], "[SEP]"]
        segments = [0] * len(pieces)
    else:
        first, second = truncate_pair(first, second, length - 3)
        pieces = ["[CLS]", *first, "[SEP]", *second, "[SEP]"]
        segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    padding = length - len(pieces)
    return {
        "token_ids": [vocabulary[piece] for piece in pieces] + [vocabulary["[PAD]"]] * padding,
        "token_type_ids": segments + [0] * padding,
        "attention_mask": [1] * len(pieces) + [0] * padding,
    }
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-pack", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(pack)

# %% [markdown]
# **See it.** The lecture's example, eleven tokens at positions $E_0$ to $E_{10}$, and two positions of padding behind
# it.

# %%
packed = pack(tokenize("My dog is cute", english), tokenize("He likes playing", english), english, length=13)
names = {number: piece for piece, number in english.items()}
input_table(
    {
        "token": [names[number] for number in packed["token_ids"]],
        "token_ids": packed["token_ids"],
        "token_type_ids": packed["token_type_ids"],
        "position": [f"E_{place}" for place in range(13)],
        "attention_mask": packed["attention_mask"],
    },
    alt="[CLS] my dog is cute [SEP] in segment A, he likes play ##ing [SEP] in segment B, then two [PAD] with mask 0",
)

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("longest-match", "")

# %%
answer("who-knows-wordpiece", "")

# %% [markdown]
# ---
# # Recap
#
# Clean the text, split it at spaces and punctuation, split each word into the longest tokens of a vocabulary, and
# replace the whole word by `[UNK]` if that fails. The vocabulary is learned by merging neighbours; which pair is best is a
# choice, and the algorithm is only complete with a rule for ties. Special tokens, segments and a mask complete BERT's
# input.
#
# **To think about**
#
# 1. A word is `[UNK]` although all its characters are in the vocabulary as tokens. How can that be, and which tokens
#    must a vocabulary contain so that it never happens?
# 2. Your tokenizer runs on a text, then `" ".join(pieces).replace(" ##", "")` joins the tokens again. Which information
#    of the text is lost? Does any task that you can think of need it?
# 3. The vocabularies of count and ratio differ. Which of the two would you rather have, and for what?
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. `c` and `##c` are two tokens, and a word needs the first at its beginning and the second inside. If the list has
#    every character in both forms, the greedy search can always continue with a single character; then only words of
#    more than 200 characters become `[UNK]`.
# 2. Capitals and accents (uncased), the number and kind of spaces, whether there was a space beside a punctuation mark,
#    invisible characters, and every word that became `[UNK]`. Tasks that *copy* text need it: an answer must be cut out
#    of the original (notebook 08), not joined from tokens.
# 3. For short sequences of
#    ordinary text the frequent pairs are better, since a merge saves one token at each of its occurrences. The ratio
#    finds parts that belong together although they are rare, such as the parts of a name or a term.
#
# </details>
#
# **Next:** notebook 02 turns the three lists into vectors, and adds the order that the bag of words lost.

# %%
progress()
