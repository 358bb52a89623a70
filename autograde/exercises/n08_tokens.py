"""Notebook 08, exercises 8.5 and 8.6: a label for every word."""

from autograde.exercises import n08_draws_tokens as draws
from autograde.exercises.n08_common import MODULE, NOTEBOOK, READY_MADE, WRITE_IT
from autograde.exercises.spec import Exercise, Misconception, cases, function, values

ALIGN_LABELS = Exercise(
    id="align-labels",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.5",
    title="Words have labels, pieces do not",
    minutes=8,
    lines="Devlin et al. 2019, section 5.3",
    names=("align_labels",),
    arguments=("pieces_of_words", "tags"),
    probe=function("align_labels") | {"tensors": False},
    reference=draws.align,
    returns="list",
    parts=(
        values(2, draws.sentences),
        cases("a word without pieces", 1, draws.with_empty_words, "a word that has no piece gets no label at all"),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    hints=(
        "How long must the list be? As long as the row that BERT reads: all pieces, and [CLS] and [SEP] around them.",
        "Of each word only the first piece is asked; the others, and [CLS] and [SEP], get IGNORED.",
        "A loop over words with a loop over their pieces inside: then a word without pieces needs no special care.",
    ),
    misconceptions=(
        Misconception(
            "tag-on-every-piece",
            "Every piece of a word has its tag in yours. Long words then count several times, and B-, which begins an "
            "entity, stands in its middle. Only the first piece is asked.",
            (("tag if index == 0 else IGNORED", "tag"),),
        ),
        Misconception(
            "rest-is-outside",
            "Your later pieces carry the tag 0, as if they were words outside of everything. They are to carry "
            "IGNORED: the loss does not look at them.",
            (("tag if index == 0 else IGNORED", "tag if index == 0 else 0"),),
        ),
        Misconception(
            "last-piece",
            "You put the tag on a word's last piece. Any choice would do if training and reading agree; BERT's is the "
            "first (section 5.3).",
            (("index == 0", "index == len(pieces) - 1"),),
        ),
        Misconception(
            "no-special-tokens",
            "[CLS] and [SEP] have no place in your list, so every label stands one position too far left.",
            (("labels = [IGNORED]", "labels = []"), ("labels.append(IGNORED)  # [SEP]", "")),
        ),
        Misconception(
            "special-tokens-are-outside",
            "[CLS] and [SEP] have the tag 0 in yours. They are no words: IGNORED.",
            (("labels = [IGNORED]", "labels = [0]"), ("labels.append(IGNORED)  # [SEP]", "labels.append(0)")),
        ),
        Misconception(
            "always-a-first-piece",
            "Right as long as every word has a piece. Of a word that is only a control character nothing is left; your "
            "list still gives it a label, and all behind it are one place off.",
            (
                (
                    "        for index, piece in enumerate(pieces):\n"
                    "            labels.append(tag if index == 0 else IGNORED)\n",
                    "        labels += [tag] + [IGNORED] * (len(pieces) - 1)\n",
                ),
            ),
        ),
    ),
)

TAGGING_LOSS = Exercise(
    id="tagging-loss",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.6",
    title="A loss that overlooks",
    minutes=12,
    lines="",
    names=("tagging_loss",),
    arguments=("logits", "labels"),
    probe=function("tagging_loss"),
    reference=draws.tagging_loss,
    parts=(
        values(3, draws.logits_and_labels),
        cases("nothing to learn from", 1, draws.all_ignored, "a batch without a single label has the loss 0, not NaN"),
    ),
    forbidden=(*READY_MADE, "keras.losses"),
    forbidden_because=WRITE_IT,
    hints=(
        "Per position: −log of the share that the right class gets. Then the mean, over the positions that count.",
        "−100 is no index: put 0 in its place (`ops.where`) before you look anything up, and throw the result "
        "away after.",
        "log_softmax, take_along_axis (or a one-hot product), times a mask of 0 and 1, summed, over the mask's sum.",
    ),
    misconceptions=(
        Misconception(
            "ignored-as-outside",
            "The positions with −100 count as if their tag were 0. Their loss has to be multiplied by 0 as well.",
            (("ops.cast(counts, logits.dtype)", "ops.ones_like(chosen)"),),
        ),
        Misconception(
            "mean-over-all",
            "You sum over the positions that count and divide by all positions. Then the loss shrinks with "
            "every [PAD].",
            (("ops.maximum(ops.sum(weights), 1)", "ops.size(weights)"),),
        ),
        Misconception(
            "sum",
            "This is the sum of the losses. Divide by how many positions count: a long batch is not a worse one.",
            ((" / ops.maximum(ops.sum(weights), 1)", ""),),
        ),
        Misconception(
            "sentence-by-sentence",
            "You take the mean of each sentence and then the mean of these. A word in a short sentence then "
            "counts more than one in a long sentence.",
            (
                (
                    "-ops.sum(chosen * weights) / ops.maximum(ops.sum(weights), 1)",
                    "-ops.mean(ops.sum(chosen * weights, axis=-1) / ops.maximum(ops.sum(weights, axis=-1), 1))",
                ),
            ),
        ),
        Misconception(
            "no-log",
            "You average the shares of the right classes, without the logarithm. −log makes a confident mistake"
            " expensive.",
            (("ops.log_softmax(logits, axis=-1)", "ops.softmax(logits, axis=-1)"),),
        ),
        Misconception(
            "softmax-over-tokens",
            "Your softmax runs over the tokens, so they compete for a class. Here classes compete for a token: "
            "last axis.",
            (("ops.log_softmax(logits, axis=-1)", "ops.log_softmax(logits, axis=1)"),),
        ),
        Misconception(
            "zero-by-zero",
            "Right as long as some position counts. In a batch without any the mean is 0 / 0; divide by at least 1.",
            (("ops.maximum(ops.sum(weights), 1)", "ops.sum(weights)"),),
        ),
    ),
)
