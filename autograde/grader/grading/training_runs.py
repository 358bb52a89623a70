"""Grades a training run: weights from a file → the student's own model in a sandbox → its predictions → points.

    file ─▶ read_weights (outside: nothing is run, nothing is trusted) ─▶ sandbox: model, weights by role, masked rows
    logits ─▶ loss and accuracy (outside) ─▶ points by the run's marks

The sandbox gets masked rows but never the original tokens, so its predictions cannot be copied. If the weights do not
fit the student's model, the course's own answers are used instead: a mistake costs points only where it was made.
"""

import functools
import hashlib
import hmac
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autograde.boundary.roles import model_roles
from autograde.boundary.weights_file import Weights, WeightsError, read_weights
from autograde.common.errors import SandboxEnded
from autograde.exercises import cells
from autograde.exercises.runs import TrainingRun
from autograde.exercises.spec import layer, named
from autograde.grader.grading.budget import Budget, BudgetSpent
from autograde.grader.grading.run_cells import entered, run_cell
from autograde.grader.grading.submission import MAX_TRIES, Outcome, Task
from autograde.judging.answers import Answer
from autograde.judging.verdict import PartResult, Verdict
from autograde.sandbox import limits as names_of_ends
from autograde.student.training_run import VOCABULARY, documents_of

SECONDS = 60.0  # for all predictions
HIGHEST_LOSS = 10.0  # that is shown; an untrained model's is near 8.3
MAX_LOSS = 16.0  # of one token, in the gain from the context: twice that of an untrained model
KILLED = f"its sandbox was killed from outside; `autograde grade` tries again, {MAX_TRIES} times in all"
_GATHERING = threading.Lock()  # the hidden text is gathered once, by one thread


def add_runs(
    task: Task, outcome: Outcome, found: Iterable[TrainingRun], folder: Path, launcher, budget: Budget
) -> Outcome:
    """The verdicts on the runs of a notebook, whose files lie in `folder`. Raises SandboxError where no sandbox can be
    made."""
    for run in found:
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
        missing = not (folder / run.file).exists()
        said = f"{reason}. Hand in {run.file} together with the notebook; `hand_in` writes it."
        status = "missing" if missing else "refused"
        return GradedRun(Verdict(run.id, run.label, status, 0.0, run.points, advice=(said,)))
    rows = hidden_rows(run, task.secret, task.student, task.attempt)
    question = _question(run, weights, rows)
    ends: list[str] = []
    killed, tries = False, [True, False]  # whose answers: the student's own, then the course's
    while tries:
        own = tries.pop(0)
        try:
            with entered(task, launcher, task.upstream if own else {}, budget) as sandbox:
                _walk(task, outcome, sandbox, own)
                answer = sandbox.ask([question], SECONDS)[0]
        except BudgetSpent:
            return GradedRun(_not_reached(run, budget), tuple(ends))
        except SandboxEnded as ended:
            from_outside = ended.reason.reason in names_of_ends.FROM_OUTSIDE
            if from_outside and not killed:
                tries.insert(0, own)  # once more
            else:
                ends.append(f"{run.id}: {ended.reason.reason}")  # the name only: solutions are beside the program
            killed = killed or from_outside
            continue
        logits = _logits(answer, rows)
        if logits is not None:
            loss, accuracy, context = figures(logits, rows)
            return GradedRun(
                _verdict(run, loss, accuracy, context, own), tuple(ends), doubts_about(run, loss, accuracy)
            )
    if killed and ends:
        return GradedRun(_technical(run, KILLED), tuple(ends), again=True)
    said = f"Neither your {run.model} nor the course's own version made predictions with these weights."
    verdict = Verdict(run.id, run.label, "wrong", 0.0, run.points, advice=(said,))
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


def _not_reached(run: TrainingRun, budget: Budget) -> Verdict:
    return _technical(run, f"not reached in time: it used up {budget.spent_on}")


def _technical(run: TrainingRun, reason: str) -> Verdict:
    return Verdict(run.id, run.label, "technical", 0.0, run.points, technical=reason)


def _check_fit(run: TrainingRun, weights: Weights) -> None:
    if weights.are_untrained:
        raise WeightsError(f"{run.file} has the weights of an untrained model")
    pieces = len(_pieces())
    if weights.config["vocab_size"] != pieces:
        raise WeightsError(
            f"{run.file}: expected the course's vocabulary of {pieces} tokens, got {weights.config['vocab_size']}"
        )
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
        vocabulary, tokens = _hidden_tokens()
    digest = hmac.new(secret, "\0".join((student, run.notebook, run.id, attempt)).encode(), hashlib.sha256).digest()
    seed = int.from_bytes(digest[:4], "big") >> 1
    settings = ExampleSettings(sequence_length=run.tokens, duplicate_factor=1, seed=seed)
    rows = examples_from_tokens(tokens, vocabulary, settings, unit=0)
    rows = {name: array[: run.rows] for name, array in rows.items()}
    seen = np.take_along_axis(rows["input_ids"], rows["masked_lm_positions"], axis=1)  # (B, P)
    rows["masked_lm_weights"] = rows["masked_lm_weights"] * (seen == vocabulary.mask_id)
    return rows


@functools.cache
def _hidden_tokens():
    """Vocabulary and tokens of the documents that no student's run is trained on."""
    from bertlab.data.documents import is_validation
    from bertlab.data.pretraining.examples import tokenize_documents
    from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

    tokenizer = WordPieceTokenizer(Vocabulary.from_file(VOCABULARY))
    chosen = (document for document in documents_of("python") if is_validation(document.id))
    return tokenizer.vocabulary, tokenize_documents(chosen, tokenizer)


def _pieces() -> list[str]:
    return VOCABULARY.read_text(encoding="utf-8").splitlines()


# --- the sandbox ---


def _question(run: TrainingRun, weights: Weights, rows: dict) -> dict:
    config = weights.config
    names = ("input_ids", "token_type_ids", "attention_mask", "masked_lm_positions")
    probe = named(layer(model_roles(config["num_layers"])), run.model) | {"config": config, "twice": False}
    return {"probe": probe, "arguments": [rows[name] for name in names], "keywords": {}, "weights": weights.arrays}


def _walk(task: Task, outcome: Outcome, sandbox, own: bool) -> None:
    """Runs the notebook's cells; on the second try the course's own answer after each exercise's."""
    for step in task.steps:
        if step.exercise is None:
            outcome = run_cell(task, outcome, sandbox, step)
        elif not own:
            sandbox.run_cell(cells.answer_cell(step.exercise), task.limits.cell_seconds)


def _logits(answer: Answer, rows: dict) -> np.ndarray | None:
    """The MLM logits (B, P, V), or None if the answer is anything else than finite floats of this shape."""
    value = answer.value
    if answer.status != "ok" or type(value) not in (tuple, list) or not value:
        return None
    logits, wanted = value[0], (*rows["masked_lm_positions"].shape, len(_pieces()))
    if type(logits) is not np.ndarray or logits.dtype.kind != "f" or logits.shape != wanted:
        return None
    return logits if np.isfinite(logits).all() else None


# --- the points ---


def figures(logits: np.ndarray, rows: dict) -> tuple[float, float, float]:
    """Mean loss, accuracy and gain from the context over the masked positions, in float64.

    The gain is the mean loss of each prediction at all masked positions, minus its loss at its own; no token counts
    more than MAX_LOSS in it. Else one prediction that holds one token for impossible, with luck, would be all of it.
    """
    real = rows["masked_lm_weights"] > 0
    chosen, labels = logits[real].astype("float64"), rows["masked_lm_ids"][real]  # (n, V), (n,)
    chosen -= chosen.max(axis=1, keepdims=True)
    log_sums = np.log(np.exp(chosen).sum(axis=1))
    losses = log_sums[:, None] - chosen  # (n, V)
    own = losses[np.arange(len(labels)), labels]  # (n,)
    frequencies = np.bincount(labels, minlength=chosen.shape[1]) / len(labels)
    gain = (np.minimum(losses, MAX_LOSS) @ frequencies - np.minimum(own, MAX_LOSS)).mean()
    return float(own.mean()), float((chosen.argmax(axis=1) == labels).mean()), float(gain)


def _verdict(run: TrainingRun, loss: float, accuracy: float, context: float, own: bool) -> Verdict:
    parts = tuple(
        PartResult(mark.name, mark.points if mark.earned(loss, accuracy, context) else 0.0, mark.points, _wanted(mark))
        for mark in run.marks
    )
    points = sum(part.points for part in parts)
    status = "passed" if points == run.points else "partly" if points else "wrong"
    facts = (("metrics", f"loss {_shown(loss)}, accuracy {accuracy:.0%} at masked positions of hidden text"),)
    notes = () if own else (f"Graded with the course's own {run.model}: the weights do not fit yours.",)
    return Verdict(run.id, run.label, status, points, run.points, parts=parts, facts=facts, notes=notes)


def _shown(loss: float) -> str:
    """One digit and a highest number: a program chooses its logits, and with them every digit of its loss."""
    return f"{loss:.1f}" if loss <= HIGHEST_LOSS else f"more than {HIGHEST_LOSS:g}"


def _wanted(mark) -> str:
    share = f" and an accuracy of at least {mark.accuracy:.0%}" if mark.accuracy else ""
    gain = f" and a gain from the context of at least {mark.context:g}" if np.isfinite(mark.context) else ""
    return f"needs a loss of at most {mark.loss:g}{share}{gain}"
