"""Exported models, loaded by programs that know nothing of BertLab."""

import json
import subprocess
import sys

import numpy as np
import pytest
from finetuned_models import CONFIG, predictor_of

from bertlab.errors import DataError, MissingDependencyError

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
    """What the exported model gives in a fresh process."""
    command = [sys.executable, "-c", SERVE, str(folder), json.dumps(inputs)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", timeout=200).stdout)


def test_a_classifier_served_from_strings_says_what_the_predictor_says(tmp_path):
    from bertlab.export import export_saved_model

    predictor = predictor_of("sentence")
    export_saved_model(predictor, tmp_path / "1")
    outputs = served(tmp_path / "1", texts=[*TEXTS, "good " * 30])
    assert outputs["truncated"] == [False] * 4 + [True]
    for index, prediction in enumerate(predictor(TEXTS)):
        assert outputs["label"][index] == prediction.label
        assert outputs["probability"][index] == pytest.approx(prediction.probability, abs=1e-5)
    assert np.sum(outputs["probabilities"], axis=1) == pytest.approx(1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", ["pair", "number"])
def test_a_model_for_pairs_is_served_from_two_strings(tmp_path, shape):
    from bertlab.export import export_saved_model

    predictor = predictor_of(shape)
    export_saved_model(predictor, tmp_path / "1")
    outputs = served(tmp_path / "1", texts=TEXTS, texts_b=TEXTS[::-1])
    for index, prediction in enumerate(predictor(list(zip(TEXTS, TEXTS[::-1])))):
        if shape == "pair":
            assert outputs["label"][index] == prediction.label
        else:
            assert outputs["value"][index] == pytest.approx(prediction.value, abs=1e-4)


@pytest.mark.exhaustive
def test_a_tagger_is_served_word_by_word(tmp_path):
    from bertlab.export import export_saved_model

    predictor = predictor_of("tagging")
    export_saved_model(predictor, tmp_path / "1")
    outputs = served(tmp_path / "1", texts=[*TEXTS, "films " * 10])
    for index, prediction in enumerate(predictor([*TEXTS, "films " * 10])[:4]):
        count = len(prediction.words)
        assert outputs["words"][index][:count] == prediction.words
        assert outputs["tags"][index][:count] == prediction.tags
        assert set(outputs["tags"][index][count:]) <= {""}
        assert outputs["probability"][index][:count] == pytest.approx(prediction.probabilities, abs=1e-5)
    assert outputs["truncated"] == [False] * 4 + [True]  # ten words of two pieces each
    assert outputs["tags"][4][7:] == ["O"] * 3 and 0.0 not in outputs["probability"][4][:7]


def test_a_shape_that_has_no_exported_form_is_refused_with_another_way(tmp_path):
    from bertlab.export import export_saved_model

    with pytest.raises(DataError, match="`bertlab predict` runs all of it"):
        export_saved_model(predictor_of("question"), tmp_path)


def test_without_tf2onnx_the_message_says_what_to_install(tmp_path, monkeypatch):
    from bertlab.export import export_onnx
    from bertlab.models import BertEncoder

    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    with pytest.raises(MissingDependencyError, match="pip install tf2onnx"):
        export_onnx(BertEncoder(CONFIG), tmp_path / "encoder.onnx")
