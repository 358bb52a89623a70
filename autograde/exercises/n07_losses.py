"""Notebook 07, exercises 7.1 to 7.4: the two losses, and the positions they look at."""

from autograde.exercises import n07_draws as draws
from autograde.exercises.n07_common import MODULE, NOTEBOOK, READY_MADE_LOSSES, WRITE_THE_LOSS
from autograde.exercises.spec import Exercise, Misconception, cases, function, values

ETRAINING_LOSS = Exercise(
    id="etraining-loss",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.1",
    title="The loss of ETraining",
    minutes=6,
    lines="ETraining, line 9",
    names=("etraining_loss",),
    arguments=("p", "x", "positions"),
    probe=function("etraining_loss"),
    reference=draws.etraining_loss,
    parts=(
        values(2, draws.masked_sentences),
        cases("nothing masked", 1, draws.nothing_masked, "a sum over no position is 0"),
    ),
    hints=(
        "For each masked position one number of P counts: the chance of the token that really stands there.",
        "Three steps: the rows of P at `positions`, the true ids at `positions`, from each row the one chance.",
        "`ops.take` picks rows and ids; `ops.take_along_axis` picks one number from each row, if the ids are (m, 1).",
    ),
    misconceptions=(
        Misconception(
            "mean-instead-of-sum",
            "You take the mean. Line 9 is a sum over T̃: a sentence with more masked tokens has a larger loss.",
            (("-ops.sum(ops.log(chances))", "-ops.mean(ops.log(chances))"),),
        ),
        Misconception(
            "every-position",
            "You sum over the whole sentence. A token that was not masked stands in the input: there is nothing to "
            "learn from reading it off.",
            (("ops.take(p, positions, axis=0)", "p"), ("ops.take(x, positions)", "x")),
        ),
        Misconception(
            "the-favourite",
            "You take the largest chance of each row: what the model would guess. The loss asks for the chance of the "
            "*true* token, however small.",
            (("ops.take_along_axis(rows, ops.expand_dims(gold, 1), axis=1)", "ops.max(rows, axis=1)"),),
        ),
        Misconception(
            "bits",
            "Your logarithm is to base 2. The lecture's is the natural one: −log 0.0041 = 5.497, not 7.930.",
            (("ops.log(chances)", "ops.log2(chances)"),),
        ),
        Misconception(
            "log-of-the-sum",
            "You add the chances and take one logarithm. Each position has a logarithm of its own, and "
            "these are added.",
            (("ops.sum(ops.log(chances))", "ops.log(ops.sum(chances))"),),
        ),
        Misconception(
            "no-minus",
            "Your loss is negative: chances lie below 1, so their logarithms are negative. Line 9 begins with a minus.",
            (("return -ops.sum", "return ops.sum"),),
        ),
    ),
)

MLM_LOSS = Exercise(
    id="mlm-loss",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.2",
    title="BERT's masked language model loss",
    minutes=8,
    lines="ETraining, line 9, for a batch",
    names=("mlm_loss",),
    arguments=("logits", "labels", "weights"),
    probe=function("mlm_loss"),
    reference=draws.mlm_loss,
    parts=(
        values(2, draws.batches_of_predictions),
        cases("no predictions", 1, draws.no_predictions, "a batch whose weights are all 0 has loss 0"),
        cases("large logits", 1, draws.large_logits, "a model that is sure and wrong has a large, finite loss"),
    ),
    forbidden=READY_MADE_LOSSES,
    forbidden_because=WRITE_THE_LOSS,
    facts=lambda case: {"filling": int((case.arguments[2] == 0).sum()), "all": case.arguments[2].size},
    hints=(
        "First one loss per prediction, (batch, predictions): minus the log softmax at the label.",
        "`ops.take_along_axis` needs the labels with one axis more, (batch, predictions, 1), and gives that back.",
        "Then the fraction: losses times weights, summed, over the sum of the weights plus 0.00001.",
    ),
    misconceptions=(
        Misconception(
            "filling-counts",
            "You take the mean over all {all} places. {filling} of them are filling, with weight 0: they must count "
            "neither above nor below the fraction line.",
            (("ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)", "ops.mean(losses)"),),
        ),
        Misconception(
            "divided-by-all-places",
            "Above the line the filling is gone, below it still counts: divide by the sum of the weights, not by the "
            "number of places ({all}).",
            (("ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)", "ops.mean(losses * weights)"),),
        ),
        Misconception(
            "sum-not-mean",
            "This is ETraining's sum. BERT divides by the sum of the weights, so that a batch with more predictions "
            "does not make a longer step.",
            ((" / (ops.sum(weights) + 1e-5)", ""),),
        ),
        Misconception(
            "mean-of-rows",
            "You take a mean per row and then the mean of the rows. A prediction in a row with few of them then counts "
            "more; in BERT all predictions of a batch count alike.",
            (
                (
                    "ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)",
                    "ops.mean(ops.sum(losses * weights, axis=1) / (ops.sum(weights, axis=1) + 1e-5))",
                ),
            ),
        ),
        Misconception(
            "nothing-over-nothing",
            "Right, but for a batch without predictions: 0/0 is NaN, and one NaN in a gradient spoils every weight. "
            "That is what the 0.00001 below the line is for.",
            (("(ops.sum(weights) + 1e-5)", "ops.sum(weights)"),),
        ),
        Misconception(
            "log-after-softmax",
            "Right for small logits. Where softmax rounds a chance to 0, its logarithm is −∞. `ops.log_softmax` "
            "never forms the tiny number.",
            (("ops.log_softmax(logits, axis=-1)", "ops.log(ops.softmax(logits, axis=-1))"),),
        ),
        Misconception(
            "logits-as-logarithms",
            "You use the logits as if they were log chances. They are any numbers; log softmax makes a row of them "
            "into the logarithms of shares that sum to 1.",
            (("ops.log_softmax(logits, axis=-1)", "logits"),),
        ),
    ),
)

NSP_LOSS = Exercise(
    id="nsp-loss",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.3",
    title="The next-sentence loss",
    minutes=4,
    lines="BERT, section 3.1, task 2",
    names=("nsp_loss",),
    arguments=("logits", "labels"),
    probe=function("nsp_loss"),
    reference=draws.nsp_loss,
    parts=(
        values(1, draws.pairs),
        cases("true pairs", 1, draws.only_true_pairs, "a model that is sure of IsNext, and right, has hardly any loss"),
    ),
    forbidden=READY_MADE_LOSSES,
    forbidden_because=WRITE_THE_LOSS,
    hints=(
        "It is the same loss again, with two classes instead of a vocabulary, and every row counts.",
        "Label 0 is IsNext and belongs to column 0: the label is the number of the column.",
        "Minus the log softmax at the label, one number per row, then the mean.",
    ),
    misconceptions=(
        Misconception(
            "one-is-next",
            "You read label 1 as IsNext. In BERT 0 is IsNext and 1 is NotNext: the label is the column's number.",
            (("ops.expand_dims(labels, 1)", "ops.expand_dims(1 - labels, 1)"),),
        ),
        Misconception(
            "always-is-next",
            "You take column 0 for every pair. For a pair whose label is 1 the chance of column 1 counts.",
            (("ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)", "log_p[:, 0]"),),
        ),
        Misconception(
            "summed-over-the-batch",
            "You sum over the pairs. The loss is their mean, so that it does not grow with the batch.",
            (("-ops.mean", "-ops.sum"),),
        ),
        Misconception(
            "two-questions",
            "You ask each column by itself, with a sigmoid. The two are one choice: softmax over both.",
            (("ops.log_softmax(logits, axis=-1)", "ops.log(ops.sigmoid(logits))"),),
        ),
        Misconception(
            "chance-instead-of-logarithm",
            "You take 1 − chance. Its slope is next to nothing where the model is sure and wrong; −log is steep there.",
            (
                (
                    "return -ops.mean(ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1))",
                    "return ops.mean(1 - ops.exp(ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)))",
                ),
            ),
        ),
    ),
)

GATHER_POSITIONS = Exercise(
    id="gather-positions",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.4",
    title="Only where something is to be guessed",
    minutes=8,
    lines="ETraining, line 7: the indices T̃",
    names=("gather_positions",),
    arguments=("hidden", "positions"),
    probe=function("gather_positions"),
    reference=draws.gather_positions,
    parts=(
        values(2, draws.hidden_and_positions),
        cases("filling", 1, draws.filled_up_positions, "a position may be asked for more than once in a row"),
    ),
    forbidden=("bertlab.layers", "bertlab.models"),
    forbidden_because="The library has this function; here you write it.",
    facts=lambda case: {"rows": case.arguments[0].shape[0], "tokens": case.arguments[0].shape[1]},
    hints=(
        "Row b of the result holds the vectors of row b of `hidden` at the places that row b of `positions` names.",
        "`ops.take_along_axis(…, axis=1)` goes row by row. It wants as many axes in both.",
        "With an axis added at the end, the positions are (batch, predictions, 1); along the last "
        "axis they are repeated.",
    ),
    misconceptions=(
        Misconception(
            "the-first-rows-positions",
            "All rows are read at the positions of the first row. Each row has positions of its own.",
            (
                (
                    "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
                    "ops.take(hidden, positions[0], axis=1)",
                ),
            ),
        ),
        Misconception(
            "every-row-at-everybodys-positions",
            "`ops.take` reads every row at the positions of every row, so an axis is too many. Row b goes with row b.",
            (
                (
                    "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
                    "ops.take(hidden, positions, axis=1)",
                ),
            ),
        ),
        Misconception(
            "flattened-without-an-offset",
            "With the rows end to end, position t of row b stands at b · {tokens} + t. You take t: always row 0.",
            (
                (
                    "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
                    "ops.take(ops.reshape(hidden, (-1, hidden.shape[-1])), positions, axis=0)",
                ),
            ),
        ),
        Misconception(
            "zeroed-instead-of-taken",
            "You set the other vectors to zero and keep all {tokens} places. The head would still "
            "multiply each of them "
            "with the whole vocabulary: take the few out.",
            (
                (
                    "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
                    "hidden * ops.expand_dims(ops.max(ops.one_hot(positions, hidden.shape[1]), axis=1), -1)",
                ),
            ),
        ),
        Misconception(
            "the-first-ones",
            "You take the first places of each row. `positions` says which places are wanted.",
            (
                (
                    "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
                    "hidden[:, : positions.shape[1]]",
                ),
            ),
        ),
    ),
)
