"""Verdicts: each way to be wrong has words of its own, and what must stay hidden does."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from autograde_case import asking, verdict_on, visible_plan, written
from hypothesis import given, settings
from hypothesis import strategies as st

from autograde import planning, rendering, shortcuts
from autograde.compare import Tolerance, compare
from autograde.exercises import catalogue, cells
from autograde.judge import judge
from autograde.verdict import Picture, Verdict
from autograde.wording import small_picture

RIGHT = "def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5"


def _scores(body: str):
    return verdict_on("scores", "def attention_scores(q, k):\n    " + body)


def test_a_forgotten_division_is_shown_as_in_the_course_book():
    text = str(_scores("return q @ ops.swapaxes(k, -1, -2)"))
    assert text.startswith("✗ 3.4 attention_scores") and text.splitlines()[0].endswith("0 / 3")
    for expected in ("q (2, 5, 16) float32, k (2, 5, 16) float32", "shape   (2, 5, 5) ✓", "dtype float32 ✓",
                     "first difference at [0, 0, 0]", "yours is 4.0 × the expected value everywhere",
                     "before dividing by √d_attn (√16 = 4). Look at line 5 again."):  # fmt: skip
        assert expected in text, text


def test_large_numbers_stand_apart_from_the_words_before_them():
    """As the logits of hidden tokens, near -10⁹."""
    picture = Picture([[-999_993_088.0] * 2] * 2, [[-1e9] * 2] * 2)
    verdict = Verdict("x", "8.7 x", "wrong", 0, 1, picture=picture)
    assert "yours     -999993088    -999993088" in str(verdict)
    assert "expected -1000000000   -1000000000" in str(verdict)


def test_what_is_random_in_training_is_not_called_a_dropout_outside_training():
    source = (
        "class NspHead(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.dense, self.drop = keras.layers.Dense(2), keras.layers.Dropout(0.5)\n"
        "        self.dense.build(shape)\n"
        "    def call(self, pooled, training=None):\n"
        "        return self.dense(self.drop(pooled, training=training))\n"
    )
    said = " ".join(verdict_on("nsp-head", source).advice)
    assert "outside training" not in said and said, said


def test_a_mistake_that_only_chance_shows_is_not_called_another():
    """Without what dropout draws all results are right: they are also those of an answer without any dropout."""
    exercise = catalogue.find("pre-norm-layer")
    source = cells.answer_cell(exercise).replace("self.dropout(attended, training=training)", "attended")
    verdict = judge(visible_plan(exercise.id), asking(cells.namespace(exercise, source)), source)
    assert verdict.status == "partly" and not verdict.misconception, verdict


def test_a_product_whose_sizes_do_not_fit_says_so_and_what_to_turn():
    verdict = _scores("return q @ k / 4.0")
    assert verdict.status == "raised" and verdict.misconception == "not-turned"
    assert "matrix sizes do not match: (2, 5, 16) and (2, 5, 16)" in str(verdict)
    assert "your line 2:  return q @ k / 4.0" in str(verdict)
    assert "transpose one of the two, only in its last two axes" in str(verdict)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("s = q @ ops.swapaxes(k, -1, -2) / 4.0", "returned None: did you forget `return`?"),
        ("return (q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5).numpy()", "Expected a tensor, got a NumPy array"),
        ("return [q, k]", "Expected a tensor, got a list"),
        ("return ops.cast(q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, 'float64')", "dtype float64 ✗"),
        ("return ops.log(q @ ops.swapaxes(k, -1, -2))", "The result has NaN"),
        ("return ops.swapaxes(q, -1, -2) @ k", "yours (2, 16, 16)   expected (2, 5, 5)"),
        ("return q @ ops.transpose(k)", "error"),
        ("return q * ops.cast(q, 'int32')", "Two dtypes are mixed here"),
        ("return undefined_name", "NameError: name 'undefined_name' is not defined"),
        ("return ...", "still the empty stub"),
        ("q = q @ q\n    return ...", "error"),
        ("q = q * q\n    return ...", "replace it by your own expression"),
        ("return keras.Input((3,))", "symbolic"),
    ],
)
def test_each_way_to_be_wrong_has_its_own_words(body, words):
    verdict = _scores(body)
    assert words in str(verdict), str(verdict)
    assert verdict.points == 0 and not verdict.passed


def test_a_float64_result_is_not_told_to_keep_the_dtype_of_integers():
    source = "def sinusoids(length, d_e):\n    return ops.convert_to_tensor(np.zeros((length, d_e)))"
    [said] = verdict_on("sinusoids", source).advice
    assert "float64" in said and said.endswith("Convert it with `ops.cast`."), said


def test_a_transposed_shape_is_named():
    difference = compare(np.zeros((2, 3, 4), "float32"), np.zeros((2, 4, 3), "float32"))
    assert difference.kind == "shape" and "axes 1 and 2 are in a different order (transposed?)" in difference.message


def test_an_argument_that_was_changed_is_named():
    source = (
        "def concat_heads(heads):\n    heads.append(heads.pop())\n    heads.reverse()\n    heads[:] = heads[::-1]\n"
    )
    harmless = verdict_on("concat-heads", source + "    return ops.concatenate(heads, axis=-1)")
    assert harmless.passed  # it was put back as it stood
    changing = (
        "def concat_heads(heads):\n    first = heads.pop(0)\n    return ops.concatenate([first, *heads], axis=-1)"
    )
    assert "changes one of its arguments" in str(verdict_on("concat-heads", changing))


LAYER = """
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads):
        {init}
        self.num_heads = num_heads
    def build(self, shape):
        {build}
    def call(self, x, attention_mask=None):
        {call}
"""


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"init": "pass"}, "first in your `__init__`"),
        ({"call": "self.query = keras.layers.Dense(4); return self.query(x)"}, "after it was built. Create them once"),
        ({"call": "return x"}, "MultiHeadAttention has no weight `query.kernel`; its weights: none"),
        ({"call": "return keras.layers.Dense(8)(x)"}, "has no weight `query.kernel`"),
        ({"call": "raise NotImplementedError()"}, "still the empty stub"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_a_layer_has_its_own_words(parts, words):
    source = LAYER.format(**({"init": "super().__init__()", "build": "pass", "call": "return x"} | parts))
    assert words in str(verdict_on("multi-head-layer", source))


def test_a_weight_of_another_shape_is_named_where_a_tuple_is_expected():
    exercise = catalogue.find("pretraining-model")
    source = cells.answer_cell(exercise)
    wide = source.replace(
        "intermediate_size, max_positions, dropout,", "intermediate_size, max_positions + 1, dropout,"
    )
    assert wide != source
    plan = planning.make_plan(exercise, misconceptions=False)
    first = plan["parts"][0] | {"claims": plan["parts"][0]["claims"][:1]}
    verdict = judge(
        plan | {"questions": plan["questions"][:1], "parts": [first]}, asking(cells.namespace(exercise, wide)), wide
    )
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


def test_later_parts_count_only_once_the_values_are_right_and_then_each_for_itself():
    constant = verdict_on("scores", "def attention_scores(q, k):\n    return ops.zeros((*q.shape[:-1], k.shape[-2]))")
    assert constant.points == 0
    names = "x, w_q, b_q, w_k, b_k, w_v, b_v"
    averaging = f"def attention({names}):\n    return ops.zeros_like(x) @ w_v + ops.mean(x @ w_v, -2, keepdims=True)"
    parts = verdict_on("attention", averaging).parts
    assert [(part.points, part.message) for part in parts[1:]] == [(0, "counts only when the first part is right")]
    unstable = verdict_on(
        "softmax-rows", "def softmax_rows(a):\n    e = ops.exp(a)\n    return e / ops.sum(e, -1, keepdims=True)"
    )
    assert (unstable.status, unstable.points, unstable.misconception) == ("partly", 1, "unstable")


def test_a_shortcut_is_refused_with_the_reason_whether_written_or_only_run():
    written_out = verdict_on("softmax-rows", "def softmax_rows(a):\n    return keras.activations.softmax(a)")
    assert written_out.status == "refused" and "write softmax yourself" in str(written_out)
    hidden_layer = LAYER.format(
        init="super().__init__()", build="self.inner = getattr(keras.layers, 'MultiHead' + 'Attention')(2, 4)",
        call="return self.inner(x, x)",
    )  # fmt: skip
    assert verdict_on("multi-head-layer", hidden_layer).status == "refused"
    hidden = "f = getattr(ops, 'soft' + 'max')\ndef softmax_rows(a):\n    return f(a)"
    assert verdict_on("softmax-rows", hidden).status == "refused"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from keras import ops as o\no.softmax(x)", "keras.ops.softmax"),
        ("import keras as k\nk.ops.softmax(x)", "keras.ops.softmax"),
        ("from keras.ops import softmax as s", "keras.ops.softmax"),
        ("import bertlab.layers.attention", "bertlab.layers"),
        ("from bertlab.layers.attention import MultiHeadAttention", "bertlab.layers"),
        ("ops.softmax(x)", "keras.ops.softmax"),
        ("softmax(x); ops.softmax_like(x)", None),
        ("'keras.ops.softmax'  # in a comment: ops.softmax", None),
        ("%pip install keras\nops.softmax(", None),
        ("", None),
    ],
)
def test_shortcuts_are_found_in_the_text_through_any_import(source, found):
    assert shortcuts.first_forbidden(source, ["keras.ops.softmax", "bertlab.layers"]) == found


def test_a_verdict_on_hidden_inputs_shows_neither_inputs_nor_expected_values():
    plan = planning.make_plan(catalogue.find("scores"), "secret")
    wrong = "def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2)"
    verdict = judge(plan, asking(written(wrong)), wrong, reveal=False)
    assert verdict.misconception == "unscaled" and verdict.picture is None and verdict.facts == ()
    text = json.dumps(verdict.to_dict())
    expected = plan["parts"][0]["claims"][0]["expected"]
    assert not any(f"{value:.4f}" in text for value in expected.ravel())


def test_a_verdict_survives_json():
    for verdict in (
        _scores("return q @ k"),
        _scores("return q @ ops.swapaxes(k, -1, -2)"),
        verdict_on("scores", RIGHT),
    ):
        assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [None] * 4,
        ["ok"] * 4,
        [{"status": "ok", "value": "x", "notes": {"returned": "tensor"}}] * 4,
        [{"status": ["ok"], "value": {}, "notes": 3, "error": "e"}] * 4,
        [{"status": "ok", "value": np.array(["a"]), "error": {"message": {}}, "notes": {"returned": "tensor"}}] * 4,
        [{"status": "ok", "value": np.zeros((9,) * 8, "uint8")[..., :1], "notes": {"returned": "tensor"}}] * 4,
        [{"status": "ok", "value": 10**30, "notes": {"returned": "tensor", "mutated": "x", "printed": "many"}}] * 4,
        [{"status": "ok", "value": np.full((2, 5, 5), np.nan, "float16"), "notes": {"returned": "tensor"}}] * 4,
        [{"status": "raised", "error": {"type": "<b>", "message": "x" * 9999, "line": [1]}, "notes": {}}] * 4,
        [{"status": "ok", "value": None, "notes": {"returned": "tensor", "watched": [3, "keras"]}}] * 4,
    ],
    ids=range(11),
)
def test_answers_are_arbitrary_data_and_never_earn_or_break_anything(answers):
    verdict = judge(visible_plan("scores"), lambda questions: answers)
    assert verdict.points == 0 and not verdict.passed
    assert str(verdict) and rendering.as_html(verdict)


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from([np.zeros((2, 5, 5), "float32"), np.zeros(3), np.array(["a"]), np.array(True),
                       np.zeros((4, 4), "int8"), np.full((2, 5, 5), np.inf, "float16"), np.zeros((2, 0, 5))]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip
_known_notes = ("returned", "mutated", "printed", "new_weights", "unstable", "watched", "no_gradient")
_some_answer = _anything | st.fixed_dictionaries(
    {"status": st.sampled_from(["ok", "raised", "refused"]) | _anything, "value": _anything},
    optional={
        "error": st.fixed_dictionaries({}, optional={key: _anything for key in ("type", "message", "line", "text")}),
        "notes": st.fixed_dictionaries({"returned": st.just("tensor") | _anything})
        | st.fixed_dictionaries({}, optional={key: _anything for key in _known_notes}),
    },
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_some_answer, min_size=4, max_size=4), st.sampled_from(["scores", "softmax-rows"]))
def test_no_answer_whatsoever_breaks_the_judge_or_earns_points(answers, exercise_id):
    verdict = judge(visible_plan(exercise_id), lambda questions: answers)
    assert verdict.points == 0
    assert str(verdict) and Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))).status == verdict.status


_rows = st.fixed_dictionaries(dict.fromkeys(("token_ids", "token_type_ids", "attention_mask"), _anything))
_nested = st.lists(st.tuples(st.lists(_anything, max_size=3), _anything), max_size=3)


@settings(max_examples=200, deadline=None)
@given(
    _anything | _rows | _nested | _nested.map(tuple) | st.dictionaries(st.tuples(st.text(max_size=2)), _anything),
    st.sampled_from([("wordpiece", "list"), ("pair-scores", "dict"), ("merge-pair", "list"), ("pack", "dict"),
                     ("truncate-pair", "tuple"), ("clean-text", "str")]),
)  # fmt: skip
def test_no_value_breaks_the_judge_of_text_or_earns_points(value, exercise):
    identity, kind = exercise
    answer = {"status": "ok", "value": value, "notes": {"returned": kind}}
    verdict = judge(visible_plan(identity), lambda questions: [answer] * len(questions))
    assert verdict.points == 0 and str(verdict)


def test_html_escapes_what_a_student_wrote_and_says_the_same_without_colour():
    verdict = _scores("raise ValueError('<script>alert(1)</script>')")
    page = rendering.as_html(verdict)
    assert "<script>" not in page and "&lt;script&gt;" in page
    wrong = _scores("return q @ ops.swapaxes(k, -1, -2)")
    page = rendering.as_html(wrong)
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
        assert colour in styles and f"border-left:4px {edge} rgb({numbers})" in rendering.as_html(verdict)


def test_tolerance_treats_infinities_as_equal_and_nan_as_different():
    allows = Tolerance().allows(np.array([np.inf, 1.0, np.nan]), np.array([np.inf, np.inf, np.nan]))
    assert allows.tolist() == [True, False, False]


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
    ],
)
def test_differences_are_described_in_their_simplest_form(expected, got, words):
    assert words in compare(expected, got).message


def test_two_different_numbers_never_look_alike():
    message = compare(np.float32([0.0134]), np.float32([0.013404]), Tolerance(0, 1e-7)).message
    assert "yours 0.013404   expected 0.0134" in message
    assert "yours 1.5000001   expected 1.5" in compare(np.array([1.5]), np.array([1.5000001]), Tolerance(0, 0)).message


def test_a_form_is_named_only_if_it_explains_every_element():
    symmetric = np.float32([[1, 0.5], [0.5, 1]])
    for got in (symmetric + np.float32([[0, 2e-3], [2e-3, 0]]), symmetric + np.float32([[0, 4e-4], [0, 0]])):
        assert "transpose" not in compare(symmetric, got, Tolerance()).message
    nearly = np.float32([1, 2, 3]) * np.float32(1.0004)
    assert "×" not in compare(np.float32([1, 2, 3]), nearly).message  # 1.0 × would explain nothing


def test_a_mistake_is_named_only_if_it_explains_all_answers():
    assert _scores("return ops.matmul(q, ops.swapaxes(k, -1, -2))").misconception == "unscaled"
    partly = "return ops.matmul(q, ops.swapaxes(k, -1, -2)) / (q.shape[-1] ** 0.5 if q.shape[-2] == 6 else 1.0)"
    assert _scores(partly).misconception is None


def test_an_error_alone_names_no_mistake():
    """The type of an error has many causes; a known mistake may raise the same one."""
    plan = visible_plan("scores")
    raised = {"status": "raised", "value": None, "error": {"type": "TypeError", "message": ""}}
    plan = plan | {"misconceptions": [{"id": "x", "hint": "x", "outcomes": [raised] * len(plan["questions"])}]}
    verdict = judge(plan, asking(written("def attention_scores(q):\n    return q")))
    assert verdict.status == "raised" and verdict.misconception is None


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
    assert "part &quot;results as expected&quot;" in rendering.as_html(verdict)
    assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict
    place = f"rows {top} to {top + 5}, columns {left} to {left + 5}"
    for text in (rendering.as_text(verdict), rendering.as_html(verdict)):
        assert (place in text) == (max(top, left) > 0)


def test_a_layer_that_leaves_the_tensors_gets_its_values_but_not_its_gradients():
    exercise = catalogue.find("multi-head-layer")
    mistake = next(known for known in exercise.misconceptions if known.id == "out-of-the-graph")
    namespace = cells.namespace(exercise, cells.patched_cell(exercise, mistake))
    verdict = judge(planning.make_plan(exercise, "g", misconceptions=False), asking(namespace))
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
        "    if float(ops.sum(real)) == 0:\n        return ops.convert_to_tensor(0.0)\n"
        "    log_p = ops.log_softmax(logits, axis=-1)\n"
        "    labels = ops.expand_dims(ops.maximum(labels, 0), -1)\n"
        "    return -ops.sum(ops.take_along_axis(log_p, labels, axis=-1)[..., 0] * real) / ops.sum(real)\n"
    )
    said = str(verdict_on("tagging-loss", loss))
    assert "no gradient reaches logits; expected one" in said and "NaN values" not in said


def test_a_list_that_is_returned_itself_is_explained():
    early = "    if len(first) + len(second) <= room:\n        return first, second\n"
    head, body = cells.answer_cell(catalogue.find("truncate-pair")).split("\n", 1)
    said = str(verdict_on("truncate-pair", f"{head}\n{early}{body}"))
    assert "returns its argument itself" in said, said


def test_all_numbers_among_many_arguments_are_shown():
    said = str(
        verdict_on("best-span", "def best_span(start, end, first, last, longest):\n    return first, last + 1\n")
    )
    assert "first " in said and "last " in said and "longest " in said


def test_an_exercise_about_text_goes_the_same_way_as_one_about_tensors():
    from autograde.exercises.spec import Case, Exercise, function, named, values

    words = Exercise(
        id="words", notebook="toy", number="0.1", title="Words", minutes=1, lines="", names=("words",),
        arguments=("text",), probe=named(function(), "words"), reference=lambda text: text.split(), returns="list",
        parts=(values(1, lambda rng: [Case(("the  robin",)), Case((" ".join(rng.choice(["a", "b"], 3)),))]),),
        hints=(), misconceptions=(),
    )  # fmt: skip
    plan = planning.make_plan(words, "s", misconceptions=False)
    assert judge(plan, asking(written("def words(text):\n    return text.split()"))).passed
    wrong = judge(plan, asking(written("def words(text):\n    return text.split(' ')")))
    assert "at [1]: yours ''   expected 'robin'" in str(wrong)
    assert "yours     ['the', '', 'robin']" in str(wrong)
    assert "expected  ['the', 'robin']" in str(wrong) and "tensor" not in str(wrong)
    generator = judge(plan, asking(written("def words(text):\n    yield from text.split()")))
    assert "returned a generator" in str(generator)
    joined = judge(plan, asking(written("def words(text):\n    return text")))
    assert "Expected a list, got a string." in str(joined)
    lazy = judge(plan, asking(written("def words(text):\n    return map(str, text.split())")))
    assert "Expected a list, got a map. Convert it with `list(...)`." in str(lazy)


def test_a_float_where_a_whole_number_is_expected_is_called_by_its_type():
    rounded = verdict_on(
        "number-of-predictions",
        "def number_of_predictions(tokens, most=20, share=0.15):\n"
        "    return min(most, max(1, round(share * tokens, 0)))",
    )
    assert not rounded.passed and "such as 4.0, is a `float`: use `//` or `int(...)`." in str(rounded)


def test_of_nested_lists_and_dicts_the_innermost_lists_stand_beside_each_other():
    merged = verdict_on(
        "merge-pair", "def merge_pair(pair, spelled):\n    return [(list('ab'), n) for _, n in spelled]"
    )
    assert "at [0][0][0]: yours 'a'" in str(merged) and "yours     ['a', 'b']\n" in str(merged)
    source = (
        "def pack(first, second, vocabulary, length):\n"
        "    return {'token_ids': [1], 'token_type_ids': np.zeros(3), 'attention_mask': None}"
    )
    assert "yours     [1]\n" in str(verdict_on("pack", source))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from mybert.wordpiece import wordpiece as cut", "mybert.wordpiece"),
        ("import autograde.student.stand_ins.wordpiece as ready\ncut = ready.wordpiece", "autograde.student.stand_ins"),
        ("from bertlab.wordpiece import WordPieceTokenizer", "bertlab.wordpiece"),
    ],
)
def test_ones_own_exercise_cannot_be_imported_ready_made(source, found):
    verdict = judge(visible_plan("wordpiece"), asking({}), source)
    assert verdict.status == "refused" and found in str(verdict)


def test_the_librarys_tokenizer_is_noticed_when_it_runs_though_the_answer_does_not_name_its_module():
    import bertlab.wordpiece as library

    tokenizer = library.WordPieceTokenizer(library.Vocabulary([*library.SPECIAL_TOKENS, "a"]))
    namespace = {"wordpiece": lambda word, vocabulary: tokenizer.split_word(word)}
    assert judge(visible_plan("wordpiece"), asking(namespace)).status == "refused"


def test_a_failed_submission_can_be_named_afterwards_without_asking_again():
    exercise = catalogue.find("scores")
    plan = planning.make_plan(exercise, "later", misconceptions=False)
    answers = asking(written("def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2)"))(plan["questions"])
    assert judge(plan, lambda questions: answers).misconception is None
    assert judge(planning.with_misconceptions(exercise, plan), lambda questions: answers).misconception == "unscaled"
