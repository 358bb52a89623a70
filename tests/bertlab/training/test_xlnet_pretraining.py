"""Pre-training on permutations: the drawn orders, and runs of `bertlab pretrain` from data to fine-tuning."""

import numpy as np
import pytest
from bertlab_command import run
from pretraining_case import CONFIG, check_resuming, make_examples, pretrained

from bertlab import checkpoints, families, models
from bertlab.analysis.fill_mask import fill_mask
from bertlab.common.errors import ConfigError
from bertlab.data.pretraining.collators import DrawOrder
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.training.recipes.optimizer import muon
from bertlab.training.runs.evaluation import evaluate

XLNET = families.family("xlnet").config(
    vocab_size=CONFIG.vocab_size, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32,
    max_position_embeddings=32,
)  # fmt: skip
ROWS = {
    "input_ids": np.array([[2, 4, 11, 4, 13, 3, 0], [2, 10, 4, 12, 3, 0, 0]], "int32"),
    "masked_lm_positions": np.array([[1, 3, 4], [2, 0, 0]], "int32"),
    "masked_lm_ids": np.array([[10, 12, 13], [11, 0, 0]], "int32"),
    "masked_lm_weights": np.array([[1, 1, 1], [1, 0, 0]], "float32"),
    "next_sentence_labels": np.array([0, 1], "int32"),
}


# --- the order ---


def test_masks_are_undone_and_only_predictions_get_a_place_in_the_order():
    drawn = DrawOrder()(ROWS, 0)
    assert drawn["input_ids"].tolist() == [[2, 10, 11, 12, 13, 3, 0], [2, 10, 11, 12, 3, 0, 0]]
    assert sorted(drawn["order_ids"][0].tolist()) == [0, 0, 0, 0, 1, 2, 3]
    assert np.flatnonzero(drawn["order_ids"][0]).tolist() == [1, 3, 4]
    assert drawn["order_ids"][1].tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert "next_sentence_labels" not in drawn and drawn["masked_lm_ids"] is ROWS["masked_lm_ids"]


def test_every_order_is_equally_likely_and_a_function_of_seed_and_batch():
    orders = [tuple(DrawOrder(seed=1)(ROWS, number)["order_ids"][0, [1, 3, 4]]) for number in range(1200)]
    counts = np.array([orders.count(order) for order in set(orders)])
    assert len(counts) == 6 and (abs(counts - 200) < 70).all()  # 5 standard deviations of 13
    assert orders[:50] == [tuple(DrawOrder(seed=1)(ROWS, n)["order_ids"][0, [1, 3, 4]]) for n in range(50)]
    assert orders[:50] != [tuple(DrawOrder(seed=2)(ROWS, n)["order_ids"][0, [1, 3, 4]]) for n in range(50)]


# --- runs ---


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_examples(tmp_path_factory.mktemp("data") / "rows", number=12, **ExampleSettings.PRESETS["permutation"])


@pytest.fixture(scope="module")
def finished(data):
    return data.parent / "run", pretrained(XLNET, data, data.parent / "run")


@pytest.mark.slow
def test_a_finished_run_leaves_a_model_that_fills_in_blanks(finished):
    folder, history = finished
    names = {f"{prefix}permutation_{figure}" for prefix in ("", "val_") for figure in ("loss", "accuracy")}
    assert names <= history[-1].keys() and history[-1]["permutation_loss"] < history[0]["permutation_loss"]
    assert not any("masked_lm" in name or "next_sentence" in name for name in history[-1])
    model = checkpoints.load(folder / "checkpoint")
    assert type(model) is models.PreTrainingModel and model.config == XLNET
    tokenizer = checkpoints.load_tokenizer(folder / "checkpoint")
    blanks = fill_mask(model, tokenizer, "the [MASK] sees a [MASK]", top_k=3)
    assert [len(one) for one in blanks] == [3, 3]


@pytest.mark.slow
def test_a_run_that_was_stopped_resumes_to_the_same_bytes(data, finished, tmp_path):
    check_resuming(XLNET, data, tmp_path / "run", finished[0], "checkpoint/model.safetensors")


@pytest.mark.slow
def test_it_is_evaluated_alike_at_every_batch_size(data, finished):
    model = checkpoints.load(finished[0] / "checkpoint")
    few, many = (evaluate(model, data, rows=30, batch_size=size) for size in (7, 16))
    assert few == pytest.approx(many, rel=1e-5) and "permutation_perplexity" in few


@pytest.mark.slow
def test_a_batch_in_parts_gives_the_same_update(data, tmp_path):
    plain = XLNET.replace(hidden_dropout=0.0, attention_dropout=0.0)
    parts, whole = (pretrained(plain, data, tmp_path / str(n), accumulation=n, steps=2)[-1] for n in (2, 1))
    assert parts["val_permutation_loss"] == pytest.approx(whole["val_permutation_loss"], rel=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": "masked-lm"}, "objective masked-lm is not for a model with two streams"),
        ({"optimizer": "muon"}, "muon is not for a model with two streams"),
    ],
)
def test_settings_of_other_models_are_refused(changes, message, data, tmp_path):
    with pytest.raises(ConfigError, match=message):
        pretrained(XLNET, data, tmp_path, **changes)


def test_the_rows_of_a_bias_are_never_matrices_of_muon():
    model = models.PreTrainingModel(XLNET)
    optimizer = muon(0.01, model)
    optimizer.build(model.trainable_variables)
    of_muon = [v.path for v in model.trainable_variables if not optimizer._should_use_adamw(v)]
    assert of_muon and all(path.endswith("/kernel") for path in of_muon)


@pytest.mark.slow
def test_the_commands_fine_tune_encode_and_count_it(finished, tmp_path):
    model = finished[0] / "checkpoint"
    assert "prediction embedding" in run("summary", model)
    rows = "\n".join(f"{word} {word},{label}" for word, label in zip("abcdefghijklmnop", "xy" * 8))
    (tmp_path / "rows.csv").write_text("text,label\n" + rows + "\n")
    run("finetune", tmp_path / "rows.csv", "--model", model, "--out", tmp_path / "run", "--epochs", "1",
        "--validation-share", "0.25", "--max-length", "16", "--batch-size", "8")  # fmt: skip
    (tmp_path / "lines.txt").write_text("the cat\n")
    assert run("predict", tmp_path / "run", tmp_path / "lines.txt").strip()
    run("encode", tmp_path / "lines.txt", "--model", model, "--out", tmp_path / "vectors.npy")
    assert np.load(tmp_path / "vectors.npy").shape == (1, 16)
