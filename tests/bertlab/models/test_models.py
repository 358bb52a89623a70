"""Every model through the shared checks of `layer_case.py`, parameter counts, packing, masks and wrong inputs.

Sizes: B 2 rows, C 3 choices, T 5 tokens, P 2 predictions, A 2 heads, H 8, V 11 tokens, 9 positions.
"""

import keras
import numpy as np
import pytest
from keras import ops
from layer_case import (
    CHECKS,
    LayerCase,
    Trainee,
    compiled_training_moves_every_weight,
    numpy_outputs,
    randomise,
)

from bertlab import models
from bertlab.common.errors import ConfigError
from bertlab.config import SIZES, BertConfig
from bertlab.families import TransformerConfig
from bertlab.models import BertEncoder, BertForMultipleChoice, BertForPreTraining
from bertlab.models.outline import outline

CONFIG = BertConfig(
    vocab_size=11,
    hidden_size=8,
    num_layers=1,
    num_heads=2,
    intermediate_size=12,
    max_position_embeddings=9,
    hidden_dropout=0.0,
    attention_dropout=0.0,
    initializer_range=0.3,
)
TRANSFORMER = TransformerConfig(
    vocab_size=11, hidden_size=8, num_layers=1, decoder_layers=1, num_heads=2, intermediate_size=12,
    max_position_embeddings=9, hidden_dropout=0.0, initializer_range=0.3,
)  # fmt: skip
INPUTS = {
    "input_ids": np.array([[2, 5, 3, 7, 3], [2, 9, 3, 0, 0]], "int32"),
    "token_type_ids": np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], "int32"),
    "attention_mask": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], "int32"),
}
MASKED = INPUTS | {"masked_lm_positions": np.array([[1, 3], [1, 0]], "int32")}
CHOICES = {name: np.stack([x, x[::-1], x], axis=1) for name, x in INPUTS.items()}  # (B, C, T)


def case(name, model_class, inputs, output_shape, config=CONFIG, **options):
    def make(dropout, dtype):
        return model_class(config.replace(hidden_dropout=dropout, attention_dropout=dropout), **options, dtype=dtype)

    return LayerCase(name, make, {"inputs": inputs}, output_shape, has_dropout=True)


CASES = [
    case("encoder", BertEncoder, INPUTS, (2, 8)),  # outputs in the order of their names: pooled_output first
    case("encoder without pooler, pre-LN, sinusoids, causal", BertEncoder, INPUTS, (2, 5, 8), pooler=False,
         config=CONFIG.replace(pre_norm=True, position_embedding="sinusoidal", causal=True)),
    case("pre-training", BertForPreTraining, MASKED, (2, 2, 11)),
    case("pre-training, untied, no next sentence", BertForPreTraining, INPUTS, (2, 5, 11),
         tied=False, next_sentence=False),
    case("sequence classification", models.BertForSequenceClassification, INPUTS, (2, 3), num_labels=3),
    case("next sentence", models.NextSentenceClassifier, INPUTS, (2, 2)),
    case("token classification", models.BertForTokenClassification, INPUTS, (2, 5, 4), num_labels=4),
    case("question answering", models.BertForQuestionAnswering, INPUTS, (2, 5)),
    case("replaced tokens", models.ReplacedTokenDetector, INPUTS, (2, 5)),
    case("sequence to sequence", models.SequenceToSequenceModel,
         INPUTS | {"decoder_input_ids": np.array([[2, 7, 4], [2, 6, 0]], "int32")}, (2, 3, 8), config=TRANSFORMER),
    case("multiple choice", BertForMultipleChoice, CHOICES, (2, 3)),
    case("several tasks", models.MultiTaskModel, INPUTS, (2, 5, 4),
         tasks={"tags": {"kind": "token_classification", "num_labels": 4}}),
]  # fmt: skip


# XLA needs seconds for each model, and all of them share the encoder: two are compiled in the quick run.
COMPILED_QUICKLY = ("encoder without pooler, pre-LN, sinusoids, causal", "pre-training")


def runs():
    """Every pair of a model and a check."""
    for model in CASES:
        for check in CHECKS:
            slow = check is compiled_training_moves_every_weight and model.name not in COMPILED_QUICKLY
            marks = [pytest.mark.exhaustive] if slow else []
            yield pytest.param(model, check, marks=marks, id=f"{model}-{check.__name__}")


@pytest.mark.parametrize(("model", "check"), list(runs()))
def test_every_model(model, check, tmp_path):
    check(model, tmp_path)


def test_no_model_is_left_out():
    tested = {type(model.make(dropout=0.0, dtype="float32")).__name__ for model in CASES}
    of_its_own = {"GeneratorAndDiscriminator"}  # several outputs, drawn tokens: test_replaced_tokens.py
    assert tested | of_its_own == {getattr(models, name).__name__ for name in models.__all__}


def random_model(model_class=BertEncoder, config=CONFIG, **options):
    model = model_class(config, **options)
    randomise(model)
    return model


def sequence_output(model, **inputs):
    return ops.convert_to_numpy(model(inputs)["sequence_output"])


# --- sizes ---


def encoder_parameters(config: BertConfig) -> int:
    """The numbers of the published table, component by component; the pooler is included."""
    h, f = config.hidden_size, config.intermediate_size
    embeddings = (config.vocab_size + config.max_position_embeddings + config.type_vocab_size) * h + 2 * h
    layer = 4 * (h * h + h) + 2 * (2 * h) + (h * f + f) + (f * h + h)
    return embeddings + config.num_layers * layer + (h * h + h)


def head_parameters(config: BertConfig) -> int:
    """The MLM head's dense, norm and bias (its matrix is the token table) and the next-sentence head."""
    h = config.hidden_size
    return (h * h + h) + 2 * h + config.vocab_size + (2 * h + 2)


def parameters(model_class, config) -> int:
    return outline(lambda: model_class(config)).count_params()  # nothing is allocated


PUBLISHED = {  # without and with the pre-training heads; vocabulary 30,522
    "tiny": (4_385_920, 4_433_468),
    "mini": (11_170_560, 11_267_900),
    "small": (28_763_648, 29_058_876),
    "medium": (41_373_184, 41_668_412),
    "base": (109_482_240, 110_106_428),
    "large": (335_141_888, 336_226_108),
}


@pytest.mark.parametrize("size", SIZES)
def test_parameter_counts_are_the_published_ones(size):
    config = BertConfig.named(size)
    encoder, with_heads = PUBLISHED[size]
    assert parameters(BertEncoder, config) == encoder == encoder_parameters(config)
    assert parameters(BertForPreTraining, config) == with_heads == encoder + head_parameters(config)


def test_summary_prints_every_component():
    lines = []
    random_model().summary(print_fn=lines.append)
    assert all(part in "\n".join(lines) for part in ("embeddings", "encoder", "pooler"))


# --- masks, packing, positions ---


def test_a_packed_row_gives_what_its_parts_give_alone():
    model = random_model(config=CONFIG.replace(num_layers=2))
    parts = [np.array([[2, 5, 3]]), np.array([[2, 7, 8, 3]])]
    packed = sequence_output(
        model,
        input_ids=np.array([[2, 5, 3, 2, 7, 8, 3, 0, 0]]),
        sequence_ids=np.array([[1, 1, 1, 2, 2, 2, 2, 0, 0]]),
        position_ids=np.array([[0, 1, 2, 0, 1, 2, 3, 0, 0]]),
    )
    assert np.isfinite(packed).all()  # also the padding, which sees nobody
    alone = np.concatenate([sequence_output(model, input_ids=part) for part in parts], axis=1)
    np.testing.assert_allclose(packed[:, :7], alone, rtol=1e-5, atol=1e-5)


def test_a_mask_of_three_axes_equals_the_padding_it_repeats():
    model = random_model()
    repeated = np.repeat(INPUTS["attention_mask"][:, None], 5, axis=1)  # (B, T, T)
    flat = sequence_output(model, **INPUTS)
    square = sequence_output(model, **INPUTS | {"attention_mask": repeated})
    np.testing.assert_allclose(square, flat, rtol=1e-6, atol=1e-6)


def test_a_causal_model_does_not_see_what_comes_later():
    model = random_model(config=CONFIG.replace(causal=True, num_layers=2))
    ids = np.array([[2, 5, 3, 7, 3]])
    changed = np.array([[2, 5, 3, 9, 9]])
    one, other = sequence_output(model, input_ids=ids), sequence_output(model, input_ids=changed)
    np.testing.assert_array_equal(one[:, :3], other[:, :3])
    assert (one[:, 3:] != other[:, 3:]).all()


def test_mlm_logits_of_some_positions_are_those_of_all():
    model = random_model(BertForPreTraining)
    some, everywhere = model(MASKED)["masked_lm_logits"], model(INPUTS)["masked_lm_logits"]
    rows = np.arange(2)[:, None]
    expected = ops.convert_to_numpy(everywhere)[rows, MASKED["masked_lm_positions"]]
    np.testing.assert_allclose(ops.convert_to_numpy(some), expected, rtol=1e-5, atol=1e-5)


def test_the_tied_head_follows_the_token_table():
    model = random_model(BertForPreTraining)
    head, table = model.masked_lm_head, model.backbone.embeddings.token.embeddings
    assert all(tuple(weight.shape) != (11, 8) or weight is table for weight in model.trainable_weights)
    outputs = model(INPUTS)
    x = ops.convert_to_numpy(head.norm(head.dense(outputs["sequence_output"])))
    expected = x @ ops.convert_to_numpy(table).T + ops.convert_to_numpy(head.bias)
    np.testing.assert_allclose(ops.convert_to_numpy(outputs["masked_lm_logits"]), expected, rtol=1e-5, atol=1e-5)


def test_return_all_changes_no_output():
    model = random_model(BertForPreTraining, CONFIG.replace(num_layers=2))
    usual, everything = model(MASKED), model(MASKED, return_all=True)
    assert len(everything["hidden_states"]) == 3 and len(everything["attentions"]) == 2
    for name, output in usual.items():
        np.testing.assert_allclose(
            ops.convert_to_numpy(everything[name]), ops.convert_to_numpy(output), rtol=1e-5, atol=1e-5
        )


def test_each_choice_is_scored_by_itself():
    model = random_model(BertForMultipleChoice)
    (scores,) = numpy_outputs(model, {"inputs": CHOICES})
    turned = {name: x[:, [2, 0, 1]] for name, x in CHOICES.items()}
    np.testing.assert_allclose(numpy_outputs(model, {"inputs": turned})[0], scores[:, [2, 0, 1]], rtol=1e-5, atol=1e-5)


# --- compiled, with any number of rows and tokens ---


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="only TensorFlow traces with unknown lengths")
@pytest.mark.parametrize("causal", [False, True], ids=["bidirectional", "causal"])
def test_one_trace_serves_any_number_of_rows_and_tokens(causal):
    import tensorflow as tf

    model = random_model(BertForPreTraining, CONFIG.replace(causal=causal))
    names = ("input_ids", "token_type_ids", "attention_mask")
    traced = tf.function(model, input_signature=[{name: tf.TensorSpec((None, None), "int32") for name in names}])
    for inputs in (INPUTS, {name: x[:1, :2] for name, x in INPUTS.items()}):
        eager = numpy_outputs(model, {"inputs": inputs})
        for output, expected in zip(keras.tree.flatten(traced(inputs)), eager, strict=True):
            np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_training_with_dropout_and_packing_stays_finite(dtype):
    config = CONFIG.replace(hidden_dropout=0.1, attention_dropout=0.1)
    model = BertForPreTraining(config, dtype=dtype)
    inputs = MASKED | {"sequence_ids": INPUTS["attention_mask"]}  # the padding sees nobody
    trainee = Trainee(model)
    trainee.compile(keras.optimizers.SGD(0.01), jit_compile=keras.backend.backend() != "torch")
    before = ops.convert_to_numpy(model.backbone.embeddings.token.embeddings)
    for _ in range(2):
        assert np.isfinite(trainee.train_on_batch({"inputs": inputs}))
    for weight in model.trainable_weights:
        assert weight.dtype == "float32" and np.isfinite(ops.convert_to_numpy(weight)).all()
    assert (ops.convert_to_numpy(model.backbone.embeddings.token.embeddings) != before).any()


# --- wrong inputs ---


@pytest.mark.parametrize(
    ("model_class", "inputs", "message"),
    [
        (BertEncoder, INPUTS["input_ids"], "expected a dict with 'input_ids'"),
        (BertEncoder, {"token_type_ids": INPUTS["token_type_ids"]}, "expected a dict with 'input_ids'"),
        (BertEncoder, {"input_ids": np.zeros(5, "int32")}, r"input_ids has shape \(5,\); expected \(batch, tokens\)"),
        (BertEncoder, {"input_ids": np.zeros((1, 10), "int32")}, "10 tokens per row, but .* only 9 positions"),
        (BertEncoder, INPUTS | {"attention_mask": np.ones((2, 1, 1, 5))}, "attention_mask has 4 axes"),
        (BertEncoder, INPUTS | {"attention_masks": np.ones((2, 5))}, "no model reads an input called 'attention_masks"),
        (BertForMultipleChoice, INPUTS, r"of shape \(batch, choices, tokens\)"),
    ],
    ids=["an array", "no input_ids", "one axis", "too long", "mask of four axes", "misspelt", "choices of two axes"],
)
def test_wrong_inputs_say_what_was_expected(model_class, inputs, message):
    with pytest.raises(ConfigError, match=message):
        model_class(CONFIG)(inputs)


def test_the_encoder_of_one_model_fits_another():
    pretrained = random_model(BertForPreTraining)
    classifier = models.BertForSequenceClassification(CONFIG)
    classifier.backbone.set_weights(pretrained.backbone.get_weights())
    for output, expected in zip(
        numpy_outputs(classifier.backbone, {"inputs": INPUTS}),
        numpy_outputs(pretrained.backbone, {"inputs": INPUTS}),
        strict=True,
    ):
        np.testing.assert_array_equal(output, expected)


@pytest.mark.slow
def test_an_outline_is_forgotten_and_not_filled_later():
    sketch = outline(lambda: BertEncoder(BertConfig(vocab_size=10**9, hidden_size=768)))  # 3 TB, were it filled
    with keras.StatelessScope():
        pass  # at its end Keras fills every variable that it knows to be waiting
    assert sketch.weights[0].shape == (10**9, 768)
