"""A label for each position of [CLS] tokens [SEP]."""

from autograde.exercises.n08_finetuning._shared import IGNORED, READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values

WORDS = (["paris"], ["'", "s"], ["geo", "##gu", "##es", "##sr"], ["play", "##ing"], ["the"], ["##s"], ["robin", "##s"])


def align(pieces_of_words, tags):
    """Writes the tags of first tokens into a row of IGNORED."""
    labels = [IGNORED] * (2 + sum(map(len, pieces_of_words)))
    position = 1
    for pieces, tag in zip(pieces_of_words, tags):
        if pieces:
            labels[position] = tag
        position += len(pieces)
    return labels


def _sentence(rng: Random, words: int) -> tuple[list, list]:
    """Words of one to four tokens, at least one long word, and tags that are not all 0."""
    pieces = [list(WORDS[i]) for i in rng.integers(len(WORDS), size=words)]
    pieces[int(rng.integers(words))] = list(WORDS[2])
    tags = [int(tag) for tag in rng.integers(1, 5, size=words)]
    return pieces, tags


def sentences(rng: Random) -> list[Case]:
    example = Case(([["paris"], ["'", "s"], ["geo", "##gu", "##es", "##sr"]], [3, 0, 1]), note="the example above")
    # Tags of which one is 0, words that begin with ##, and the same word twice in a row.
    twice = Case(([["the"], ["the"], ["##s"], ["play", "##ing"], ["play", "##ing"]], [0, 2, 1, 3, 0]))
    # Words in brackets, one of them unknown; a word of equal tokens; large tags.
    odd = Case(
        ([["[UNK]"], [".", ".", "."], ["[", "SEP", "]"], ["[SEP]"], ["##s", "##s"], ["[CLS]"]], [2, 41, 1, 7, 99, 3])
    )
    blank = Case(([[""], ["a", ""], [" "]], [1, 2, 3]))  # tokens may be anything
    return [example, *(Case(_sentence(rng, words)) for words in (3, 6, 300)), twice, odd, blank]


def other_sentences(rng: Random) -> list[Case]:
    """One word; a long sentence."""
    return [Case(([["geo", "##gu"]], [int(rng.integers(5))])), Case(_sentence(rng, 30))]


def with_empty_words(rng: Random) -> list[Case]:
    """At the beginning, in the middle, at the end, two in a row; in each sentence the words have different tags."""
    found = []
    for empty in ([0], [int(rng.integers(1, 4))], [4], [0, 2, 3, 4]):
        pieces = [[] if index in empty else list(WORDS[i]) for index, i in enumerate(rng.integers(len(WORDS), size=5))]
        found.append(Case((pieces, rng.permutation(5).tolist())))
    return [*found, Case(([[], []], [1, 2]))]


EXERCISE = Exercise(
    probe=plain_function(),
    reference=align,
    returns="list",
    parts=(
        values(2, sentences, hidden=other_sentences),
        cases("a word without tokens", 1, with_empty_words,
            "a word without tokens gets no label, and the next words keep their own"),
    ),
    forbidden=READY_MADE,
    hints=(
        "How long must the list be? As long as the input of BERT: all tokens, and [CLS] and [SEP] around them.",
        "Only the first token of each word gets the tag; the others, and [CLS] and [SEP], get IGNORED.",
        "A loop over words with a loop over their tokens inside: then a word without tokens needs no special case.",
    ),
    misconceptions=(
        mistake("tag-on-every-piece", "tag if index == 0 else IGNORED", "tag",
            hint="Every token of a word has its tag in your result. Long words then count several times, and B-, "
                 "which begins an entity, is in its middle. Only the first token gets the tag."),
        mistake("known-by-hashes", "tag if index == 0 else IGNORED", 'IGNORED if piece.startswith("##") else tag',
            hint="You tell a later token by its ##. \"'s\" has the tokens ' and s, without ##, and is one word: the "
                 "first token of each list is the one that counts."),
        mistake("rest-is-outside", "tag if index == 0 else IGNORED", "tag if index == 0 else 0",
            hint="Your later tokens have the tag 0, as if they were words outside of all entities. They must have "
                 "IGNORED, so that the loss ignores them."),
        mistake("last-piece", "index == 0", "index == len(pieces) - 1",
            hint="You put the tag on a word's last token. Any choice works if training and prediction agree; BERT "
                 "uses the first (section 5.3)."),
        mistake("no-special-tokens",
            "labels = [IGNORED]", "labels = []",
            "labels.append(IGNORED)  # [SEP]", "",
            hint="[CLS] and [SEP] have no label in your list, so every label is one position too far left."),
        mistake("special-tokens-are-outside",
            "labels = [IGNORED]", "labels = [0]",
            "labels.append(IGNORED)  # [SEP]", "labels.append(0)",
            hint="[CLS] and [SEP] have the tag 0 in your result. They are not words: IGNORED."),
        mistake("always-a-first-piece", "        for index, piece in enumerate(pieces):\n"
            "            labels.append(tag if index == 0 else IGNORED)\n",
            "        labels += [tag] + [IGNORED] * (len(pieces) - 1)\n",
            hint="Right as long as every word has a token. A word that is only a control character has none; your "
                 "list still gives it a label, so all later labels are shifted by one."),
    ),
)  # fmt: skip
