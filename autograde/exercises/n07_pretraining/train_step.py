"""One training step: model, loss, gradients, clipping to length 1, optimizer."""

import math

import numpy as np

from autograde.exercises.draws import Random, normal, whole_numbers
from autograde.exercises.n07_pretraining._shared import rows_of_tokens, some_padding
from autograde.exercises.n07_pretraining.gather_positions import gather_positions
from autograde.exercises.n07_pretraining.mlm_loss import mlm_loss
from autograde.exercises.n07_pretraining.nsp_loss import nsp_loss
from autograde.exercises.spec import Case, Exercise, cases, mistake, training_step, values

TINY_ROLES = {
    "table": ["table.embeddings"],
    "segment": ["segment.embeddings"],
    "bias": ["bias"],
    "nsp/kernel": ["nsp_head.kernel", "nsp.kernel"],
    "nsp/bias": ["nsp_head.bias", "nsp.bias"],
    "calls": ["calls"],
}  # fmt: skip  ("nsp" in earlier editions of the notebook)
TINY = {"vocab_size": 7, "hidden_size": 4}


def tiny_model(batch, weights):
    """The outputs of TinyModel: its tokens do not look at each other; its padding does not count."""
    hidden = weights["table"][batch["token_ids"]] + weights["segment"][batch["token_type_ids"]]
    logits = gather_positions(hidden, batch["positions"]) @ weights["table"].T + weights["bias"]
    together = (hidden * batch["attention_mask"][:, :, None]).sum(axis=1)
    return logits, together @ weights["nsp/kernel"] + weights["nsp/bias"]


def tiny_loss(batch, weights):
    logits, next_logits = tiny_model(batch, weights)
    return mlm_loss(logits, batch["labels"], batch["weights"]) + nsp_loss(next_logits, batch["next_sentence"])


def tiny_gradients(batch, weights, small=1e-6):
    """Central differences, number by number: no formula that could be wrong in the same way as a student's."""
    gradients = {}
    for role, array in weights.items():
        gradients[role] = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            moved = {shift: weights | {role: array.copy()} for shift in (small, -small)}
            for shift, changed in moved.items():
                changed[role][index] += shift
            gradients[role][index] = (tiny_loss(batch, moved[small]) - tiny_loss(batch, moved[-small])) / (2 * small)
    return gradients


def length_of(gradients):
    return math.sqrt(sum(np.sum(gradient**2) for gradient in gradients.values()))


def train_step(batch, *, weights, config, steps, rate, compiled=False, momentum=0.0):
    """The last step's loss and the weights after so many steps of gradient descent, clipped at 1."""
    weights, loss = dict(weights), None
    calls, moves = weights.pop("calls"), dict.fromkeys(weights, 0.0)
    for _ in range(steps):
        loss, gradients = tiny_loss(batch, weights), tiny_gradients(batch, weights)
        length = length_of(gradients)
        for role, gradient in gradients.items():
            moves[role] = momentum * moves[role] - rate * gradient * min(1.0, 1.0 / length)
            weights[role] = weights[role] + moves[role]
    weights["calls"] = calls + steps
    return {"loss": np.array(loss, "float32")} | {role: array.astype("float32") for role, array in weights.items()}


def tiny_case(rng: Random, size: float, steps: int = 1, **keywords) -> Case:
    """Three rows of five tokens, in which every token of the table but one is looked up several times.

    The head of the next sentence has small weights: were its prediction certain, the padding would not change it.
    """
    pieces, hidden = TINY["vocab_size"], TINY["hidden_size"]
    token_ids, segments, is_real, positions = rows_of_tokens(rng, 3, 5, 2, True, pieces)
    token_ids = rng.permutation(np.arange(15) % 4).reshape(3, 5).astype("int32")
    batch = {
        "token_ids": token_ids, "token_type_ids": segments, "attention_mask": is_real, "positions": positions,
        "labels": whole_numbers(rng, pieces, 3, 2), "weights": some_padding(rng, 3, 2),
        "next_sentence": rng.permutation(np.array([0, 1, 0], "int32")),
    }  # fmt: skip
    weights = {
        "table": normal(rng, pieces, hidden, size=size), "segment": normal(rng, 2, hidden, size=size),
        "bias": normal(rng, pieces, size=size), "nsp/kernel": normal(rng, hidden, 2, size=min(size, 0.05)),
        "nsp/bias": normal(rng, 2, size=min(size, 0.05)), "calls": np.zeros(1, "float32"),
    }  # fmt: skip
    return Case((batch,), {"steps": steps, "rate": 0.5} | keywords, weights, TINY)


def steep(rng: Random) -> list[Case]:
    """Weights so large that the gradient is longer than 1."""
    return [tiny_case(rng, 2.0)]


def two_steps(rng: Random) -> list[Case]:
    """Steps of plain gradient descent, and of an optimizer with a memory."""
    return [tiny_case(rng, 1.5, steps=2), tiny_case(rng, 1.0, steps=2, momentum=0.5)]


def gentle(rng: Random) -> list[Case]:
    """Weights so small that the gradient is clearly shorter than 1."""
    while True:
        case = tiny_case(rng, 0.1)
        trained = {role: array for role, array in case.weights.items() if role != "calls"}
        if length_of(tiny_gradients(case.arguments[0], trained)) < 0.8:
            return [case]


def compiled(rng: Random) -> list[Case]:
    """Two steps inside tf.function, as in the run."""
    return [tiny_case(rng, 2.0, steps=2, compiled=True)]


EXERCISE = Exercise(
    probe=training_step("TinyModel", TINY_ROLES),
    reference=train_step,
    returns="dict",
    slow_draws=True,
    parts=(
        values(3, steep),
        cases("a short gradient", 1, gentle, "if the gradient is shorter than 1 the step is wrong"),
        cases("two steps", 0.5, two_steps, "after a second step on the same batch the weights are wrong; the "
                                            "optimizer makes the steps"),
        cases("compiled", 0.5, compiled, "inside `tf.function`, as in the run, the step is wrong"),
    ),
    hints=(
        "In the order of the lines: run the model, the loss, its gradient, the step. The first two inside the tape.",
        "`tape.gradient(loss, model.trainable_variables)` after the `with` block; then clip; then `optimizer.apply`.",
        "The loss is a sum of two: `mlm_loss` of the model's first result, `nsp_loss` of the second.",
    ),
    misconceptions=(
        mistake("rows-not-added-up",  # also with `ops.convert_to_tensor`, or if the rows are added up after clipping
            "[tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]",
            "tape.gradient(loss, variables)",
            hint="You measure the length of a list of rows: a token that occurs several times in the batch has several "
                 "rows, which must be added up before you clip. `tf.convert_to_tensor(gradient)` does that; "
                 "`ops.convert_to_tensor` does not."),
        mistake("not-in-training", 'batch["positions"], training=True', 'batch["positions"], training=False',
            hint="You run the model with `training=False`: its dropout would never act. Pass `training=True`."),
        mistake("not-clipped",
            "optimizer.apply(clip_gradients(gradients), variables)", "optimizer.apply(gradients, variables)",
            hint="You pass the gradient to the optimizer at full length. Clip it to length 1 first."),
        mistake("next-sentence-forgotten", ' + nsp_loss(next_logits, batch["next_sentence"])', "",
            hint="A weight gets no gradient. Is the loss the sum of both losses, computed inside of the tape from what "
                 "the model returned there, and do you ask for the gradients of `model.trainable_variables`?"),
        mistake("steps-of-its-own", "    optimizer.apply(clip_gradients(gradients), variables)\n",
            "    for variable, gradient in zip(variables, clip_gradients(gradients)):\n"
            "        variable.assign_sub(optimizer.learning_rate * gradient)\n",
            hint="You change the weights yourself, as plain gradient descent. The optimizer makes the step, in its own "
                 "way: `optimizer.apply`."),
        mistake("model-called-twice", "    with tf.GradientTape() as tape:\n",
            "    inputs = [batch[name] for name in ('token_ids', 'token_type_ids', 'attention_mask', 'positions')]\n"
            "    model(*inputs, training=True)\n    with tf.GradientTape() as tape:\n",
            hint="You call the model more than once in a step, which takes longer and draws other dropout. Call it "
                 "once, inside of the tape, and use both results."),
        mistake("mean-of-both-losses",
            "loss = mlm_loss(", "loss = 0.5 * mlm_loss(",
            " + nsp_loss(", " + 0.5 * nsp_loss(",
            hint="You take the mean of the two losses. BERT adds them: its gradient is twice as long as yours."),
        mistake("no-step-taken", "    optimizer.apply(clip_gradients(gradients), variables)\n", "",
            hint="The loss is right, but the weights did not change: you do not pass the gradients to "
                 "`optimizer.apply`."),
        mistake("filling-trained-on",
            'batch["labels"], batch["weights"])', 'batch["labels"], ops.ones_like(batch["weights"]))',
            hint='Every prediction counts, the padding too: pass `batch["weights"]` to the loss.'),
    ),
)  # fmt: skip
