"""A training run through the whole grader: notebook and weights handed in, points in the record and the gradebook."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import load, load_file, save

from autograde.boundary.roles import weight_shapes
from autograde.boundary.weights_file import Weights, WeightsError
from autograde.cli import cli
from autograde.exercises import catalogue, cells, runs
from autograde.grader.book.course import make_course
from autograde.grader.grading import training_runs
from autograde.grader.grading.grade import digest, find_submissions, grade, is_up_to_date, open_assignment
from autograde.grader.grading.results import Result, load_results
from autograde.grader.grading.submission import Outcome
from autograde.grader.grading.whose_weights import with_doubts
from autograde.grader.pages.report import report_page
from autograde.release import editions
from autograde.release.assignment import write_assignment
from autograde.student import training_run
from bertlab.checkpoints.packaged import MINI, packaged

NOTEBOOK, NAME = "07_pretraining", "ps7"
(RUN,) = runs.of_notebook(NOTEBOOK)
CONFIG = {"vocab_size": 4096, "hidden_size": 8, "num_layers": 1, "num_heads": 2, "intermediate_size": 8,
          "max_positions": 32}  # fmt: skip
RIGHT = "table = self.bert.embeddings.token.embeddings"
WRONG = "table = self.bert.embeddings.position.embeddings"


def _untrained(seed=4, config=CONFIG, **changed) -> bytes:
    """Weights that fit and know nothing: small numbers, LayerNorms as they begin. changed: other arrays, by role."""
    rng = np.random.default_rng(seed)
    arrays = {
        role: np.ones(shape, "float32") if role.endswith("gamma") else 0.02 * rng.normal(size=shape).astype("float32")
        for role, shape in weight_shapes(config).items()
    } | changed
    return save({role: array.astype("float32") for role, array in arrays.items()}, {"config": json.dumps(config)})


def _hand_in(course, student, notebook: str, weights: bytes | None):
    folder = course / "submitted" / student / NAME
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NOTEBOOK}.ipynb").write_text(notebook)
    if weights is not None:
        (folder / RUN.file).write_bytes(weights)
    return folder


def test_a_graded_notebook_with_weights_is_outdated_only_when_they_change(tmp_path):
    folder = _hand_in(tmp_path, "ada", "{}", b"weights")
    Result(NAME, "ada", NOTEBOOK, sha256=digest(folder / f"{NOTEBOOK}.ipynb")).save(tmp_path)

    def outdated() -> int:
        said = CliRunner().invoke(cli, ["status", NAME, "--json", "--course", str(tmp_path)], catch_exceptions=False)
        return json.loads(said.stdout)[0]["outdated"]

    assert outdated() == 0
    (folder / RUN.file).write_bytes(b"better ones")
    assert outdated() == 1
    (folder / RUN.file).unlink()
    assert outdated() == 1


def test_a_score_better_than_any_honest_models_is_reported_to_the_instructor_only():
    assert training_runs.doubts_about(RUN, loss=3.2, accuracy=0.42) == ()
    (too_low,) = training_runs.doubts_about(RUN, loss=0.4, accuracy=0.91)
    assert "loss 0.4 and accuracy 91% on hidden text are better than those of any honest model" in too_low
    assert training_runs.doubts_about(RUN, loss=2.5, accuracy=0.7)
    graded = Result(NAME, "ada", NOTEBOOK, doubts=(too_low,))
    assert Result.from_json(graded.to_json()) == graded
    page = report_page([graded], NAME)
    assert "Results to look at" in page and "loss 0.4 " in page
    assert "Results to look at" not in report_page([Result(NAME, "ada", NOTEBOOK)], NAME)


def test_initial_weights_are_refused():
    """First seen to be graded, for 2 points, at 658e48f."""
    arrays = {
        role: np.full(shape, float(role.endswith("gamma")), "float32") if len(shape) == 1 else np.ones(shape, "float32")
        for role, shape in weight_shapes(CONFIG).items()
    }
    for bias in (0, 0.001):  # random matrices and the second earned 2 points
        arrays["mlm/bias"][3] = bias
        with pytest.raises(WeightsError, match="has the weights of an untrained model"):
            training_runs._check_fit(RUN, Weights(CONFIG, arrays))
    stepped = {role: array + 1e-6 if array.ndim == 1 else array for role, array in arrays.items()}
    training_runs._check_fit(RUN, Weights(CONFIG, stepped))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, "expected bertlab-mini's vocabulary of 12288 tokens, got 4096"),
        ({"vocab_size": 12_288}, "expected num_layers 2, got 1"),
        ({"vocab_size": 12_288, "num_layers": 2}, "expected hidden_size 256, got 8"),
    ],
)
def test_a_distilled_student_has_the_stated_sizes(changed, reason):
    (distilled,) = runs.of_notebook("12_distillation")
    config = CONFIG | changed
    arrays = {role: np.full(shape, 0.5, "float32") for role, shape in weight_shapes(config).items()}
    with pytest.raises(WeightsError, match=reason):
        training_runs._check_fit(distilled, Weights(config, arrays))


# --- whose weights they are ---


def _packaged_table() -> np.ndarray:
    return load_file(packaged(MINI) / "model.safetensors")["bert.embeddings.word_embeddings.weight"]


def test_students_that_begin_with_one_table_are_compared_by_what_training_changed(tmp_path):
    (distilled,) = runs.of_notebook("12_distillation")
    table = _packaged_table()
    config = CONFIG | {"vocab_size": len(table), "hidden_size": table.shape[1]}
    for student, seed in (("ada", 1), ("bob", 1), ("eve", 2)):
        moved = table.astype("float32") + 0.01 * np.random.default_rng(seed).normal(size=table.shape).astype("float32")
        folder = tmp_path / "submitted" / student / "ps12"
        folder.mkdir(parents=True)
        (folder / distilled.file).write_bytes(_untrained(config=config, **{"embeddings/token": moved}))
    results = [Result("ps12", student, distilled.notebook) for student in ("ada", "bob", "eve")]
    doubts = [result.doubts for result in with_doubts(results, tmp_path, "ps12")]
    assert "agree with those of bob" in doubts[0][0] and doubts[1] and not doubts[2]


def _packaged_rows() -> np.ndarray:
    """The packaged model's rows of the course's tokens, (V, H): zeros for a token that it does not have."""
    table = _packaged_table()
    theirs = {piece: row for row, piece in enumerate((packaged(MINI) / "vocab.txt").read_text("utf-8").splitlines())}
    rows = [theirs.get(piece) for piece in training_run.VOCABULARY.read_text("utf-8").splitlines()]
    return np.stack([np.zeros(table.shape[1]) if row is None else table[row] for row in rows]).astype("float32")


@pytest.mark.parametrize("hidden_by", ["nothing", "another order of the units", "noise and a factor"])
def test_the_packaged_models_rows_are_refused_and_reported(tmp_path, hidden_by):
    """Its rows, picked by the course's vocabulary, earned 6 of 6 beside an empty notebook."""
    table, rng = _packaged_rows(), np.random.default_rng(3)
    if hidden_by == "another order of the units":
        table = np.ascontiguousarray(table[:, rng.permutation(table.shape[1])])
    elif hidden_by == "noise and a factor":
        table = 3 * (table + 0.3 * table.std() * rng.normal(size=table.shape))
    config = CONFIG | {"hidden_size": table.shape[1]}
    (tmp_path / RUN.file).write_bytes(_untrained(config=config, **{"embeddings/token": table}))
    outcome = training_runs.grade_run(RUN, tmp_path, task=None, outcome=Outcome(), launcher=None, budget=None)
    (verdict,), (doubt,) = outcome.runs, outcome.doubts
    assert (verdict.status, verdict.points) == ("refused", 0)
    assert "the packaged model bertlab-mini" in verdict.advice[0]
    assert "the packaged model bertlab-mini" in doubt


def test_equal_and_nearly_equal_weights_in_a_class_are_reported(tmp_path):
    """Two students who handed in the same file went unnoticed."""
    table = load(_untrained())["embeddings/token"]
    nearly = table + 0.001 * np.random.default_rng(1).normal(size=table.shape)
    files = {"ada": _untrained(), "bob": _untrained(), "cyd": _untrained(7, **{"embeddings/token": -2 * nearly}),
             "dan": _untrained(8), "eve": b"no weights"}  # fmt: skip
    for student, weights in files.items():
        _hand_in(tmp_path, student, "{}", weights)
        Result(NAME, student, NOTEBOOK).save(tmp_path)
    found = {one.student: one.doubts for one in with_doubts(list(load_results(tmp_path, NAME)), tmp_path, NAME)}
    named = {student: "".join(re.findall(r"those of (\w+)\.", " ".join(doubts))) for student, doubts in found.items()}
    assert named == {"ada": "bobcyd", "bob": "adacyd", "cyd": "adabob", "dan": "", "eve": ""}
    CliRunner().invoke(cli, ["report", NAME, "--course", str(tmp_path)], catch_exceptions=False)
    assert "the weights agree with those of bob" in (tmp_path / "reports" / f"{NAME}.html").read_text()


# --- predictors whose numbers are counted, not trained ---


@pytest.fixture(scope="module")
def hidden():
    """The rows of one attempt, what a model sees at the predicted positions, and the tokens of the training text."""
    from bertlab.data.documents import is_validation
    from bertlab.data.pretraining.examples import tokenize_documents
    from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

    rows = training_runs.hidden_rows(RUN, b"s" * 32, "ada")
    tokenizer = WordPieceTokenizer(Vocabulary.from_file(training_run.VOCABULARY))
    documents = (one for one in training_run.documents_of("python") if not is_validation(one.id))
    seen = np.take_along_axis(rows["input_ids"], rows["masked_lm_positions"], axis=1)  # (B, P)
    return rows, seen, tokenize_documents(documents, tokenizer).values


def _points(logits, rows) -> float:
    loss, accuracy, context = training_runs.metrics(logits.astype("float32"), rows)
    baseline = training_runs.baseline(RUN, rows)
    return sum(mark.points for mark in RUN.marks if mark.earned(loss, accuracy, context, baseline))


def _shares(tokens) -> np.ndarray:
    counts = np.bincount(tokens, minlength=CONFIG["vocab_size"]) + 0.1
    return counts / counts.sum()


@pytest.mark.slow
def test_only_positions_at_which_the_model_sees_mask_are_scored(hidden):
    rows, seen, _ = hidden
    scored = rows["masked_lm_weights"] > 0
    mask = training_run.VOCABULARY.read_text(encoding="utf-8").splitlines().index("[MASK]")
    assert (seen[scored] == mask).all() and 900 < scored.sum() < 1100
    kept = (rows["masked_lm_positions"] > 0) & (seen == rows["masked_lm_ids"])
    assert kept.sum() > 50 and not (scored & kept).any()


def test_a_model_that_copies_what_it_sees_earns_nothing_for_the_context(hidden):
    """Every position counted at 87264fd, also those that show the token itself: 6 points."""
    rows, seen, tokens = hidden
    logits = np.tile(np.log(_shares(tokens)), (*seen.shape, 1))  # (B, P, V)
    np.put_along_axis(logits, seen[..., None], np.take_along_axis(logits, seen[..., None], axis=2) + 7, axis=2)
    everywhere = rows | {"masked_lm_weights": (rows["masked_lm_positions"] > 0).astype("float32")}
    assert _points(logits, everywhere) == 6
    assert _points(logits, rows) == 0


def test_a_predictor_that_reads_the_neighbours_earns_all_points(hidden):
    """It counts the pairs of neighbouring tokens in the text that runs train on."""
    rows, _, tokens = hidden
    shares, pairs = _shares(tokens), np.zeros((CONFIG["vocab_size"],) * 2, "float32")
    np.add.at(pairs, (tokens[:-1], tokens[1:]), 1)
    row, place = np.arange(len(rows["input_ids"]))[:, None], rows["masked_lm_positions"]
    before = rows["input_ids"][row, np.maximum(place - 1, 0)]  # (B, P)
    after = rows["input_ids"][row, np.minimum(place + 1, RUN.tokens - 1)]
    after_it, before_it = pairs[before] + 5 * shares, pairs.T[after] + 5 * shares  # (B, P, V)
    logits = np.log(after_it) + np.log(before_it) - np.log(shares)
    assert _points(logits, rows) == RUN.points == 6


def test_frequencies_as_a_bias_earn_nothing(hidden):
    """They earned 2 points; those of the hidden text itself have a lower loss than those of the training text."""
    rows, _, tokens = hidden
    for text in (tokens, training_runs.tokens_of(training_run.VOCABULARY, held_out=True)[1].values):
        assert _points(np.tile(np.log(_shares(text)), (*rows["masked_lm_ids"].shape, 1)), rows) == 0
    assert 6 < training_runs.baseline(RUN, rows) < 6.6 < np.log(CONFIG["vocab_size"])


@pytest.mark.exhaustive
def test_a_run_of_the_default_length_earns_all_points_and_one_of_a_tenth_does_not():
    """Trains with the solution's own functions, without a GPU: about five minutes."""
    import keras
    import tensorflow as tf
    from keras import ops

    names = cells.namespace(catalogue.find("perplexity"))
    settings = training_run.choose_settings(seed=7)
    data = training_run.prepare(settings)

    class Schedule(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            step = ops.cast(step, "float32")
            return names["learning_rate"](step, settings.peak, settings.warmup_steps, settings.steps)

    def tensors(batch):
        return {name: ops.convert_to_tensor(array) for name, array in batch.items()}

    keras.utils.set_random_seed(settings.seed)
    model = names["PreTrainingModel"](**settings.model)
    first = tensors(data.batch(0))
    model(*(first[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")))
    training_run.initialise(model, settings)
    optimizer = keras.optimizers.AdamW(Schedule(), weight_decay=0.01, beta_2=0.98, epsilon=1e-6)
    optimizer.exclude_from_weight_decay([v for v in model.trainable_variables if not names["decays"](v.path)])
    optimizer.build(model.trainable_variables)
    fast_step = tf.function(lambda batch: names["train_step"](model, optimizer, batch))
    rows = training_runs.hidden_rows(RUN, b"s" * 32, "ada")
    given = [rows[name] for name in ("input_ids", "token_type_ids", "attention_mask", "masked_lm_positions")]
    points = {}
    for step in range(settings.steps):
        fast_step(tensors(data.batch(step)))
        if step + 1 in (settings.steps // 10, settings.steps):
            points[step + 1] = _points(np.array(model(*map(ops.convert_to_tensor, given))[0]), rows)
    assert points == {150: 0, 1500: 6}


@pytest.mark.exhaustive
def test_a_run_is_judged_by_the_students_own_model_or_refused_with_the_reason(tmp_path):
    from grade_class import open_shared_launcher

    made = editions.make(NOTEBOOK)
    make_course(tmp_path)
    write_assignment(tmp_path, NAME, [made])
    _hand_in(tmp_path, "ada", made.source, _untrained())
    _hand_in(tmp_path, "bob", made.source, None)
    _hand_in(tmp_path, "cyd", made.source, _untrained()[:-100])
    _hand_in(tmp_path, "dan", made.source.replace(RIGHT, WRONG), _untrained())
    assignment = open_assignment(tmp_path, NAME)
    with open_shared_launcher() as launcher:
        report = grade(assignment, launcher)
    assert (report.graded, report.failures) == (4, [])

    found = {}
    for student in ("ada", "bob", "cyd", "dan"):
        verdicts = Result.load(Result(NAME, student, NOTEBOOK).path(tmp_path)).verdicts
        found[student] = next(verdict for verdict in verdicts if verdict.exercise == RUN.id)
    assert (found["ada"].status, found["ada"].points) == ("wrong", 0) and not found["ada"].notes
    assert "loss 8.3" in dict(found["ada"].facts)["metrics"]
    assert (found["bob"].status, found["bob"].points) == ("missing", 0)
    assert found["cyd"].status == "refused" and "truncated" in found["cyd"].advice[0]
    assert found["dan"].points == 0 and "the course's own PreTrainingModel" in found["dan"].notes[0]

    from autograde.grader.book.gradebook import Gradebook

    with Gradebook(tmp_path) as book:
        grades = book.book.find_submission_notebook(NOTEBOOK, NAME, "ada").grades
        assert {grade.name: grade.auto_score for grade in grades}[RUN.id] == 0
    assert all(is_up_to_date(assignment, item) for item in find_submissions(assignment))
