"""Questions to a student's code: every kind of answer is distinguished."""

import numpy as np
import pytest
from autograde_case import written

from autograde.boundary.call_answer import answer
from autograde.judging.compare import exactly_same

X = np.arange(6, dtype="float32").reshape(2, 3)


def _ask(source, name="f", *, arguments=(X,), probe=None, **more):
    question = {"probe": probe or {"kind": "function", "name": name}, "arguments": list(arguments), **more}
    return answer([question], written(source))[0]


def test_a_tensor_comes_back_as_an_array_and_prints_are_only_counted(capsys):
    got = _ask("def f(x):\n    print('a')\n    print('b')\n    return x * 2")
    assert got["status"] == "ok" and got["notes"]["returned"] == "tensor" and got["notes"]["printed"] == 2
    assert np.array_equal(got["value"], X * 2)
    assert capsys.readouterr().out == ""


OF_FUNCTION, OF_LAYER = {"kind": "function", "name": "f"}, {"kind": "layer", "name": "f"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        *((body, "not attempted") for body in ("...", "pass", "'''doc'''", "'''doc'''\n    ...", "return None")),
        ("raise NotImplementedError()", "not attempted"),
        *((body, "raised") for body in ("raise ValueError('no')", "import sys; sys.exit(3)", "return f(x)")),
        ("assert False", "raised"),
    ],
)
def test_an_untouched_stub_is_not_attempted_and_any_exception_is_an_answer(body, status):
    assert _ask(f"def f(x):\n    {body}")["status"] == status


def test_a_layer_whose_call_is_still_the_stub_is_not_attempted_and_another_name_is_missing():
    code = "class f(keras.layers.Layer):\n    def call(self, x):\n        raise NotImplementedError()"
    assert _ask(code, probe=OF_LAYER)["status"] == "not attempted"
    assert _ask(code.replace("class f", "class g"), probe=OF_LAYER)["status"] == "missing"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("function", "def f(x):\n    return earlier(x) + 1"),
        ("layer", "class f(keras.layers.Layer):\n    def call(self, x):\n        return earlier(x)"),
    ],
)
def test_an_answer_that_uses_an_empty_stub_has_been_attempted_and_names_it(kind, code):
    stub = "def earlier(x):\n    raise NotImplementedError()\n\n"
    got = _ask(stub + code, probe={"kind": kind, "name": "f"})
    assert got["status"] == "raised"
    assert got["error"]["message"] == "earlier, which your code uses, is still an empty stub"


@pytest.mark.parametrize(
    ("body", "word"),
    [("return np.asarray(x)", "NumPy array"), ("return np.float32(3)", "NumPy scalar"), ("return [x, x]", "list"),
     ("return keras.Variable(x)", "variable"), ("return 3.0", "float"), ("return ops.shape(x)", "tuple"),
     ("y = x * 2", "nothing")],
)  # fmt: skip
def test_the_kind_of_the_returned_value_is_reported(body, word):
    got = _ask(f"def f(x):\n    {body}")
    assert (got["status"], got["notes"]["returned"]) == ("ok", word)


@pytest.mark.parametrize(
    ("expression", "word"),
    [("(i for i in x)", "generator"), ("keras.Input((3,))", "symbolic Keras tensor"), ("object()", "object"),
     ("f", "function"), ("{1, 2}", "set"), ("np.ma.masked_array([1.0])", "MaskedArray"), ("{1: x}", "dict"),
     ("10**60", "int"), ("Liar()", "Liar")],
)  # fmt: skip
def test_what_has_no_plain_form_is_refused_by_its_name(expression, word):
    liar = "class Liar:\n    shape = (2, 3)\n    def __array__(self, *a, **k):\n        return np.zeros((2, 3))\n"
    liar += "    def __eq__(self, other):\n        return True\n"
    got = _ask(f"{liar}def f(x):\n    return {expression}")
    assert (got["status"], got["value"], got["notes"]["returned"]) == ("refused", None, word)


@pytest.mark.parametrize("made", ["Counter()", "defaultdict(int)", "dict()"])
def test_every_dict_of_the_standard_library_is_a_dict(made):
    got = _ask(f"from collections import *\ndef f(x):\n    d = {made}\n    d['a', 'b'] = 2\n    return d")
    assert (got["status"], got["value"], got["notes"]["returned"]) == ("ok", {("a", "b"): 2}, "dict")


def test_the_arguments_come_back_as_they_are_after_the_call():
    got = _ask("def f(a, heads):\n    heads.pop()\n    return a", arguments=(X, [X, X]))
    assert exactly_same(got["notes"]["after"], [X, [X]])


def test_an_error_names_the_students_own_innermost_line():
    got = _ask("def helper(x):\n    return ops.matmul(x, x)\n\ndef f(x):\n    return helper(x)")
    error = got["error"]
    assert got["status"] == "raised" and error["type"] == "InvalidArgumentError"
    assert (error["line"], error["text"]) == (2, "return ops.matmul(x, x)   (in `helper`)")


def test_an_answer_beyond_the_limits_is_refused():
    got = _ask("def f(x):\n    return 'x' * 2_000_000")
    assert got["status"] == "refused" and "too large" in got["error"]["message"]


def test_a_watched_library_function_is_noticed_under_any_name():
    source = "from keras.ops import softmax as harmless\ndef f(x):\n    return harmless(x)"
    assert _ask(source, watch=["keras.ops.softmax", "keras.ops.exp"])["notes"]["watched"] == ["keras.ops.softmax"]


LAYER = """
class Double(keras.layers.Layer):
    def __init__(self, units):
        {first}
        self.units = units
    def build(self, shape):
        self.dense = keras.layers.Dense(self.units)
    def call(self, x):
        return {body}
"""
PROBE = {"kind": "layer", "name": "Double", "config": {"units": 2}, "roles": {"w": ["dense.kernel"]}}
WEIGHTS = {"w": np.ones((3, 2), "float32")}


def _layer(first="super().__init__()", body="self.dense(x)", **more):
    return _ask(LAYER.format(first=first, body=body), **({"probe": PROBE, "weights": WEIGHTS} | more))


def test_weights_are_put_into_a_layer_by_role():
    got = _layer()
    assert np.allclose(got["value"], X.sum(axis=1, keepdims=True) * [1, 1])
    assert np.array_equal(got["notes"]["again"], got["value"]) and not got["notes"]["new_weights"]


def test_a_role_that_leads_nowhere_or_to_another_shape_says_what_is_there():
    nowhere = _layer(probe=PROBE | {"roles": {"w": ["projection.kernel"]}})
    assert nowhere["status"] == "refused" and "those of `self.dense`" in nowhere["error"]["message"]
    for shape in ((3, 4), (2, 3)):
        other = _layer(weights={"w": np.ones(shape, "float32")})
        assert other["status"] == "refused" and f"has shape (3, 2); expected {shape}" in other["error"]["message"]


def test_a_layer_without_super_init_and_one_that_makes_weights_in_call_are_noticed():
    assert "super().__init__()" in _layer(first="pass")["error"]["message"]
    got = _layer(body="keras.layers.Dense(2)(x)", weights={})
    assert not np.array_equal(got["notes"]["again"], got["value"])


LAZY = """
class Lazy:
    def __init__(self):
        self.made = {}

    @property
    def weights(self):
        return list(self.made.values())

    def __call__(self, x):
        if x.shape[0] not in self.made:
            self.made[x.shape[0]] = keras.Variable(ops.ones((3, 2)))
        return x @ self.made[x.shape[0]]
"""


def test_new_weights_are_noticed_in_any_later_call_and_only_there():
    probe = {"kind": "layer", "name": "Lazy", "config": {}, "roles": {}}
    assert not _ask(LAZY, probe=probe)["notes"]["new_weights"]
    assert _ask(LAZY, probe=probe, first=[X[:1]])["notes"]["new_weights"]


def test_an_earlier_call_comes_first_and_its_result_does_not_matter():
    source = "seen = []\ndef f(x):\n    seen.append(float(ops.sum(x)))\n    return ops.convert_to_tensor(seen)"
    got = _ask(source, first=[0 * X])
    assert np.allclose(got["value"], [0, X.sum()])


def test_gradients_come_with_respect_to_arguments_and_weights():
    plain = {"kind": "gradient", "of": OF_FUNCTION, "with_respect_to": [0]}
    got = _ask("def f(x):\n    return x * x", probe=plain, cotangent=np.ones((2, 3), "float32"))
    assert np.allclose(got["value"][0], 2 * X)
    of_weight = {"kind": "gradient", "of": PROBE, "with_respect_to": ["w"]}
    got = _layer(probe=of_weight, cotangent=np.ones((2, 2), "float32"))
    assert np.allclose(got["value"][0], X.sum(axis=0)[:, None] * [1, 1])


def test_the_same_seed_repeats_a_random_thing_and_another_does_not():
    probe = {"kind": "repeat", "of": OF_FUNCTION, "seeds": [1, 2, 1]}
    first, second, third = _ask("def f(x):\n    return keras.random.normal((4,))", probe=probe)["value"]
    assert np.array_equal(first, third) and not np.array_equal(first, second)


def test_a_list_of_the_result_that_is_an_argument_is_noticed():
    lists = (["a", "b"], [(["c"], 1)])
    asked = {"probe": {"kind": "own lists", "of": OF_FUNCTION}, "arguments": lists}
    assert _ask("def f(a, b):\n    return list(a), [(list(w), n) for w, n in b]", **asked)["value"] == list(lists)
    changed = [["a", "b", "changed"], [(["c", "changed"], 1)]]
    assert _ask("def f(a, b):\n    return a, b[:1]", **asked)["value"] == changed


def test_an_earlier_call_that_fails_costs_nothing():
    """A right answer may fail on the moved arguments of the call whose result it must not remember."""
    source = "def f(x):\n    return [0, 1, 2, 3].index(int(x[0, 1]))"
    got = _ask(source, first=[X + 7])
    assert (got["status"], got["value"]) == ("ok", 1)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("return x * 2 if ops.sum(x) > 0 else x", "OperatorNotAllowedInGraphError"),
        ("return ops.stack([row * 2 for row in x])", "OperatorNotAllowedInGraphError"),
        ("return x * float(ops.sqrt(4.0))", "TypeError"),
        ("return x * int(ops.sum(ops.ones(2)))", "TypeError"),
        ("return ops.convert_to_tensor(x.numpy() * 2)", "AttributeError"),
        ("return ops.convert_to_tensor(np.multiply(x, 2))", "NotImplementedError"),
    ],
)
def test_inside_of_a_graph_a_tensor_has_no_numbers(body, kind):
    code = f"def f(x):\n    {body}"
    assert np.array_equal(_ask(code)["value"], X * 2)
    got = _ask(code, graph=True)
    assert (got["status"], got["error"]["type"], got["error"]["line"]) == ("raised", kind, 2)


@pytest.mark.parametrize("take", ["x.shape", "ops.shape(x)"])
def test_inside_of_a_graph_a_layer_may_not_know_the_size_of_the_batch(take):
    body = f"ops.reshape(self.dense(x), ({take}[0], -1))"
    known, unknown = (_layer(body=body, graph=True, **more) for more in ({}, {"unknown_batch": True}))
    assert np.array_equal(known["value"], _layer()["value"])
    if take == "x.shape":
        assert (unknown["status"], unknown["error"]["line"]) == ("raised", 9)
        assert "None" in unknown["error"]["message"]
    else:
        assert np.array_equal(unknown["value"], known["value"])


def test_an_error_while_a_graph_runs_has_its_cause_as_message():
    source = "def f(x):\n    return ops.take(x, ops.cast(x, 'int32') + 7, axis=0)"
    first, again = (_ask(source, graph=True)["error"] for _ in range(2))
    assert first["type"] == "InvalidArgumentError" and first["message"].endswith("is not in [0, 2)")
    assert first == again


def test_inside_of_a_graph_functions_and_layers_give_the_same_result():
    function = "def f(x, by):\n    return ops.softmax(x * by, axis=-1), {'twice': 2 * x}"
    graph, eager = (_ask(function, keywords={"by": 2}, **more) for more in ({"graph": True}, {}))
    assert np.allclose(graph["value"][0], eager["value"][0])
    assert np.array_equal(graph["value"][1]["twice"], 2 * X)
    graph, eager = _layer(graph=True), _layer()
    assert np.array_equal(graph["value"], eager["value"]) and np.array_equal(graph["notes"]["again"], eager["value"])


def test_too_many_layers_are_counted_instead_of_naming_a_false_shape():
    source = (
        "class Stack(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.parts = [keras.layers.Dense(3) for _ in range(3)]\n"
        "    def call(self, x):\n        for part in self.parts:\n            x = part(x)\n        return x"
    )
    probe = {"kind": "layer", "name": "Stack", "roles": {"w": ["parts.*.kernel"]}}
    got = _ask(source, probe=probe, weights={"w": np.ones((3, 6), "float32")})  # of two layers
    assert got["error"]["message"] == "Stack has 3 weights `parts.*.kernel`; expected 2"


def test_a_function_that_takes_a_function_gets_the_notebooks_with_arrays_bound():
    source = "def read(x, w):\n    return x @ w\n\ndef f(read, x):\n    return 2 * read(x)"
    weights = np.ones((3, 2), "float32")
    got = _ask(source, arguments=([weights], X), probe=OF_FUNCTION | {"takes": "read"})
    assert got["status"] == "ok" and np.allclose(got["value"], 2 * X @ weights)
    missing = _ask("def f(read, x):\n    return x", probe=OF_FUNCTION | {"takes": "read"})
    assert missing["status"] == "missing"
