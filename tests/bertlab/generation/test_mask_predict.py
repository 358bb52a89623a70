"""Mask-predict: the turns against one row at a time, what is never written, what is refused, the command."""

import json

import keras
import numpy as np
import pytest
from checkpoint_files import tokenizer
from click.testing import CliRunner

from bertlab import checkpoints, families, models
from bertlab.cli import cli
from bertlab.common.errors import ConfigError, DataError
from bertlab.generation import GenerationSettings, generate_text, mask_predict
from bertlab.generation.filling import masked_count

V, MASK, SPECIAL = 61, 4, (0, 1, 2, 3, 4)
SHAPE = dict(vocab_size=V, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32, max_position_embeddings=24)
ROWS = ([2, 9, 4, 4, 4, 4, 4, 3], [2, 4, 30, 4, 3], [2, 11, 12, 13, 4, 14, 15, 16, 17, 18, 4, 4, 3])


@pytest.fixture(scope="module")
def model():
    made = models.PreTrainingModel(families.family("bert").config(**SHAPE))
    rng = np.random.default_rng(0)
    for weight in made.trainable_weights:
        weight.assign(rng.normal(1.0 if weight.name == "gamma" else 0.0, 0.3, weight.shape))
    return made


def one_by_one(model, row, turns):
    """The procedure of Ghazvininejad et al. 2019, section 3, for one row, place by place."""
    row, places = list(row), [place for place, number in enumerate(row) if number == MASK]
    certainty = dict.fromkeys(places, 0.0)
    for turn in range(turns):
        masked = sorted(places, key=certainty.get)[: len(places) * (turns - turn) // turns]
        for place in masked:
            row[place] = MASK
        logits = model({"input_ids": np.array([row])})["masked_lm_logits"][0]
        chances = keras.ops.convert_to_numpy(logits).astype(float)
        chances[:, list(SPECIAL)] = -np.inf
        chances = np.exp(chances) / np.exp(chances).sum(axis=-1, keepdims=True)
        for place in masked:
            row[place], certainty[place] = int(chances[place].argmax()), chances[place].max()
    return row


@pytest.mark.parametrize("turns", [1, 2, 4, 9])
def test_rows_together_are_filled_as_one_by_one(model, turns):
    filled = mask_predict(model, ROWS, MASK, turns, never=SPECIAL)
    assert filled == [one_by_one(model, row, turns) for row in ROWS]
    for row, given in zip(filled, ROWS):
        assert all(new == old if old != MASK else new not in SPECIAL for new, old in zip(row, given))


def test_more_turns_write_something_else(model):
    assert mask_predict(model, ROWS, MASK, 1) != mask_predict(model, ROWS, MASK, 5)


def test_all_places_are_masked_first_and_fewer_each_time():
    assert [masked_count(10, turn, 4) for turn in range(4)] == [10, 7, 5, 2]
    assert [masked_count(2, turn, 5) for turn in range(5)] == [2, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("rows", "turns", "error", "message"),
    [
        ([], 3, DataError, "expected at least one row"),
        ([[2, 9, 3]], 3, DataError, "row 1 has no mask"),
        ([[2, *[4] * 30]], 3, DataError, "row 1 has 31 tokens with its masks, the model only 24 positions"),
        ([[2, 4, 3]], 0, ConfigError, "expected at least 1 turn, got 0"),
    ],
)
def test_rows_that_cannot_be_filled_are_named(model, rows, turns, error, message):
    with pytest.raises(error, match=message):
        mask_predict(model, rows, MASK, turns)


def test_a_left_to_right_model_is_refused():
    model = models.PreTrainingModel(families.family("bert").config(**SHAPE, causal=True), next_sentence=False)
    with pytest.raises(ConfigError, match="expected a masked language model .* of the family bert, left-to-right"):
        mask_predict(model, [[2, 4, 3]], MASK)


def test_the_command_writes_the_number_of_tokens(model, tmp_path):
    words = tokenizer()
    checkpoints.save(model, tmp_path / "model", words, format="bertlab")
    command = ["generate", str(tmp_path / "model"), "--prompt", "a b", "--max-new-tokens", "3", "--turns", "2"]
    result = CliRunner().invoke(cli, [*command, "--json"], catch_exceptions=False)
    text = json.loads(result.output)["text"]
    assert text == generate_text(model, words, ["a b"], GenerationSettings(max_new_tokens=3, turns=2))[0] != ""
    plain = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert plain.output == f"a b {text}\n"
    refused = CliRunner().invoke(cli, [*command, "--sample"])
    assert refused.exit_code == 1 and "a masked model takes the most likely tokens" in str(refused.exception)
