"""Pairs of texts as examples, label smoothing, the schedule of 2017, and training an encoder–decoder on pairs."""

import json

import numpy as np
import pytest
from bertlab_command import run
from killing import Killed, killer
from refusals import refused

from bertlab.common.errors import ConfigError
from bertlab.data.pretraining.collators import ShiftRight
from bertlab.data.pretraining.pairs import make_pairs, pair_settings, read_pairs
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.families import BertConfig, MarianConfig, TransformerConfig
from bertlab.models.outline import parameter_count
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.training.devices.memory import memory_needs
from bertlab.training.devices.utilisation import forward_flops
from bertlab.training.objectives import SequenceToSequence, objectives_for, smoothed_losses, token_losses
from bertlab.training.presets import preset
from bertlab.training.pretraining import PretrainingRun
from bertlab.training.recipes.schedule import InverseRoot

WORDS = "one two three four five six a b c d e f".split()
TOKENIZER = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *WORDS]))
PAIRS = [("one two three", "c b a"), ("two four", "d b"), ("six", "f")]
SMALL = TransformerConfig(
    vocab_size=len(TOKENIZER.vocabulary), hidden_size=16, num_layers=1, decoder_layers=1, num_heads=2,
    intermediate_size=32, max_position_embeddings=12, initializer_range=0.1,
)  # fmt: skip


def written(path, pairs=PAIRS):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return path


@pytest.fixture
def folder(tmp_path):
    make_pairs(written(tmp_path / "pairs.tsv", PAIRS * 8), TOKENIZER, tmp_path / "pairs", pair_settings(8))
    return tmp_path / "pairs"


OTHER_LENGTH = "was started with other settings .*sequence_length was 8, is 9"


def ids(text):
    return TOKENIZER.encode(text)


# --- pairs ---


def test_a_row_has_a_source_and_a_target_that_end_with_sep(folder):
    files = ExampleFiles(folder)
    rows = files.take(np.array([0, 1]))
    sep = TOKENIZER.vocabulary.sep_id
    assert rows["input_ids"][0].tolist() == [*ids("one two three"), sep, 0, 0, 0, 0]
    assert rows["target_ids"][1].tolist() == [*ids("d b"), sep, 0, 0, 0, 0, 0]
    assert rows["target_mask"][1].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    files.check()


def test_two_files_line_by_line_are_the_same_pairs_as_one_with_tabs(tmp_path):
    sides = [tmp_path / "train.one", tmp_path / "train.other"]
    for path, texts in zip(sides, zip(*PAIRS)):
        path.write_text("\n".join(texts) + "\n")
    assert list(read_pairs(*sides)) == list(read_pairs(written(tmp_path / "pairs.tsv"))) == PAIRS


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\nc\n", "a\nb\n", r"source has 3 lines and .*target 2; expected as many in both"),
        ("a\n\n", "a\nb\n", "source line 2: the line is empty"),
        ("a\tb\none\n", None, "source line 2: expected a source, one tab and its target, got 1 columns"),
        ("a\tb\tc\n", None, "source line 1: .* got 3 columns"),
        ("a\t \n", None, "source line 1: .* got an empty side"),
        ("", None, "expected pairs to learn from, got an empty file"),
        ("one two three four five six a b\ta\n", None, "expected pairs to learn from, got 1, all longer than a row"),
    ],
)
def test_files_that_are_not_pairs_are_refused_and_nothing_is_left(source, target, message, tmp_path):
    (tmp_path / "source").write_text(source)
    if target is not None:
        (tmp_path / "target").write_text(target)
    other = None if target is None else tmp_path / "target"
    refused(message, make_pairs, tmp_path / "source", TOKENIZER, tmp_path / "out", pair_settings(8), other)
    written(tmp_path / "source")
    make_pairs(tmp_path / "source", TOKENIZER, tmp_path / "out", pair_settings(8))  # the folder can still be used


def test_longer_pairs_are_left_out_and_counted(tmp_path):
    source = written(tmp_path / "pairs.tsv", [*PAIRS, ("one " * 8, "a")])
    manifest = make_pairs(source, TOKENIZER, tmp_path / "pairs", pair_settings(8))
    assert manifest["counts"]["examples"] == 3 and manifest["problems"] == {"pair longer than a row": 1}
    assert manifest["counts"]["tokens_in_rows"] == 6 + 3 and manifest["counts"]["target_tokens"] == 6 + 3


def test_a_folder_of_other_pairs_is_not_changed(folder, tmp_path):
    before = (folder / "manifest.json").read_bytes()
    make_pairs(tmp_path / "pairs.tsv", TOKENIZER, folder, pair_settings(8))  # the same: nothing to do
    refused(OTHER_LENGTH, make_pairs, tmp_path / "pairs.tsv", TOKENIZER, folder, pair_settings(9))
    assert (folder / "manifest.json").read_bytes() == before


def test_an_interrupted_folder_is_made_whole_by_the_same_call_alone(folder, tmp_path, monkeypatch):
    def interrupted(path, content):
        raise KeyboardInterrupt

    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    out, source = tmp_path / "out", tmp_path / "pairs.tsv"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("bertlab.data.pretraining.pairs.write_json", interrupted)  # after the last shard
        make_pairs(source, TOKENIZER, out, pair_settings(8))
    assert len(list(out.glob("*.tfrecord"))) == 1
    refused(OTHER_LENGTH, make_pairs, source, TOKENIZER, out, pair_settings(9))
    make_pairs(source, TOKENIZER, out, pair_settings(8))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole


def test_the_decoder_reads_the_target_one_token_late(folder):
    rows = ShiftRight(TOKENIZER.vocabulary.cls_id)(ExampleFiles(folder).take(np.array([1])), 0)
    cls, sep = TOKENIZER.vocabulary.cls_id, TOKENIZER.vocabulary.sep_id
    assert rows["decoder_input_ids"][0].tolist() == [cls, *ids("d b"), sep, 0, 0, 0, 0]
    assert rows["next_token_ids"][0].tolist() == [*ids("d b"), sep, 0, 0, 0, 0, 0]
    assert rows["next_token_weights"][0].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


# --- the loss and the learning rate ---


def test_label_smoothing_is_the_cross_entropy_with_smoothed_labels():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(4, 7)).astype("float32"), np.array([0, 6, 3, 3])
    probabilities = np.full((4, 7), 0.1 / 7)
    probabilities[np.arange(4), labels] += 0.9
    log_softmax = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(smoothed_losses(logits, labels, 0.1), -(probabilities * log_softmax).sum(axis=1), 1e-5)
    np.testing.assert_allclose(smoothed_losses(logits, labels, 0.0), token_losses(logits, labels), 1e-6)


def test_the_learning_rate_is_the_papers():
    schedule = InverseRoot(512**-0.5 * 4000**-0.5, 4000)
    for step in (1, 100, 4000, 4001, 100_000):
        expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert float(schedule(step - 1)) == pytest.approx(expected, rel=1e-5)


def test_the_preset_translation_is_the_papers_recipe():
    recipe = preset("translation")
    assert recipe.warmup_steps == 4000 and recipe.label_smoothing == 0.1 and recipe.schedule == "inverse-root"
    assert recipe.learning_rate == pytest.approx((512 * 4000) ** -0.5, rel=0.01)


# --- counting ---


def test_the_decoder_counts_in_parameters_operations_and_memory():
    config = TransformerConfig()
    assert parameter_count(config) == 63_082_496
    shallow = config.replace(decoder_layers=1)
    of_five_layers = 5 * (2 * 20 * (6 * 512**2 + 2 * 512 * 2048) + 2 * 30 * 2 * 512**2 + 4 * 20 * (20 + 30) * 512)
    assert forward_flops(config, 30, 20) - forward_flops(shallow, 30, 20) == of_five_layers
    assert memory_needs(config, 8, 30, 20, "float32").total > memory_needs(shallow, 8, 30, 20, "float32").total


# --- the run ---


def recipe(**changes):
    small = dict(steps=40, batch_size=8, interval=20, learning_rate=0.01, xla=False)
    return preset("translation", **(small | changes))


def test_the_objective_of_a_model_with_a_decoder_is_the_target():
    (objective,) = objectives_for(SMALL, pairs=False, label_smoothing=0.1)
    assert type(objective) is SequenceToSequence and objective.smoothing == 0.1


def test_pairs_and_models_that_do_not_fit_are_named(folder, tmp_path):
    def start(model, **changes):
        return PretrainingRun(model, folder, tmp_path / "run", recipe(**changes))

    bert = BertConfig.named("tiny", vocab_size=len(TOKENIZER.vocabulary))
    told = "holds sources and targets, which a model of bert cannot learn from"
    refused(told, start, bert, label_smoothing=0.0)
    small = dict(vocab_size=SMALL.vocab_size, hidden_size=16, num_heads=2, pad_token_id=0, decoder_vocab_size=9)
    told = f"a vocabulary of {SMALL.vocab_size} tokens, the model has 9: "
    refused(told, start, MarianConfig(**small), label_smoothing=0.0)
    refused("rows of 8 tokens, but the model has 7 positions", start, SMALL.replace(max_position_embeddings=7))
    told = "objective masked-lm is not for a model with a decoder"
    refused(told, start, SMALL, objective="masked-lm", error=ConfigError)


def test_the_command_that_shows_pairs_has_figures_but_no_histograms(folder, tmp_path):
    figures = json.loads(run("data", "show", folder, "--json", "--sample", 24))
    assert figures == {"pairs": 24, "mean_source_length": 3.0, "mean_target_length": 3.0}
    assert "--png is for masked examples" in run("data", "show", folder, "--png", tmp_path / "x.png", code=2)


@pytest.mark.parametrize("option", [["--masked-lm-probability", "0.5"], ["--shifted-positions"]])
def test_options_of_masked_rows_are_refused_for_pairs(folder, tmp_path, option):
    SMALL.save(tmp_path / "config.json")
    paths = (tmp_path / "config.json", "--data", folder, "--out", tmp_path / "run")
    assert f"{option[0]} is for masked rows" in run("pretrain", *paths, *option, code=2)


@pytest.mark.slow
def test_from_a_file_of_pairs_to_an_evaluated_checkpoint_and_a_stopped_run_ends_alike(tmp_path):
    TOKENIZER.save(tmp_path / "tokenizer")
    SMALL.save(tmp_path / "config.json")
    made = run("data", "pairs", written(tmp_path / "p.tsv", PAIRS * 8), "--vocab", tmp_path / "tokenizer",
               "--out", tmp_path / "pairs", "--source-length", 8)  # fmt: skip
    assert "24 pairs of 72 source and 72 target tokens" in made
    assert "one two three [SEP]\n  c b a [SEP]" in run("data", "show", tmp_path / "pairs", "--count", 1)
    options = ["--data", tmp_path / "pairs", "--validation", tmp_path / "pairs", "--preset", "translation",
               "--batch-size", 8, "--interval", 20, "--learning-rate", 0.01, "--no-xla", "--no-memory-check",
               "--json"]  # fmt: skip
    lines = []
    for name in ("whole", "stopped"):
        out = tmp_path / name
        if name == "stopped":
            stopped = PretrainingRun(SMALL, tmp_path / "pairs", out, recipe(), tmp_path / "pairs")
            with pytest.raises(Killed):
                stopped.train([killer("on_epoch_end", 0)], memory_check=False)
        printed = run("pretrain", tmp_path / "config.json", *options, "--out", out, "--steps", 40)
        lines.append(json.loads(printed.splitlines()[-1]))
        assert (out / "curve.png").exists()
    same = [name for name in lines[0] if name.endswith(("_loss", "_accuracy")) or name == "loss"]
    assert len(same) == 6 and [lines[0][name] for name in same] == [lines[1][name] for name in same]
    assert "target_token_perplexity" in run("evaluate", tmp_path / "whole/checkpoint", "--data", tmp_path / "pairs",
                                            "--json")  # fmt: skip
    assert "decoder: 1 × cross-attention" in run("summary", tmp_path / "whole/checkpoint")
