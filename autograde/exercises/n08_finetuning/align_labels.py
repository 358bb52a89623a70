"""A label for each position of the row [CLS] pieces [SEP]."""

from autograde.exercises.draws import Random
from autograde.exercises.n08_finetuning._shared import IGNORED, READY_MADE
from autograde.exercises.spec import Case, Exercise, cases, mistake, plain_function, values

WORDS = (["paris"], ["'", "s"], ["geo", "##gu", "##es", "##sr"], ["play", "##ing"], ["the"], ["##s"], ["robin", "##s"])


def align(pieces_of_words, tags):
    """Marks the places of first pieces in a row that is IGNORED throughout."""
    labels = [IGNORED] * (2 + sum(map(len, pieces_of_words)))
    place = 1
    for pieces, tag in zip(pieces_of_words, tags):
        if pieces:
            labels[place] = tag
        place += len(pieces)
    return labels


def _sentence(rng: Random, words: int) -> tuple[list, list]:
    """Words of one to four pieces, one long word among them at least, and tags that are not all 0."""
    pieces = [list(WORDS[i]) for i in rng.integers(len(WORDS), size=words)]
    pieces[int(rng.integers(words))] = list(WORDS[2])
    tags = [int(tag) for tag in rng.integers(1, 5, size=words)]
    return pieces, tags


def sentences(rng: Random) -> list[Case]:
    example = Case(([["paris"], ["'", "s"], ["geo", "##gu", "##es", "##sr"]], [3, 0, 1]), note="the example above")
    return [example, *(Case(_sentence(rng, words)) for words in (3, 6))]


def with_empty_words(rng: Random) -> list[Case]:
    found = []
    for words in (3, 5):
        pieces, tags = _sentence(rng, words)
        pieces[int(rng.integers(words))] = []
        found.append(Case((pieces, tags)))
    return found


EXERCISE = Exercise(
    probe=plain_function(),
    reference=align,
    returns="list",
    parts=(
        values(2, sentences),
        cases("a word without pieces", 1, with_empty_words, "a word that has no piece gets no label at all"),
    ),
    forbidden=READY_MADE,
    hints=(
        "How long must the list be? As long as the row that BERT reads: all pieces, and [CLS] and [SEP] around them.",
        "Of each word only the first piece is asked; the others, and [CLS] and [SEP], get IGNORED.",
        "A loop over words with a loop over their pieces inside: then a word without pieces needs no special care.",
    ),
    misconceptions=(
        mistake("tag-on-every-piece", "tag if index == 0 else IGNORED", "tag",
            hint="Every piece of a word has its tag in yours. Long words then count several times, and B-, which "
                 "begins an entity, stands in its middle. Only the first piece is asked."),
        mistake("rest-is-outside", "tag if index == 0 else IGNORED", "tag if index == 0 else 0",
            hint="Your later pieces carry the tag 0, as if they were words outside of everything. They are to carry "
                 "IGNORED: the loss does not look at them."),
        mistake("last-piece", "index == 0", "index == len(pieces) - 1",
            hint="You put the tag on a word's last piece. Any choice would do if training and reading agree; BERT's "
                 "is the first (section 5.3)."),
        mistake("no-special-tokens",
            "labels = [IGNORED]", "labels = []",
            "labels.append(IGNORED)  # [SEP]", "",
            hint="[CLS] and [SEP] have no place in your list, so every label stands one position too far left."),
        mistake("special-tokens-are-outside",
            "labels = [IGNORED]", "labels = [0]",
            "labels.append(IGNORED)  # [SEP]", "labels.append(0)",
            hint="[CLS] and [SEP] have the tag 0 in yours. They are no words: IGNORED."),
        mistake("always-a-first-piece", "        for index, piece in enumerate(pieces):\n"
            "            labels.append(tag if index == 0 else IGNORED)\n",
            "        labels += [tag] + [IGNORED] * (len(pieces) - 1)\n",
            hint="Right as long as every word has a piece. Of a word that is only a control character nothing is "
                 "left; your list still gives it a label, and all behind it are one place off."),
    ),
)  # fmt: skip
