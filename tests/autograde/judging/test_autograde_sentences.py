"""The sentences of a verdict: each way to be wrong has words of its own, and none says what is not so."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from autograde_case import LAYER, asking, proofs_of, verdict_on, visible_plan

from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.judging.call_texts import call_text, small_picture
from autograde.judging.compare import Tolerance, compare
from autograde.judging.judge import judge
from autograde.judging.verdict import Picture, Verdict, as_html, as_text


def _scores(body: str):
    return verdict_on("scores", "def attention_scores(q, k):\n    " + body)


def test_a_forgotten_division_is_shown_as_in_the_course_book():
    text = str(_scores("return q @ ops.swapaxes(k, -1, -2)"))
    assert text.startswith("✗ 3.4 attention_scores") and text.splitlines()[0].endswith("0 / 3")
    for expected in ("q (2, 5, 16) float32, k (2, 5, 16) float32", "shape   (2, 5, 5) ✓", "dtype float32 ✓",
                     "first difference at [0, 0, 0]", "yours is 4.0 × the expected value everywhere",
                     "before dividing by √d_attn (√16 = 4). Look at line 5 again."):  # fmt: skip
        assert expected in text, text


def test_large_numbers_have_a_space_before_them():
    """As the logits of hidden tokens, near -10⁹."""
    picture = Picture([[-999_993_088.0] * 2] * 2, [[-1e9] * 2] * 2)
    verdict = Verdict("x", "8.7 x", "wrong", 0, 1, picture=picture)
    assert "yours     -999993088    -999993088" in str(verdict)
    assert "expected -1000000000   -1000000000" in str(verdict)


def _layer(**parts: str) -> str:
    return LAYER.format(**({"init": "super().__init__()", "build": "pass", "call": "return x"} | parts))


BATCHES = cells.answer_cell(catalogue.find("batches"))
TRUNCATE = cells.answer_cell(catalogue.find("truncate-pair")).split("\n", 1)
SCORES = "def attention_scores(q, k):\n    "
WRONG = [  # exercise, source, words that are said, words that are not
    ("scores", SCORES + "s = q @ ops.swapaxes(k, -1, -2) / 4.0", "returned None: did you forget `return`?", None),
    ("scores", SCORES + "return (q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5).numpy()",
     "Expected a tensor, got a NumPy array", None),
    ("scores", SCORES + "return [q, k]", "Expected a tensor, got a list", None),
    ("scores", SCORES + "return ops.cast(q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, 'float64')",
     "dtype float64 ✗", None),
    ("scores", SCORES + "return ops.log(q @ ops.swapaxes(k, -1, -2))", "The result has NaN", None),
    ("scores", SCORES + "return ops.swapaxes(q, -1, -2) @ k", "yours (2, 16, 16)   expected (2, 5, 5)", None),
    ("scores", SCORES + "return q * ops.cast(q, 'int32')", "Two dtypes are mixed here", None),
    ("scores", SCORES + "return undefined_name", "NameError: name 'undefined_name' is not defined", None),
    ("scores", SCORES + "return ...", "still the empty stub", None),
    ("scores", SCORES + "q = q @ q\n    return ...", "error", None),
    ("scores", SCORES + "q = q * q\n    return ...", "replace it by your own expression", None),
    ("scores", SCORES + "return keras.Input((3,))", "symbolic", None),
    ("scores", SCORES + "return q @ k.T", "`ops.swapaxes(x, -1, -2)` for `.T`", None),
    ("scores", SCORES + "return q @ ops.transpose(k)", "`ops.transpose(x)` turns all axes around", None),
    ("scores", SCORES + "return ops.reshape(q, (q.shape[0] / 1, -1))", "`/` makes floats; divide sizes with", None),
    ("scores", SCORES + "return (q > 0) @ ops.swapaxes(k > 0, -1, -2)", "Booleans are used as numbers", None),
    ("scores", SCORES + "q[0] = 1.0", "A tensor cannot be changed in place. Compute a new one", None),
    ("scores", SCORES + "return [1, 2][q > 0]", "Several numbers are used as one index", None),
    ("scores", "def shifted(k):\n    return k.nothing\n\n" + SCORES + "return q @ shifted(k)",
     "your line 2:  return k.nothing   (in `shifted`)", None),
    ("multi-head-layer", _layer(init="pass"), "first in your `__init__`", None),
    ("multi-head-layer", _layer(call="self.query = keras.layers.Dense(4); return self.query(x)"),
     "after it was built. Create them once", None),
    ("multi-head-layer", _layer(call="return x"),
     "MultiHeadAttention has no weight `query.kernel`; its weights: none", None),
    ("multi-head-layer", _layer(call="return keras.layers.Dense(8)(x)"), "has no weight `query.kernel`", None),
    ("multi-head-layer", _layer(build="self.query = keras.layers.Dense(4)"),
     "`self.query` exists, but has no weights: `call` did not", None),
    ("multi-head-layer", _layer(call="raise NotImplementedError()"), "still the empty stub", None),
    ("nsp-head", "class NspHead(keras.layers.Layer):\n    def build(self, shape):\n"
     "        self.dense, self.drop = keras.layers.Dense(2), keras.layers.Dropout(0.5)\n"
     "        self.dense.build(shape)\n    def call(self, pooled, training=None):\n"
     "        return self.dense(self.drop(pooled, training=training))\n", "the result is random", "outside training"),
    ("choice-logits", "def choice_logits(hidden, v, choices):\n    return ops.reshape(hidden[:, 0] @ v, (-1, choices))",
     "For a matrix times a vector", None),
    ("relu-ffn", "def relu_ffn(x, w_1, b_1, w_2, b_2):\n    return ops.max(0, x @ w_1 + b_1) @ w_2 + b_2",
     "`ops.maximum(a, b)` compares", None),
    ("gather-positions", "def gather_positions(hidden, positions):\n"
     "    return ops.take(hidden, positions + 99, axis=0)", "Is it the right table, and the right axis?", None),
    ("layer-norm", "def layer_norm(x, gamma, beta, epsilon=1e-12):\n    mean = np.mean(x, axis=-1, keepdims=True)\n"
     "    return (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + epsilon) * gamma + beta",
     "The results are right, but not their gradient", None),
    ("spearman", "def spearman(gold, predicted):\n    return float('nan')", "all numbers are equal", "exp of a large"),
    ("sinusoids", "def sinusoids(length, d_e):\n    return ops.convert_to_tensor(np.zeros((length, d_e)))",
     "The result is float64, which comes from NumPy, `float(...)` or a cast. Return the tensor itself, or convert it "
     "with `ops.cast`.", "Expected float"),
    ("causal-mask", "def causal_mask(tokens):\n    return np.tri(tokens, dtype=bool)",
     "Expected a tensor of booleans, got NumPy's.", "gradients"),
    *(("causal-mask", f"def causal_mask(tokens):\n    return ops.cast(ops.tri(tokens), '{dtype}')",
       f"Expected booleans (dtype bool), got {dtype}.", None) for dtype in ("int32", "float32")),
    ("batches", "def batches(examples, batch_size, seed):\n    while True:\n        yield examples",
     "returned a generator, because it uses `yield`", "repeat without end"),
    ("batches", "import tensorflow as tf\n" + BATCHES.replace("from_tensor_slices", "from_tensors"),
     "Your data set has no batch", None),
    ("truncate-pair", "\n    if len(first) + len(second) <= room:\n        return first, second\n".join(TRUNCATE),
     "returns its argument itself", None),
    ("concat-heads", "def concat_heads(heads):\n    first = heads.pop(0)\n"
     "    return ops.concatenate([first, *heads], axis=-1)", "changes one of its arguments", None),
    *(("best-span", "def best_span(start, end, first, last, longest):\n    return first, last + 1\n", f"{name} ", None)
      for name in ("first", "last", "longest")),
    ("number-of-predictions", "def number_of_predictions(tokens, max_predictions=20, share=0.15):\n"
     "    return min(max_predictions, max(1, round(share * tokens, 0)))",
     "such as 4.0, is a `float`: use `//` or `int(...)`.", None),
    *(("merge-pair", "def merge_pair(pair, spelled):\n    return [(list('ab'), n) for _, n in spelled]", words, None)
      for words in ("at [0][0][0]: yours 'a'", "yours     ['a', 'b']\n")),
    ("pack", "def pack(first, second, vocabulary, length):\n"
     "    return {'token_ids': [1], 'token_type_ids': np.zeros(3), 'attention_mask': None}", "yours     [1]\n", None),
    ("learned-positions", "def learned_positions(length, w_p):\n    return ops.take(w_p, ops.arange(length), axis=0)",
     "Compare the arguments at the start of your function, and `raise ValueError(…)`", "Is it the right table"),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "source", "words", "never"), WRONG, ids=[words for _, _, words, _ in WRONG])
def test_each_way_to_be_wrong_has_its_own_words(exercise, source, words, never):
    verdict = verdict_on(exercise, source)
    assert words in str(verdict) and (never is None or never not in str(verdict)), str(verdict)
    assert "experimental_enable_numpy_behavior" not in str(verdict)
    assert not verdict.passed and (verdict.points == 0 or exercise != "scores")


def test_an_argument_that_was_changed_and_restored_costs_nothing():
    source = "def concat_heads(heads):\n    heads.append(heads.pop())\n    heads.reverse()\n    heads[:] = heads[::-1]"
    assert verdict_on("concat-heads", source + "\n    return ops.concatenate(heads, axis=-1)").passed


@pytest.mark.slow
def test_a_mistake_that_only_chance_shows_is_not_called_another():
    """Without what dropout draws all results are right: they are also those of an answer without any dropout."""
    exercise = catalogue.find("pre-norm-layer")
    source = cells.answer_cell(exercise).replace("self.dropout(attended, training=training)", "attended")
    verdict = judge(visible_plan(exercise.id), asking(cells.namespace(exercise, source)), source)
    assert verdict.status == "partly" and not verdict.misconception, verdict


def test_a_product_whose_sizes_do_not_fit_says_so_and_what_to_turn():
    verdict = _scores("return q @ k / q.shape[-1] ** 0.5")
    assert verdict.status == "raised" and verdict.misconception == "not-turned"
    assert "matrix sizes do not match: (2, 5, 16) and (2, 5, 16)" in str(verdict)
    assert "your line 2:  return q @ k / q.shape[-1] ** 0.5" in str(verdict)
    assert "transpose one of the two, only in its last two axes" in str(verdict)


@pytest.mark.slow
def test_a_plain_number_where_a_training_step_returns_its_loss_is_named():
    before, after = proofs_of("train-step").programs["the solution"].rsplit("return loss", 1)
    source = before + "return float(loss)" + after
    names = cells.namespace(catalogue.find("train-step"), source)
    [said] = judge(visible_plan("train-step"), asking(names), source).advice
    assert said.startswith("Expected a tensor, got a plain number."), said


def test_a_weight_of_another_shape_is_named_where_a_tuple_is_expected():
    exercise = catalogue.find("pretraining-model")
    source = cells.answer_cell(exercise)
    wide = source.replace("_size, max_positions, dropout,", "_size, max_positions + 1, dropout,")
    assert wide != source
    plan = planner.make_plan(exercise, misconceptions=False)
    first = plan["parts"][0] | {"claims": plan["parts"][0]["claims"][:1]}
    plan |= {"questions": plan["questions"][:1], "parts": [first]}
    verdict = judge(plan, asking(cells.namespace(exercise, wide)), wide)
    assert "`bert.embeddings.position.embeddings` of PreTrainingModel has shape (8, 8)" in str(verdict), str(verdict)
    assert "another object" not in str(verdict)


def test_the_first_part_that_fails_does_not_say_that_it_waits_for_itself():
    unscaled = "def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2)"
    first, *rest = verdict_on("scores", unscaled).parts
    assert (first.earned, first.message) == (False, "")
    assert all(part.message == "counts only when the first part is right" for part in rest)


def test_a_call_with_a_long_list_is_shown_with_its_repetition_and_names_the_overflow_of_64_bits():
    [spread] = [line for line in cells.answer_cell(catalogue.find("f1-matthews")).splitlines() if " ** 0.5" in line]
    product = spread.split("=")[1].replace(" ** 0.5", "")
    cell = cells.answer_cell(catalogue.find("f1-matthews")).replace(
        spread, f"    spread = float(np.sqrt(np.int64({product} % 2**64 - 2**64 * ({product} >= 2**63))))"
    )
    verdict = verdict_on("f1-matthews", cell)
    assert (verdict.points, verdict.misconception) == (2.5, "product-of-64-bits")
    facts = dict(verdict.facts)
    assert facts["tried"].startswith("gold [1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0] × 10,000, predicted [1, 1, 1, 1, 1, 1,")
    assert facts["values"].startswith("at [1]: yours nan   expected 0.5071\n")
    assert "expected  [0.7272727272727273, 0.507" in facts["values"]


def test_html_escapes_what_a_student_wrote_and_says_the_same_without_colour():
    verdict = _scores("raise ValueError('<script>alert(1)</script>')")
    page = as_html(verdict)
    assert "<script>" not in page and "&lt;script&gt;" in page
    wrong = _scores("return q @ ops.swapaxes(k, -1, -2)")
    page = as_html(wrong)
    for fact in ("wrong", "0 / 3", "4.0 × the expected value", "√16 = 4", "; yours: "):
        assert fact in page
    assert "color:inherit" in page


def test_verdicts_have_the_colours_and_edges_of_the_feedback_page():
    right = _scores("return q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5")
    styles = Path("autograde/grader/pages/base.html").read_text(encoding="utf-8")
    for verdict, edge, colour in (
        (right, "solid", "#2a6a34"),
        (_scores("return q @ ops.swapaxes(k, -1, -2)"), "dashed", "#9c3d06"),
    ):
        numbers = ",".join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))
        assert colour in styles and f"border-left:4px {edge} rgb({numbers})" in as_html(verdict)


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        (np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 5.0]), "yours is the expected value + 2.0 everywhere"),
        (np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 1.5]), "yours is 0.5 × the expected value everywhere"),
        (np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, 3.0], [2.0, 5.0]]), "transpose of the expected matrix"),
        (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), "1 of 3 values differ"),
        (np.array([True, False]), np.array([False, True]), "the opposite of the expected value everywhere"),
        (["play", "##ing"], ["play", "ing"], "at [1]: yours 'ing'   expected '##ing'"),
        (["a", "b"], ["a"], "yours has 1 item; expected 2"),
        ({"ids": [1]}, {"ids": [2]}, "at ['ids'][0]: yours 2   expected 1"),
        ({("a", "b"): 1}, {("a", "b"): 1, "a": 2}, "unexpected keys: 'a'"),
        ({("a", "##b"): 1.5}, {}, "missing keys: ('a', '##b')"),
        ("zoe", "zoe\u0301", r"yours 'zoe\u0301'   expected 'zoe'"),
        ("a " * 60, "a " * 50 + "b " + "a " * 9, "from character 100"),
        ((1, 2), None, "yours is nothing; expected a tuple"),
        (3.0, 4, "yours 4   expected 3"),
        (np.zeros((2, 3, 4)), np.zeros((2, 4, 3)), "the axes 1 and 2 are in a different order (transposed?)"),
    ],
)
def test_differences_are_described_in_their_simplest_form(expected, got, words):
    assert words in compare(expected, got).message


@pytest.mark.parametrize(
    ("expected", "got", "allowed", "words"),
    [
        (np.float32([0.0134]), np.float32([0.013404]), 1e-7, "yours 0.013404   expected 0.0134"),
        (np.array([1.5]), np.array([1.5000001]), 0, "yours 1.5000001   expected 1.5"),
        (np.float32([1.0]), np.float32([0.99999]), 1e-7, "yours 0.99999   expected 1"),
    ],
)
def test_two_different_numbers_never_look_alike(expected, got, allowed, words):
    assert words in compare(expected, got, Tolerance(0, allowed)).message


def test_a_form_is_named_only_if_it_explains_every_element():
    symmetric = np.float32([[1, 0.5], [0.5, 1]])
    for got in (symmetric + np.float32([[0, 2e-3], [2e-3, 0]]), symmetric + np.float32([[0, 4e-4], [0, 0]])):
        assert "transpose" not in compare(symmetric, got, Tolerance()).message
    nearly = np.float32([1, 2, 3]) * np.float32(1.0004)
    assert "×" not in compare(np.float32([1, 2, 3]), nearly).message  # 1.0 × would explain nothing


@pytest.mark.parametrize(("row", "column"), [(0, 0), (5, 2), (20, 9), (29, 15), (6, 0)])
def test_the_slice_that_is_shown_holds_the_first_difference_and_says_where_it_is(row, column):
    expected = np.arange(2 * 30 * 16, dtype="float32").reshape(2, 30, 16)
    got = expected.copy()
    got[1, row, column] = -7
    picture = small_picture(compare(expected, got))
    (top, left), yours = picture.first, np.array(picture.yours)
    assert yours.shape == (6, 6) and yours[row - top, column - left] == -7
    assert np.array_equal(picture.expected, expected[1, top : top + 6, left : left + 6])
    verdict = replace(_scores("return q"), picture=replace(picture, part="values"))
    assert 'part "results as expected"' in str(verdict)
    assert "part &quot;results as expected&quot;" in as_html(verdict)
    assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict
    place = f"rows {top} to {top + 5}, columns {left} to {left + 5}"
    for text in (as_text(verdict), as_html(verdict)):
        assert (place in text) == (max(top, left) > 0)


def test_a_layer_that_leaves_the_tensors_gets_its_values_but_not_its_gradients():
    exercise = catalogue.find("multi-head-layer")
    mistake = next(known for known in exercise.misconceptions if known.id == "out-of-the-graph")
    namespace = cells.namespace(exercise, cells.patched_cell(exercise, mistake))
    verdict = judge(planner.make_plan(exercise, "g", misconceptions=False), asking(namespace))
    assert (verdict.status, verdict.points) == ("partly", 5)
    assert "no gradient reaches self." in str(verdict) and "A gradient is missing" in str(verdict)


def test_a_gradient_that_is_wrong_or_missing_is_named():
    """It was shown as the result itself, and a missing one as NaN."""
    exercise = catalogue.find("pooler")
    longer = "first = hidden[:, 0] + (hidden[:, 0] - ops.stop_gradient(hidden[:, 0]))"
    source = cells.answer_cell(exercise).replace("first = hidden[:, 0]", longer)
    said = str(judge(visible_plan("pooler"), asking(cells.namespace(exercise, source))))
    assert "gradient of hidden, in one direction:   yours " in said and "NaN" not in said
    loss = (
        "def tagging_loss(logits, labels):\n"
        "    real = ops.cast(ops.not_equal(labels, -100), 'float32')\n"
        "    if hasattr(real, 'numpy') and float(ops.sum(real)) == 0:\n        return ops.convert_to_tensor(0.0)\n"
        "    log_p = ops.log_softmax(logits, axis=-1)\n"
        "    labels = ops.expand_dims(ops.maximum(labels, 0), -1)\n"
        "    return -ops.sum(ops.take_along_axis(log_p, labels, axis=-1)[..., 0] * real) / ops.sum(real)\n"
    )
    said = str(verdict_on("tagging-loss", loss))
    assert "no gradient reaches logits; expected one" in said and "NaN values" not in said


def test_two_numbers_that_must_be_equal_are_both_shown_as_the_students_own():
    """Dropout on the logits: where the columns of W are equal, the logits are not."""
    source = (
        "class ClassificationHead(keras.layers.Layer):\n"
        "    def __init__(self, num_labels, dropout=0.1, **kwargs):\n"
        "        super().__init__(**kwargs)\n"
        "        self.dense, self.drop = keras.layers.Dense(num_labels), keras.layers.Dropout(dropout)\n"
        "    def call(self, hidden, training=None):\n"
        "        return self.drop(self.dense(hidden[:, 0]), training=training)\n"
    )
    facts = dict(verdict_on("cls-head", source).facts)
    assert re.fullmatch(r"two numbers of this result must be equal, and are \S+ and \S+", facts["values"]), facts


def test_arguments_that_are_left_out_are_named():
    question = {"probe": {"kind": "function", "name": "f"}, "keywords": {}, "arguments": [np.zeros(2, "float32")] * 5}
    assert call_text(list("abcde"), question).endswith(" and d, e")


def test_a_float16_number_is_shown_without_a_warning(recwarn):
    compare(np.float16([1.5]), np.float16([2.5]))
    assert not recwarn.list


def test_a_second_mistake_in_another_part_does_not_hide_the_first():
    """The mask is wrong, too; the first part that fails is that of a known mistake."""
    source = cells.answer_cell(catalogue.find("spearman"))
    plan = visible_plan("spearman")
    first = {claim["answer"] for claim in plan["parts"][0]["claims"]}
    known = plan["misconceptions"][0]
    answers = [
        (outcome if index in first else {"status": "ok", "value": 0.125, "error": None})
        | {"notes": {"returned": "float"}}
        for index, outcome in enumerate(known["outcomes"])
    ]
    assert judge(plan, lambda questions: answers, source).misconception == known["id"]
