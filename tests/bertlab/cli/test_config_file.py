"""`--config run.toml`: a command's arguments from a file, and the file that a run writes."""

import json
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from finetuning_case import save_checkpoint, sentences

from bertlab.cli import cli
from bertlab.cli.config_file import WRITTEN, write_config
from bertlab.cli.from_signature import command as made_from
from bertlab.cli.from_signature import option
from bertlab.cli.labelled_rows import LabelledRows
from bertlab.common.errors import ConfigError
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.presets import PretrainingSettings


@pytest.fixture
def command():
    """A command with the options of `finetune`, which returns what it was given."""

    @made_from(config=True)
    def show(
        name_or_path: str,
        *,
        reading: LabelledRows,
        recipe: Recipe,
        axes: tuple[str, ...] = option((), "Values to try.", "--try"),
        out: Path | None = option(None, "Folder."),
    ):
        """Show what was given."""
        if out:
            write_config(out, recipe)
        return {"name_or_path": name_or_path, "axes": axes} | vars(reading) | vars(recipe)

    return show


def given(command, *arguments):
    return command.main([str(one) for one in arguments], standalone_mode=False)


def test_a_file_gives_what_the_shell_does_not(command, tmp_path):
    (tmp_path / "run.toml").write_text(
        'name_or_path = "rows.csv"\ncolumn = ["text=review", "label=stars"]\nlabels = ["bad", "good"]\n'
        'learning-rate = 3e-4\nepochs = 5\nclass-weights = [1, 2.5]\nfrom-scratch = true\ntry = "epochs=1,2"\n'
    )
    found = given(command, "--config", tmp_path / "run.toml", "--epochs", "2")
    assert found["name_or_path"] == "rows.csv" and found["epochs"] == 2
    assert found["columns"] == {"text": "review", "label": "stars"} and found["labels"] == ("bad", "good")
    assert (found["learning_rate"], found["class_weights"], found["from_scratch"]) == (3e-4, (1.0, 2.5), True)
    assert found["axes"] == ("epochs=1,2",) and found["batch_size"] == Recipe().batch_size


def test_what_is_written_gives_the_same_again(command, tmp_path):
    options = [
        'the "rows"\\file.csv', "--column", "text=a=b", "--labels", "x y,ü", "--conll", "tag_column=1",
        "--batch-size", 7,
        "--class-weights", "balanced", "--label-separator", "\t", "--try", "learning-rate=1e-3,5e-4", "--out", tmp_path,
    ]  # fmt: skip
    found = given(command, *options)
    assert given(command, "--config", tmp_path / WRITTEN) == found
    assert "out" not in tomllib.loads((tmp_path / WRITTEN).read_text())  # the folder of a run is named for every run


def test_several_arguments_are_a_list_in_the_file(tmp_path):
    @made_from(config=True)
    def show(names: tuple[str, ...], *, out: Path | None = option(None, "Folder.")):
        """Show the names."""
        if out:
            write_config(out)
        return names

    assert given(show, "a.csv", "b, c.csv", "--out", tmp_path) == ("a.csv", "b, c.csv")
    assert given(show, "--config", tmp_path / WRITTEN) == ("a.csv", "b, c.csv")


def test_pairs_are_written_as_they_are_typed(tmp_path):
    @made_from(config=True)
    def show(*, layers: tuple[str, ...] = option((), "Layers."), columns: tuple[str, ...] = option((), "Columns.")):
        """Show the pairs."""
        write_config(tmp_path, layers={"tags": 2}, columns={"text": "a=b", "choices": ("b", "c")})

    given(show)
    written = tomllib.loads((tmp_path / WRITTEN).read_text())
    assert written == {"layers": ["tags=2"], "columns": ["text=a=b", "choices=b,c"]}


@pytest.mark.parametrize(
    "text, told",
    [("learning-rat = 1", "there is no option 'learning-rat'; expected some of name_or_path"),
     ("epochs = ", "cannot be read as TOML")],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_refused_by_name(command, tmp_path, text, told):
    (tmp_path / "run.toml").write_text(text)
    with pytest.raises(ConfigError, match=f"run.toml: {told}"):
        given(command, "--config", tmp_path / "run.toml")
    with pytest.raises(click.BadParameter):  # a value is checked like that of an option
        (tmp_path / "run.toml").write_text("epochs = 0")
        given(command, "rows.csv", "--config", tmp_path / "run.toml")


def test_every_setting_of_pre_training_can_be_written(tmp_path):
    @made_from(config=True)
    def show(*, settings: PretrainingSettings, out: Path | None = option(None, "Folder.")):
        """Show the settings."""
        if out:
            write_config(out, settings)
        return settings

    for name in PretrainingSettings.PRESETS:
        settings = given(show, "--preset", name, "--out", tmp_path)
        assert settings == PretrainingSettings.preset(name)
        written = (tmp_path / WRITTEN).read_text().replace(f'preset = "{name}"\n', "")
        (tmp_path / WRITTEN).write_text(written)
        assert given(show, "--config", tmp_path / WRITTEN) == settings


def test_a_file_with_an_old_option_is_told_the_command_that_has_it_now(tmp_path):
    (tmp_path / "run.toml").write_text('name_or_path = "nowhere.csv"\nbaseline = "lstm"\n')
    said = CliRunner().invoke(cli, ["finetune", "--config", str(tmp_path / "run.toml"), "--out", str(tmp_path / "o")])
    assert "there is no option 'baseline'; use `bertlab train-baseline TASK --kind KIND`" in str(said.exception)


@pytest.mark.slow
def test_a_fine_tuning_is_repeated_from_its_own_file(tmp_path):
    import numpy as np

    checkpoint = save_checkpoint(tmp_path / "pretrained")
    rows = [f"{row.text},{('bad', 'good')[row.label]}" for row in sentences(np.random.default_rng(3))]
    (tmp_path / "rows.csv").write_text("\n".join(["review,stars", *rows, ""]))
    options = [
        str(tmp_path / "rows.csv"), "--model", str(checkpoint), "--column", "text=review", "--column", "label=stars",
        "--validation-share", "0.3", "--epochs", "1", "--max-length", "16", "--batch-size", "8", "--accumulation", "2",
    ]  # fmt: skip
    first = CliRunner().invoke(cli, ["finetune", *options, "--out", str(tmp_path / "first")])
    assert first.exit_code == 0, first.output
    written = tmp_path / "first" / WRITTEN
    assert tomllib.loads(written.read_text())["accumulation"] == 2
    again = CliRunner().invoke(cli, ["finetune", "--config", str(written), "--out", str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
    settings = [json.loads((tmp_path / name / "settings.json").read_text()) for name in ("first", "again")]
    assert settings[0] == settings[1]
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("first", "again")]
    assert weights[0] == weights[1]
