"""The commands `bertlab train-baseline` and `bertlab train-features`."""

import pytest
from click.testing import CliRunner
from finetuning_case import save_checkpoint

from bertlab.cli import cli
from bertlab.common.errors import ConfigError


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Runs one of the commands on some reviews, beside a checkpoint in the folder frozen."""
    monkeypatch.chdir(tmp_path)
    rows = [f"the {('bad', 'good')[i % 2]} film {i},{('no', 'yes')[i % 2]}" for i in range(40)]
    (tmp_path / "reviews.csv").write_text("\n".join(["text,label", *rows, ""]), encoding="utf-8")

    def run(words):
        return CliRunner().invoke(cli, words.split())

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "options", "learning_rate", "others", "left_out", "name"),
    [
        ("train-baseline", "--kind cbow --word-size 8 --seeds 2", "0.01", "", "model =", "baseline"),
        (
            "train-features",
            "--model frozen --layers -2,-1-mix --epochs 2",
            "0.003",
            'head = "linear"',
            "units",
            "features",
        ),
    ],
)
def test_a_run_has_the_own_recipe_of_its_kind_and_its_settings_repeat_it(
    train, tmp_path, command, options, learning_rate, others, left_out, name
):
    save_checkpoint(tmp_path / "frozen", num_layers=2)
    first = train(f"{command} reviews.csv --validation-share 0.2 {options} --out first")
    assert first.exit_code == 0, first.output
    if name == "baseline":
        assert "from scratch" in first.output and "0.01     10     2" in first.output
    written = (tmp_path / "first" / "command.toml").read_text(encoding="utf-8")
    assert f"learning-rate = {learning_rate}" in written and others in written
    assert left_out not in written and "units" not in written
    again = train(f"{command} --config first/command.toml --out again")
    assert again.exit_code == 0, again.output
    first, again = ((tmp_path / run / f"{name}.safetensors").read_bytes() for run in ("first", "again"))
    assert first == again
    predicted = CliRunner().invoke(cli, ["predict", "first", "reviews.csv"])
    assert predicted.exit_code == 0 and {line.split()[0] for line in predicted.output.splitlines()} <= {"no", "yes"}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("train-baseline --kind lstm --model bertlab-mini", "leave out the model"),
        ("train-baseline --kind lstm --grid", "No such option '--grid'"),
        ("train-baseline --kind lstm --lora-rank 4", "No such option '--lora-rank'"),
        ("train-baseline --kind bow --units 8", "--units has no effect with --kind bow; leave it out"),
        ("train-baseline --kind cbow --units 9", "--units has no effect with --kind cbow"),
        ("train-baseline --kind bow --tokenizer x --min-count 3", "--min-count has no effect with --tokenizer; leave"),
        ("train-baseline --kind lstm --word-vectors x --word-size 9", "--word-size has no effect with --word-vectors"),
        ("train-baseline --kind bow --cased --tokenizer x", "--cased has no effect with --tokenizer"),
        ("train-baseline --kind lstm --freeze-words", "leaves given vectors as they are; give them by --word-vectors"),
        ("train-features --grid", "No such option '--grid'"),
        ("train-features --units 8", "--units has no effect with --head linear; leave it out"),
        ("train-features --lora-rank 4", "No such option '--lora-rank'"),
    ],
)
def test_options_that_contradict_each_other_are_refused(train, typed, said):
    command, options = typed.split(" ", 1)
    result = train(f"{command} reviews.csv --validation-share 0.2 {options} --out out")
    assert result.exit_code == 2 or isinstance(result.exception, ConfigError)
    assert said in result.output + str(result.exception)
