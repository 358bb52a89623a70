"""The command `bertlab finetune` with a baseline, and with features of a frozen model."""

import pytest
from click.testing import CliRunner
from finetuning_case import save_checkpoint

from bertlab.cli import cli
from bertlab.common.errors import ConfigError


@pytest.fixture
def finetune(tmp_path, monkeypatch):
    """Runs the command on some reviews, beside a checkpoint in the folder frozen."""
    monkeypatch.chdir(tmp_path)
    rows = [f"the {('bad', 'good')[i % 2]} film {i},{('no', 'yes')[i % 2]}" for i in range(40)]
    (tmp_path / "reviews.csv").write_text("\n".join(["text,label", *rows, ""]), encoding="utf-8")

    def run(options):
        return CliRunner().invoke(cli, ["finetune", *options.split()])

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "learning_rate", "others", "left_out", "name"),
    [
        ("--baseline cbow --word-size 8 --seeds 2", "0.01", "", "model =", "baseline"),
        ("--model frozen --features -2,-1-mix --epochs 2", "0.003", 'head = "linear"', "units", "features"),
    ],
)
def test_a_run_has_the_own_recipe_of_its_kind_and_its_settings_repeat_it(
    finetune, tmp_path, options, learning_rate, others, left_out, name
):
    save_checkpoint(tmp_path / "frozen", num_layers=2)
    first = finetune(f"reviews.csv --validation-share 0.2 {options} --out first")
    assert first.exit_code == 0, first.output
    if name == "baseline":
        assert "from scratch" in first.output and "0.01     10     2" in first.output
    written = (tmp_path / "first" / "command.toml").read_text(encoding="utf-8")
    assert f"learning-rate = {learning_rate}" in written and others in written
    assert left_out not in written and "units" not in written
    again = finetune("--config first/command.toml --out again")
    assert again.exit_code == 0, again.output
    first, again = ((tmp_path / run / f"{name}.safetensors").read_bytes() for run in ("first", "again"))
    assert first == again
    predicted = CliRunner().invoke(cli, ["predict", "first", "reviews.csv"])
    assert predicted.exit_code == 0 and {line.split()[0] for line in predicted.output.splitlines()} <= {"no", "yes"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--baseline lstm --model bertlab-mini", "leave out --model"),
        ("--baseline lstm --grid", "for a baseline give --try learning-rate"),
        ("--baseline lstm --lora-rank 4", "no pre-trained layers; leave out --lora-rank"),
        ("--baseline bow --units 8", "--units has no effect with --baseline bow; leave it out"),
        ("--baseline cbow --units 9", "--units has no effect with --baseline cbow"),
        ("--baseline bow --tokenizer x --min-count 3", "--min-count has no effect with --tokenizer; leave it out"),
        ("--baseline lstm --word-vectors x --word-size 9", "--word-size has no effect with --word-vectors"),
        ("--baseline lstm --features last", "leave out --features"),
        ("--units 8", "--units goes with --baseline"),
        ("--tokenizer x", "--tokenizer goes with --baseline"),
        ("--freeze-words", "--freeze-words goes with --baseline"),
        ("--model bertlab-mini --word-vectors x", "--word-vectors goes with --baseline"),
        ("--model frozen --features last --grid", "for a head give --try learning-rate"),
        ("--model frozen --features last --units 8", "--units has no effect with --head linear; leave it out"),
        ("--model frozen --features last --word-size 8", "--word-size goes with --baseline"),
        ("--model frozen --features last --lora-rank 4", "is not trained; leave out --lora-rank"),
        ("--model frozen --head bilstm", "--head goes with --features"),
        ("--model frozen --vectors kept", "--vectors goes with --features"),
    ],
)
def test_options_that_contradict_each_other_are_refused(finetune, options, said):
    result = finetune(f"reviews.csv --validation-share 0.2 {options} --out out")
    assert result.exit_code == 2 or isinstance(result.exception, ConfigError)
    assert said in result.output + str(result.exception)
