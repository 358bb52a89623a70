"""Runs of `bertlab pretrain` on replaced tokens: what their folder holds, resuming, evaluation, going on from it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from checkpoint_files import same_weights, weights
from click.testing import CliRunner
from pretraining_case import CONFIG, WORDS, check_resuming, make_examples, pretrained, short_recipe
from refusals import refused

from bertlab import checkpoints, families, models
from bertlab.analysis.fill_mask import fill_mask
from bertlab.cli import cli
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.families import ElectraConfig, size_names
from bertlab.training.devices.memory import memory_needs
from bertlab.training.presets import preset
from bertlab.training.pretraining import PretrainingRun
from bertlab.training.runs.evaluation import evaluate
from bertlab.training.runs.models import TrainedWeights, model_config, model_to_evaluate, trained_weights

ELECTRA = families.family("electra").config(
    vocab_size=CONFIG.vocab_size, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32,
    max_position_embeddings=32, embedding_size=8,
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_examples(
        tmp_path_factory.mktemp("data") / "rows", number=12, next_sentence=False, packing=False, dynamic_masking=True
    )


@pytest.fixture(scope="module")
def finished(data):
    return data.parent / "run", pretrained(ELECTRA, data, data.parent / "run")


@pytest.mark.slow
def test_a_finished_run_leaves_the_discriminator_and_beside_it_the_generator(finished):
    folder, history = finished
    names = {f"{prefix}{one}_{figure}" for prefix in ("", "val_") for one in ("masked_lm", "replaced_token")
             for figure in ("loss", "accuracy")}  # fmt: skip
    assert names <= history[-1].keys()
    found = {name: checkpoints.load(folder / name) for name in ("checkpoint", "checkpoint/generator")}
    discriminator, generator = found.values()
    assert type(discriminator) is models.ReplacedTokenDetector and type(generator) is models.PreTrainingModel
    assert generator.config.hidden_size == 4 and generator.config.token_width == 8
    tables = [model.backbone.embeddings.token.embeddings for model in found.values()]
    np.testing.assert_array_equal(*tables)
    architectures = [json.loads((folder / name / "config.json").read_text())["architectures"] for name in found]
    assert architectures == [["ElectraForPreTraining"], ["ElectraForMaskedLM"]]
    tokenizer = checkpoints.load_tokenizer(folder / "checkpoint/generator")
    assert len(fill_mask(generator, tokenizer, "the [MASK] sees a cat", top_k=3)[0]) == 3


@pytest.mark.slow
def test_a_run_that_was_stopped_resumes_to_the_same_bytes(data, finished, tmp_path):
    names = ("checkpoint/model.safetensors", "checkpoint/generator/model.safetensors")
    check_resuming(ELECTRA, data, tmp_path / "run", finished[0], *names)


@pytest.mark.slow
def test_both_are_evaluated_together_and_alike_at_every_batch_size(data, finished, tmp_path):
    model = model_to_evaluate(finished[0] / "checkpoint")
    few, many = (evaluate(model, data, rows=30, batch_size=size) for size in (7, 16))
    assert few == pytest.approx(many, rel=1e-5)
    assert {"masked_lm_perplexity", "replaced_token_loss", "replaced_token_accuracy"} <= few.keys()
    alone = checkpoints.save(models.ReplacedTokenDetector(ELECTRA), tmp_path / "alone")
    refused("expected one in the folder generator", model_to_evaluate, alone, error=CheckpointError)


@pytest.mark.slow
def test_a_run_continues_from_both_parts_of_another(data, finished, tmp_path):
    start, said = finished[0] / "checkpoint", []
    run = PretrainingRun(start, [data], tmp_path / "run", short_recipe(generator_width=0.5))
    pair = run.trainer(said.append).bert
    assert said == [f"starts from {start}"] and run.generator.hidden_size == 4
    for part, folder in ((pair.discriminator, start), (pair.generator, start / "generator")):
        assert same_weights(weights(part), weights(checkpoints.load(folder)))
    checkpoints.save(pair.discriminator, tmp_path / "alone", checkpoints.load_tokenizer(start))
    assert TrainedWeights(tmp_path / "alone").sha256() != TrainedWeights(start).sha256()
    PretrainingRun(tmp_path / "alone", [data], tmp_path / "new", short_recipe()).trainer(said.append)
    assert said[1].endswith("; new: generator")


@pytest.mark.slow
def test_a_generator_continues_with_masks_and_the_objective_can_be_chosen(data, finished, tmp_path):
    def objectives(model, **changes):
        run = PretrainingRun(model, [data], tmp_path / "run", short_recipe(**changes))
        return [one.name for one in run.objectives]

    assert objectives(finished[0] / "checkpoint/generator") == ["masked_lm"]
    assert objectives(ELECTRA, objective="masked-lm") == ["masked_lm"]
    assert objectives(CONFIG) == ["masked_lm"]
    assert objectives(CONFIG, objective="replaced-tokens") == ["masked_lm", "replaced_token"]
    with pytest.raises(ConfigError, match=r"choose a family with an embedding_size, or .* \(generator_width 1\)"):
        objectives(CONFIG, objective="replaced-tokens", generator_width=0.25)
    with pytest.raises(ConfigError, match="cannot find replaced tokens"):
        objectives(CONFIG.replace(causal=True), objective="replaced-tokens")


@pytest.mark.slow
def test_an_update_in_parts_and_in_16_bits_has_the_same_losses(data, tmp_path):
    plain = ELECTRA.replace(hidden_dropout=0.0, attention_dropout=0.0)
    first = [
        pretrained(plain, data, tmp_path / str(number), steps=1, interval=1, **changes)[0]
        for number, changes in enumerate(({}, {"accumulation": 2}, {"precision": "bfloat16"}))
    ]
    for row in first[1:]:  # the draws differ
        assert row["masked_lm_loss"] == pytest.approx(first[0]["masked_lm_loss"], rel=1e-2)
        assert row["replaced_token_loss"] == pytest.approx(first[0]["replaced_token_loss"], rel=0.05)
        assert row["tokens"] == first[0]["tokens"]


def test_operations_and_memory_are_those_of_both(data, tmp_path):
    pair = PretrainingRun(ELECTRA, [data], tmp_path / "run", short_recipe())
    tokens, predicted, hidden, inner = 32, 5, 16, 32
    layer = tokens * (4 * 2 * hidden * hidden + 2 * 2 * hidden * inner) + 2 * 2 * tokens * tokens * hidden
    judging = layer + 2 * tokens * hidden * (hidden + 1)
    guessing = PretrainingRun(pair.generator, [data], tmp_path / "run", short_recipe(objective="masked-lm"))
    assert pair.predictions(0) == predicted
    assert pair.update_flops(0) == 3 * 8 * judging + guessing.update_flops(0)
    both, one = (memory_needs(ELECTRA, 8, 32, 5, "float32", generator) for generator in (pair.generator, None))
    assert both.activations > one.activations and both.weights > one.weights


@pytest.mark.exhaustive
def test_the_commands_train_evaluate_fill_and_fine_tune_also_on_two_devices(data, tmp_path):
    ELECTRA.save(tmp_path / "config.json")

    def run(*arguments):
        done = subprocess.run([sys.executable, "-m", "bertlab", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    pretrain = ("pretrain", tmp_path / "config.json", "--data", data, "--steps", 20, "--interval", 10,
                "--batch-size", 8, "--no-xla")  # fmt: skip
    run(*pretrain, "--out", tmp_path / "run")
    run(*pretrain, "--out", tmp_path / "two", "--devices", 2)
    figures = json.loads(run("evaluate", tmp_path / "two/checkpoint", "--data", data, "--json"))
    assert figures["replaced_token_loss"] > 0
    assert "[MASK]" in run("fill-mask", "--model", tmp_path / "run/checkpoint/generator", "the [MASK] sees a cat")
    rows = "\n".join(f"the {word} sees a cat,{'xy'[number % 2]}" for number, word in enumerate(WORDS))
    (tmp_path / "rows.csv").write_text("text,label\n" + rows + "\n")
    run("finetune", tmp_path / "rows.csv", "--model", tmp_path / "run/checkpoint", "--out", tmp_path / "tuned",
        "--epochs", 1, "--validation-share", 0.25, "--max-length", 16, "--batch-size", 8)  # fmt: skip


def test_the_help_names_the_objectives():
    shown = CliRunner().invoke(cli, ["pretrain", "--help-all"]).output
    assert "--objective [auto|masked-lm|replaced-tokens]" in shown and "--generator-width" in shown


def test_a_published_size_goes_by_name_and_takes_vocabulary_length_and_dropout_from_data_and_recipe():
    recipe = preset("small", dropout=0.05, padded_vocabulary=64)  # its pre_norm is for families that have it
    found = model_config("electra-small", recipe, pieces=1000, longest=64, pad_id=3)
    assert type(found) is ElectraConfig and trained_weights("electra-small") is None
    assert (found.num_layers, found.hidden_size, found.embedding_size) == (12, 256, 128)
    assert (found.vocab_size, found.max_position_embeddings, found.pad_token_id) == (1024, 64, 3)
    assert found.hidden_dropout == found.attention_dropout == 0.05
    refused("expected a size .*electra-base.* a checkpoint", trained_weights, "electra-tiny.json", error=ConfigError)


def test_a_checkpoint_with_the_name_of_a_size_is_not_passed_over(finished, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "electra-small"
    run.symlink_to(finished[0])
    assert trained_weights("electra-small") is None  # a run in a folder of this name resumes
    run.unlink()
    checkpoints.save(models.ReplacedTokenDetector(ELECTRA), "electra-small")
    with pytest.raises(ConfigError, match="a published size, and a checkpoint here: write ./electra-small"):
        trained_weights("electra-small")
    assert trained_weights("./electra-small").config == ELECTRA


def test_no_name_of_a_size_is_that_of_a_published_model():
    published = {"roberta-base", "roberta-large", "gpt2-medium", "gpt2-large", "gpt2-xl"}
    assert not published & size_names().keys()
    assert {"mini", "electra-large", "albert-base", "xlnet-large"} <= size_names().keys()
