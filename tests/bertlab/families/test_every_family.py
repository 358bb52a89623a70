"""Every family of encoders goes the whole way with the same commands: pre-training, each task shape, distillation.

Small models of two layers. The tests of a single family are in its own file; parity is in tests/peers.
"""

import json
import random
import subprocess
import sys

import keras
import numpy as np
import pytest
from bertlab_command import run
from finetuning_case import TOKENIZER, task_of
from pretraining_case import curve

from bertlab import checkpoints, families
from bertlab.data.documents import Document
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.data.tasks.rows import PairRow, SentenceRow, TaskData
from bertlab.predict import Predictor
from bertlab.training import presets, pretraining
from bertlab.training.distillation.task import distill_task
from bertlab.training.finetuning import finetune
from bertlab.training.finetuning.settings import Recipe

ENCODERS = ("albert", "bert", "distilbert", "electra", "modernbert", "roberta", "xlnet")
PRESETS = {"albert": "sentence-order", "bert": "published", "xlnet": "permutation"}  # of rows; the others: roberta
OWN = {"albert": {"embedding_size": 8}, "electra": {"embedding_size": 8}, "modernbert": {"local_attention": 4}}
SHAPES = ("sentence", "pair", "number", "several labels", "tagging", "question", "multiple-choice")
pytestmark = pytest.mark.exhaustive
every_family = pytest.mark.parametrize("name", ENCODERS)


def config_of(name, **changes):
    sizes = dict(vocab_size=len(TOKENIZER.vocabulary), hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32,
                 max_position_embeddings=34, pad_token_id=TOKENIZER.vocabulary.pad_id, initializer_range=0.2,
                 hidden_dropout=0.1, attention_dropout=0.0)  # fmt: skip
    return families.family(name).config(**(sizes | OWN.get(name, {}) | changes))


def documents(number=30):
    draw = random.Random(0)
    for place in range(number):
        city = draw.choice(["paris", "rome"])
        sentences = tuple(f"the film {draw.choice(['was', 'is'])} {word} in {city} ." for word in ["good", "bad"] * 3)
        yield Document(id=str(place), paragraphs=(sentences,))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The folder of rows of a preset, made once."""
    folder = tmp_path_factory.mktemp("rows")
    for preset in {"roberta", *PRESETS.values()}:
        settings = ExampleSettings.preset(preset, sequence_length=32, duplicate_factor=1)
        make_data(documents(), TOKENIZER, folder / preset, settings)
    return folder


def pretrain(name, rows, out, callbacks=(), **changes):
    data = rows / PRESETS.get(name, "roberta")
    recipe = presets.preset("small", **(dict(steps=6, interval=2, batch_size=8, xla=False) | changes))
    return pretraining.pretrain(config_of(name), [data], out, recipe, validation=data, callbacks=callbacks)


@pytest.fixture(scope="module")
def pretrained(rows, tmp_path_factory):
    """The folder of a family's finished run, made when it is first asked for."""
    folder, made = tmp_path_factory.mktemp("pretrained"), {}

    def run_of(name):
        if name not in made:
            made[name] = pretrain(name, rows, folder / name)
        return folder / name

    return run_of


def task(shape):
    """A task of a shape, of those of `finetuning_case` and two more."""
    if shape in ("pair", "several labels"):
        given = task_of("sentence")
        parts = given.train, given.validation
        if shape == "pair":
            made = [[PairRow(row.text, "is it", row.label) for row in part] for part in parts]
            return TaskData(shape, "pair", given.labels, *made)
        made = [[SentenceRow(row.text, (row.label, 2)) for row in part] for part in parts]
        return TaskData(shape, "sentence", (*given.labels, "text"), *made, multi_label=True)
    return task_of(shape)


# === Pre-training ===


@every_family
def test_a_stopped_run_ends_with_the_same_bytes_and_is_drawn_and_evaluated(name, rows, pretrained, tmp_path):
    def stop(epoch, logs):
        if epoch == 1:
            raise KeyboardInterrupt

    whole = pretrained(name)
    with pytest.raises(KeyboardInterrupt):
        pretrain(name, rows, tmp_path, [keras.callbacks.LambdaCallback(on_epoch_end=stop)])
    assert not (tmp_path / "checkpoint").exists()
    pretrain(name, rows, tmp_path)
    assert curve(tmp_path) == curve(whole) and (whole / "curve.png").exists()
    ended = [(folder / "checkpoint" / "model.safetensors").read_bytes() for folder in (whole, tmp_path)]
    assert ended[0] == ended[1]
    data = rows / PRESETS.get(name, "roberta")
    figures = json.loads(run("evaluate", whole / "checkpoint", "--data", data, "--json"))
    losses = {key: value for key, value in figures.items() if key.endswith("_loss")}
    assert losses and all(np.isfinite(value) for value in losses.values())
    run("plot", whole, "--out", tmp_path / "drawn.svg")


ON_TWO = """
import sys
from pathlib import Path
sys.path[:0] = {paths!r}
from test_every_family import config_of, pretrain
import test_every_family
test_every_family.config_of = lambda name: config_of(name, hidden_dropout=0.0)
pretrain({name!r}, Path({rows!r}), Path({out!r}), dropout=0.0, **{changes!r})
"""


@every_family
def test_two_devices_have_the_losses_of_one_also_in_parts(name, rows, tmp_path):
    curves = {}
    for key, changes in {"one": {}, "two": {"devices": 2, "accumulation": 2}}.items():
        code = ON_TWO.format(paths=sys.path, name=name, rows=str(rows), out=str(tmp_path / key),
                             changes=changes)  # fmt: skip
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]
        curves[key] = curve(tmp_path / key)
    exact = 1e-3 if name != "electra" else 0.1  # each device draws the tokens that its generator puts in
    for expected, found in zip(curves["one"], curves["two"], strict=True):
        for column in expected:
            if not column.startswith("val_"):  # several devices leave the last batch out
                assert found[column] == pytest.approx(expected[column], rel=exact), column


# === Tasks ===


@pytest.mark.parametrize("shape", SHAPES)
@every_family
def test_a_pretrained_model_is_fine_tuned_on_a_task_of_every_shape(name, shape, pretrained, tmp_path):
    given = task(shape)
    recipe = Recipe(learning_rate=1e-2, batch_size=8, epochs=2, max_length=20)
    result = finetune(pretrained(name) / "checkpoint", given, tmp_path / "run", recipe)
    assert_learned(result)
    predictor = Predictor.load(tmp_path / "run")
    assert predictor.model.config.model_type == name
    found = predictor(asked(given))
    assert len(found) == len(given.validation)


def assert_learned(result):
    """Two epochs of a small model are too few to ask for more than that the loss does not rise."""
    first, second = (row["loss"] for row in result.best.epochs)
    assert 0 < second < 1.2 * first


def asked(task):
    """The development rows as questions to a predictor."""
    question = {
        "sentence": lambda row: row.text,
        "pair": lambda row: (row.text_a, row.text_b),
        "tagging": lambda row: row.words,
        "question": lambda row: (row.question, row.context),
        "multiple-choice": lambda row: (row.context, row.choices),
    }[task.shape]
    return list(map(question, task.validation))


# === Distillation ===


@every_family
def test_a_student_learns_from_a_pretrained_and_from_a_fine_tuned_teacher(name, rows, pretrained, tmp_path):
    student = "1x4"
    if name != "xlnet":  # which fills in no masks, and is refused: tests/bertlab/training/test_distillation.py
        masks = pretrained(name) / "checkpoint" / ("generator" if name == "electra" else "")
        options = ("--steps", 2, "--interval", 2, "--batch-size", 8, "--no-xla")
        data = rows / PRESETS.get(name, "roberta")
        run("distill", masks, "--to", student, "--data", data, "--out", tmp_path / "general", *options)
        student = tmp_path / "general" / "checkpoint"
        assert checkpoints.load(student).config.model_type == name
    given, recipe = task("sentence"), Recipe(learning_rate=1e-2, batch_size=8, epochs=1, max_length=20)
    finetune(pretrained(name) / "checkpoint", given, tmp_path / "teacher", recipe)
    result = distill_task(tmp_path / "teacher", student, given, tmp_path / "student", recipe.replace(epochs=2))
    assert_learned(result)
    predictor = Predictor.load(tmp_path / "student")
    assert predictor.model.config.model_type == name and predictor.model.config.num_layers == 1
    assert len(predictor(asked(given))) == len(given.validation)
