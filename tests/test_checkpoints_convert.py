"""`bertlab convert` from the shell."""

import json

import pytest
from checkpoint_files import GOLDEN, golden_copy, same_weights, tokenizer, weights
from click.testing import CliRunner

from bertlab.checkpoints import load, load_tokenizer
from bertlab.cli import cli
from bertlab.errors import CheckpointError


def convert(*arguments):
    return CliRunner().invoke(cli, ["convert", *map(str, arguments)], catch_exceptions=False)


def test_there_and_back_gives_the_same_weights_and_vocabulary(tmp_path):
    source = golden_copy("gelu", tmp_path / "source")
    tokenizer().save(source)
    done = convert(source, tmp_path / "ours", "--to", "bertlab")
    assert done.exit_code == 0
    assert "backbone/pooler/dense/bias" in done.stdout and "with its vocabulary" in done.stdout
    assert convert(tmp_path / "ours", tmp_path / "theirs", "--to", "huggingface").exit_code == 0
    assert same_weights(weights(load(tmp_path / "theirs")), weights(load(source)))
    assert load_tokenizer(tmp_path / "theirs").vocabulary == tokenizer().vocabulary


def test_json_names_the_origin_of_every_variable(tmp_path):
    done = convert(GOLDEN / "relu", tmp_path / "out", "--to", "huggingface", "--json")
    report = json.loads(done.stdout)
    assert len(report["origins"]) == len(load(tmp_path / "out").weights)
    assert all(origin["source"] for origin in report["origins"])


def test_half_precision_halves_the_file(tmp_path):
    convert(GOLDEN / "gelu", tmp_path / "half", "--to", "bertlab", "--dtype", "float16")
    original = (GOLDEN / "gelu" / "model.safetensors").stat().st_size
    assert (tmp_path / "half" / "bertlab.safetensors").stat().st_size < 0.6 * original


def test_a_folder_with_something_in_it_is_not_touched_unless_told_to(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(CheckpointError, match="expected an empty folder; .*--overwrite"):
        convert(GOLDEN / "gelu", tmp_path, "--to", "bertlab")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    assert convert(GOLDEN / "gelu", tmp_path, "--to", "bertlab", "--overwrite").exit_code == 0


def test_the_help_shows_an_example():
    done = convert("--help")
    assert "bertlab convert uncased_L-12_H-768_A-12 bert-base --to huggingface" in done.stdout
