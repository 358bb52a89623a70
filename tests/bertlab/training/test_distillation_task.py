"""Distillation on a task: soft targets of every shape, a teacher's kept outputs, layers, resuming, what is refused."""

import dataclasses
import functools
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from finetuning_case import CONFIG, RECIPE, TOKENIZER, of_two_lengths, save_checkpoint, task_of
from keras import ops
from killing import Killed, killer
from safetensors.numpy import load_file, save_file

from bertlab import checkpoints
from bertlab.common.errors import BertLabError
from bertlab.models import PreTrainingModel
from bertlab.predict import Predictor
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.distillation.task import KEPT, NEVER, SoftTuner, TaskDistillation, distill_task, taught_rows
from bertlab.training.finetuning import experiment, finetune
from bertlab.training.finetuning.task_info import load_info
from bertlab.training.finetuning.task_kinds import TaskInfo, task_kind_of

DEEP = CONFIG.replace(num_layers=2)
SHORT = RECIPE.replace(epochs=2)


@pytest.fixture(scope="module")
def teachers(tmp_path_factory):
    """Shape → a teacher that is fine-tuned on the task of that shape."""
    folder = tmp_path_factory.mktemp("teachers")
    start = save_checkpoint(folder / "start", num_layers=2)
    made = {}

    def teacher(shape):
        if shape not in made:
            made[shape] = folder / shape
            finetune(start, task_of(shape), made[shape], RECIPE)
        return made[shape]

    return teacher


def distilled(teacher, out, task, to="1x8", recipe=SHORT, **options):
    said = []
    result = distill_task(teacher, to, task, out, recipe, DistillationSettings(**options), said.append)
    return result, said


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["sentence", "number", "multiple-choice", "tagging", "question"])
def test_a_student_of_every_shape_learns_from_its_teacher_and_is_a_fine_tuned_model(shape, teachers, tmp_path):
    task = task_of(shape)
    result, said = distilled(teachers(shape), tmp_path, task)
    (run,) = result.runs
    assert run.start == "from scratch" and "pre-trained" not in result.summary()
    assert run.epochs[-1]["loss"] < run.epochs[0]["loss"]
    assert "the student starts from fresh weights" in said
    predictor = Predictor.load(tmp_path)
    assert (predictor.model.config.num_layers, predictor.model.config.hidden_size) == (1, 8)
    assert (tmp_path / "teacher.safetensors").exists() and (tmp_path / "curves.png").exists()


@pytest.mark.slow
def test_with_the_teachers_answers_alone_no_label_counts(teachers, tmp_path):
    task = task_of("sentence")
    turned = [dataclasses.replace(row, label=1 - row.label) for row in task.train]
    lying = dataclasses.replace(task, train=turned)
    options = {"hard_factor": 0.0, "soft_factor": 1.0, "recipe": RECIPE}
    result, _ = distilled(teachers("sentence"), tmp_path, lying, to="2x16", **options)
    assert result.dev["accuracy"] > 0.9


def test_the_soft_loss_is_that_of_numpy_for_any_padding_of_a_batch():
    info = TaskInfo("tone", "sentence", ("a", "b"), ("accuracy",))
    model = SimpleNamespace(dtype_policy="float32")
    tuner = SoftTuner(DistillationSettings(soft_factor=3.0, hard_factor=2.0), model, task_kind_of(info, TOKENIZER))
    rng = np.random.default_rng(0)
    student, teacher = rng.normal(size=(2, 4, 2)).astype("float32")
    labels = np.array([0, 1, 1, -100], "int32")
    teacher[3] = np.nan
    found = float(tuner.compute_loss({"targets": labels, "teacher_logits": teacher}, y_pred=student))

    def log_softmax(logits):
        return logits - np.log(np.exp(logits).sum(-1, keepdims=True))

    p, q = log_softmax(teacher[:3] / 2.0), log_softmax(student[:3] / 2.0)
    soft = 4 * (np.exp(p) * (p - q)).sum(-1).mean()
    hard = -log_softmax(student[:3])[np.arange(3), labels[:3]].mean()
    assert found == pytest.approx(3 * soft + 2 * hard, rel=1e-4)
    assert np.isfinite(float(ops.convert_to_numpy(found)))


@pytest.mark.slow
def test_the_kept_outputs_are_the_teachers_and_are_read_again(teachers, tmp_path):
    folder, task = teachers("tagging"), task_of("tagging")
    model = checkpoints.load(folder)
    info = load_info(folder, model)
    features = task_kind_of(info, TOKENIZER).encode(task.train).features
    kept = tmp_path / "kept.safetensors"
    rows = taught_rows(model, features, 16, kept, "this teacher", len)
    inputs, _ = features.batch([3, 5], 16)
    taught = rows.batch(np.array([3, 5]), 16)[1]["teacher_logits"]
    own = np.asarray(model.predict_on_batch(inputs))
    for row, expected, length in zip(taught, own, features.lengths[[3, 5]]):
        np.testing.assert_allclose(row[:length], expected[:length], atol=1e-5)
        assert (row[length:] == NEVER).all()
    again = taught_rows(None, features, 16, kept, "this teacher", len)
    np.testing.assert_array_equal(again.outputs["logits"], rows.outputs["logits"])
    kept.write_bytes(kept.read_bytes()[:-8])
    mended = taught_rows(model, features, 16, kept, "this teacher", len)
    np.testing.assert_array_equal(mended.outputs["logits"], rows.outputs["logits"])


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["teacher", "rows"])
def test_kept_outputs_of_another_teacher_or_of_other_rows_are_computed_again(changed, teachers, tmp_path):
    task, teacher, out = task_of("sentence"), teachers("sentence"), tmp_path / "out"
    rows, other = dataclasses.replace(task, train=task.train[:16]), shutil.copytree(teacher, tmp_path / "other")
    weights = load_file(other / "model.safetensors")
    save_file({name: -tensor for name, tensor in weights.items()}, other / "model.safetensors", {"format": "pt"})
    earlier = (other, "1x8", task) if changed == "teacher" else (teacher, "1x8", rows)
    with pytest.raises(Killed):
        distill_task(*earlier, out, SHORT, callbacks=[killer("on_train_begin")])
    stale = load_file(out / KEPT)["logits"]
    distill_task(teacher, "1x8", task, out, SHORT.replace(epochs=1))
    found = load_file(out / KEPT)["logits"]
    assert len(found) == len(task.train)
    assert np.allclose(found[: len(stale)], stale, atol=1e-4) == (changed == "rows")


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["sentence", "multiple-choice"])
def test_layers_are_learned_first_and_the_outputs_after_them(shape, teachers, tmp_path):
    task = task_of(shape)
    result, _ = distilled(teachers(shape), tmp_path / "layers", task, losses="layers", recipe=RECIPE)
    losses = [row["loss"] for row in result.runs[0].epochs]
    assert losses[-1] < 0.8 * losses[0]
    after, said = distilled(teachers(shape), tmp_path / "outputs", task, to=tmp_path / "layers")
    assert after.runs[0].start == "pre-trained"
    assert after.runs[0].epochs and not any("fresh weights" in line for line in said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "losses", "accumulation"),
    [("question", "outputs", 2), ("question", "layers", 1), ("multiple-choice", "layers", 2)],
)
def test_batches_of_several_lengths_are_learned_from(shape, losses, accumulation, teachers, tmp_path):
    task, recipe = of_two_lengths(task_of(shape)), RECIPE.replace(epochs=1, max_length=32, accumulation=accumulation)
    result, _ = distilled(teachers(shape), tmp_path, task, losses=losses, recipe=recipe)
    assert np.isfinite(result.runs[0].epochs[0]["loss"])


@pytest.mark.slow
def test_a_student_may_have_another_padding_of_its_token_table(teachers, tmp_path):
    student = checkpoints.save(PreTrainingModel(CONFIG.replace(vocab_size=24)), tmp_path / "student")
    TOKENIZER.save(student)
    arguments = task_of("sentence"), tmp_path / "out", SHORT, DistillationSettings(), print
    assert TaskDistillation(teachers("sentence"), student, *arguments).config.vocab_size == 24


@pytest.mark.parametrize("losses", ["outputs", "layers"])
def test_the_teachers_weights_count_as_memory_that_is_not_free(losses, teachers, tmp_path, monkeypatch):
    teacher = teachers("sentence")
    monkeypatch.setattr(experiment, "available_memory", lambda devices: 10**9)
    settings = DistillationSettings(losses=losses)
    run = TaskDistillation(teacher, "1x8", task_of("sentence"), tmp_path, SHORT, settings, print)
    weights = sum(4 * variable.numpy().size for variable in run.teacher.variables if "seed" not in variable.path)
    taken = 10**9 - run._free_memory(8, 16)
    compared = 4 * 3 * 8 * (1 * 2 * 16 * 16 + 2 * 16 * run.teacher.config.hidden_size)  # scores, vectors of 8 rows
    assert taken == weights if losses == "outputs" else taken > weights + compared


@pytest.mark.slow
def test_a_student_as_wide_as_its_teacher_starts_from_its_layers(teachers, tmp_path):
    _, said = distilled(teachers("sentence"), tmp_path, task_of("sentence"), to="1x16", recipe=RECIPE.replace(epochs=1))
    assert "the student starts from layers of the teacher" in said


@pytest.mark.slow
@pytest.mark.parametrize("losses", ["outputs", "layers"])
def test_stopped_and_started_again_the_student_has_the_same_bytes(losses, teachers, check_restart):
    options = dict(recipe=SHORT.replace(interval=2), distillation=DistillationSettings(losses=losses))
    train = functools.partial(distill_task, teachers("sentence"), "1x8", task_of("sentence"), **options)
    check_restart(train, killer("on_train_batch_end", 3), "resumes from step 2 of 12")


def test_what_a_teacher_cannot_teach_is_refused_in_one_line(teachers, tmp_path):
    task, teacher = task_of("sentence"), teachers("sentence")
    other = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *(f"word{number}" for number in range(15))]))
    student = checkpoints.save(PreTrainingModel(CONFIG), tmp_path / "student", other)
    with_capitals = WordPieceTokenizer(TOKENIZER.vocabulary, lowercase=False)
    cased = checkpoints.save(PreTrainingModel(CONFIG), tmp_path / "cased", with_capitals)
    cases = [
        (save_checkpoint(tmp_path / "raw"), "1x8", task, "is not fine-tuned"),
        (teacher, "1x8", task_of("tagging"), "expected rows for a teacher of the shape sentence"),
        (teacher, "1x8", dataclasses.replace(task, labels=("negative", "mixed")), "does not have: mixed; it knows"),
        (teacher, "1x8", dataclasses.replace(task, labels=("positive", "negative")), "--labels negative,positive"),
        (teacher, student, task, "the vocabulary of its teacher"),
        (teacher, cased, task, "with capitals and with accents"),
        (teacher, "1x32", task, "at most 2 layers of width 16"),
    ]
    for its_teacher, to, rows, said in cases:
        with pytest.raises(BertLabError, match=said) as caught:
            distilled(its_teacher, tmp_path / "out", rows, to=to)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
