"""Distillation: a frozen teacher, runs that resume, what is refused, and TinyBERT's folders."""

import dataclasses
import functools
import json
import math

import keras
import numpy as np
import pytest
from keras import ops
from killing import Killed, killer
from pretraining_case import CONFIG, curve, make_examples
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from bertlab import checkpoints, families
from bertlab.common.errors import BertLabError, CheckpointError
from bertlab.config import BertConfig
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.models import Backbone, PreTrainingModel, ReplacedTokenDetector, SequenceClassifier
from bertlab.models.base import INPUT_NAMES
from bertlab.models.outline import outline, parameter_count
from bertlab.training import pretraining
from bertlab.training.distillation.general import DistillationRun
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.presets import PretrainingSettings
from bertlab.training.runs.state import keep_state

RNG = np.random.default_rng(11)
TEACHER = CONFIG.replace(num_layers=4, hidden_size=16, num_heads=2)


def numbers(*shape, scale=2.0):
    return RNG.normal(0, scale, shape).astype("float32")


LAYERS_TOO = pytest.param({"losses": "layers"}, marks=pytest.mark.exhaustive)  # a run takes ten seconds and more


# === The general stage ===

# Most of a run's time goes into tracing its graphs, not into its steps: the tests below look at the same few runs.
STEPS = PretrainingSettings(steps=24, interval=8, batch_size=8, learning_rate=1e-2, xla=False, dropout=0.1)
FEW_STEPS = STEPS.replace(steps=2, interval=2)
OUTPUTS, MASKED, LAYERS = {}, {"soft_positions": "masked"}, {"losses": "layers"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distillation")
    make_examples(folder / "rows", number=10, dynamic_masking=True, next_sentence=False)
    return folder


@pytest.fixture(scope="module")
def save_teacher(data):
    def saved(name, **changes):
        keras.utils.set_random_seed(2)
        model = PreTrainingModel(TEACHER.replace(initializer_range=0.3, **changes), next_sentence=False)
        return checkpoints.save(model, data / name, ExampleFiles(data / "rows").tokenizer)

    return saved


@pytest.fixture(scope="module")
def teacher(save_teacher):
    return save_teacher("teacher")


@pytest.fixture(scope="module")
def shallow(save_teacher):
    """A teacher of two layers, for runs with training: tracing takes as long as there are layers."""
    return save_teacher("shallow", num_layers=2)


def run_of(data, teacher, out, to="2x8", settings=STEPS, **options):
    distillation = DistillationSettings(**options)
    return DistillationRun(teacher, to, data / "rows", out, settings, distillation, data / "rows")


def distilled(data, teacher, out, to="1x8", **options):
    said = []
    history = run_of(data, teacher, out, to, **options).train(say=said.append, memory_check=False)
    return history, said


@pytest.fixture(scope="module")
def finished(data, shallow, tmp_path_factory):
    """The run with these options from beginning to end, made once: its folder, its history and its messages."""

    @functools.cache
    def run(**options):
        folder = tmp_path_factory.mktemp("finished")
        return folder, *distilled(data, shallow, folder, **options)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("options", [OUTPUTS, MASKED, LAYERS], ids=str)
def test_a_student_comes_to_resemble_its_teacher(finished, options):
    folder, history, said = finished(**options)
    names = ("hidden_states", "attention_scores") if options.get("losses") else ("masked_lm", "soft_targets", "cosine")
    for name in names[-2:]:
        assert history[-1][f"val_{name}_loss"] < history[0][f"val_{name}_loss"]
    assert all(math.isfinite(value) for row in history for value in row.values())
    assert "fresh weights" in said[0] and "projection" in said[1]
    assert (folder / "curve.png").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"hard_factor": 0.0},
        {"hard_factor": 0.0, "soft_positions": "masked"},
        {"losses": "layers", "hidden_factor": 0.0},
    ],
    ids=str,
)
def test_rows_are_masked_for_any_choice_of_losses(data, teacher, tmp_path, options):
    run = run_of(data, teacher, tmp_path, **options)
    mask_id = run.tokenizer.vocabulary.mask_id
    for batches in (run.batches(0), run.validation_batches()):
        batch = next(iter(batches.as_numpy_iterator()))
        assert (batch["input_ids"] == mask_id).any() and batch["masked_lm_weights"].any()


@pytest.mark.parametrize("losses", ["outputs", "layers"])
def test_the_teacher_and_what_is_compared_count_as_memory_that_is_not_free(
    data, teacher, tmp_path, losses, monkeypatch
):
    monkeypatch.setattr(pretraining, "available_memory", lambda devices: 10**9)
    run = run_of(data, teacher, tmp_path, losses=losses)
    weights = 4 * parameter_count(run.teacher.config)
    rows, tokens = run.rows(0), run.examples[0].settings.sequence_length
    heads, width = run.config.num_heads, run.teacher.config.hidden_size
    compared = 4 * 3 * rows * (2 * heads * tokens * tokens + 3 * tokens * width)  # 2 layers and the embeddings
    taken = 10**9 - run._free_memory(0)
    assert taken > weights + (compared if losses == "layers" else 0)
    assert (run.predictions(0) is None) == (losses == "layers")


def test_every_position_counts_in_the_operations_where_layers_are_compared(data, teacher, tmp_path):
    run = run_of(data, teacher, tmp_path, losses="layers")
    tokens = run.examples[0].settings.sequence_length
    own, theirs = (outline(lambda c=c: Backbone(c)).encoder.flops(tokens, tokens) for c in (run.config, TEACHER))
    assert run.update_flops(0) == run.rows(0) * (3 * own + theirs)


@pytest.mark.slow
def test_the_loss_is_the_published_sum(finished):
    _, history, _ = finished(**OUTPUTS)
    for row in history:
        parts = 5 * row["val_soft_targets_loss"] + 2 * row["val_masked_lm_loss"] + row["val_cosine_loss"]
        assert row["val_loss"] == pytest.approx(parts, rel=0.02)  # the mean over batches of unequal numbers of items


@pytest.mark.slow
def test_the_teacher_is_as_before_drops_nothing_out_and_is_not_in_the_states(data, shallow, tmp_path):
    run = run_of(data, shallow, tmp_path, "1x8")
    trainer = run.trainer(say=lambda text: None)
    both = trainer.bert
    stored = checkpoints.load(shallow, "pretraining")
    before = [ops.convert_to_numpy(weight) for weight in both.teacher.weights]
    batch = next(iter(run.batches(0).as_numpy_iterator()))
    inputs = {name: batch[name] for name in INPUT_NAMES if name in batch}
    keras.utils.set_random_seed(5)
    first, second = (ops.convert_to_numpy(both(inputs, training=True)["teacher_logits"]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    trainer.fit(run.batches(0), steps_per_epoch=3, verbose=0)
    for weight, old, file in zip(both.teacher.weights, before, stored.weights, strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(weight), old)
        np.testing.assert_array_equal(old, ops.convert_to_numpy(file))

    keep_state(tmp_path, 0, trainer, {}, keep=1)
    with safe_open(tmp_path / "state-00000000.safetensors", framework="numpy") as file:
        kept = sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys() if name.startswith("model/"))
    assert kept < 1.1 * (both.student.count_params() + both.projection.count_params()) + 100


@pytest.mark.parametrize("options", [{}, LAYERS_TOO], ids=str)
def test_stopped_and_started_again_a_run_ends_with_the_same_bytes(data, shallow, finished, tmp_path, options):
    whole = finished(**options)[0]
    killed, kill = tmp_path / "killed", killer("on_epoch_end", 1)
    with pytest.raises(Killed):
        run_of(data, shallow, killed, "1x8", **options).train([kill], lambda text: None, memory_check=False)
    assert not (killed / "checkpoint").exists()
    distilled(data, shallow, killed, **options)
    assert curve(killed) == curve(whole)
    ended = [(folder / "checkpoint" / "model.safetensors").read_bytes() for folder in (whole, killed)]
    assert ended[0] == ended[1]


@pytest.mark.slow
def test_a_student_is_a_checkpoint_like_any_other_and_can_be_distilled_further(data, shallow, finished, tmp_path):
    layers = finished(**LAYERS)[0] / "checkpoint"
    student = checkpoints.load(layers)
    assert (student.config.num_layers, student.config.hidden_size) == (1, 8)
    _, said = distilled(data, shallow, tmp_path / "outputs", to=layers, settings=FEW_STEPS)
    assert "starts from" in said[0] and "new: masked_lm_head" in said[0]
    assert checkpoints.load(tmp_path / "outputs" / "checkpoint", "pretraining").config == student.config


@pytest.mark.slow
def test_a_run_with_another_teacher_or_other_losses_is_refused(data, shallow, finished):
    with pytest.raises(BertLabError, match="distillation.temperature was 2.0, is 3.0"):
        run_of(data, shallow, finished(**OUTPUTS)[0], "1x8", temperature=3.0)


@pytest.mark.slow
def test_what_cannot_be_distilled_is_refused_in_one_line(data, teacher, tmp_path):
    classifier = checkpoints.save(SequenceClassifier(TEACHER), tmp_path / "classifier")
    other = checkpoints.save(PreTrainingModel(dataclasses.replace(TEACHER, vocab_size=99)), tmp_path / "other")
    causal = checkpoints.save(PreTrainingModel(TEACHER.replace(causal=True)), tmp_path / "causal", format="bertlab")
    foreign = {}  # of the teacher's size and with its vocabulary
    tokenizer = checkpoints.load_tokenizer(teacher)
    sizes = {name: getattr(TEACHER, name) for name in ("vocab_size", "hidden_size", "num_layers", "num_heads")}
    for name in ("gpt2", "modernbert", "xlnet"):
        config = families.family(name).config(**sizes, intermediate_size=32, max_position_embeddings=32, pad_token_id=0)
        model = PreTrainingModel(config)
        foreign[name] = checkpoints.save(model, tmp_path / name, tokenizer, format="bertlab")
    modern, permuted = foreign["modernbert"], foreign["xlnet"]
    judge = checkpoints.save(ReplacedTokenDetector(TEACHER), tmp_path / "judge", tokenizer, format="bertlab")
    guesser = checkpoints.save(PreTrainingModel(TEACHER), judge / "generator", tokenizer)
    cases = [
        ((teacher, "two", {}), "expected LAYERSxWIDTH, such as 2x128, or the folder of a student; got 'two'"),
        ((teacher, "8x8", {}), "at most 4 layers"),
        ((teacher, "3x8", {"losses": "layers"}), "a number of layers that divides the teacher's 4, got 3"),
        ((teacher, "2x8", {"losses": "layers", "heads": 4}), "the teacher's number of heads, 2, got 4"),
        ((teacher, other, {}), "the teacher's vocabulary of"),
        ((classifier, "2x8", {}), "a teacher with a masked-language-model head, .* choose a pre-trained model"),
        ((judge, "2x8", {}), f"of the kind replaced_token_detection; choose its generator {guesser}, losses layers"),
        ((causal, "2x8", {}), "a teacher that fills in masks, got one that reads left to right"),
        ((teacher, causal, {}), "a student that fills in masks, got one that reads left to right"),
        ((foreign["gpt2"], "2x8", {"losses": "layers"}), "left to right"),
        ((permuted, "2x8", {}), "expected a teacher that fills in masks, got one that predicts in any order"),
        ((permuted, "2x8", {"losses": "layers"}), "in any order"),
        ((modern, "2x8", {"losses": "layers"}), "a teacher with the usual attention, got one of .* 'modernbert'"),
        ((teacher, modern, {"losses": "layers"}), "a student with the usual attention, got one of .* 'modernbert'"),
        (
            (teacher, permuted, {"losses": "layers"}),
            "a student that fills in masks, got one that predicts in any order",
        ),
        ((teacher, foreign["gpt2"], {}), "a student that fills in masks, got one that reads left to right"),
        ((teacher, "2x8", {"soft_factor": 0.0, "hard_factor": 0.0, "cosine_factor": 0.0}), "nothing to learn"),
    ]
    for (its_teacher, to, options), said in cases:
        with pytest.raises(BertLabError, match=said) as caught:
            run_of(data, its_teacher, tmp_path / "out", to, **options)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [{}, LAYERS_TOO], ids=str)
def test_a_student_of_a_teacher_with_a_padded_token_table_can_be_distilled_further(data, tmp_path, options):
    tokenizer = ExampleFiles(data / "rows").tokenizer
    padded = PreTrainingModel(TEACHER.replace(vocab_size=CONFIG.vocab_size + 5), next_sentence=False)
    teacher = checkpoints.save(padded, tmp_path / "teacher")
    tokenizer.save(teacher)
    student = checkpoints.save(PreTrainingModel(CONFIG.replace(num_layers=2)), tmp_path / "student", tokenizer)
    run = run_of(data, teacher, tmp_path / "out", student, **options)
    both = run.trainer(say=lambda text: None).bert
    batch = next(iter(run.validation_batches().as_numpy_iterator()))
    outputs = both({name: batch[name] for name in both.reads if name in batch})
    for name in () if options else ("soft_logits", "teacher_logits"):
        assert outputs[name].shape[-1] == len(tokenizer.vocabulary)


# === TinyBERT's folders ===


def test_a_tinybert_folder_loads_as_a_bert(tmp_path):
    """As huawei-noah's: config.json without model_type but with entries of its own, weights of a fit_dense beside."""
    config = BertConfig(vocab_size=30, hidden_size=24, num_layers=2, num_heads=12, intermediate_size=92)
    model = PreTrainingModel(config)
    folder = checkpoints.save(model, tmp_path / "tiny")
    weights = load_file(folder / "model.safetensors")
    for projection in ("fit_dense", "fit_denses.0"):
        weights |= {f"{projection}.weight": numbers(768, 24), f"{projection}.bias": numbers(768)}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    values = json.loads((folder / "config.json").read_text())
    own = {"cell": {}, "emb_size": 24, "pre_trained": "", "structure": [], "training": ""}
    kept = {name: value for name, value in values.items() if name not in ("model_type", "architectures")}
    (folder / "config.json").write_text(json.dumps(kept | own))

    loaded = checkpoints.load(folder, "pretraining")
    assert loaded.config == config and not loaded.load_report.missing
    inputs = {"input_ids": np.array([[2, 17, 3]])}
    expected, found = (ops.convert_to_numpy(one(inputs)["masked_lm_logits"]) for one in (model, loaded))
    np.testing.assert_array_equal(found, expected)
    written = checkpoints.save(loaded, tmp_path / "written")
    assert not any(name.startswith("fit_dense") for name in load_file(written / "model.safetensors"))


def test_a_tinybert_classifier_keeps_the_relu_of_its_own_code(tmp_path):
    """Arithmetic: TinyBertForSequenceClassification in TinyBERT/transformer/modeling.py of huawei-noah."""
    config = BertConfig(
        vocab_size=30, hidden_size=24, num_layers=2, num_heads=12, intermediate_size=92, initializer_range=0.3
    )
    folder = checkpoints.save(SequenceClassifier(config, num_labels=3), tmp_path / "tiny")
    projection = {"fit_dense.weight": numbers(768, 24), "fit_dense.bias": numbers(768)}
    stored = load_file(folder / "model.safetensors")
    stored["classifier.bias"] = numbers(3)
    save_file(stored | projection, folder / "model.safetensors", {"format": "pt"})

    inputs = {"input_ids": np.array([[2, 17, 9, 3], [2, 8, 20, 3]])}
    first = checkpoints.load(folder, "encoder", pooler=True)(inputs)
    assert first["pooled_output"].shape == (2, 24)
    first = ops.convert_to_numpy(first["sequence_output"])[:, 0]  # (B, H)
    pooled = np.maximum(0, np.tanh(first @ stored["bert.pooler.dense.weight"].T + stored["bert.pooler.dense.bias"]))
    expected = pooled @ stored["classifier.weight"].T + stored["classifier.bias"]
    loaded = checkpoints.load(folder)
    np.testing.assert_allclose(ops.convert_to_numpy(loaded(inputs)), expected, atol=1e-5)

    with pytest.raises(CheckpointError, match="no equivalent of the pooler's activation positive_tanh"):
        checkpoints.save(loaded, tmp_path / "huggingface")
    written = checkpoints.load(checkpoints.save(loaded, tmp_path / "own", format="bertlab"))
    np.testing.assert_allclose(ops.convert_to_numpy(written(inputs)), expected, atol=1e-5)
    with pytest.raises(CheckpointError, match="pooler_activation is 'positive_tanh' in the checkpoint's config"):
        checkpoints.load_into(SequenceClassifier(config, num_labels=3), folder)
    for options in ({"model_class": "encoder"}, {"model_class": "sequence_classification", "fresh_head": True}):
        assert checkpoints.load(folder, **options).config == config
