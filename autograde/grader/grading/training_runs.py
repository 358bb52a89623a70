"""Grades a training run: weights from a file → the student's own model in a sandbox → its predictions → points.

    file ─▶ read_weights (outside: nothing is run, nothing is trusted) ─▶ sandbox: model, weights by role, masked rows
    logits ─▶ loss and accuracy (outside) ─▶ points by the run's marks

The sandbox gets masked rows but never the original tokens, so its predictions cannot be copied. If the weights do not
fit the student's model, the course's own answers are used instead: a mistake costs points only where it was made.
"""

import functools
import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autograde.boundary.roles import model_roles
from autograde.boundary.weights_file import Weights, WeightsError, read_weights
from autograde.exercises.runs import TrainingRun, TranslationRun
from autograde.exercises.spec import layer, named
from autograde.grader.book.course import hidden_number
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.carry_forward import course_step
from autograde.grader.grading.run_cells import run_steps
from autograde.grader.grading.submission import MAX_TRIES, Outcome, Questions, Step, Task
from autograde.grader.grading.translation_runs import grade_translation, not_accepted, verdict_by_marks
from autograde.grader.grading.whose_weights import are_packaged, pieces_of
from autograde.judging.answers import Answer
from autograde.judging.verdict import Verdict
from autograde.student.training_run import documents_of, vocabulary_of
from bertlab.checkpoints.packaged import MINI

SECONDS = 60.0  # for all predictions
HIGHEST_LOSS = 10.0  # that is shown; an untrained model's is near 8.3
MAX_LOSS = 16.0  # of one token, in the gain from the context: twice that of an untrained model
KILLED = f"its sandbox was killed from outside; `autograde grade` tries again, {MAX_TRIES} times in all"
_GATHERING = threading.Lock()  # the hidden text is gathered once, by one thread


def add_runs(
    task: Task, outcome: Outcome, runs: Iterable[TrainingRun | TranslationRun], folder: Path, launcher, budget: Budget
) -> Outcome:
    """The outcome with the verdicts on the runs of a notebook, whose files lie in `folder`. Raises SandboxError."""
    for run in runs:
        if isinstance(run, TranslationRun):
            with budget.thinking():
                graded = GradedRun(grade_translation(run, folder, task.secret, task.student, task.attempt))
        else:
            graded = grade_run(run, folder, task, outcome, launcher, budget)
        outcome = replace(
            outcome, runs=(*outcome.runs, graded.verdict), doubts=(*outcome.doubts, *graded.doubts),
            again=outcome.again or graded.again,
        ).with_technical(*graded.ends)  # fmt: skip
    return outcome


@dataclass(frozen=True)
class GradedRun:
    """ends: sentences about sandboxes that ended; doubts: why the instructor should look at the run; again: whether a
    sandbox was killed from outside, so that the next `grade` shall try again."""

    verdict: Verdict
    ends: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    again: bool = False


def grade_run(run: TrainingRun, folder: Path, task: Task, outcome: Outcome, launcher, budget: Budget) -> GradedRun:
    """One run, graded. Raises SandboxError where no sandbox can be made."""
    try:
        weights = read_weights(folder / run.file)
        _check_fit(run, weights)
    except WeightsError as reason:
        return GradedRun(not_accepted(run, folder, reason))
    if not run.starts_from and are_packaged(weights):
        sentence = f"{run.file} has the rows of the packaged model {MINI}, not those of a run of your own."
        refused = Verdict(run.id, run.label, "refused", 0.0, run.points, advice=(sentence,))
        return GradedRun(refused, doubts=(f"{run.label}: {sentence}",))
    rows = hidden_rows(run, task.secret, task.student, task.attempt)
    question = _question(run, weights, rows)
    ends: list[str] = []
    killed, tries = False, [True, False]  # whose answers: the student's own, then the course's
    while tries:
        with_own_model = tries.pop(0)
        asked = Questions([question], SECONDS)
        steps = [*_program(task, with_own_model), asked]
        _, stop = run_steps(task, outcome, steps, launcher, budget, task.upstream if with_own_model else {})
        if stop and stop.end is None:
            return GradedRun(_technical(run, f"not reached in time: it used up {budget.spent_on}"), tuple(ends))
        if stop:
            if stop.from_outside and not killed:
                tries.insert(0, with_own_model)  # once more
            else:
                ends.append(f"{run.id}: {stop.end.reason}")  # the name only: solutions are beside the program
            killed = killed or stop.from_outside
            continue
        logits = _logits(run, asked.answers[0], rows)
        if logits is not None:
            loss, accuracy, context = metrics(logits, rows)
            verdict = _verdict(run, loss, accuracy, context, baseline(run, rows), with_own_model)
            return GradedRun(verdict, tuple(ends), doubts_about(run, loss, accuracy))
    if killed and ends:
        return GradedRun(_technical(run, KILLED), tuple(ends), again=True)
    sentence = f"Neither your {run.model} nor the course's own version made predictions with these weights."
    verdict = Verdict(run.id, run.label, "wrong", 0.0, run.points, advice=(sentence,))
    return GradedRun(verdict, tuple(ends))


def doubts_about(run: TrainingRun, loss: float, accuracy: float) -> tuple[str, ...]:
    """A sentence for the instructor about a score that no honest run reaches."""
    if loss >= run.honest_loss and accuracy <= run.honest_accuracy:
        return ()
    return (
        f"{run.label}: loss {_shown(loss)} and accuracy {accuracy:.0%} on hidden text are better than those of "
        f"any honest model of this size (loss {run.honest_loss:g}, accuracy {run.honest_accuracy:.0%}). The model may "
        "contain the text: ask the student how it was trained.",
    )


def _technical(run: TrainingRun, reason: str) -> Verdict:
    return Verdict(run.id, run.label, "technical", 0.0, run.points, technical=reason)


def _check_fit(run: TrainingRun, weights: Weights) -> None:
    if weights.are_untrained:
        raise WeightsError(f"{run.file} has the weights of an untrained model")
    pieces, found = len(pieces_of(vocabulary_of(run.starts_from))), weights.config
    if found["vocab_size"] != pieces:
        whose = run.starts_from or "the course"
        raise WeightsError(f"{run.file}: expected {whose}'s vocabulary of {pieces} tokens, got {found['vocab_size']}")
    for name, size in run.sizes.items():
        if found[name] != size:
            raise WeightsError(f"{run.file}: expected {name} {size}, got {found[name]}")
    if weights.config["max_positions"] < run.tokens:
        raise WeightsError(
            f"{run.file}: expected at least {run.tokens} positions, got {weights.config['max_positions']}"
        )


# --- the hidden rows ---


def hidden_rows(run: TrainingRun, secret: bytes, student: str, attempt: str = "") -> dict[str, np.ndarray]:
    """Masked rows for one attempt: held-out text, with masks that cannot be computed without the secret.

    Only positions at which the model sees [MASK] have a weight: at the others of the 15 % it sees the token itself, or
    another one, so a model that copies its input would be right at a tenth of them.
    """
    from bertlab.data.pretraining.examples import examples_from_tokens
    from bertlab.data.pretraining.settings import ExampleSettings

    with _GATHERING:
        vocabulary, tokens = tokens_of(vocabulary_of(run.starts_from), held_out=True)
    seed = hidden_number(secret, 4, student, run.notebook, run.id, attempt) >> 1
    settings = ExampleSettings(sequence_length=run.tokens, duplicate_factor=1, seed=seed)
    rows = examples_from_tokens(tokens, vocabulary, settings, unit=0)
    rows = {name: array[: run.rows] for name, array in rows.items()}
    seen = np.take_along_axis(rows["input_ids"], rows["masked_lm_positions"], axis=1)  # (B, P)
    rows["masked_lm_weights"] = rows["masked_lm_weights"] * (seen == vocabulary.mask_id)
    return rows


def baseline(run: TrainingRun, rows: dict[str, np.ndarray]) -> float:
    """The loss on these rows that a model has to be below: that of the frequencies of the training text's tokens, or of
    an untrained model, for which all tokens are equally likely."""
    from bertlab.training.runs.evaluation import unigram_baseline

    with _GATHERING:
        training = tokens_of(vocabulary_of(run.starts_from), held_out=False)[1].values
    labels = rows["masked_lm_ids"][rows["masked_lm_weights"] > 0]
    pieces = len(pieces_of(vocabulary_of(run.starts_from)))
    return min(unigram_baseline(labels, training, pieces)["unigram_loss"], math.log(pieces))


@functools.cache
def tokens_of(vocabulary: Path, held_out: bool):
    """Vocabulary and tokens of the documents that runs are trained on, or of those that none is trained on."""
    from bertlab.data.documents import is_validation
    from bertlab.data.pretraining.examples import tokenize_documents
    from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

    tokenizer = WordPieceTokenizer(Vocabulary.from_file(vocabulary))
    chosen = (document for document in documents_of("python") if is_validation(document.id) == held_out)
    return tokenizer.vocabulary, tokenize_documents(chosen, tokenizer)


# --- the sandbox ---


def _question(run: TrainingRun, weights: Weights, rows: dict) -> dict:
    config = weights.config
    names = ("input_ids", "token_type_ids", "attention_mask", "masked_lm_positions")
    probe = named(layer(model_roles(config["num_layers"])), run.model) | {"config": config, "twice": False}
    return {"probe": probe, "arguments": [rows[name] for name in names], "keywords": {}, "weights": weights.arrays}


def _program(task: Task, with_own_model: bool) -> list[Step]:
    """The notebook's cells; on the second try the course's own answer after each exercise's."""
    steps = [step if step.exercise is None else course_step(step.exercise) for step in task.steps]
    return [step for step in steps if step.number] if with_own_model else steps


def _logits(run: TrainingRun, answer: Answer, rows: dict) -> np.ndarray | None:
    """The MLM logits (B, P, V), or None if the answer is anything else than finite floats of this shape."""
    value = answer.value
    if answer.status != "ok" or type(value) not in (tuple, list) or not value:
        return None
    logits, wanted = value[0], (*rows["masked_lm_positions"].shape, len(pieces_of(vocabulary_of(run.starts_from))))
    if type(logits) is not np.ndarray or logits.dtype.kind != "f" or logits.shape != wanted:
        return None
    return logits if np.isfinite(logits).all() else None


# --- the points ---


def metrics(logits: np.ndarray, rows: dict) -> tuple[float, float, float]:
    """Mean loss, accuracy and gain from the context over the masked positions, in float64.

    The gain is the mean loss of each prediction at all masked positions, minus its loss at its own; no token counts
    more than MAX_LOSS in it. Else one prediction that holds one token for impossible, with luck, would be all of it.
    """
    real = rows["masked_lm_weights"] > 0
    chosen, labels = logits[real].astype("float64"), rows["masked_lm_ids"][real]  # (n, V), (n,)
    chosen -= chosen.max(axis=1, keepdims=True)
    log_sums = np.log(np.exp(chosen).sum(axis=1))
    losses = log_sums[:, None] - chosen  # (n, V)
    losses_at_own = losses[np.arange(len(labels)), labels]  # (n,)
    frequencies = np.bincount(labels, minlength=chosen.shape[1]) / len(labels)
    gain = (np.minimum(losses, MAX_LOSS) @ frequencies - np.minimum(losses_at_own, MAX_LOSS)).mean()
    return float(losses_at_own.mean()), float((chosen.argmax(axis=1) == labels).mean()), float(gain)


def _verdict(
    run: TrainingRun, loss: float, accuracy: float, context: float, baseline_loss: float, with_own_model: bool
) -> Verdict:
    marks = []
    for mark in run.marks:
        is_low = mark.loss < baseline_loss
        needed = f"of at most {mark.loss:g}" if is_low else f"below {baseline_loss:.1f}, that of the token frequencies"
        share = f" and an accuracy of at least {mark.accuracy:.0%}" if mark.accuracy else ""
        gain = f" and a gain from the context of at least {mark.context:g}" if np.isfinite(mark.context) else ""
        earned = mark.earned(loss, accuracy, context, baseline_loss)
        marks.append((mark, earned, f"needs a loss {needed}{share}{gain}"))
    said = f"loss {_shown(loss)}, accuracy {accuracy:.0%} at masked positions of hidden text"
    notes = () if with_own_model else (f"Graded with the course's own {run.model}: the weights do not fit yours.",)
    return verdict_by_marks(run, marks, said, *notes)


def _shown(loss: float) -> str:
    """One digit and a highest number: a program chooses its logits, and with them every digit of its loss."""
    return f"{loss:.1f}" if loss <= HIGHEST_LOSS else f"more than {HIGHEST_LOSS:g}"
