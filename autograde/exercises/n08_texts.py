"""Notebook 08, exercises 8.1 to 8.4: whole texts and pairs, and how well they are told apart."""

import numpy as np

from autograde.exercises import n08_draws as draws
from autograde.exercises.n08_common import DENSE, MODULE, NOTEBOOK, READY_MADE, WRITE_IT
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, layer, values

CLS_HEAD = Exercise(
    id="cls-head",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.1",
    title="A head on [CLS]",
    minutes=8,
    lines="Devlin et al. 2019, section 4.1",
    names=("ClassificationHead",),
    arguments=("hidden",),
    probe=layer("ClassificationHead", DENSE),
    reference=lambda hidden, weights, config: (
        np.einsum("bh,hc->bc", hidden[:, 0], weights["dense/kernel"]) + weights["dense/bias"]
    ),
    parts=(
        values(1, draws.texts),
        Part("[CLS] decides", 1, draws.only_cls_changes, "the vectors behind [CLS] must not reach the result"),
        Part(
            "gradients", 1, draws.slopes_of_head, "the weights cannot be trained: their gradients are others, or none"
        ),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    hints=(
        "How many vectors go in per text, and how many come out? One of the tokens speaks for all.",
        "[CLS] stands at position 0 of the axis of tokens, which is the middle one.",
        "Three lines: take that vector, send it through self.dropout (with training=training), then self.dense.",
    ),
    misconceptions=(
        Misconception(
            "mean-of-tokens",
            "You average over all tokens, [PAD] included. BERT's head reads one vector: that of [CLS].",
            (("hidden[:, 0]", "ops.mean(hidden, axis=1)"),),
        ),
        Misconception(
            "last-token",
            "You read the last token's vector, which for most texts is [PAD]. [CLS] is the first.",
            (("hidden[:, 0]", "hidden[:, -1]"),),
        ),
        Misconception(
            "first-text",
            "hidden[0] is the first text of the batch, with all its tokens. You want the first token of every text.",
            (("hidden[:, 0]", "hidden[0]"),),
        ),
        Misconception(
            "every-token",
            "You have logits for every token. That is tagging; a text has one class, read off [CLS].",
            (("hidden[:, 0]", "hidden"),),
        ),
        Misconception(
            "shares",
            "These are shares, after a softmax. The loss does the softmax itself (from_logits=True): return logits.",
            (("return self.dense(cls)", "return ops.softmax(self.dense(cls))"),),
        ),
        Misconception(
            "squashed",
            "You send the logits through tanh, so no class can get a share near 1. (The pooler has a tanh, before W.)",
            (("return self.dense(cls)", "return ops.tanh(self.dense(cls))"),),
        ),
    ),
)

F1_MATTHEWS = Exercise(
    id="f1-matthews",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.2",
    title="When accuracy flatters",
    minutes=8,
    lines="",
    names=("f1_and_matthews",),
    arguments=("gold", "predicted"),
    probe=function("f1_and_matthews") | {"tensors": False},
    reference=draws.f1_and_matthews,
    returns="tuple",
    parts=(
        values(2, draws.two_classes),
        cases("nothing to divide by", 1, draws.one_sided, "where a denominator is 0, the figure is to be 0.0"),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    hints=(
        "Count the four kinds of rows first: right and wrong, for class 1 and for class 0.",
        "F1 knows three of the four counts; the rows that are rightly 0 do not matter to it. Matthews uses all four.",
        "Before each division: is the denominator 0? Then the figure is 0.0. Return the two figures in a tuple.",
    ),
    misconceptions=(
        Misconception(
            "f1-of-the-other-class",
            "Your F1 is that of class 0. The positive class, the one that F1 asks about, is 1.",
            (("2 * tp / (2 * tp + fp + fn) if tp + fp + fn", "2 * tn / (2 * tn + fp + fn) if tn + fp + fn"),),
        ),
        Misconception(
            "accuracy",
            "Your first figure is accuracy: it counts the rows that are rightly 0. F1 leaves them out.",
            (
                (
                    "2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0",
                    "(tp + tn) / len(pairs)",
                ),
            ),
        ),
        Misconception(
            "mean-of-precision-and-recall",
            "You average precision and recall. F1 is their *harmonic* mean, 2TP / (2TP + FP + FN): the smaller "
            "one rules.",
            (
                (
                    "f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0",
                    "f1 = (tp / (tp + fp) + tp / (tp + fn)) / 2 if tp else 0.0",
                ),
            ),
        ),
        Misconception(
            "no-root",
            "You divide by the product of the four sums. Matthews divides by its square root.",
            (("(tn + fn)) ** 0.5", "(tn + fn))"),),
        ),
        Misconception(
            "only-hits",
            "The numerator of Matthews lacks −FP·FN. Without it a coin toss is well above 0.",
            (("(tp * tn - fp * fn)", "(tp * tn)"),),
        ),
        Misconception(
            "divided-by-zero",
            "Right where all four counts are there. With a class that never occurs or is never predicted a "
            "denominator is 0: the figure is then 0.0 by convention.",
            ((" if tp + fp + fn else 0.0", ""), (" if spread else 0.0", "")),
        ),
    ),
)

CHOICE_LOGITS = Exercise(
    id="choice-logits",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.3",
    title="Which continuation?",
    minutes=8,
    lines="Devlin et al. 2019, section 4.4",
    names=("choice_logits",),
    arguments=("hidden", "v", "choices"),
    probe=function("choice_logits"),
    reference=lambda hidden, v, choices: np.array(
        [[row[0] @ v for row in hidden[start : start + choices]] for start in range(0, len(hidden), choices)]
    ),
    parts=(
        values(2, draws.choices),
        Part("each question alone", 1, draws.each_question_alone, "a question's scores must not depend on the others"),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    facts=lambda case: {"choices": case.arguments[2]},
    hints=(
        "Every row gets one number: the dot product of its [CLS] vector with v.",
        "The rows of one question stand next to each other: first all choices of question 1, then all of question 2.",
        "After the product you have one number per row, (batch · choices,). One reshape folds it.",
    ),
    misconceptions=(
        Misconception(
            "choices-apart",
            "You fold the rows the other way: as if first came choice 1 of all questions, then choice 2. Rows of one "
            "question are neighbours, {choices} in a row.",
            (("ops.reshape(scores, (-1, choices))", "ops.transpose(ops.reshape(scores, (choices, -1)))"),),
        ),
        Misconception(
            "shares",
            "These are shares, after a softmax over the choices. The loss does that itself: return the scores.",
            (("return ops.reshape(scores, (-1, choices))", "return ops.softmax(ops.reshape(scores, (-1, choices)))"),),
        ),
        Misconception(
            "mean-of-tokens",
            "You average over the tokens before the product. The vector that speaks for a row is that of [CLS].",
            (("hidden[:, 0]", "ops.mean(hidden, axis=1)"),),
        ),
        Misconception(
            "not-folded",
            "One score per row is right; now the {choices} rows of a question have to compete: fold them into a row.",
            (("return ops.reshape(scores, (-1, choices))", "return scores"),),
        ),
        Misconception(
            "cosine",
            "You divide by the lengths of the vectors. The score is the plain dot product; how long a vector is"
            " may count.",
            (
                (
                    "scores = ops.matmul(cls, v)",
                    "scores = ops.matmul(cls, v) / (ops.norm(cls, axis=-1) * ops.norm(v))",
                ),
            ),
        ),
    ),
)

SPEARMAN = Exercise(
    id="spearman",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.4",
    title="How similar? A number instead of a class",
    minutes=8,
    lines="",
    names=("spearman",),
    arguments=("gold", "predicted"),
    probe=function("spearman") | {"tensors": False},
    reference=draws.spearman,
    returns="anything",
    parts=(
        values(2, draws.numbers),
        cases("ties", 1, draws.numbers_with_ties, "equal values do not share the mean of their ranks"),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    hints=(
        "Two steps: from values to ranks, for both; then Pearson's correlation of the ranks.",
        "The rank of a value: how many are smaller, plus 1. Equal values take neighbouring ranks and share their mean.",
        "With s smaller values and e equal ones (itself included) the mean rank is s + (e + 1) / 2.",
    ),
    misconceptions=(
        Misconception(
            "pearson",
            "This is Pearson's correlation of the values themselves. Spearman's is that of their ranks.",
            (("ranks(gold), ranks(predicted)", "gold, predicted"),),
        ),
        Misconception(
            "order-for-ranks",
            "argsort says *which* value comes first, second, third. A rank says at which place a value comes: "
            "the other way round.",
            (("return smaller + (equal + 1) / 2", "return np.argsort(values)"),),
        ),
        Misconception(
            "ties-by-order",
            "Right without ties. Among equal values yours ranks the earlier one lower, so the order of the rows"
            " counts. Equal values share the mean of their ranks.",
            (("return smaller + (equal + 1) / 2", "return np.argsort(np.argsort(values, kind='stable'))"),),
        ),
        Misconception(
            "ties-share-the-lowest",
            "Right without ties. Equal values all get the lowest of their ranks in yours; the mean keeps the "
            "sum of ranks.",
            (("return smaller + (equal + 1) / 2", "return smaller + 1"),),
        ),
        Misconception(
            "short-formula",
            "1 − 6 Σ d² / (n (n² − 1)) holds without ties only. Take Pearson's correlation of the ranks.",
            (
                (
                    "return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])",
                    "n = len(gold)\n    d = ranks(np.asarray(gold)) - ranks(np.asarray(predicted))\n"
                    "    return float(1 - 6 * np.sum(d**2) / (n * (n**2 - 1)))",
                ),
            ),
        ),
    ),
)
