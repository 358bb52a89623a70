"""The `bertlab` command as a user meets it: help, errors, and the commands that read a checkpoint."""

import json
import re
import shutil
import subprocess
import sys
import time

import click
import numpy as np
import pytest
from click.testing import CliRunner
from warm import run_module

from autograde.cli import cli as autograde_cli
from bertlab.cli import COMMANDS, cli
from bertlab.common.errors import ConfigError, DataError
from bertlab.config import BertConfig
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A tiny model with its tokenizer, saved as a Hugging Face folder."""
    import keras

    from bertlab import checkpoints
    from bertlab.models import BertForPreTraining

    keras.utils.set_random_seed(1)
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, "the", "bank", "river", "of", "."]))
    config = BertConfig(
        vocab_size=10, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32, max_position_embeddings=16
    )
    folder = tmp_path_factory.mktemp("cli") / "model"
    checkpoints.save(BertForPreTraining(config), folder, tokenizer)
    return folder


def run(*arguments, text=None):
    """The command in a process of its own, as a user runs it."""
    command = [sys.executable, "-m", "bertlab", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_short_help_with_an_example(name):
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0, result.output
    shown = result.output
    if "Commands:" in shown:  # a group: its own commands have the examples
        subcommands = cli.get_command(None, name).commands
        shown += "".join(CliRunner().invoke(cli, [name, sub, "--help"]).output for sub in subcommands)
    assert f"bertlab {name}" in shown.split("Example", 1)[1]


def _commands(group, path=()):
    """Every command of a group with the path to it."""
    for name in group.list_commands(None):
        command, own = group.get_command(None, name), (*path, name)
        yield from _commands(command, own) if hasattr(command, "list_commands") else [(own, command)]


@pytest.mark.parametrize("program", [cli, autograde_cli], ids=["bertlab", "autograde"])
def test_every_option_has_a_help(program):
    options = [
        (*path, option.name) for path, command in _commands(program) for option in command.params
        if option.param_type_name == "option" and not option.hidden and not option.help
    ]  # fmt: skip
    assert not options


@pytest.mark.parametrize("program", [cli, autograde_cli], ids=["bertlab", "autograde"])
def test_a_page_of_help_has_at_most_25_options_and_the_other_page_has_all(program):
    for path, command in _commands(program):
        shown = [CliRunner().invoke(program, [*path, word]).output for word in ("--help", "--help-all")]
        assert len(re.findall(r"^  -", shown[0], re.MULTILINE)) <= 25, path
        if "--help-all" not in shown[0]:
            assert "No such option" in shown[1]
            shown[1] = shown[0]  # which has no rare ones
        names = [name for option in command.params if isinstance(option, click.Option) for name in option.opts]
        assert not [name for name in names if not re.search(rf"^  (-h, )?{name}\b", shown[1], re.MULTILINE)], path


@pytest.mark.parametrize(("typed", "told"), [
    ("finetune a.csv --with b.csv", "'--with'; use `bertlab finetune-tasks TASK TASK …`"),
    ("finetune a.csv --task-layer b=2", "'--task-layer'; use `bertlab finetune-tasks TASK TASK …`"),
    ("finetune a.csv --features last --head linear", "'--features'; use `bertlab train-features TASK --layers LAYERS`"),
    ("finetune a.csv --baseline=lstm", "'--baseline'; use `bertlab train-baseline TASK --kind KIND`"),
    ("distill a b.csv --stage task --to 2x8", "'--stage'; use `bertlab distill-task TEACHER ROWS` for the task stage"),
    ("distill-task a b.csv --steps 8", "'--steps'; use `bertlab distill` for the general stage"),
])  # fmt: skip
def test_an_old_spelling_is_told_the_new_one(typed, told):
    done = CliRunner().invoke(cli, [*typed.split(), "--out", "out"])
    assert done.exit_code == 2 and f"No such option {told}" in done.output


def test_help_starts_without_loading_a_backend():
    code = "import sys; from bertlab.cli import cli; cli(['--help'], standalone_mode=False); print(sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"'keras'", "'tensorflow'", "'numpy'"} & set(shown.replace("[", "").replace("]", "").split(", "))


def test_summary_prints_the_published_number_and_json():
    assert "109,482,240" in CliRunner().invoke(cli, ["summary", "base"]).output
    values = json.loads(CliRunner().invoke(cli, ["summary", "large", "--no-heads", "--json"]).output)
    assert values["total"] == 335_141_888


def test_summary_reads_the_config_of_a_checkpoint_folder(checkpoint):
    values = json.loads(CliRunner().invoke(cli, ["summary", str(checkpoint), "--json"]).output)
    assert values["config"]["hidden_size"] == 16


def test_summary_refuses_weights_of_another_family_than_the_config_names(checkpoint, tmp_path):
    folder = shutil.copytree(checkpoint, tmp_path / "model")
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(values | {"model_type": "roberta"}))
    result = run("summary", folder)
    assert result.returncode == 2 and "has no weight of the family 'roberta'" in result.stderr, result.stderr


def test_summary_counts_what_a_checkpoint_holds_and_no_more(checkpoint, tmp_path):
    from bertlab import checkpoints

    def counted(folder, *options):
        result = CliRunner().invoke(cli, ["summary", str(folder), "--json", *options])
        assert result.exit_code == 0, result.output
        return dict(json.loads(result.output)["components"])

    whole = counted(checkpoint)
    model = checkpoints.load(checkpoint, "sequence_classification", fresh_head=True, num_labels=3)
    checkpoints.save(model, tmp_path / "tuned", checkpoints.load_tokenizer(checkpoint))
    tuned = counted(tmp_path / "tuned")
    assert sum(tuned.values()) == model.count_params()
    assert tuned["task head"] == 16 * 3 + 3 and "masked-LM head" not in tuned
    assert list(tuned)[:4] == list(whole)[:4] and tuned.items() - whole.items() == {("task head", 51)}
    assert "task head" not in counted(tmp_path / "tuned", "--no-heads")
    checkpoints.save(checkpoints.load(checkpoint, "encoder"), tmp_path / "bare")
    assert not [name for name in counted(tmp_path / "bare") if name.endswith("head")]


def test_an_error_inside_a_layer_stays_short_and_without_colours():
    from bertlab.models import BertEncoder

    encoder = BertEncoder(BertConfig.named("tiny", vocab_size=20))
    with pytest.raises(ConfigError) as raised:
        encoder({"input_ids": np.zeros((2, 2, 2), "int32")})
    assert str(raised.value) == "input_ids has shape (2, 2, 2); expected (batch, tokens)"


@pytest.mark.parametrize("name", ["attention_mask", "token_type_ids"])
def test_inputs_of_different_lengths_are_named(name):
    from bertlab.models import BertEncoder

    model = BertEncoder(BertConfig.named("tiny", vocab_size=10))
    with pytest.raises(ConfigError, match=f"{name} has 3 tokens per row, input_ids has 4; expected the same number"):
        model({"input_ids": np.ones((2, 4), "int32"), name: np.ones((2, 3), "int32")})
    assert str(ConfigError("\x1b[1mbold\x1b[0m")) == "bold"


@pytest.mark.slow
def test_fill_mask_answers_from_a_process_of_its_own(checkpoint):
    result = run("fill-mask", "--model", checkpoint, "--top", 3, "The bank of the [MASK].")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "The bank of the [MASK]."
    assert len(lines) == 2 + 3 and all("%" in line for line in lines[2:])
    assert result.stderr == ""  # no notes of the backend


def test_fill_mask_reads_lines_and_prints_json(checkpoint):
    result = CliRunner().invoke(
        cli, ["fill-mask", "--model", str(checkpoint), "--json"], input="the [MASK]\n[MASK] of\n"
    )
    rows = [json.loads(line) for line in result.output.splitlines()]
    assert [row["text"] for row in rows] == ["the [MASK]", "[MASK] of"]
    assert len(rows[0]["blanks"][0]) == 5


@pytest.mark.parametrize("command", ["fill-mask --model", "tokenize --vocab"])
def test_standard_input_that_is_not_utf8_is_refused(checkpoint, command):
    result = CliRunner().invoke(cli, [*command.split(), str(checkpoint)], input=b"the [MASK]\ncaf\xe9 [MASK]\n")
    assert isinstance(result.exception, DataError) and "<stdin>: not UTF-8" in str(result.exception)


def test_encode_writes_one_vector_per_line(checkpoint, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("the bank\nof the river .\n", encoding="utf-8")
    out = tmp_path / "vectors.npy"
    result = CliRunner().invoke(cli, ["encode", str(lines), "--model", str(checkpoint), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert np.load(out, allow_pickle=False).shape == (2, 16)


@pytest.mark.slow
def test_encode_refuses_a_file_that_is_not_utf8(checkpoint, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_bytes(b"caf\xe9\n")
    result = run_module("bertlab", "encode", lines, "--model", checkpoint, "--out", tmp_path / "v.npy")
    assert result.returncode == 2
    assert "not UTF-8" in result.stderr and not (tmp_path / "v.npy").exists()


def test_encode_refuses_a_table_whose_header_would_be_a_text(checkpoint, tmp_path):
    (tmp_path / "reviews.csv").write_text("text,label\nthe bank,1\n")
    command = ["encode", str(tmp_path / "reviews.csv"), "--model", str(checkpoint), "--out", str(tmp_path / "v.npy")]
    result = CliRunner().invoke(cli, command)
    assert "reviews.csv: expected a text on each line, got a table (.csv)" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["reviews.csv"]


@pytest.mark.slow
def test_a_missing_model_is_one_line_and_exit_code_2(tmp_path):
    result = run_module("bertlab", "fill-mask", "--model", tmp_path / "nothing", "a [MASK]")
    assert result.returncode == 2 and len(result.stderr.strip().splitlines()) == 1


def test_without_a_model_the_packaged_one_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["fill-mask", "--top", "2", "She opened the [MASK] and went in."])
    assert result.exit_code == 0 and "door" in result.output


def test_the_model_can_be_named_by_the_environment(checkpoint, monkeypatch):
    monkeypatch.setenv("BERTLAB_MODEL", str(checkpoint))
    result = CliRunner().invoke(cli, ["fill-mask", "--top", "2", "the [MASK]"])
    assert result.exit_code == 0 and len(result.output.splitlines()) == 4


@pytest.mark.slow
def test_a_command_ends_soon_after_its_last_line(checkpoint):
    command = [sys.executable, "-m", "bertlab", "fill-mask", "--model", str(checkpoint), "the [MASK]"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in process.stdout:
        last = time.perf_counter()
    process.wait()
    assert time.perf_counter() - last < 1  # 2 to 3 seconds where Python tidies up TensorFlow's objects


def test_a_cased_folder_stays_cased_without_the_option(tmp_path):
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, "The", "the", "cat"]), lowercase=False)
    tokenizer.save(tmp_path / "cased")
    (tmp_path / "text.txt").write_text("The cat\nthe cat\n")
    shown = CliRunner().invoke(cli, ["vocab", "show", str(tmp_path / "cased"), "--word", "The", "--json",
                                     "--text", str(tmp_path / "text.txt")])  # fmt: skip
    facts = json.loads(shown.output)
    assert facts["words"] == {"The": ["The"]} and facts["report"]["unknown"] == 0
    made = CliRunner().invoke(cli, ["data", "make", str(tmp_path / "text.txt"), "--vocab", str(tmp_path / "cased"),
                                    "--out", str(tmp_path / "examples"), "--preset", "roberta"])  # fmt: skip
    assert made.exit_code == 0, made.output
    assert not ExampleFiles(tmp_path / "examples").tokenizer.lowercase
