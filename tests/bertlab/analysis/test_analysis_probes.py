"""Senses by layer and probes with a control task, against loops and other ways to the same numbers."""

import math

import numpy as np
import pytest
from refusals import refused

from bertlab.analysis.probing import control_labels, fit_probe, probe_scores
from bertlab.analysis.readings import read_text
from bertlab.analysis.senses import SenseExample, nearest_examples, plane, read_senses, sense_accuracy, sense_vectors

# === Senses ===


def test_the_nearest_is_the_one_with_the_largest_centred_cosine_and_never_itself():
    vectors = np.random.default_rng(1).normal(size=(7, 5)) + 10
    mean = [sum(column) / 7 for column in vectors.T.tolist()]
    centred = [[x - m for x, m in zip(row, mean)] for row in vectors.tolist()]
    expected = []
    for i in range(7):
        cosines = {}
        for j in range(7):
            if j != i:
                dot = sum(x * y for x, y in zip(centred[i], centred[j]))
                cosines[j] = dot / math.hypot(*centred[i]) / math.hypot(*centred[j])
        expected.append(max(cosines, key=cosines.get))
    assert nearest_examples(vectors).tolist() == expected
    labels = list("aabbaba")
    right = sum(labels[i] == labels[j] for i, j in enumerate(expected))
    assert sense_accuracy(np.stack([vectors, vectors]), labels).tolist() == [right / 7] * 2


def test_equally_near_examples_count_by_their_fraction():
    """Four equal vectors: each of the three others is as near. Two of one sense, two of the other: 1/3."""
    assert sense_accuracy(np.full((4, 3), 7.0), list("aabb")) == pytest.approx(1 / 3)
    noise = np.random.default_rng(2).normal(size=(4, 3)) * 1e-8
    assert sense_accuracy(np.full((4, 3), 7.0) + noise, list("aabb")) == pytest.approx(1 / 3)


def test_the_vector_is_the_mean_of_the_marked_words_tokens(model, tokenizer):
    examples = [SenseExample.marked("x", "the *birds* are."), SenseExample.marked("y", "a *bank*")]
    vectors = sense_vectors(model.backbone, tokenizer, examples)
    first = read_text(model.backbone, tokenizer, "the birds are.").states  # [CLS] the bird ##s are . [SEP]
    assert vectors.shape == (3, 2, 16)
    assert np.allclose(vectors[:, 0], first[:, 2:4].mean(axis=1))
    assert np.allclose(vectors[:, 1], read_text(model.backbone, tokenizer, "a bank").states[:, 2])


def test_examples_are_read_from_a_file(tmp_path):
    file = tmp_path / "senses.tsv"
    file.write_text("river\tThey sat on the *bank*.\n\nmoney\tThe *bank* lent it.\n", encoding="utf-8")
    assert read_senses(file) == [
        SenseExample("river", "They sat on the bank.", 16, 20), SenseExample("money", "The bank lent it.", 4, 8),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text, message",
    [
        ("river\tthe *bank*\nmoney\tthe bank\n", "line 2: expected one word between asterisks"),
        ("river\tthe *bank* of *England*\n", "line 1: expected one word between asterisks"),
        ("river the *bank*\n", "line 1: expected a sense, a tab and a sentence"),
        ("river\tthe *bank*\n", "expected at least two examples, got 1"),
    ],
)
def test_a_bad_line_of_senses_is_named(tmp_path, text, message):
    file = tmp_path / "senses.tsv"
    file.write_text(text, encoding="utf-8")
    refused(message.replace("*", r"\*"), read_senses, file)
    refused("no such file", read_senses, tmp_path / "none.tsv")


def test_a_marked_word_without_tokens_is_refused(model, tokenizer):
    refused("has no token in", sense_vectors, model.backbone, tokenizer, [SenseExample("x", "the \x01 bank", 4, 5)])


def test_the_plane_keeps_distances_of_points_that_are_in_a_plane():
    rng = np.random.default_rng(4)
    flat = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 9))
    points = plane(flat)
    for i in range(6):
        assert np.linalg.norm(points - points[i], axis=1) == pytest.approx(np.linalg.norm(flat - flat[i], axis=1))
    assert plane(np.ones((1, 4))).tolist() == [[0, 0]]


# === Probes ===


def test_the_probe_minimises_the_penalised_squared_error():
    """At the minimum the gradient is 0: Xᵀ(Xk + b − Y) + λk = 0 and the errors' sum is 0."""
    rng = np.random.default_rng(2)
    x, labels = rng.normal(size=(50, 6)) + 3, rng.choice(["a", "b", "c"], size=50)
    probe = fit_probe(x, labels, strength=2.5)
    targets = np.stack([labels == name for name in probe.classes], axis=1).astype(float)
    errors = x @ probe.kernel + probe.bias - targets
    assert np.allclose(x.T @ errors + 2.5 * probe.kernel, 0, atol=1e-9)
    assert np.allclose(errors.sum(axis=0), 0, atol=1e-9)
    best = np.array(
        [max(probe.classes, key=dict(zip(probe.classes, row)).get) for row in x @ probe.kernel + probe.bias]
    )
    assert probe.predict(x).tolist() == best.tolist()
    assert probe.accuracy(x, labels) == np.mean(best == labels)


def test_a_word_type_has_one_control_label_drawn_as_often_as_the_labels():
    words = [f"w{i}" for i in range(2000)] * 2
    labels = ["N"] * 3000 + ["V"] * 1000
    control = control_labels(words, labels, seed=3)
    assert len(control) == 2000 and control == control_labels(words, labels, seed=3)
    assert control != control_labels(words, labels, seed=4)
    share = sum(label == "N" for label in control.values()) / 2000
    assert abs(share - 0.75) < 5 * math.sqrt(0.75 * 0.25 / 2000)


def test_a_probe_of_word_types_has_no_selectivity_and_one_of_the_property_has():
    """Vectors that name the type allow both tasks; vectors that name the tag allow only the task."""
    rng = np.random.default_rng(5)
    types = rng.integers(0, 8, size=400)
    tags = np.array(["N", "V"])[types % 2]
    words = [f"w{i}" for i in types]
    by_type, by_tag = np.eye(8)[types], np.eye(2)[types % 2]
    scores = {
        name: probe_scores((x[:300], words[:300], tags[:300]), (x[300:], words[300:], tags[300:]), seed=1)
        for name, x in (("type", by_type), ("tag", by_tag))
    }
    assert scores["type"].accuracy == scores["type"].control == 1 and scores["type"].selectivity == 0
    assert scores["tag"].accuracy == 1 and scores["tag"].selectivity > 0.1


def test_labels_that_do_not_fit_the_vectors_are_refused():
    refused("expected one label for each vector, got 3 vectors and 2 labels", fit_probe, np.ones((3, 2)), ["a", "b"])
