"""Verdicts: who passes, what is refused, what stays hidden, and that no answer breaks the judge."""

import json

import numpy as np
import pytest
from autograde_case import LAYER, asking, verdict_on, visible_plan, written
from hypothesis import given, settings
from hypothesis import strategies as st

from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.exercises.spec import Case, Exercise, function, named, values
from autograde.judging import shortcuts
from autograde.judging.compare import Tolerance
from autograde.judging.judge import judge
from autograde.judging.verdict import Verdict, as_html
from bertlab.tokenizers import wordpiece as library

RIGHT = "return q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5"


def _scores(body: str):
    return verdict_on("scores", "def attention_scores(q, k):\n    " + body)


def test_later_parts_count_only_once_the_values_are_right_and_then_each_for_itself():
    constant = verdict_on("scores", "def attention_scores(q, k):\n    return ops.zeros((*q.shape[:-1], k.shape[-2]))")
    assert constant.points == 0
    names = "x, w_q, b_q, w_k, b_k, w_v, b_v"
    averaging = f"def attention({names}):\n    return ops.zeros_like(x) @ w_v + ops.mean(x @ w_v, -2, keepdims=True)"
    parts = verdict_on("attention", averaging).parts
    assert [(part.points, part.message) for part in parts[1:]] == [(0, "counts only when the first part is right")]
    overflowing = "def softmax_rows(a):\n    e = ops.exp(a)\n    return e / ops.sum(e, -1, keepdims=True)"
    unstable = verdict_on("softmax-rows", overflowing)
    assert (unstable.status, unstable.points, unstable.misconception) == ("partly", 1, "unstable")


@pytest.mark.slow
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


def test_a_layer_that_needs_the_batch_size_in_advance_has_advice_from_check_and_grader():
    exercise = catalogue.find("pooler")
    own = "hidden = ops.reshape(hidden, hidden.shape)\n        first = hidden[:, 0]"
    code = cells.answer_cell(exercise).replace("first = hidden[:, 0]", own)
    shown, hidden, right = (
        judge(visible_plan(exercise.id), asking(cells.namespace(exercise, source)), source, reveal)
        for source, reveal in ((code, True), (code, False), (code.replace("hidden.shape", "ops.shape(hidden)"), True))
    )
    assert "inside of tf.function with an unknown batch size" in str(shown)
    assert "hidden = ops.reshape(hidden, hidden.shape)" in str(shown)
    for verdict in (shown, hidden):
        assert not verdict.passed and "the batch size is not known in advance" in " ".join(verdict.advice)
    assert right.passed


def test_code_that_fails_only_inside_of_a_graph_has_advice_from_check_and_grader():
    body = "return logits[0, 0, 0] * 0 if ops.sum(weights) == 0 else loss_of(logits, labels, weights)"
    code = """
def loss_of(logits, labels, weights):
    losses = -ops.take_along_axis(ops.log_softmax(logits), ops.expand_dims(labels, -1), axis=-1)[..., 0]
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)

def mlm_loss(logits, labels, weights):
    """
    shown = verdict_on("mlm-loss", code + body)
    assert shown.status == "raised" and "inside of tf.function" in str(shown)
    hidden = verdict_on("mlm-loss", code + body, reveal=False)
    for verdict in (shown, hidden):
        assert verdict.points == 0 and "a tensor has a shape, but no numbers yet" in verdict.advice[0]
    assert verdict_on("mlm-loss", code + "return loss_of(logits, labels, weights)").passed


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
    plan = planner.make_plan(catalogue.find("scores"), "secret")
    wrong = "def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2)"
    verdict = judge(plan, asking(written(wrong)), wrong, reveal=False)
    assert verdict.misconception == "unscaled" and verdict.picture is None and verdict.facts == ()
    text = json.dumps(verdict.to_dict())
    expected = plan["parts"][0]["claims"][0]["expected"]
    assert not any(f"{value:.4f}" in text for value in expected.ravel())


def test_a_verdict_survives_json():
    for source in ("return q @ k", "return q @ ops.swapaxes(k, -1, -2)", RIGHT):
        verdict = _scores(source)
        assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict


@pytest.mark.parametrize(
    "answers",
    [
        [], [None] * 4, ["ok"] * 4,
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
)  # fmt: skip
def test_answers_are_arbitrary_data_and_never_earn_or_break_anything(answers):
    verdict = judge(visible_plan("scores"), lambda questions: answers)
    assert verdict.points == 0 and not verdict.passed
    assert str(verdict) and as_html(verdict)


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


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(_some_answer, min_size=4, max_size=4), st.sampled_from(["scores", "softmax-rows"]))
def test_no_malformed_answer_breaks_the_judge_or_earns_points(answers, exercise_id):
    verdict = judge(visible_plan(exercise_id), lambda questions: answers)
    assert verdict.points == 0
    assert str(verdict) and Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))).status == verdict.status


_rows = st.fixed_dictionaries(dict.fromkeys(("token_ids", "token_type_ids", "attention_mask"), _anything))


_nested = st.lists(st.tuples(st.lists(_anything, max_size=3), _anything), max_size=3)


@settings(max_examples=200, deadline=None)
@given(
    _anything | _rows | _nested | _nested.map(tuple) | st.dictionaries(st.tuples(st.text(max_size=2)), _anything),
    st.sampled_from([("wordpiece", "list"), ("count-pairs", "dict"), ("merge-pair", "list"), ("pack", "dict"),
                     ("truncate-pair", "tuple"), ("strip-accents", "str")]),
)  # fmt: skip
def test_no_value_breaks_the_judge_of_text_or_earns_points(value, exercise):
    identity, kind = exercise
    answer = {"status": "ok", "value": value, "notes": {"returned": kind}}
    verdict = judge(visible_plan(identity), lambda questions: [answer] * len(questions))
    assert verdict.points == 0 and str(verdict)


def test_tolerance_treats_infinities_as_equal_and_nan_as_different():
    allows = Tolerance().allows(np.array([np.inf, 1.0, np.nan]), np.array([np.inf, np.inf, np.nan]))
    assert allows.tolist() == [True, False, False]


def test_a_mistake_is_named_only_if_it_explains_all_answers():
    assert _scores("return ops.matmul(q, ops.swapaxes(k, -1, -2))").misconception == "unscaled"
    partly = "return ops.matmul(q, ops.swapaxes(k, -1, -2)) / (q.shape[-1] ** 0.5 if len(q.shape) == 2 else 1.0)"
    assert _scores(partly).misconception is None


def test_an_error_alone_names_no_mistake():
    """The type of an error has many causes; a known mistake may raise the same one."""
    plan = visible_plan("scores")
    raised = {"status": "raised", "value": None, "error": {"type": "TypeError", "message": ""}}
    plan = plan | {"misconceptions": [{"id": "x", "hint": "x", "outcomes": [raised] * len(plan["questions"])}]}
    verdict = judge(plan, asking(written("def attention_scores(q):\n    return q")))
    assert verdict.status == "raised" and verdict.misconception is None


def test_an_exercise_about_text_goes_the_same_way_as_one_about_tensors():
    exercise = Exercise(
        id="words", notebook="toy", number="0.1", title="Words", minutes=1, lines="", names=("words",),
        arguments=("text",), probe=named(function(), "words"), reference=lambda text: text.split(), returns="list",
        parts=(values(1, lambda rng: [Case(("the  robin",)), Case((" ".join(rng.choice(["a", "b"], 3)),))]),),
        hints=(), misconceptions=(),
    )  # fmt: skip
    plan = planner.make_plan(exercise, "s", misconceptions=False)
    assert judge(plan, asking(written("def words(text):\n    return text.split()"))).passed
    for body, words in (
        ("return text.split(' ')", ("at [1]: yours ''   expected 'robin'", "yours     ['the', '', 'robin']",
                                    "expected  ['the', 'robin']")),
        ("yield from text.split()", ("returned a generator",)),
        ("return text", ("Expected a list, got a string.",)),
        ("return map(str, text.split())", ("Expected a list, got a map. Convert it with `list(...)`.",)),
    ):  # fmt: skip
        said = str(judge(plan, asking(written(f"def words(text):\n    {body}"))))
        assert all(part in said for part in words) and "tensor" not in said, said


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from mybert.wordpiece import wordpiece as cut", "mybert.wordpiece"),
        ("import autograde.student.stand_ins.wordpiece as ready\ncut = ready.wordpiece", "autograde.student.stand_ins"),
        ("from bertlab.tokenizers.wordpiece import WordPieceTokenizer", "bertlab.tokenizers.wordpiece"),
    ],
)
def test_ones_own_exercise_cannot_be_imported_ready_made(source, found):
    verdict = judge(visible_plan("wordpiece"), asking({}), source)
    assert verdict.status == "refused" and found in str(verdict)


def test_the_librarys_tokenizer_is_noticed_when_it_runs_though_the_answer_does_not_name_its_module():
    tokenizer = library.WordPieceTokenizer(library.Vocabulary([*library.SPECIAL_TOKENS, "a"]))
    namespace = {"wordpiece": lambda word, vocabulary: tokenizer.split_word(word)}
    assert judge(visible_plan("wordpiece"), asking(namespace)).status == "refused"


def test_a_failed_submission_can_be_named_afterwards_without_asking_again():
    exercise = catalogue.find("scores")
    plan = planner.make_plan(exercise, "later", misconceptions=False)
    answers = asking(written("def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2)"))(plan["questions"])
    assert judge(plan, lambda questions: answers).misconception is None
    assert judge(planner.with_misconceptions(exercise, plan), lambda questions: answers).misconception == "unscaled"
