"""Exported models, loaded by programs that know nothing of BertLab."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest
from finetuned_models import CONFIG, TOKENIZER, info_of, model_of, predictor_of

from bertlab.cli import cli
from bertlab.common.errors import ConfigError, MissingDependencyError
from bertlab.export import OnnxModel, export_onnx, export_saved_model
from bertlab.families import family
from bertlab.models import BertEncoder, SequenceClassifier
from bertlab.predict import Predictor
from bertlab.predict.int8_loss import _Both
from bertlab.tokenizers.bpe import BytePairTokenizer
from bertlab.tokenizers.bpe.learner import learn
from bertlab.tokenizers.wordpiece import WordPieceTokenizer

pytest.importorskip("tensorflow_text")
TEXTS = ["good film .", "", "the film was bad in paris is it", "Paris is IN france"]

SERVE = """
import json, sys
import tensorflow as tf, tensorflow_text
serve = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
inputs = {name: tf.constant(texts) for name, texts in json.loads(sys.argv[2]).items()}
outputs = {name: value.numpy().tolist() for name, value in serve(**inputs).items()}
assert "bertlab" not in sys.modules
print(json.dumps(outputs, default=lambda text: text.decode()))
"""


def served(folder, **inputs):
    """The outputs of the exported model in a fresh process."""
    command = [sys.executable, "-c", SERVE, str(folder), json.dumps(inputs)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", timeout=200).stdout)


@pytest.mark.slow
def test_a_classifier_served_from_strings_says_what_the_predictor_says(tmp_path):
    predictor = predictor_of("sentence")
    export_saved_model(predictor, tmp_path / "1")
    outputs = served(tmp_path / "1", texts=[*TEXTS, "good " * 30])
    assert outputs["truncated"] == [False] * 4 + [True]
    assert_labels(outputs, predictor(TEXTS))
    assert np.sum(outputs["probabilities"], axis=1) == pytest.approx(1)


def assert_labels(outputs, predictions):
    for index, prediction in enumerate(predictions):
        assert outputs["label"][index] == prediction.label
        assert outputs["probability"][index] == pytest.approx(prediction.probability, abs=1e-5)


@pytest.mark.slow
def test_any_number_of_labels_is_served_as_predicted(tmp_path):
    import tensorflow as tf

    info = dataclasses.replace(info_of("sentence"), multi_label=True)
    predictor = Predictor(model_of("sentence"), TOKENIZER, info)
    export_saved_model(predictor, tmp_path / "1")
    outputs = tf.saved_model.load(tmp_path / "1").signatures["serving_default"](texts=tf.constant(TEXTS))
    predictions = predictor(TEXTS)
    assert {len(prediction.labels) for prediction in predictions} - {1}
    for labels, own, prediction in zip(outputs["labels"].numpy(), outputs["probabilities"].numpy(), predictions):
        assert [label.decode() for label in labels if label] == [
            name for name in info.labels if name in prediction.labels
        ]
        assert dict(zip(info.labels, own)) == pytest.approx(prediction.probabilities, abs=1e-5)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", ["pair", "number"])
def test_a_model_for_pairs_is_served_from_two_strings(tmp_path, shape):
    predictor = predictor_of(shape)
    export_saved_model(predictor, tmp_path / "1")
    outputs = served(tmp_path / "1", texts=TEXTS, texts_b=TEXTS[::-1])
    predictions = predictor(list(zip(TEXTS, TEXTS[::-1])))
    if shape == "pair":
        assert_labels(outputs, predictions)
    else:
        assert outputs["value"] == pytest.approx([prediction.value for prediction in predictions], abs=1e-4)


@pytest.mark.exhaustive
def test_a_tagger_is_served_word_by_word(tmp_path):
    predictor = predictor_of("tagging")
    export_saved_model(predictor, tmp_path / "1")
    outputs = served(tmp_path / "1", texts=[*TEXTS, "films " * 10])
    for index, prediction in enumerate(predictor([*TEXTS, "films " * 10])[:4]):
        count = len(prediction.words)
        assert outputs["words"][index][:count] == prediction.words
        assert outputs["tags"][index][:count] == prediction.tags
        assert set(outputs["tags"][index][count:]) <= {""}
        assert outputs["probability"][index][:count] == pytest.approx(prediction.probabilities, abs=1e-5)
    assert outputs["truncated"] == [False] * 4 + [True]  # ten words of two tokens each
    assert outputs["tags"][4][7:] == ["O"] * 3 and 0.0 not in outputs["probability"][4][:7]


@pytest.mark.exhaustive
def test_choices_are_served_from_a_table_of_strings_with_empty_ones_for_none(tmp_path):
    predictor = predictor_of("multiple-choice")
    export_saved_model(predictor, tmp_path / "1")
    rows = [("the film", ["was bad", "is good .", "in france"]), ("where is paris", ["it is in france", "good"])]
    table = [choices + [""] * (3 - len(choices)) for _, choices in rows]
    outputs = served(tmp_path / "1", contexts=[context for context, _ in rows], choices=table)
    for index, prediction in enumerate(predictor(rows)):
        assert outputs["choice"][index] == prediction.choice
        assert outputs["text"][index] == prediction.text
        count = len(prediction.probabilities)
        assert outputs["probabilities"][index][:count] == pytest.approx(prediction.probabilities, abs=1e-5)
        assert outputs["probabilities"][index][count:] == [0.0] * (3 - count)
    assert outputs["truncated"] == [False, False]


CONTEXTS = [  # of models that read 16 tokens: one window, several, none
    "it is in Paris, in France.",
    "The film was bad. " * 3 + "Paris is in france . It was good " * 2,
    "",
    "films: (good/bad) in\u00a0france \u2014 \u201cit\u201d was the film, in \u4e2d\u56fd Paris",
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("null_threshold", [None, 0.0])
def test_questions_are_served_with_the_answer_and_its_place_in_contexts_of_any_length(tmp_path, null_threshold):
    info = dataclasses.replace(info_of("question"), null_threshold=null_threshold)
    predictor = Predictor(model_of("question"), TOKENIZER, info)
    export_saved_model(predictor, tmp_path / "1")
    questions = ["where is it", "what was it", "is it", "where"]
    asked = [(question, context) for question in questions for context in CONTEXTS]
    outputs = served(tmp_path / "1", questions=[q for q, _ in asked], contexts=[c for _, c in asked])
    answers = predictor(asked)
    assert len({answer.text for answer in answers}) > 4
    for index, answer in enumerate(answers):
        assert outputs["answer"][index] == answer.text
        assert outputs["start"][index] == (-1 if answer.start is None else answer.start)
        assert outputs["end"][index] == (-1 if answer.end is None else answer.end)
    assert not any(outputs["truncated"])


def test_tokens_in_the_graph_have_the_offsets_of_the_batch_form_and_a_foreign_word_is_taken_whole():
    import tensorflow as tf
    from wordpiece_texts import random_lines, vocabulary_of

    lines = [line.replace("Σ", "σ") for line in random_lines(300, seed=5)]  # what is final depends on the next word
    several = [*CONTEXTS, *lines, "A (very) plain line; don't_stop."]
    tokenizer = WordPieceTokenizer(vocabulary_of(word.text for text in several for word in TOKENIZER.basic.words(text)))
    graph = tokenizer.graph()
    ids, begins, ends = (ragged.to_list() for ragged in graph.with_offsets(tf.constant(several)))
    assert ids == graph(tf.constant(several)).to_list()
    expected = tokenizer.encode_batch_with_offsets(several)
    exact = 0
    for row, text in enumerate(several):
        content = text.encode()
        spans = expected.offsets[expected.row_splits[row] : expected.row_splits[row + 1]].tolist()
        for begin, end, (start, stop) in zip(begins[row], ends[row], spans, strict=True):
            served, own = content[begin:end].decode(), text[start:stop]
            assert own in served
            if served.isascii():
                assert (len(content[:begin].decode()), len(content[:end].decode())) == (start, stop)
                exact += 1
    assert exact > 100


@pytest.mark.parametrize(
    ("missing", "use", "advice"),
    [
        ("tf2onnx", lambda path: export_onnx(BertEncoder(CONFIG), path), "pip install tf2onnx"),
        ("onnxruntime", lambda path: OnnxModel(path, CONFIG), r"pip install .bertlab\[onnx\]"),
    ],
)
def test_without_a_package_the_message_names_what_to_install(tmp_path, monkeypatch, missing, use, advice):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingDependencyError, match=advice):
        use(tmp_path / "model.onnx")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["albert", "distilbert", "electra", "modernbert", "roberta", "openai-gpt", "xlnet"])
def test_a_classifier_of_any_family_on_wordpieces_is_served_from_strings(name, tmp_path):
    import keras

    keras.utils.set_random_seed(4)
    sizes = dict(hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32, max_position_embeddings=18)
    own = {"pad_token_id": 0} if name in ("modernbert", "roberta") else {}
    config = family(name).config(vocab_size=len(TOKENIZER.vocabulary), initializer_range=0.5, **sizes, **own)
    predictor = Predictor(SequenceClassifier(config, num_labels=3), TOKENIZER, info_of("sentence"))
    export_saved_model(predictor, tmp_path / "1")
    assert_labels(served(tmp_path / "1", texts=TEXTS), predictor(TEXTS))


def test_a_model_whose_tokenizer_is_not_in_the_graph_is_refused_with_advice(tmp_path):
    predictor = Predictor(model_of("sentence"), TOKENIZER, info_of("sentence"))
    predictor.tokenizer = BytePairTokenizer(learn(["the film was good"], 270))
    with pytest.raises(ConfigError, match="a SavedModel takes strings.* has none here: export with --onnx"):
        export_saved_model(predictor, tmp_path / "1")
    assert not (tmp_path / "1").exists()


@pytest.mark.parametrize(
    "options, told",
    [(["--quantize", "int8"], "--quantize needs --onnx"), (["--onnx", "--rows", "x.csv"], "--rows measures the loss"),
     (["--onnx", "--quantize", "int8", "--encoder", "--rows", "x.csv"], "give it without --encoder"),
     (["--onnx", "--column", "text=a"], "the options for files need --rows")],
)  # fmt: skip
def test_options_of_int8_that_do_not_go_together_are_refused(options, told):
    from click.testing import CliRunner

    result = CliRunner().invoke(cli, ["export", "model", "--out", "out", *options])
    assert result.exit_code == 2 and told in result.output


@pytest.mark.parametrize(("for_each_token", "largest"), [(False, 7.0), (True, 1.0)])
def test_the_difference_leaves_padding_out_only_where_each_token_has_an_output(for_each_token, largest):
    from types import SimpleNamespace

    def model(*outputs):  # as many classes as tokens
        return SimpleNamespace(config=None, predict_on_batch=lambda inputs: np.array([outputs]))

    both = _Both(model(0.0, 0.0, 0.0), model(1.0, 0.0, 7.0), for_each_token=for_each_token)
    both.predict_on_batch({"attention_mask": np.array([[1, 1, 0]])})
    assert both.difference == largest
