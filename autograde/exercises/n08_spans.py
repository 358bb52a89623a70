"""Notebook 08, exercises 8.7 to 8.9: an answer is a span of the text."""

from autograde.exercises import n08_draws_spans as draws
from autograde.exercises.n08_common import DENSE, MODULE, NOTEBOOK, READY_MADE, WRITE_IT
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, layer, values

SPAN_HEAD = Exercise(
    id="span-head",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.7",
    title="Where does it begin, where does it end?",
    minutes=8,
    lines="Devlin et al. 2019, section 4.2",
    names=("SpanHead",),
    arguments=("hidden", "may_answer"),
    probe=layer("SpanHead", DENSE),
    reference=draws.span_head,
    parts=(
        values(2, draws.all_may_answer),
        cases(
            "hidden positions",
            1,
            draws.some_may_answer,
            "where may_answer is False, both logits are to be MASKED_SCORE",
        ),
        Part(
            "gradients", 1, draws.slopes_of_spans, "the weights cannot be trained: their gradients are others, or none"
        ),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    hints=(
        "Dense(2) gives every token two numbers: (batch, tokens, 2). The result is to be (batch, 2, tokens).",
        "Exchanging two axes is a transpose. A reshape keeps the order of the numbers and only cuts it elsewhere.",
        "may_answer is (batch, tokens): make room for the axis of start and end before `ops.where`.",
    ),
    misconceptions=(
        Misconception(
            "reshaped",
            "You reshape where axes must be exchanged: start and end logits of one half of the tokens end up in"
            " the row of starts. Transpose.",
            (("ops.transpose(logits, (0, 2, 1))", "ops.reshape(logits, (ops.shape(logits)[0], 2, -1))"),),
        ),
        Misconception(
            "not-transposed",
            "(batch, tokens, 2) is what Dense gives. Row 0 of the result is to hold the starts of all tokens, "
            "row 1 the ends.",
            (
                ("logits = ops.transpose(logits, (0, 2, 1))", "logits = logits"),
                ("ops.expand_dims(may_answer, axis=1)", "ops.expand_dims(may_answer, axis=-1)"),
            ),
        ),
        Misconception(
            "mask-ignored",
            "Positions of the question and [PAD] can still be answers in yours. Their logits must be MASKED_SCORE.",
            (("return ops.where(ops.expand_dims(may_answer, axis=1), logits, MASKED_SCORE)", "return logits"),),
        ),
        Misconception(
            "hidden-is-zero",
            "A logit of 0 is an ordinary one, often larger than the right answer's. To be out of the race it "
            "must be MASKED_SCORE, −10⁹.",
            (("logits, MASKED_SCORE)", "logits, 0.0)"),),
        ),
        Misconception(
            "mask-inverted",
            "You hide exactly the positions that may answer.",
            (("logits, MASKED_SCORE)", "MASKED_SCORE, logits)"),),
        ),
        Misconception(
            "start-or-end",
            "Your softmax lets each token choose between being a start and an end. Tokens compete for the "
            "start, and again for the end; the loss does both softmaxes.",
            (("logits = self.dense(hidden)", "logits = ops.softmax(self.dense(hidden))"),),
        ),
    ),
)

BEST_SPAN = Exercise(
    id="best-span",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.8",
    title="The best span, or none",
    minutes=12,
    lines="Devlin et al. 2019, sections 4.2 and 4.3",
    names=("best_span",),
    arguments=("start", "end", "first", "last", "longest", "threshold"),
    probe=function("best_span") | {"tensors": False},
    reference=draws.best_span,
    returns="anything",
    parts=(
        values(2, draws.plain_spans),
        cases("a span has an order and a length", 1, draws.impossible_spans, "an impossible span was chosen"),
        cases("only the paragraph answers", 1, draws.tempting_questions, "a span outside of the paragraph was chosen"),
        cases("no answer", 1, draws.no_answers, "(0, 0) is due exactly if no span beats [CLS] by more than threshold"),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    hints=(
        "Two loops: every start i from first to last, every end j from i on. Keep the best sum start[i] + end[j].",
        "A span from i to j has j − i + 1 tokens; that may be at most longest, and j at most last.",
        "At the end hold the best sum against start[0] + end[0] + threshold. Only if it is larger, it is the answer.",
    ),
    misconceptions=(
        Misconception(
            "each-by-itself",
            "You choose the best start and the best end each by itself. Together they may be no span: the end can lie "
            "before the start, or far behind. The sum of a *pair* decides.",
            cell=draws.EACH_BY_ITSELF,
        ),
        Misconception(
            "backwards",
            "Your spans may end before they begin. For a start i, ends begin at j = i.",
            (("range(i, min(i + longest, last + 1))", "range(first, min(i + longest, last + 1))"),),
        ),
        Misconception(
            "any-length",
            "You look at spans of any length. `longest` is the most tokens that an answer may have.",
            (("min(i + longest, last + 1)", "last + 1"),),
        ),
        Misconception(
            "one-too-long",
            "Your longest spans have longest + 1 tokens: from i to j there are j − i + 1.",
            (("min(i + longest, last + 1)", "min(i + longest + 1, last + 1)"),),
        ),
        Misconception(
            "question-may-answer",
            "You also try spans in the question. The answer stands in the paragraph, from first to last.",
            (("for i in range(first, last + 1)", "for i in range(1, last + 1)"),),
        ),
        Misconception(
            "always-an-answer",
            "You always give a span. If the best sum does not beat start[0] + end[0] + threshold, the answer is"
            " (0, 0).",
            (("if best > start[0] + end[0] + threshold else (0, 0)", ""),),
        ),
        Misconception(
            "threshold-reversed",
            "The larger the threshold, the *harder* it is to be answered: it is added to the score of [CLS].",
            (("end[0] + threshold", "end[0] - threshold"),),
        ),
    ),
)

SPAN_SCORES = Exercise(
    id="span-scores",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="8.9",
    title="Nearly right: exact match and F1 of spans",
    minutes=8,
    lines="Rajpurkar et al. 2016, section 6.1",
    names=("span_scores",),
    arguments=("prediction", "answers"),
    probe=function("span_scores") | {"tensors": False},
    reference=draws.span_scores,
    returns="anything",
    parts=(
        values(1, draws.one_answer),
        cases("several right answers", 1, draws.several_answers, "of several right answers the best one counts"),
        cases("no answer", 1, draws.empty_answers, "where there is no answer, only an empty prediction is right"),
    ),
    forbidden=READY_MADE,
    forbidden_because=WRITE_IT,
    hints=(
        "Turn both texts into lists of words with `normal_words`, which is there, and work with these lists only.",
        "Shared words are counted like beads: a word that is there twice in one list and once in the other is shared "
        "once. `Counter(a) & Counter(b)` does that.",
        "F1 = 2 · shared / (words here + words there). If one of the lists is empty, 1.0 if both are, otherwise 0.0.",
    ),
    misconceptions=(
        Misconception(
            "set-of-words",
            "You count each word once, however often it is there. F1 counts bags of words: twice is twice.",
            (("sum((Counter(gold) & Counter(guess)).values())", "len(set(gold) & set(guess))"),),
        ),
        Misconception(
            "recall",
            "You divide by the words of the right answer only (recall). Then whoever answers with the whole "
            "paragraph is always right.",
            (("2 * shared / (len(gold) + len(guess))", "shared / len(gold)"),),
        ),
        Misconception(
            "precision",
            "You divide by the predicted words only (precision). Then a single right word is worth as much as all.",
            (("2 * shared / (len(gold) + len(guess))", "shared / len(guess)"),),
        ),
        Misconception(
            "first-answer-only",
            "You look at the first of the right answers only. All of them are right: the best score counts.",
            (('for answer in answers or [""]:', 'for answer in answers[:1] or [""]:'),),
        ),
        Misconception(
            "raw-words",
            "You compare the words as they stand. Capitals, punctuation and a, an, the do not count: `normal_words`.",
            (("normal_words(prediction)", "prediction.split()"), ("normal_words(answer)", "answer.split()")),
        ),
        Misconception(
            "nothing-is-wrong",
            "An empty prediction gets 0 from you even where there is no answer; there it is exactly right (SQuAD 2.0).",
            (
                ("overlap = float(gold == guess)", "overlap = 0.0"),
                ("exact, float(gold == guess)", "exact, float(gold == guess != [])"),
            ),
        ),
    ),
)
