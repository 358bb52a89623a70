"""Generator and discriminator in one step: draws, labels, shared tables, gradients, losses. Runs on every backend.

The whole step beside transformers: tests/peers/test_electra_peers.py. Runs: test_electra_pretraining.py.
"""

import keras
import numpy as np
import pytest
from keras import ops

from bertlab import families, layers
from bertlab.common.errors import ConfigError
from bertlab.data.pretraining.collators import MaskTokens
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.layers.dropout import random_bits
from bertlab.models import GeneratorAndDiscriminator
from bertlab.models.replaced_tokens import generator_config_of
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary
from bertlab.training.objectives import MaskedLM, ReplacedToken, objectives_of
from bertlab.training.runs.pretrainer import PreTrainer

ELECTRA = families.family("electra").config
CONFIG = ELECTRA(
    vocab_size=41, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=24, max_position_embeddings=12,
    embedding_size=8, hidden_dropout=0.0, attention_dropout=0.0,
)  # fmt: skip


def model(config=CONFIG):
    keras.utils.set_random_seed(1)
    return GeneratorAndDiscriminator(config, generator_config_of(config, 0.5))


def batch(rows=6, seed=0):
    """Rows of ten tokens, the last two of which are padding; three predictions, of which the last is unused."""
    rng = np.random.default_rng(seed)
    original = rng.integers(5, 41, (rows, 10)).astype("int32")
    mask = np.repeat([[1] * 8 + [0] * 2], rows, axis=0).astype("int32")
    positions = np.repeat([[2, 5, 0]], rows, axis=0).astype("int32")
    ids = np.take_along_axis(original, positions, axis=1)
    masked = original.copy()
    masked[:, [2, 5]] = 4
    return original * mask, {
        "input_ids": masked * mask,
        "token_type_ids": (np.arange(10) >= 4).astype("int32") * mask,
        "attention_mask": mask,
        "masked_lm_positions": positions,
        "masked_lm_ids": ids * np.array([1, 1, 0], "int32"),
        "masked_lm_weights": np.repeat([[1.0, 1.0, 0.0]], rows, axis=0).astype("float32"),
    }


def outputs(model, inputs, training=False):
    return {name: ops.convert_to_numpy(value) for name, value in model(inputs, training=training).items()}


def guess_always(model, token):
    """Makes the generator certain of one token."""
    bias = np.zeros(CONFIG.vocab_size, "float32")
    bias[token] = 1000.0
    model.generator.masked_lm_head.bias.assign(bias)


# === Draws ===


def test_tokens_are_drawn_as_often_as_they_are_probable():
    logits = np.log([0.5, 0.3, 0.15, 0.05]).astype("float32")
    many = np.tile(logits, (2000, 10, 1))
    keys = random_bits((2000,), np.array([3, 17], "int32"))
    drawn = ops.convert_to_numpy(layers.sample_tokens(many, keys))
    shares = np.bincount(drawn.ravel(), minlength=4) / drawn.size
    np.testing.assert_allclose(shares, [0.5, 0.3, 0.15, 0.05], atol=0.015)  # four standard deviations
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 0.1  # two positions of a row


def test_training_makes_new_draws_and_a_row_is_evaluated_with_the_same_draws_in_any_batch():
    both, (_, inputs) = model(), batch()
    first, second = (outputs(both, inputs, training=True)["corrupted_ids"] for _ in range(2))
    assert (first != second).any()
    whole, again = (outputs(both, inputs)["corrupted_ids"] for _ in range(2))
    np.testing.assert_array_equal(whole, again)
    part = outputs(both, {name: value[3:] for name, value in inputs.items()})["corrupted_ids"]
    np.testing.assert_array_equal(whole[3:], part)


# === Labels ===


def test_only_masked_tokens_are_replaced_and_a_token_is_replaced_when_another_one_was_drawn():
    original, inputs = batch(rows=40)
    found = outputs(model(), inputs, training=True)
    elsewhere = np.delete(np.arange(10), [2, 5])
    np.testing.assert_array_equal(found["corrupted_ids"][:, elsewhere], original[:, elsewhere])
    np.testing.assert_array_equal(found["is_replaced"], found["corrupted_ids"] != original)
    assert found["is_replaced"].any() and found["masked_lm_logits"].shape == (40, 3, 41)


def test_a_draw_that_is_right_counts_as_original():
    both, (_, inputs) = model(), batch()
    token = int(inputs["masked_lm_ids"][0, 0])
    guess_always(both, token)
    found = outputs(both, inputs)
    assert (found["corrupted_ids"][:, [2, 5]] == token).all()
    np.testing.assert_array_equal(found["is_replaced"][:, [2, 5]], inputs["masked_lm_ids"][:, :2] != token)
    assert not found["is_replaced"][0, 2]


def test_masks_are_as_published_85_of_100_predicted_tokens_become_a_mask_and_none_another_token():
    vocabulary = Vocabulary([*SPECIAL_TOKENS, *(f"w{i}" for i in range(36))])
    settings = ExampleSettings(sequence_length=100, next_sentence=False, dynamic_masking=True)
    generators, _ = objectives_of(model())
    (masks,) = generators.collators(settings, vocabulary, 1)
    assert isinstance(masks, MaskTokens)
    original = np.random.default_rng(0).integers(5, 41, (300, 100)).astype("int32")
    masked = masks({"input_ids": original}, 0)
    seen = np.take_along_axis(masked["input_ids"], masked["masked_lm_positions"], axis=1)
    is_mask = seen == vocabulary.mask_id
    assert is_mask.mean() == pytest.approx(0.85, abs=0.02)
    np.testing.assert_array_equal(seen[~is_mask], masked["masked_lm_ids"][~is_mask])


# === Tables and gradients ===


def test_the_tables_and_their_norm_are_shared_and_nothing_else():
    both = model()
    shared = {id(v) for v in both.generator.weights} & {id(v) for v in both.discriminator.weights}
    paths = {v.path for v in both.discriminator.trainable_variables if id(v) in shared}
    tables = {f"backbone/embeddings/{table}/embeddings" for table in ("token", "segment", "position")}
    assert paths == tables | {f"backbone/embeddings/norm/{name}" for name in ("gamma", "beta")}
    assert len({id(v) for v in both.trainable_variables}) == len(both.trainable_variables)


@pytest.mark.filterwarnings("ignore:Gradients do not exist")  # for the generator: that is what is tested
def test_what_the_discriminator_learns_reaches_the_tables_but_not_the_generator():
    both, (_, inputs) = model(), batch()
    before = {id(v): np.array(ops.convert_to_numpy(v)) for v in both.trainable_variables}
    trainer = PreTrainer(both, objectives=(ReplacedToken(),))
    trainer.compile(keras.optimizers.SGD(1.0), jit_compile=False)
    trainer.fit(x=inputs, batch_size=6, verbose=0)
    moved = {id(v) for v in both.trainable_variables if (ops.convert_to_numpy(v) != before[id(v)]).any()}
    shared = {id(v) for v in both.discriminator.trainable_variables}
    assert not moved & ({id(v) for v in both.generator.trainable_variables} - shared)
    assert id(both.generator.backbone.embeddings.token.embeddings) in moved
    assert id(both.discriminator.detection_head.score.kernel) in moved


# === Losses ===


def test_the_loss_is_the_generators_and_fifty_times_the_discriminators_at_every_real_token():
    both, (_, inputs) = model(), batch()
    trainer = PreTrainer(both)
    trainer.compile(jit_compile=False)
    figures = trainer.evaluate(x=inputs, batch_size=6, verbose=0, return_dict=True)
    found, real = outputs(both, inputs), inputs["attention_mask"] == 1
    scores, replaced = found["replaced_logits"][real].astype("float64"), found["is_replaced"][real]
    detection = np.log1p(np.exp(np.where(replaced, -scores, scores))).mean()
    logits = found["masked_lm_logits"][:, :2].astype("float64")
    logits = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    guessing = -np.take_along_axis(logits, inputs["masked_lm_ids"][:, :2, None], axis=-1).mean()
    assert figures["replaced_token_loss"] == pytest.approx(detection, rel=1e-4)
    assert figures["masked_lm_loss"] == pytest.approx(guessing, rel=1e-4)
    assert figures["loss"] == pytest.approx(guessing + 50 * detection, rel=1e-4)
    assert figures["replaced_token_accuracy"] == pytest.approx(((scores > 0) == replaced).mean(), abs=1e-6)


def test_packed_rows_are_judged_at_every_token_of_every_example():
    _, inputs = batch(rows=1)
    packed = {name: value for name, value in inputs.items() if name != "attention_mask"}
    packed["sequence_ids"] = np.array([[1, 1, 1, 1, 2, 2, 2, 2, 0, 0]], "int32")
    assert ops.convert_to_numpy(ReplacedToken().weights(packed)).tolist() == [[1.0] * 8 + [0.0] * 2]
    assert outputs(model(), packed)["is_replaced"].shape == (1, 10)


# === Sizes ===


@pytest.mark.parametrize(
    ("size", "width", "expected"), [("small", 0.25, (64, 1, 256)), ("base", 1 / 3, (256, 4, 1024)),
                                    ("large", 0.25, (256, 4, 1024))]
)  # fmt: skip
def test_generators_have_the_published_sizes(size, width, expected):
    found = generator_config_of(ELECTRA.named(size), width)
    assert (found.hidden_size, found.num_heads, found.intermediate_size) == expected
    assert found.token_width == ELECTRA.named(size).token_width


def test_a_family_whose_tables_are_as_wide_as_its_encoder_has_no_narrower_generator():
    config = families.family("bert").config.named("tiny", vocab_size=41)
    with pytest.raises(ConfigError, match="expected the same token_width, got 32 and 128; choose a family"):
        generator_config_of(config, 0.25)
    assert generator_config_of(config) == generator_config_of(config, 1.0) == config


def test_the_pair_has_two_objectives_with_the_published_factors():
    both = model()
    assert [one.name for one in objectives_of(both)] == ["masked_lm", "replaced_token"]
    assert MaskedLM().factor == 1 and ReplacedToken().factor == 50
