"""Pseudo-log-likelihood and minimal pairs, on a tiny model with a vocabulary of its own; the oracle is a NumPy loop."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from refusals import refused
from tiny_model import tiny_model

from bertlab.analysis import minimal_pairs
from bertlab.analysis.minimal_pairs import (
    GroupResult,
    MinimalPair,
    first_of_each,
    group_results,
    read_pairs,
    score_pairs,
    wilson_interval,
)
from bertlab.analysis.pseudo_likelihood import pseudo_log_likelihood
from bertlab.cli import cli
from bertlab.common.errors import ConfigError, DataError

TEXTS = ["the bank of a river .", "banks", "a robineds is a birds .", "the river"]
PAIRS = [
    {"sentence_good": "the bird is a robin.", "sentence_bad": "the bird are a robin.", "UID": "agreement",
     "field": "morphology", "linguistics_term": "subject_verb_agreement"},
    {"sentence_good": "the birds are.", "sentence_bad": "the birds is.", "UID": "agreement", "field": "morphology"},
    {"sentence_good": "a bank of the river", "sentence_bad": "a bank the of river", "UID": "order", "field": "syntax"},
]  # fmt: skip


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS), encoding="utf-8")
    return path


def looped(model, tokenizer, text, whole_rest_of_word):
    """The definition, one sentence and one mask at a time, with the whole output of the head."""
    pieces, total = tokenizer.tokenize(text), 0.0
    ids = [2, *(tokenizer.vocabulary.index(piece) for piece in pieces), 3]
    for place in range(1, len(ids) - 1):
        masked = list(ids)
        masked[place] = 4
        after = place + 1
        while whole_rest_of_word and after < len(ids) - 1 and pieces[after - 1].startswith("##"):
            masked[after] = 4
            after += 1
        logits = np.array(model({"input_ids": np.array([masked])})["masked_lm_logits"], "float64")[0, place]
        total += logits[ids[place]] - np.log(np.sum(np.exp(logits - logits.max()))) - logits.max()
    return total


@pytest.mark.parametrize("masking", ["token", "word-left-to-right"])
@pytest.mark.parametrize("batch_size", [3, 256])
def test_scores_equal_those_of_a_loop_over_every_mask(model, tokenizer, masking, batch_size):
    sums = pseudo_log_likelihood(model, tokenizer, TEXTS, masking=masking, batch_size=batch_size)
    expected = [looped(model, tokenizer, text, masking != "token") for text in TEXTS]
    assert sums == pytest.approx(expected, abs=1e-4)


def test_the_two_maskings_differ_only_for_words_of_several_tokens(model, tokenizer):
    one, other = (
        pseudo_log_likelihood(model, tokenizer, TEXTS, masking=name) for name in ("token", "word-left-to-right")
    )
    differs = np.abs(one - other) > 1e-4
    assert differs.tolist() == [any("##" in piece for piece in tokenizer.tokenize(text)) for text in TEXTS]


@pytest.mark.parametrize(
    "text, message",
    [("", "text 2: expected at least one token"), (" \n", "text 2: expected at least one token"),
     ("the " * 11, "text 2: expected at most 12 tokens, with [CLS] and [SEP], got 13")],
)  # fmt: skip
def test_a_text_that_cannot_be_scored_is_named(model, tokenizer, text, message):
    refused(f"^{re.escape(message)}", pseudo_log_likelihood, model, tokenizer, ["the bank", text])


def test_a_left_to_right_model_and_an_unknown_masking_are_refused(model, tokenizer):
    refused("reads left to right", pseudo_log_likelihood, tiny_model(causal=True), tokenizer, TEXTS)
    refused("unknown masking 'word'", pseudo_log_likelihood, model, tokenizer, TEXTS, masking="word")


# === Files ===


def test_blimps_format_is_read_from_a_file_and_from_a_folder(file, tmp_path):
    pairs = read_pairs(file)
    assert [pair.phenomenon for pair in pairs] == ["agreement", "agreement", "order"]
    assert pairs[0] == MinimalPair(
        "the bird is a robin.", "the bird are a robin.", "agreement", "subject_verb_agreement", "morphology",
        f"{file} line 1",
    )  # fmt: skip
    (tmp_path / "other.jsonl").write_text('\n{"sentence_good": "a", "sentence_bad": "of"}\n', encoding="utf-8")
    assert [pair.phenomenon for pair in read_pairs(tmp_path)] == ["other", *(pair.phenomenon for pair in pairs)]
    assert [pair.good for pair in first_of_each(pairs, 1)] == [PAIRS[0]["sentence_good"], PAIRS[2]["sentence_good"]]


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"sentence_good": "a"}', 'line 2: no "sentence_bad"; a pair has sentence_good and sentence_bad'),
        ('{"sentence_good": "a", "sentence_bad": " "}', "line 2: expected a sentence in \"sentence_bad\", got ' '"),
        ('{"sentence_good": 3, "sentence_bad": "a"}', 'line 2: expected a sentence in "sentence_good", got 3'),
        ("{", "line 2: expected a JSON object with sentence_good and sentence_bad ("),
        ('["a", "b"]', "line 2: expected a JSON object, got list"),
        ('{"sentence_good": "a \\ud800", "sentence_bad": "a"}', "line 2: half of a surrogate pair in 'a \\ud800'"),
        ('{"sentence_good": "a", "sentence_bad": "b", "UID": "\\ud800"}', "line 2: half of a surrogate pair in"),
    ],
)
def test_a_bad_line_is_named(file, line, message):
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([first, line, *rest]), encoding="utf-8")
    refused(f"^{re.escape(f'{file} {message}')}", read_pairs, file)


def test_pairs_of_two_equal_sentences_are_left_out_and_counted(checkpoint, file):
    """As in BLiMP, of which 7 pairs have one sentence twice."""
    expected, lines = read_pairs(file), file.read_text(encoding="utf-8").splitlines()
    equal = '{"sentence_good": "a bird", "sentence_bad": "a bird ", "UID": "agreement"}'
    file.write_text("\n".join([lines[0], equal, *lines[1:], equal]), encoding="utf-8")
    with pytest.warns(UserWarning, match=f"left out 2 of 5 pairs, whose two sentences are equal: {file} line 2 …"):
        found = read_pairs(file)
    assert [(pair.good, pair.bad) for pair in found] == [(pair.good, pair.bad) for pair in expected]
    result = CliRunner().invoke(cli, ["minimal-pairs", str(file), str(checkpoint), "--json"])
    assert result.exit_code == 0 and json.loads(result.stdout)[-1]["pairs"] == 3
    assert "left out 2 of 5 pairs" in result.stderr
    file.write_text(equal, encoding="utf-8")
    with pytest.raises(DataError, match="at least one pair of two different sentences"), pytest.warns(UserWarning):
        read_pairs(file)


def test_a_file_without_pairs_and_a_missing_one_are_refused(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    (tmp_path / "latin.jsonl").write_bytes(b'{"sentence_good": "caf\xe9"}')
    (tmp_path / "folder").mkdir()
    for name, message in [("empty.jsonl", "at least one pair"), ("none.jsonl", "no such file"),
                          ("latin.jsonl", "not UTF-8"), ("folder", "expected .jsonl files")]:  # fmt: skip
        refused(message, read_pairs, tmp_path / name)


# === Scores and results ===


def test_sentences_with_the_same_tokens_have_the_same_score_and_are_not_right(model, tokenizer):
    same = [MinimalPair("The bird is a robin.", "the Bird is a robin.", f"case {number}") for number in range(9)]
    others = [MinimalPair(" ".join(["a"] * count), "the bird", "other") for count in range(1, 8)]
    pairs = [pair for both in zip(same, [*others, *others]) for pair in both]
    scores = score_pairs(model, tokenizer, pairs, batch_size=5)
    assert (scores[::2, 0] == scores[::2, 1]).all() and (scores[1::2, 0] != scores[1::2, 1]).all()
    assert all(result.right == 0 for result in group_results(same, scores[::2]))


def test_figures_count_what_is_right(file):
    scores = np.array([[-1.0, -2.0], [-3.0, -3.0], [-1.0, -9.0]])  # the second: equal, so wrong
    results = {(result.group, result.name): result for result in group_results(read_pairs(file), scores)}
    assert {key: (result.right, result.pairs) for key, result in results.items()} == {
        ("phenomenon", "agreement"): (1, 2), ("phenomenon", "order"): (1, 1),
        ("term", "subject_verb_agreement"): (1, 1), ("field", "morphology"): (1, 2), ("field", "syntax"): (1, 1),
        ("all", "all pairs"): (2, 3),
    }  # fmt: skip
    assert results["phenomenon", "agreement"].accuracy == 0.5


def test_the_interval_is_wilsons():
    """Its ends are the shares p for which the difference is z standard deviations: (x/n − p)² = z² p(1 − p)/n."""
    z = 1.959964
    for hits, count in [(0, 5), (30, 50), (7, 7)]:
        for end in wilson_interval(hits, count):
            assert (hits / count - end) ** 2 == pytest.approx(z * z * end * (1 - end) / count, abs=1e-12)
    assert GroupResult.of("all", "x", [True] * 30 + [False] * 20).low == pytest.approx(0.4618, abs=1e-4)


def test_a_stopped_folder_resumes_and_refuses_another_model(model, tokenizer, file, tmp_path, monkeypatch):
    pairs, out = read_pairs(file), tmp_path / "out"
    expected = score_pairs(model, tokenizer, pairs)
    monkeypatch.setattr(minimal_pairs, "PAIRS_BATCH_SIZE", 2)
    score_pairs(model, tokenizer, pairs, out=out, identity={"weights": "a"})
    (out / "scores" / "2.json").unlink()  # as if stopped before the last block
    (out / "scores" / "0.json").write_text("[[-5.0, -6.0], [-7.0, -6.0]]")  # kept, not made again
    scores = score_pairs(model, tokenizer, pairs, out=out, identity={"weights": "a"})
    assert scores[:2].tolist() == [[-5.0, -6.0], [-7.0, -6.0]]
    assert scores[2] == pytest.approx(expected[2], abs=1e-6)
    assert (out / "pairs.csv").read_text().splitlines()[1].endswith("-5.0000,-6.0000,1")
    assert json.loads((out / "results.json").read_text())[-1]["pairs"] == 3
    for other in ({"masking": "word-left-to-right", "identity": {"weights": "a"}}, {"identity": {"weights": "b"}}):
        with pytest.raises(ConfigError, match="was started with other settings"):
            score_pairs(model, tokenizer, pairs, out=out, **other)


def test_the_results_of_another_command_are_not_overwritten(model, tokenizer, file, tmp_path):
    (tmp_path / "results.json").write_text("of a fine-tuning")
    with pytest.raises(ConfigError, match="holds results.json but no work.json, .*; choose another folder"):
        score_pairs(model, tokenizer, read_pairs(file), out=tmp_path)
    assert (tmp_path / "results.json").read_text() == "of a fine-tuning"
    assert not (tmp_path / "scores").exists()


def test_a_sentence_that_is_too_long_is_named_with_its_line_before_any_is_scored(model, tokenizer, file, tmp_path):
    long = {"sentence_good": "the " * 30, "sentence_bad": "a"}
    file.write_text(file.read_text() + json.dumps(long) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs.jsonl line 4: expected at most 12 tokens"):
        score_pairs(model, tokenizer, read_pairs(file), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_prints_a_table_and_json(checkpoint, file, tmp_path):
    run = CliRunner().invoke
    result = run(cli, ["minimal-pairs", str(file), str(checkpoint), "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert [line.split()[:2] for line in result.stdout.splitlines()][:3] == [
        ["phenomenon", "pairs"], ["agreement", "2"], ["order", "1"],
    ]  # fmt: skip
    result = run(cli, ["minimal-pairs", str(file), str(checkpoint), "--first", "1", "--json"])
    assert json.loads(result.stdout)[-1]["pairs"] == 2
