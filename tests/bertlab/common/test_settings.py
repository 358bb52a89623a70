"""Settings: limits are checked in plain words, and command-line options are made from the fields."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import click
import pytest
from click.testing import CliRunner

from bertlab.cli.from_signature import Options, command, option
from bertlab.common.errors import ConfigError
from bertlab.common.settings import Settings, setting
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.presets import PretrainingSettings

ALL = (ExampleSettings, PretrainingSettings, Recipe)


@dataclass(frozen=True)
class Small(Settings):
    PRESETS: ClassVar[dict[str, dict]] = {"plain": {}, "quick": dict(steps=5, fast=True)}

    steps: int = setting(100, "Number of steps.", at_least=1)
    rate: float = setting(0.5, "Learning rate.", above=0, below=1)
    kind: str = setting("a", "Kind of step.", choices=("a", "b"))
    fast: bool = setting(False, "Skip the checks.", option="--fast/--careful")
    shares: tuple[float, ...] = setting((0.5, 0.5), "Lengths of the phases.")
    most: int | None = setting(None, "Maximum.", at_least=1, default_text="as many as fit")
    hidden: int = setting(0, "Not an option.", option=False)


@pytest.mark.parametrize(
    "wrong, told",
    [(dict(steps=0), "steps: expected an integer of at least 1; got 0"),
     (dict(steps=2.0), "steps: expected an integer of at least 1; got 2.0"),
     (dict(steps=True), "steps: expected an integer .* got True"),
     (dict(steps=None), "steps: expected an integer .* got None"),
     (dict(rate=1), "rate: expected a number above 0 and below 1; got 1"),
     (dict(rate=float("nan")), "rate: expected a number .* got nan"),
     (dict(rate="fast"), "rate: expected a number .* got 'fast'"),
     (dict(most=0), "most: expected an integer of at least 1; got 0"),
     (dict(kind="c"), "kind: expected one of a, b; got 'c'")],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_with_what_was_expected(wrong, told):
    with pytest.raises(ConfigError, match=told):
        Small(**wrong)


def test_settings_go_through_a_file_and_back():
    settings = Small(steps=7, shares=(0.9, 0.1))
    assert settings.to_dict()["shares"] == [0.9, 0.1]
    assert Small.from_dict(settings.to_dict()) == settings
    assert Small.from_dict({"steps": 7}).rate == 0.5
    with pytest.raises(ConfigError, match="no setting step; expected some of steps, rate"):
        Small.from_dict({"step": 7})


def test_a_preset_gives_way_to_what_is_asked_for():
    assert Small.preset("quick", steps=9) == Small(steps=9, fast=True)
    with pytest.raises(ConfigError, match="no preset 'slow'; choose one of plain, quick"):
        Small.preset("slow")


@command()
def small(*, settings: Small = Options(without=("rate",)), loud: bool = option(False, "Say more.", rare=True)):
    """Print the settings."""
    click.echo(repr(settings))


def test_only_options_that_were_given_change_a_preset():
    run = CliRunner().invoke
    assert run(small, []).output == f"{Small()!r}\n"
    asked = "--steps 3 --careful --shares 0.9,0.1 --kind b --most 2 --preset quick"
    expected = Small(steps=3, fast=False, shares=(0.9, 0.1), kind="b", most=2)
    assert run(small, asked.split()).output == f"{expected!r}\n"
    assert run(small, ["--preset", "quick"]).output == f"{Small(steps=5, fast=True)!r}\n"


@pytest.mark.parametrize("asked", ["--steps 0", "--kind c", "--shares x,y", "--rate 0.5", "--hidden 1"])
def test_an_option_outside_its_limits_is_a_mistake_of_the_user(asked):
    assert CliRunner().invoke(small, asked.split()).exit_code == 2


def test_the_help_names_the_defaults_of_all_presets():
    text = " ".join(CliRunner().invoke(small, ["--help"]).output.split())
    assert "--fast / --careful Skip the checks. [careful; quick fast]" in text
    assert "Number of steps. [100; quick 5] [x>=1]" in text
    assert "Lengths of the phases. [0.5,0.5]" in text
    assert "Maximum. [as many as fit]" in text
    assert "--loud" not in text and "--help-all Show this message with all 9 options and exit." in text
    assert "--loud Say more." in " ".join(CliRunner().invoke(small, ["--help-all"]).output.split())


@pytest.mark.parametrize("settings", ALL)
def test_every_setting_has_a_help_that_is_a_sentence(settings):
    for field in dataclasses.fields(settings):
        text = field.metadata["help"]
        assert text[0].isupper() and text.endswith("."), field.name
        assert settings.from_dict(settings().to_dict()) == settings()
