"""Fine-tuning for notebooks 08: an encoder and a head in one model, one training function, and inputs for them.

    begin = published("bertlab-mini")                 see `autograde.student.starting_points`
    rows = encode(texts, begin, 32)                   a dict of three arrays (examples, 32)
    model = fine_tune(new_bert(begin), head, rows, targets, loss, rate=5e-4)
    logits = predict(model, rows)

Encoder, tokenizer and heads are the student's own, from `mybert`.
"""

import time
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import ops

SHOWN_AFTER = 1.0  # seconds, before a bar is drawn: most trainings of the small world are over by then
CELLS = 30  # of a bar


def cut(text: str, start) -> list[str]:
    """The tokens of a text, from the vocabulary of this starting point."""
    from mybert.wordpiece import tokenize

    return tokenize(text, start.vocabulary, start.lower_case)


def encode(texts, start, length: int) -> dict[str, np.ndarray]:
    """Splits texts, or pairs of texts, into tokens and packs them; a dict of three arrays (examples, length)."""
    from mybert.wordpiece import pack

    pairs = [text if isinstance(text, tuple) else (text, None) for text in texts]
    in_pieces = [[None if text is None else cut(text, start) for text in pair] for pair in pairs]
    return arrays([pack(first, second, start.vocabulary, length) for first, second in in_pieces])


def arrays(packed: list[dict]) -> dict[str, np.ndarray]:
    """Stacks packed inputs into arrays."""
    return {name: np.array([row[name] for row in packed], "int32") for name in packed[0]}


def built(**sizes):
    """The student's encoder without dropout, called once so that its weights exist."""
    from mybert.bert import Bert

    bert = Bert(**sizes | {"dropout": 0.0})
    bert(*[ops.ones((1, 2), "int32")] * 3)
    return bert


def new_bert(start):
    """The student's encoder with the weights of a starting point."""
    bert = built(**start.sizes)
    start.fill(bert)
    return bert


class FineTuned(keras.Model):
    """Your encoder with one head. The head gets the vectors and, if the input has it, `may_answer`."""

    def __init__(self, bert, head):
        super().__init__()
        self.bert, self.head = bert, head
        bert.pooler.trainable = False  # our heads use the encoder's own vectors

    def call(self, row, training=None):
        hidden, _ = self.bert(row["token_ids"], row["token_type_ids"], row["attention_mask"], training=training)
        if "may_answer" in row:
            return self.head(hidden, row["may_answer"])
        return self.head(hidden, training=training)


class LayerwiseAdam(keras.optimizers.Adam):
    """Adam with a factor for the step of each variable; factors: one for each, in the model's order, or None."""

    factors = None

    def update_step(self, gradient, variable, learning_rate):
        factor = 1.0 if self.factors is None else self.factors[self._get_variable_index(variable)]
        super().update_step(gradient, variable, learning_rate * factor)


class Bar(keras.callbacks.Callback):
    """One line that shows how far a training is, and is removed at its end; nothing for a training of a second."""

    def __init__(self, steps: int, say=print):
        super().__init__()
        self.steps, self.say = steps, say
        self.done, self.width = 0, 0

    def on_train_begin(self, logs=None):
        self.start = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        self.done += 1
        seconds = time.monotonic() - self.start
        if self.done == 1:
            self.compiled = seconds
        if seconds < SHOWN_AFTER:
            return
        filled = CELLS * self.done // self.steps
        left = (seconds - self.compiled) / max(1, self.done - 1) * (self.steps - self.done)
        text = f"{'█' * filled}{'░' * (CELLS - filled)} step {self.done} of {self.steps}"
        self._draw(text + (f", about {left:.0f} s left" if self.done > 3 else ""))

    def on_train_end(self, logs=None):
        if self.width:
            self._draw("")
            self.say("\r", end="", flush=True)

    def _draw(self, text):
        self.say(f"\r{text:{self.width}}", end="", flush=True)
        self.width = len(text)


def fine_tune(bert, head, rows, targets, loss, epochs=3, rate=5e-4, batch=16, factors_of=None, again=None):
    """Trains an encoder and a head, with Adam, clipped gradients and a rate that rises and falls.

    factors_of: model → {path of a variable: factor of its rate}
    again: a model that this function has trained on as many examples; reuses its compiled step, which saves seconds
    """
    batch = min(batch, len(targets))
    steps = epochs * (len(targets) // batch)
    model = FineTuned(bert, head)
    model({name: array[:2] for name, array in rows.items()})
    if again is not None:
        again.set_weights(model.get_weights())
        for variable in again.optimizer.variables:
            variable.assign(ops.zeros_like(variable))
        model = again
    else:
        warm = max(1, steps // 10)
        schedule = keras.optimizers.schedules.CosineDecay(
            0.0, max(1, steps - warm), warmup_target=rate, warmup_steps=warm
        )
        by_path = factors_of(model) if factors_of else None
        factors = by_path and [by_path[variable.path] for variable in model.trainable_variables]
        compile_with_adam(model, schedule, loss, factors)
    fit(model, rows, targets, epochs, batch, callbacks=[Bar(steps)])
    return model


def compile_with_adam(model, schedule, loss, factors=None) -> None:
    """Adam with clipped gradients. factors: of the rates, see `LayerwiseAdam`."""
    optimizer = LayerwiseAdam(schedule, global_clipnorm=1.0)
    optimizer.factors = factors
    optimizer.build(model.trainable_variables)  # before the first step, which TensorFlow would otherwise trace twice
    model.compile(optimizer, loss, jit_compile=False)


def fit(model, rows, targets, epochs: int, batch: int, seed: int | None = None, callbacks=()) -> None:
    """Trains on full batches only: then your layers know all sizes. The examples left out are others in each epoch."""
    examples = tf.data.Dataset.from_tensor_slices((rows, targets)).shuffle(len(targets), seed=seed)
    batches = examples.batch(batch, drop_remainder=True)
    model.fit(batches, epochs=epochs, shuffle=False, verbose=0, callbacks=list(callbacks))


def predict(model, rows) -> np.ndarray:
    """The logits of all examples, a hundred at a time."""
    count = len(rows["token_ids"])
    parts = [{name: array[place : place + 100] for name, array in rows.items()} for place in range(0, count, 100)]
    return np.concatenate([np.array(model(part)) for part in parts])


# --- questions and answers ---


@dataclass(frozen=True)
class Asked:
    """One question that fits into its row. span: the answer's first and last token, (0, 0) without one."""

    question: str
    context: str
    answers: tuple[str, ...]
    span: tuple[int, int]
    first: int  # token of the context
    last: int


def fitting_questions(rows, start, length: int, most: int | None = None) -> list[Asked]:
    """The questions that fit into `length` tokens with their contexts, at most `most` of them."""
    found = []
    for row in rows:
        first = 2 + len(cut(row.question, start))  # behind [CLS], the question and [SEP]
        last = first + len(cut(row.context, start)) - 1
        if last > length - 2 or len(found) == most:
            continue
        span = (0, 0)  # [CLS] twice: no answer
        if row.answers:
            begins = first + len(cut(row.context[: row.answer_starts[0]], start))
            span = (begins, begins + len(cut(row.answers[0], start)) - 1)
        found.append(Asked(row.question, row.context, row.answers, span, first, last))
    return found


def encode_questions(asked: list[Asked], start, length: int) -> dict[str, np.ndarray]:
    """Packed questions with their contexts, and `may_answer`: True at the context's tokens and at [CLS]."""
    rows = encode([(one.question, one.context) for one in asked], start, length)
    columns = np.arange(length)
    within = [(columns >= one.first) & (columns <= one.last) for one in asked]
    return rows | {"may_answer": np.array(within) | (columns == 0)}


def span_loss(spans, logits):
    """Cross-entropy of the starts and of the ends. spans (batch, 2), logits (batch, 2, tokens)"""
    return ops.mean(ops.sparse_categorical_crossentropy(ops.cast(spans, "int32"), logits, from_logits=True))


def text_of(asked: Asked, span: tuple[int, int], start) -> str:
    """The words of a span as they are written in the context; "" for no answer, (0, 0)."""
    if not span[0]:
        return ""
    letters = start.tokenizer.encode_with_offsets(asked.context).offsets  # (tokens, 2): where each begins and ends
    return asked.context[letters[span[0] - asked.first, 0] : letters[span[1] - asked.first, 1]]
