"""Notebook 07, exercises 7.5 to 7.7: the model with both heads, clipping, one step of training."""

from autograde.exercises import n07_model_draws as draws
from autograde.exercises.n07_common import MODULE, NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, cases, function, layer, training_step, values

PRETRAINING_MODEL = Exercise(
    id="pretraining-model",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.5",
    title="Everything you built, in one model",
    minutes=12,
    lines="ETraining, line 8, and BERT's second head",
    names=("PreTrainingModel",),
    arguments=("token_ids", "token_type_ids", "attention_mask", "positions"),
    probe=layer("PreTrainingModel", draws.MODEL_ROLES),
    reference=draws.pretraining_model,
    returns="tuple",
    parts=(
        values(4, draws.inputs_of_model),
        cases("padding", 1, draws.padded_inputs, "with padding in a row the result is another"),
    ),
    forbidden=("bertlab.models", "bertlab.layers"),
    forbidden_because="This exercise puts your own layers together.",
    hints=(
        "Three parts in `__init__`: `self.bert`, `self.mlm`, `self.nsp`. In `call` each is used once.",
        "`self.bert(…)` returns two things. The vectors of all tokens go to one head, the pooled [CLS] to the other.",
        "The MLM head gets the vectors at `positions` only, and the table of the token embeddings: "
        "the weights are tied.",
    ),
    misconceptions=(
        Misconception(
            "pooler-passed-over",
            "Your next-sentence head reads the [CLS] vector as the encoder left it. BERT's reads it through the "
            "pooler: the second thing that `self.bert` returns.",
            (("self.nsp(pooled)", "self.nsp(hidden[:, 0])"),),
        ),
        Misconception(
            "guesses-everywhere",
            "Your MLM head works on every token. Only those at `positions` are to be guessed: "
            "`gather_positions` first.",
            (("gather_positions(hidden, positions)", "hidden"),),
        ),
        Misconception(
            "segments-lost",
            "The segments do not reach BERT: all tokens count as sentence A.",
            (("self.bert(token_ids, token_type_ids,", "self.bert(token_ids, ops.zeros_like(token_type_ids),"),),
        ),
        Misconception(
            "padding-visible",
            "The mask does not reach BERT, so the words look at the padding too.",
            (("attention_mask, training=training)", "ops.ones_like(attention_mask), training=training)"),),
        ),
        Misconception(
            "heads-exchanged",
            "The two results come back in the wrong order: first the MLM logits, then the next-sentence logits.",
            (("return logits, self.nsp(pooled)", "return self.nsp(pooled), logits"),),
        ),
    ),
)  # fmt: skip

CLIP_GRADIENTS = Exercise(
    id="clip-gradients",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.6",
    title="No step longer than this",
    minutes=7,
    lines="BERT's optimizer: global clipping at 1.0",
    names=("clip_gradients",),
    arguments=("gradients", "most"),
    probe=function("clip_gradients"),
    reference=draws.clip_gradients,
    returns="list",
    parts=(
        values(2, draws.large_gradients),
        cases("short gradients", 1, draws.small_gradients, "gradients that are short enough stay as they are"),
    ),
    forbidden=("tensorflow.clip_by_global_norm", "tensorflow.clip_by_norm"),
    forbidden_because="This exercise is about writing it yourself; afterwards you may use either.",
    hints=(
        "Think of all gradients laid end to end: one long vector g, with one length.",
        "Its length is the root of the sum of *all* squares, over all tensors of the list.",
        "One factor for all: most / max(length, most). It is 1 where nothing has to be clipped.",
    ),
    misconceptions=(
        Misconception(
            "each-tensor-by-itself",
            "You clip each tensor by its own length. Then the large ones shrink and the small ones do not: the step "
            "points elsewhere. One length, one factor.",
            (
                (
                    "    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))\n"
                    "    factor = most / ops.maximum(length, most)\n"
                    "    return [gradient * factor for gradient in gradients]",
                    "    clipped = []\n"
                    "    for gradient in gradients:\n"
                    "        length = ops.sqrt(ops.sum(ops.square(gradient)))\n"
                    "        clipped.append(gradient * most / ops.maximum(length, most))\n"
                    "    return clipped",
                ),
            ),
        ),
        Misconception(
            "each-number-by-itself",
            "You cut off single numbers at ±{most}. It is the length of the whole that is limited; its "
            "direction stays.",
            (("gradient * factor for", "ops.clip(gradient, -most, most) for"),),
        ),
        Misconception(
            "always-stretched",
            "You scale every gradient to length {most}, short ones too. Clipping only shortens: near the goal, steps "
            "must be allowed to become small.",
            (("ops.maximum(length, most)", "length"),),
        ),
        Misconception(
            "no-root",
            "You divide by the sum of squares. The length is its root.",
            (("ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))",
              "sum(ops.sum(ops.square(gradient)) for gradient in gradients)"),),
        ),
        Misconception(
            "lengths-added",
            "You add up the lengths of the tensors. Lengths of pieces that stand at right angles do not add; their "
            "squares do (Pythagoras).",
            (("ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))",
              "sum(ops.sqrt(ops.sum(ops.square(gradient))) for gradient in gradients)"),),
        ),
    ),
    facts=lambda case: {"most": case.arguments[1] if len(case.arguments) > 1 else 1.0},
)  # fmt: skip

TRAIN_STEP = Exercise(
    id="train-step",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="7.7",
    title="One step of training",
    minutes=10,
    lines="ETraining, lines 8–10",
    names=("train_step",),
    arguments=("batch",),
    probe=training_step("train_step", "TinyModel", draws.TINY_ROLES),
    reference=draws.train_step,
    returns="dict",
    parts=(
        values(3, draws.steep),
        cases("a short gradient", 1, draws.gentle, "where the gradient is shorter than 1 the step is another"),
        cases("two steps", 1, draws.two_steps, "after a second step on the same batch the weights are others"),
    ),
    hints=(
        "In the order of the lines: run the model, the loss, its gradient, the step. The first two inside the tape.",
        "`tape.gradient(loss, model.trainable_variables)` after the `with` block; then clip; then `optimizer.apply`.",
        "The loss is a sum of two: `mlm_loss` on the first thing the model returns, `nsp_loss` on the second.",
    ),
    misconceptions=(
        Misconception(
            "not-clipped",
            "The gradient goes to the optimizer at full length. Clip all of it to length 1 first.",
            (("optimizer.apply(clip_gradients(gradients), variables)", "optimizer.apply(gradients, variables)"),),
        ),
        Misconception(
            "next-sentence-forgotten",
            "The next-sentence loss is missing, so its head never moves. The loss is the sum of both.",
            ((' + nsp_loss(next_logits, batch["next_sentence"])', ""),),
        ),
        Misconception(
            "mean-of-both-losses",
            "You take the mean of the two losses. BERT adds them: the gradient is twice as long as yours.",
            (("loss = mlm_loss(", "loss = 0.5 * mlm_loss("), (" + nsp_loss(", " + 0.5 * nsp_loss(")),
        ),
        Misconception(
            "no-step-taken",
            "The loss is right, and the weights are what they were: the gradients never reach `optimizer.apply`.",
            (("    optimizer.apply(clip_gradients(gradients), variables)\n", ""),),
        ),
        Misconception(
            "filling-trained-on",
            "Every place counts, the filling too: hand `batch[\"weights\"]` to the loss.",
            (('batch["labels"], batch["weights"])', 'batch["labels"], ops.ones_like(batch["weights"]))'),),
        ),
    ),
)  # fmt: skip
