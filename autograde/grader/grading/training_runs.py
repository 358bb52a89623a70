"""Grades training runs: weights from a file → predictions for hidden text → points by the run's marks.

    file ─▶ read_weights (outside: nothing is run, nothing is trusted)
    pre-training:  the student's own model in a sandbox, weights by role, masked rows ─▶ logits ─▶ loss, accuracy
    translation:   the reference of the exercise `transformer`, in NumPy (outside) ─▶ exactly right translations

The sandbox gets masked rows but never the original tokens, so its predictions cannot be copied. If the weights do not
fit the student's model, the course's own answers are used instead: a mistake costs points only where it was made. A
translation run starts when its exercises have passed, so that the student's model and the reference agree.
"""

import functools
import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from autograde.boundary.roles import model_roles
from autograde.boundary.weights_file import TRANSLATION, Weights, WeightsError, read_weights
from autograde.exercises.n13_decoder.transformer import transformer
from autograde.exercises.runs import TrainingRun, TranslationRun
from autograde.exercises.spec import layer, named
from autograde.grader.book.course import hidden_number
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.carry_forward import course_step
from autograde.grader.grading.run_cells import run_steps
from autograde.grader.grading.submission import MAX_TRIES, Outcome, Questions, Task
from autograde.grader.grading.whose_weights import are_packaged, pieces_of
from autograde.judging.answers import Answer
from autograde.judging.verdict import PartResult, Verdict
from autograde.student.training_run import documents_of, vocabulary_of
from autograde.student.translation_run import LONG, PAD, START
from bertlab.checkpoints.packaged import MINI
from bertlab.data import small_world

SECONDS = 60.0  # for all predictions
HIGHEST_LOSS = 10.0  # that is shown; an untrained model's is near 8.3
MAX_LOSS = 16.0  # of one token, in the gain from the context: twice that of an untrained model
KILLED = f"its sandbox was killed from outside; `autograde grade` tries again, {MAX_TRIES} times in all"
_AT_ONCE = 100  # sentences
_GATHERING = threading.Lock()  # the hidden text is gathered once, by one thread


def add_runs(
    task: Task, outcome: Outcome, runs: Iterable[TrainingRun | TranslationRun], folder: Path, launcher, budget: Budget
) -> Outcome:
    """The outcome with the verdicts on the runs of a notebook, whose files lie in `folder`. Raises SandboxError."""
    for run in runs:
        if isinstance(run, TranslationRun):
            with budget.thinking():
                verdict = grade_translation(run, folder, task.secret, task.student, task.attempt)
            outcome = outcome.with_run(verdict)
        else:
            outcome = grade_run(run, folder, task, outcome, launcher, budget)
    return outcome


def grade_run(run: TrainingRun, folder: Path, task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """The outcome with the verdict on one run. Raises SandboxError where no sandbox can be made."""
    try:
        weights = read_weights(folder / run.file)
        _check_fit(run, weights)
    except WeightsError as reason:
        return outcome.with_run(_not_accepted(run, folder, reason))
    if not run.starts_from and are_packaged(weights):
        sentence = f"{run.file} has the rows of the packaged model {MINI}, not those of a run of your own."
        return outcome.with_run(_no_points(run, "refused", advice=(sentence,)), f"{run.label}: {sentence}")
    rows = hidden_rows(run, task.secret, task.student, task.attempt)
    probe = named(layer(model_roles(weights.config["num_layers"])), run.model)
    probe |= {"config": weights.config, "twice": False}
    arguments = [rows[name] for name in ("input_ids", "token_type_ids", "attention_mask", "masked_lm_positions")]
    question = {"probe": probe, "arguments": arguments, "keywords": {}, "weights": weights.arrays}
    killed, failed, tries = False, False, [True, False]  # whose answers: the student's own, then the course's
    while tries:
        with_own_model = tries.pop(0)
        asked = Questions([question], SECONDS)
        steps = [step if step.exercise is None else course_step(step.exercise) for step in task.steps]
        steps = [step for step in steps if step.number or not with_own_model] + [asked]
        _, stop = run_steps(task, outcome, steps, launcher, budget, task.upstream if with_own_model else {})
        if stop and stop.end is None:
            spent = f"not reached in time: it used up {budget.spent_on}"
            return outcome.with_run(_no_points(run, "technical", technical=spent))
        if stop:
            if stop.from_outside and not killed:
                tries.insert(0, with_own_model)  # once more
            else:
                outcome = outcome.with_technical(f"{run.id}: {stop.end.reason}")  # its name only: solutions are there
                failed = True
            killed = killed or stop.from_outside
            continue
        logits = _logits(run, asked.answers[0], rows)
        if logits is not None:
            loss, accuracy, context = metrics(logits, rows)
            verdict = _verdict(run, loss, accuracy, context, baseline(run, rows), with_own_model)
            return outcome.with_run(verdict, *doubts_about(run, loss, accuracy))
    if killed and failed:
        return replace(outcome.with_run(_no_points(run, "technical", technical=KILLED)), again=True)
    sentence = f"Neither your {run.model} nor the course's own version made predictions with these weights."
    return outcome.with_run(_no_points(run, "wrong", advice=(sentence,)))


def doubts_about(run: TrainingRun, loss: float, accuracy: float) -> tuple[str, ...]:
    """A sentence for the instructor about a score that no honest run reaches."""
    if loss >= run.honest_loss and accuracy <= run.honest_accuracy:
        return ()
    return (
        f"{run.label}: loss {_shown(loss)} and accuracy {accuracy:.0%} on hidden text are better than those of "
        f"any honest model of this size (loss {run.honest_loss:g}, accuracy {run.honest_accuracy:.0%}). The model may "
        "contain the text: ask the student how it was trained.",
    )


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
    return _verdict_by_marks(run, marks, said, *notes)


def _shown(loss: float) -> str:
    """One digit and a highest number: a program chooses its logits, and with them every digit of its loss."""
    return f"{loss:.1f}" if loss <= HIGHEST_LOSS else f"more than {HIGHEST_LOSS:g}"


def _no_points(run: TrainingRun | TranslationRun, status: str, **reason) -> Verdict:
    return Verdict(run.id, run.label, status, 0.0, run.points, **reason)


def _not_accepted(run: TrainingRun | TranslationRun, folder: Path, reason: WeightsError) -> Verdict:
    """No points, since there is no file of weights, or one that does not fit the run."""
    status = "refused" if (folder / run.file).exists() else "missing"
    return _no_points(
        run, status, advice=(f"{reason}. Hand in {run.file} together with the notebook; `hand_in` writes it.",)
    )


def _verdict_by_marks(run: TrainingRun | TranslationRun, marks: Sequence[tuple], said: str, *notes: str) -> Verdict:
    """The points of the marks that were earned. marks: (mark, whether it is earned, what it needs)."""
    parts = tuple(
        PartResult(mark.name, mark.points if is_earned else 0.0, mark.points, needs) for mark, is_earned, needs in marks
    )
    points = sum(part.points for part in parts)
    status = "passed" if points == run.points else "partly" if points else "wrong"
    return Verdict(run.id, run.label, status, points, run.points, parts=parts, facts=(("metrics", said),), notes=notes)


# --- translation ---


def grade_translation(run: TranslationRun, folder: Path, secret: bytes, student: str, attempt: str = "") -> Verdict:
    """The verdict on one file."""
    try:
        weights = read_weights(folder / run.file, TRANSLATION)
        _check_translator(run, weights)
    except WeightsError as reason:
        return _not_accepted(run, folder, reason)
    share = exactly_right(weights, *hidden_pairs(run, secret, student, attempt))
    marks = [(mark, share >= mark.share, f"needs {mark.share:.0%}") for mark in run.marks]
    said = f"{share:.0%} of the translations of {run.sentences} hidden sentences are exactly right"
    return _verdict_by_marks(run, marks, said)


def _check_translator(run: TranslationRun, weights: Weights) -> None:
    tokens = len(small_world.translation_tokens())
    if weights.config["vocab_size"] != tokens:
        raise WeightsError(f"{run.file}: expected the {tokens} tokens of the small world and its mirror, got "
                           f"{weights.config['vocab_size']}")  # fmt: skip
    if weights.config["hidden_size"] % 2:
        raise WeightsError(f"{run.file}: expected an even hidden_size, got {weights.config['hidden_size']}")
    if weights.are_untrained:
        raise WeightsError(f"{run.file} has the weights of an untrained model")


def hidden_pairs(run: TranslationRun, secret: bytes, student: str, attempt: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Sources (N, S) and targets (N, U) of 9 to 16 words, which cannot be known without the secret."""
    seed = hidden_number(secret, 4, student, run.notebook, run.id, attempt)
    drawn = small_world.sample(seed, 20 * run.sentences)
    chosen = [sentence for sentence in drawn if LONG[0] <= len(sentence) <= LONG[1]][: run.sentences]
    return small_world.translation_rows(chosen)


def exactly_right(weights: Weights, sources: np.ndarray, targets: np.ndarray) -> float:
    """The fraction of the sources whose translation is right in every token.

    The most probable token after each right beginning is compared: where all agree, a model that writes token after
    token makes the same choices.
    """
    read = np.concatenate([np.full_like(targets[:, :1], START), targets[:, :-1]], axis=1)
    arrays = {role: array.astype("float64") for role, array in weights.arrays.items()}
    right = []
    with np.errstate(all="ignore"):  # absurd weights give NaN, and with it a wrong token
        for first in range(0, len(sources), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            logits = transformer(sources[part], read[part], weights=arrays, config=weights.config)  # (n, U, V)
            hits = (logits.argmax(axis=-1) == targets[part]) & np.isfinite(logits).all(axis=-1)
            right.append((hits | (targets[part] == PAD)).all(axis=1))
    return float(np.concatenate(right).mean())
