"""Jobs and their folders: what differs is named, another job is refused, folders of earlier versions go on.

`golden/work_folders` was written by version 0.1.0, each command stopped in the middle: data/ after one of three shards,
pretrain/ after two of four steps, finetune/ after one of two seeds, encode/ after two of four texts.
"""

import dataclasses
import filecmp
import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest
from finetuning_case import RECIPE, task_of
from pretraining_case import CONFIG, WORDS, documents

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.files import read_json, write_json
from bertlab.common.job import Job, differences

OLD = Path(__file__).parents[2] / "golden" / "work_folders"


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A copy of the old folders, in which the test runs."""
    shutil.copytree(OLD, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    return tmp_path / "old"


# --- the folder ---


def test_differences_are_named_by_their_path_through_both_trees():
    found = {"model": {"layers": 2, "width": 8}, "validation": None, "start": "there"}
    wanted = {"model": {"layers": 3, "width": 8}, "validation": {"rows": 5}}
    assert [str(one) for one in differences(found, wanted)] == [
        "model.layers was 2, is 3", "validation was None, is {'rows': 5}", "start was 'there', is None",
    ]  # fmt: skip


def test_a_setting_that_did_not_exist_yet_counts_as_its_default():
    defaults = {"settings": {"steps": 1, "order": "any"}}
    assert differences({"settings": {"steps": 5}}, {"settings": {"steps": 5, "order": "any"}}, defaults) == []
    (one,) = differences({"settings": {"steps": 5}}, {"settings": {"steps": 5, "order": "length"}}, defaults)
    assert (one.name, one.found, one.wanted) == ("settings.order", "any", "length")


def test_the_same_identity_resumes_and_another_is_refused(tmp_path):
    work = Job(tmp_path / "run", "run.json", {"seeds": (1, 2), "rate": 0.5})
    assert work.found() is None and work.differences() == []
    with pytest.raises(ConfigError, match="no run.json; choose another folder"):
        work.check()
    work.begin()
    again = Job(tmp_path / "run", "run.json", {"seeds": [1, 2], "rate": 0.5})
    again.start("results.json")
    assert again.result("results.json") is None
    write_json(tmp_path / "run" / "results.json", {"score": 1})
    assert again.result("results.json") == {"score": 1}
    other = Job(tmp_path / "run", "run.json", {"seeds": (1, 3), "rate": 0.5}, error=DataError)
    for refused in (other.check, other.start, lambda: other.result("results.json")):
        with pytest.raises(DataError, match=r"run: was started with other settings \(seeds was \[1, 2\], is \[1, 3\]"):
            refused()
    again.file.unlink()
    with pytest.raises(ConfigError, match="holds results but no run.json"):
        again.result("results.json")


def test_what_cannot_be_read_or_made_is_an_error_that_names_the_file(tmp_path):
    work = Job(tmp_path, "run.json", {})
    work.file.write_text('{"half": ')
    with pytest.raises(ConfigError, match="run.json: not valid JSON") as damaged:
        work.check()
    work.file.unlink()
    with pytest.raises(ConfigError) as missing:
        work.check()
    (tmp_path / "curve.png").touch()
    with pytest.raises(ConfigError) as of_others:
        work.check_unused("curve.png")
    for told in (damaged, missing, of_others):  # no advice to delete what another message then asks for
        assert str(told.value).endswith("; choose another folder, or restore the file")
    with pytest.raises(ConfigError, match="curve.png: cannot create it"):
        Job(tmp_path / "curve.png", "deeper/run.json", {}).begin()


def test_json_is_written_as_text_that_people_can_read(tmp_path):
    write_json(tmp_path / "a.json", {"word": "naïve", "numbers": (1, 2)})
    assert "naïve" in (tmp_path / "a.json").read_text(encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"word": "naïve", "numbers": [1, 2]}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


# --- folders of version 0.1.0 ---


def make_old_data(folder):
    from bertlab.data.pretraining.make import make_data
    from bertlab.data.pretraining.settings import ExampleSettings
    from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *WORDS]))
    settings = ExampleSettings(sequence_length=32, duplicate_factor=1, seed=3)
    return make_data(documents(40, 0), tokenizer, folder, settings, unit_characters=3000)


def test_old_examples_are_finished_and_finished_ones_are_left_alone(old):
    kept = old / "data" / "examples-00000.tfrecord"
    before = kept.stat().st_mtime_ns
    make_old_data("data")
    assert kept.stat().st_mtime_ns == before
    names = sorted(path.name for path in (old / "data-finished").iterdir() if path.name != "manifest.json")
    assert filecmp.cmpfiles(old / "data", old / "data-finished", names, shallow=False)[0] == names
    made, finished = (read_json(old / name / "manifest.json") for name in ("data", "data-finished"))
    assert made.pop("settings") == finished.pop("settings") | {
        "sentence_order": False,
        "target_length": None,
    }  # came later
    assert made == finished
    before = (old / "data-finished" / "manifest.json").stat().st_mtime_ns
    make_old_data("data-finished")
    assert (old / "data-finished" / "manifest.json").stat().st_mtime_ns == before


@pytest.mark.slow
def test_an_old_pretraining_run_resumes(old):
    from bertlab.training.presets import PretrainingSettings
    from bertlab.training.pretraining import pretrain

    settings = PretrainingSettings(
        steps=4, interval=2, batch_size=8, learning_rate=5e-3, warmup_share=0.25, precision="float32", seed=1
    )
    first, second = pretrain(CONFIG, ["data-finished"], "pretrain", settings)
    assert first["step"] == 2 and first["masked_lm_loss"] == 3.1430699825286865  # as the old state has it
    assert second["step"] == 4
    with pytest.raises(ConfigError, match=r"settings.warmup_share was 0.25, is 0.5"):
        pretrain(CONFIG, ["data-finished"], "pretrain", settings.replace(warmup_share=0.5))


@pytest.mark.slow
def test_an_old_fine_tuning_resumes(old):
    from bertlab.training.finetuning import finetune

    run = Path("finetune/runs/pre-trained-b8-lr0.02-e1-s1.json")
    before = run.read_bytes()
    recipe = dataclasses.replace(RECIPE, epochs=1, seeds=(1, 2))
    result = finetune("checkpoint", task_of("sentence"), "finetune", recipe)
    assert run.read_bytes() == before
    assert [one.seed for one in result.runs] == [1, 2]
    with pytest.raises(ConfigError, match="learning_rate was 0.02, is 0.5"):
        finetune("checkpoint", task_of("sentence"), "finetune", dataclasses.replace(recipe, learning_rate=0.5))


def test_an_old_file_of_vectors_resumes(old):
    from bertlab import checkpoints
    from bertlab.analysis.vector_files import write_vectors
    from bertlab.analysis.vectors import LayerChoice, VectorEncoder

    encoder, tokenizer = checkpoints.load("checkpoint", "encoder"), checkpoints.load_tokenizer("checkpoint")
    maker = VectorEncoder(encoder, tokenizer, LayerChoice.of("-1", None, None), "mean", False, 32, False)
    texts, done = ["the film was good", "it was bad", "paris is a city", "rome"], []
    settings = {"model": "checkpoint", "pooling": "mean"}
    assert write_vectors(maker, texts, "encode/v.npy", settings, done.append) == (4, 16)
    assert done[0] == 2  # not made again


def test_weights_are_hashed_by_the_names_of_version_1():
    from safetensors import safe_open

    from bertlab import checkpoints
    from bertlab.checkpoints.kinds import variables_of
    from bertlab.checkpoints.native import weights_digest
    from bertlab.training.runs.models import TrainedWeights

    folder = OLD.parent / "native_version_1"
    with safe_open(folder / "bertlab.safetensors", "numpy") as file:
        old = {name: file.get_tensor(name) for name in file.keys()}
    model = checkpoints.load(folder)
    assert weights_digest({name: np.array(one) for name, one in variables_of(model).items()}) == weights_digest(old)
    content = hashlib.sha256()
    for name in sorted(old):
        content.update(name.encode() + old[name].tobytes())
    assert TrainedWeights(folder).sha256() == content.hexdigest()
