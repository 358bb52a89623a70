"""Notebook 07, exercises 7.8 to 7.11: the schedule, what decays, and two figures to judge a model by."""

from autograde.exercises import n07_draws as draws
from autograde.exercises.n07_common import MODULE, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, cases, function, values

LEARNING_RATE = Exercise(
    id="learning-rate",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.8",
    title="Up, then down",
    minutes=8,
    lines="ETraining, line 10: η",
    names=("learning_rate",),
    arguments=("step", "peak", "warmup_steps", "total_steps"),
    probe=function("learning_rate"),
    reference=draws.learning_rate,
    parts=(
        values(1, draws.schedules),
        cases("after the end", 1, draws.after_the_end, "past total_steps the rate stays 0"),
        cases("no warm-up", 1, draws.no_warmup, "with warmup_steps = 0 the first step is made at the peak"),
    ),
    forbidden=("bertlab.training", "keras.optimizers.schedules"),
    forbidden_because="This exercise is about writing the schedule yourself.",
    facts=lambda case: {"peak": f"{case.arguments[1]:g}", "warmup": case.arguments[2], "total": case.arguments[3]},
    hints=(
        "Two straight lines, one up, one down; of the two the lower one counts.",
        "Up: (step + 1) / warmup_steps. Down: what is left, (total_steps − step), over the length of the way down.",
        "`ops.minimum` of the two, nothing below 0, times the peak. `max(warmup_steps, 1)` avoids 0 below the line.",
    ),
    misconceptions=(
        Misconception(
            "first-step-lost",
            "Your first step is made at rate 0, so it changes nothing. Before step s there were s; the one being made "
            "is number s + 1 of {warmup}.",
            (("(step + 1) / max", "step / max"),),
        ),
        Misconception(
            "down-from-the-start",
            "Your line down begins at step 0, so at the end of the warm-up the rate jumps below the peak. (The "
            "published script does that.) Let it begin where the warm-up ends: {total} − {warmup} steps long.",
            (("(total_steps - step) / (total_steps - warmup_steps)", "(total_steps - step) / total_steps"),),
        ),
        Misconception(
            "never-down",
            "The rate rises and stays at {peak}. After the warm-up it falls in a straight line, to 0 at step {total}.",
            (("ops.minimum(rising, falling)", "rising"),),
        ),
        Misconception(
            "never-up",
            "The first step is made at the full rate. Adam's averages know nothing yet: for {warmup} "
            "steps the rate rises.",
            (("ops.minimum(rising, falling)", "falling"),),
        ),
        Misconception(
            "below-zero",
            "After the last step your rate is negative, and training would go uphill. Let it stay 0.",
            (("ops.clip(ops.minimum(rising, falling), 0, 1)", "ops.minimum(rising, falling)"),),
        ),
    ),
)

DECAYS = Exercise(
    id="decays",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.9",
    title="Which weights decay",
    minutes=5,
    lines="BERT's optimizer: L2 weight decay of 0.01",
    names=("decays",),
    arguments=("name",),
    probe=function("decays"),
    reference=draws.decays,
    returns="bool",
    parts=(
        values(1, draws.usual_names),
        cases(
            "only the last part", 1, draws.words_in_words, "a word within a longer one, or in front, decides nothing"
        ),
    ),
    forbidden=("bertlab.training",),
    forbidden_because="The library has this rule; here you write it.",
    hints=(
        "Who is spared? Look at the last part of the name, after the last slash.",
        "`name.split(\"/\")` gives the parts; the last one is at index −1.",
        "True for everything whose last part is none of bias, gamma, beta.",
    ),
    misconceptions=(
        Misconception(
            "the-other-way-round",
            "You return True for the weights that are spared. The function says which ones *decay*.",
            (("not in", "in"),),
        ),
        Misconception(
            "only-biases-spared",
            "LayerNorm's γ and β are spared too: pulled towards 0, γ would switch the layer off.",
            (("(\"bias\", \"gamma\", \"beta\")", "(\"bias\",)"),),
        ),
        Misconception(
            "biases-not-spared",
            "LayerNorms are spared, and biases with them: a bias only shifts, and there is no reason to want it small.",
            (("(\"bias\", \"gamma\", \"beta\")", "(\"gamma\", \"beta\")"),),
        ),
        Misconception(
            "only-kernels-decay",
            "You let the kernels decay and nothing else. The embeddings decay too: the rule names "
            "those that are spared.",
            (("not in (\"bias\", \"gamma\", \"beta\")", "== \"kernel\""),),
        ),
        Misconception(
            "anywhere-in-the-name",
            "You look for the words anywhere in the name: \"beta\" also stands in \"alphabet\". Compare the last part.",
            (
                (
                    "name.split(\"/\")[-1] not in (\"bias\", \"gamma\", \"beta\")",
                    "not any(word in name for word in (\"bias\", \"gamma\", \"beta\"))",
                ),
            ),
        ),
    ),
)  # fmt: skip

MASKED_ACCURACY = Exercise(
    id="masked-accuracy",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.10",
    title="How many blanks are right",
    minutes=6,
    lines="",
    names=("masked_accuracy",),
    arguments=("logits", "labels", "weights"),
    probe=function("masked_accuracy"),
    reference=draws.masked_accuracy,
    parts=(
        values(2, draws.batches_of_guesses),
        cases(
            "right only in the filling", 1, draws.all_wrong_but_the_filling, "right guesses in the filling earn nothing"
        ),
    ),
    forbidden=("keras.metrics", "bertlab.training"),
    forbidden_because="This exercise is about writing it yourself.",
    facts=lambda case: {"filling": int((case.arguments[2] == 0).sum()), "all": case.arguments[2].size},
    hints=(
        "A guess is the piece with the largest logit. It is right where it equals the label.",
        "`ops.argmax` over the vocabulary, `ops.equal`, and `ops.cast` to make true and false into 1 and 0.",
        "Hits times weights, summed, over the sum of the weights.",
    ),
    misconceptions=(
        Misconception(
            "filling-counts",
            "You count all {all} places. {filling} of them are filling and nobody's guess.",
            (("ops.sum(hits * weights) / ops.sum(weights)", "ops.mean(hits)"),),
        ),
        Misconception(
            "divided-by-all-places",
            "You divide the hits by all {all} places, filling included, so even a perfect model stays below 1.",
            (("ops.sum(hits * weights) / ops.sum(weights)", "ops.mean(hits * weights)"),),
        ),
        Misconception(
            "mean-of-rows",
            "You take each row's share and then the mean of the rows. Every prediction counts alike, "
            "wherever it stands.",
            (
                (
                    "ops.sum(hits * weights) / ops.sum(weights)",
                    "ops.mean(ops.sum(hits * weights, axis=1) / ops.sum(weights, axis=1))",
                ),
            ),
        ),
        Misconception(
            "among-the-best-five",
            "You count a guess as right if it is among the five best. Accuracy asks for the best one.",
            (
                (
                    "ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), \"float32\")",
                    "ops.cast(ops.reshape(ops.in_top_k(ops.reshape(labels, (-1,)), "
                    "ops.reshape(logits, (-1, logits.shape[-1])), 5), labels.shape), \"float32\")",
                ),
            ),
        ),
        Misconception(
            "hits-counted-not-shared",
            "You count the hits. The accuracy is their share of the predictions.",
            (("ops.sum(hits * weights) / ops.sum(weights)", "ops.sum(hits * weights)"),),
        ),
    ),
)  # fmt: skip

PERPLEXITY = Exercise(
    id="perplexity",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.11",
    title="Perplexity over many batches",
    minutes=5,
    lines="",
    names=("perplexity",),
    arguments=("losses", "counts"),
    probe=function("perplexity"),
    reference=draws.perplexity,
    parts=(
        values(1, draws.losses_of_batches),
        cases("one batch", 1, draws.one_batch, "guessing blindly among V pieces has perplexity V"),
    ),
    hints=(
        "First the mean loss of one prediction, over all batches; then exp of it.",
        "A batch's loss is a mean over `counts` predictions: loss · count gives its sum back.",
        "Sum of loss · count over the sum of the counts, and `ops.exp` around it.",
    ),
    misconceptions=(
        Misconception(
            "batches-count-alike",
            "You take the plain mean of the batches. A batch with more predictions weighs more.",
            (("ops.sum(losses * counts) / ops.sum(counts)", "ops.mean(losses)"),),
        ),
        Misconception(
            "mean-of-perplexities",
            "You take exp first and the mean afterwards. Perplexity is exp of the mean loss; exp bends upwards, so the "
            "other order gives more.",
            (("ops.exp(ops.sum(losses * counts) / ops.sum(counts))",
              "ops.sum(ops.exp(losses) * counts) / ops.sum(counts)"),),
        ),
        Misconception(
            "no-exp",
            "This is the mean loss itself. Perplexity is e to that power.",
            (("ops.exp(ops.sum(losses * counts) / ops.sum(counts))", "ops.sum(losses * counts) / ops.sum(counts)"),),
        ),
        Misconception(
            "base-two",
            "You raise 2 to the loss. The loss was made with the natural logarithm, so it is e.",
            (("ops.exp(ops.sum(losses * counts) / ops.sum(counts))",
              "2.0 ** (ops.sum(losses * counts) / ops.sum(counts))"),),
        ),
    ),
)  # fmt: skip
