"""Notebook 01, exercises 1.7 to 1.10: where the pieces come from."""

from autograde.exercises import n01_draws as draws
from autograde.exercises import n01_references as right
from autograde.exercises.n01_common import BUILD_IT, MODULE, NOTEBOOK, WHOLE_TOKENIZERS
from autograde.exercises.spec import Exercise, Misconception, cases, function, values

COUNT_PAIRS = Exercise(
    id="count-pairs",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.7",
    title="Count the neighbours",
    minutes=5,
    lines="",
    names=("count_pairs",),
    arguments=("spelled",),
    probe=function("count_pairs"),
    reference=right.count_pairs,
    returns="dict",
    parts=(
        values(1, draws.spelled_words),
        cases(
            "pieces of any length", 1, draws.partly_merged, "neighbours are pieces, however long; a single one has none"
        ),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Two loops: over the words, and in each word over its neighbours.",
        "`zip` of a list and the same list from its second item gives the neighbours, left before right.",
        "A word that occurs 10 times adds 10 for each of its neighbours, and a pair that it has twice gets 20.",
    ),
    misconceptions=(
        Misconception(
            "words-counted-once",
            "Every different word counts once in your result. A word that occurs 10 times brings its pairs 10 times.",
            (("counts.get(pair, 0) + count", "counts.get(pair, 0) + 1"),),
        ),
        Misconception(
            "once-per-word",
            "A pair that a word has twice is counted once for it. Count every place where it stands.",
            (("in zip(pieces, pieces[1:]):", "in set(zip(pieces, pieces[1:])):"),),
        ),
        Misconception(
            "across-words",
            "You count the end of one word and the beginning of the next as neighbours. Words are kept apart.",
            cell=(
                "def count_pairs(spelled):\n    counts, last = {}, None\n    for pieces, count in spelled:\n"
                "        for piece in pieces:\n            if last is not None:\n"
                "                counts[last, piece] = counts.get((last, piece), 0) + count\n            last = piece\n"
                "    return counts\n"
            ),
        ),
        Misconception(
            "order-lost",
            "You count (a, b) and (b, a) as the same pair. Which one is left makes another piece.",
            (
                (
                    "            counts[pair] = counts.get(pair, 0) + count",
                    "            pair = tuple(sorted(pair))\n            counts[pair] = counts.get(pair, 0) + count",
                ),
            ),
        ),
        Misconception(
            "any-two-pieces",
            "You count every two pieces of a word, also those that stand apart. Neighbours touch.",
            (
                (
                    "for pair in zip(pieces, pieces[1:]):",
                    "for pair in [(a, b) for i, a in enumerate(pieces) for b in pieces[i + 1 :]]:",
                ),
            ),
        ),
    ),
)

PAIR_SCORES = Exercise(
    id="pair-scores",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.8",
    title="The WordPiece score",
    minutes=5,
    lines="score(a, b)",
    names=("pair_scores",),
    arguments=("spelled",),
    probe=function("pair_scores"),
    reference=right.pair_scores,
    returns="dict",
    parts=(
        values(2, draws.spelled_words),
        cases("pieces of any length", 1, draws.partly_merged, "a piece counts wherever it stands, alone in a word too"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Two counts are needed: of the pairs, which you have, and of the single pieces.",
        "A piece counts as often as it stands in a word times the number of times the word occurs.",
        "The bottom of the fraction is a product of two counts, of the left piece and of the right one.",
    ),
    misconceptions=(
        Misconception(
            "frequency",
            "These are the counts of the pairs: byte-pair encoding's choice. WordPiece divides by both pieces' counts.",
            (("together / (singles[left] * singles[right])", "float(together)"),),
        ),
        Misconception(
            "sum-below",
            "You divide by the sum of the two counts. The bottom of the fraction is their product.",
            (("singles[left] * singles[right]", "singles[left] + singles[right]"),),
        ),
        Misconception(
            "left-only",
            "You divide by the left piece's count alone: that is how probable b is after a. Divide by the right's too.",
            (("(singles[left] * singles[right])", "singles[left]"),),
        ),
        Misconception(
            "pieces-counted-per-word",
            "You count single pieces once per different word. A word that occurs 10 times brings its pieces 10 times.",
            (("singles.get(piece, 0) + count", "singles.get(piece, 0) + 1"),),
        ),
        Misconception(
            "divided-only-once",
            (
                "You divide the product's first factor only: Python reads a / b * c as (a / b) · c. Put the product "
                "in brackets."
            ),
            (("together / (singles[left] * singles[right])", "together / singles[left] * singles[right]"),),
        ),
        Misconception(
            "places-in-pairs",
            (
                "You count a piece once for every pair that it is in: twice in the middle of a word, once at its end, "
                "never when alone. Count the pieces themselves."
            ),
            (
                (
                    "        for piece in pieces:\n",
                    "        for piece in [piece for pair in zip(pieces, pieces[1:]) for piece in pair]:\n",
                ),
            ),
        ),
    ),
)

MERGE_PAIR = Exercise(
    id="merge-pair",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.9",
    title="Merge",
    minutes=7,
    lines="",
    names=("merge_pair",),
    arguments=("pair", "spelled"),
    probe=function("merge_pair"),
    reference=right.merge_pair,
    returns="list",
    parts=(
        values(2, draws.pairs_to_merge),
        cases("awkward words", 1, draws.awkward_merges, "from left to right, each piece once, and whole pieces only"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Write it for one word first: walk along its pieces and build a new list.",
        "Where the next two pieces are the pair, the new list gets one piece and you move on by two.",
        "The new piece is the left text, then the right one without its ##. If the left begins with ##, so does it.",
    ),
    misconceptions=(
        Misconception(
            "joiner-inside",
            "Your new piece has ## in its middle. The mark says that a piece goes on with a word; inside it vanishes.",
            (('left + right.removeprefix("##")', "left + right"),),
        ),
        Misconception(
            "beginning-of-word",
            "Your new piece has lost its ##. If the left one goes on with a word, the new one does as well.",
            (('left + right.removeprefix("##")', '(left + right).replace("##", "")'),),
        ),
        Misconception(
            "first-place-only",
            "You merge the first place of each word and leave the others. Every occurrence becomes the new piece.",
            (
                (
                    "if pieces[place : place + 2] == [left, right]:",
                    "if pieces[place : place + 2] == [left, right] and merged not in joined:",
                ),
            ),
        ),
        Misconception(
            "from-the-right",
            "You merge from the right. With three or more equal pieces in a row that gives another spelling.",
            (
                (
                    "        joined, place = [], 0\n        while place < len(pieces):\n"
                    "            if pieces[place : place + 2] == [left, right]:\n"
                    "                joined.append(merged)\n                place += 2\n            else:\n"
                    "                joined.append(pieces[place])\n                place += 1\n",
                    "        joined = list(pieces)\n        for place in range(len(pieces) - 2, -1, -1):\n"
                    "            if joined[place : place + 2] == [left, right]:\n"
                    "                joined[place : place + 2] = [merged]\n",
                ),
            ),
        ),
        Misconception(
            "text-replaced",
            (
                "You replaced text, and so a longer piece that merely ends or begins like one of the pair was torn. "
                "Compare whole pieces."
            ),
            cell=(
                "def merge_pair(pair, spelled):\n    left, right = pair\n"
                '    merged = left + right.removeprefix("##")\n'
                '    both = left + " " + right\n'
                '    return [(" ".join(pieces).replace(both, merged).split(), n) for pieces, n in spelled]\n'
            ),
        ),
        Misconception(
            "other-words-dropped",
            "Words without the pair are missing from your result. They stay, spelled as they were.",
            (
                (
                    "        result.append((joined, count))",
                    "        if merged in joined:\n            result.append((joined, count))",
                ),
            ),
        ),
    ),
)

LEARN_VOCABULARY = Exercise(
    id="learn-vocabulary",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="1.10",
    title="Learn a vocabulary",
    minutes=10,
    lines="",
    names=("learn_vocabulary",),
    arguments=("word_counts", "size"),
    probe=function("learn_vocabulary"),
    reference=right.learn_vocabulary,
    returns="list",
    parts=(
        values(2, draws.words_to_learn_from),
        cases(
            "rare pairs",
            1,
            draws.rare_pairs,
            "pairs seen less often than min_count are not merged; in the end none is left",
        ),
        cases("ties", 1, draws.ties, "of equal scores the more frequent pair wins, then the first in order"),
    ),
    forbidden=WHOLE_TOKENIZERS,
    forbidden_because=BUILD_IT,
    hints=(
        "Begin with the list that is there before any merge and with all words spelled in letters. Then loop.",
        "Count and score anew in every round: a merge changes the counts of its neighbours.",
        (
            "`min` with a key that is a tuple compares part by part: give it the score and the count with a minus "
            "sign, then the pair. Leave out rare pairs before, and stop when none is left."
        ),
    ),
    misconceptions=(
        Misconception(
            "most-frequent-first",
            "You merge the most frequent pair: that is byte-pair encoding. WordPiece takes the highest score.",
            (("(-scores[pair], -counts[pair], pair)", "(-counts[pair], pair)"),),
        ),
        Misconception(
            "first-come",
            (
                "Of equal scores you take the pair that came first in the text. The rule: the one that occurs more "
                "often, then the first in the order of (left, right)."
            ),
            (
                (
                    "min(candidates, key=lambda pair: (-scores[pair], -counts[pair], pair))",
                    "max(candidates, key=lambda pair: scores[pair])",
                ),
            ),
        ),
        Misconception(
            "counts-forgotten-in-ties",
            "Of equal scores you take the first in order at once. Before that, the pair that occurs more often wins.",
            (("(-scores[pair], -counts[pair], pair)", "(-scores[pair], pair)"),),
        ),
        Misconception(
            "last-in-order",
            "Of equal scores and counts you take the last in the order of (left, right). The rule takes the first.",
            (
                (
                    "min(candidates, key=lambda pair: (-scores[pair], -counts[pair], pair))",
                    "max(candidates, key=lambda pair: (scores[pair], counts[pair], pair))",
                ),
            ),
        ),
        Misconception(
            "scored-once",
            "You score the pairs once, before the first merge. A merge makes new neighbours: score in every round.",
            (
                (
                    "    while len(pieces) < size:\n"
                    "        counts, scores = count_pairs(spelled), pair_scores(spelled)\n"
                    "        candidates = [pair for pair in counts if counts[pair] >= min_count]\n",
                    "    counts, scores = count_pairs(spelled), pair_scores(spelled)\n"
                    "    candidates = [pair for pair in counts if counts[pair] >= min_count]\n"
                    "    while len(pieces) < size:\n",
                ),
                (
                    "        spelled = merge_pair((left, right), spelled)",
                    "        candidates.remove((left, right))",
                ),
            ),
        ),
        Misconception(
            "rare-pairs-merged",
            "Pairs that occur less often than `min_count` are merged too. Leave them out before you choose.",
            (("[pair for pair in counts if counts[pair] >= min_count]", "list(counts)"),),
        ),
        Misconception(
            "size-without-the-rest",
            ("You make `size` merges. `size` is the length of the whole list, special pieces and alphabet included."),
            (("while len(pieces) < size:", "for _ in range(size):"),),
        ),
        Misconception(
            "special-pieces-missing",
            "The special pieces are missing. They come first: [PAD] gets number 0.",
            (
                ("pieces = SPECIAL_PIECES + alphabet(word_counts)", "pieces = alphabet(word_counts)"),
                ("while len(pieces) < size:", "while len(pieces) + len(SPECIAL_PIECES) < size:"),
            ),
        ),
    ),
)
