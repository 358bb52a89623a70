"""The student's own package: what is kept of a passed answer, where, and how it is used elsewhere."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograde import planning
from autograde.exercises import catalogue, cells
from autograde.student import home, plans, state, store
from autograde.student.pieces import NotKept, Piece, gather
from autograde.student.written import module_text
from tests.student_notebook import ROWS, SCORES, Notebook, course_folder, module_of  # noqa: F401 (a fixture)

pytestmark = pytest.mark.usefixtures("course")
ROOT = Path(__file__).resolve().parents[1]


# --- what is kept ---


def test_a_passed_answer_can_be_imported_and_one_line_says_where_it_is(course):
    notebook = Notebook()
    outcome = notebook.run(SCORES).check("attention_scores")
    assert outcome.verdict.advice == ("Kept in mybert/attention.py.",) and outcome.kept == outcome.verdict.advice[0]
    from mybert.attention import attention_scores

    assert attention_scores.__code__.co_filename == str(course / "mybert/attention.py")
    assert not (course / "03_attention/mybert").exists()


def test_a_failed_answer_is_not_kept_and_leaves_the_one_before_as_it_was(course):
    notebook = Notebook()
    notebook.run("def attention_scores(q, k):\n    return q").check("attention_scores")
    assert not (course / "mybert").exists()
    notebook.run(SCORES).check("attention_scores")
    before = module_of(course)
    failed = notebook.run("def attention_scores(q, k):\n    return q").check("attention_scores")
    assert failed.kept == "" and module_of(course) == before
    notebook.run(SCORES.replace("** 0.5", "** (1 / 2)")).check("attention_scores")
    assert "(1 / 2)" in module_of(course) and "** 0.5" not in module_of(course)


CELL = """
# my scores
import math, keras as k_
get_ipython().run_line_magic('matplotlib', 'inline')
POWER = 0.5  # of d

def _root(d):
    return math.pow(d, POWER)

def attention_scores(q, k):
    return q @ ops.swapaxes(k, -1, -2) / _root(q.shape[-1])
    # done

shown = attention_scores(ops.ones((2, 3)), ops.ones((2, 3)))
print("shapes", shown.shape)
check(attention_scores)
"""


def test_of_a_cell_that_is_kept_which_the_answer_needs():
    notebook = Notebook()
    notebook.space["get_ipython"] = lambda: SimpleNamespace(run_line_magic=print)
    notebook.run(CELL)
    text = module_text("attention", [notebook.piece("attention_scores")])
    assert (
        "import math\n\nfrom keras import ops\n" in text and "POWER = 0.5  # of d\n" in text and "    # done\n" in text
    )
    for left_out in ("print", "check", "shown", "matplotlib", "k_"):
        assert left_out not in text
    assert text.index("POWER") < text.index("def _root") < text.index("def attention_scores")


def test_helpers_constants_and_imports_of_other_cells_come_along():
    notebook = Notebook()
    notebook.run("import functools as ft\nTABLE = {}\nTABLE['half'] = 0.5")
    notebook.run("def power():\n    return TABLE['half']")
    notebook.run("@ft.lru_cache\ndef root(d):\n    return d ** power()")
    notebook.run(SCORES.replace("q.shape[-1] ** 0.5", "root(q.shape[-1])"))
    piece = notebook.piece("attention_scores")
    assert piece.statements[:3] == ("from keras import ops", "import functools as ft", "TABLE = {}")
    assert "TABLE['half'] = 0.5" in piece.statements and any("def power" in text for text in piece.statements)


def test_a_helper_in_a_timed_cell_is_found():
    notebook = Notebook().run(SCORES.replace("q.shape[-1] ** 0.5", "root(q.shape[-1])"))
    notebook.space["In"].append("get_ipython().run_cell_magic('time', '', 'def root(d):\\n    return d ** 0.5\\n')\n")
    exec(compile("def root(d):\n    return d ** 0.5", "<timed exec>", "exec"), notebook.space)
    assert "def root(d):\n    return d ** 0.5" in notebook.piece("attention_scores").statements


def test_a_name_means_what_it_meant_when_the_check_passed():
    notebook = (
        Notebook().run("def root(d):\n    return d").run(SCORES.replace("q.shape[-1] ** 0.5", "root(q.shape[-1])"))
    )
    notebook.run("def root(d):\n    return d ** 0.5")
    assert "def root(d):\n    return d ** 0.5" in notebook.piece("attention_scores").statements


@pytest.mark.parametrize(
    "value", [0.5, "x", [1, 2.5], {"a": (1,)}, {"b", "a"}, float("inf"), float("nan"), None, b"\0"]
)
def test_without_a_history_plain_constants_and_imports_are_read_off_the_values(value):
    notebook = Notebook(history=False)
    notebook.space["CONSTANT"] = value
    notebook.run(SCORES + " + 0 * len(repr(CONSTANT)) * np.zeros(1, 'float32')")
    piece = notebook.piece("attention_scores")
    names = {}
    exec(module_text("attention", [piece]), names)
    assert repr(names["CONSTANT"]) == repr(value) or names["CONSTANT"] == value
    assert "import numpy as np" in piece.statements and "from keras import ops" in piece.statements


@pytest.mark.parametrize(
    ("before", "answer", "reason"),
    [
        ("", SCORES + " + never_defined * 0", "it uses `never_defined`, which this notebook does not define"),
        ("LARGE = list(range(20000))", SCORES + " + 0 * LARGE[0]", None),
    ],
)
def test_what_cannot_stand_by_itself_is_not_kept_and_one_sentence_says_why(before, answer, reason):
    notebook = Notebook().run(before).run(answer)
    if reason is None:  # the statement that makes it is short
        assert "LARGE = list(range(20000))" in notebook.piece("attention_scores").statements
        return
    with pytest.raises(NotKept, match=reason):
        notebook.piece("attention_scores")


def test_a_value_whose_cell_is_lost_is_named(course):
    notebook = Notebook(history=False)
    notebook.space["thing"] = object()
    outcome = notebook.run(SCORES + " + (0 if thing else 0)").check("attention_scores")
    assert outcome.verdict.passed and outcome.kept.startswith("Not kept in your package: it uses `thing` (object)")
    assert not (course / "mybert/attention.py").exists()


@pytest.mark.parametrize("history", [True, False])
def test_pieces_of_other_notebooks_are_imported_from_there(history):
    notebook = Notebook(history).run(
        "from mybert.attention import causal_mask as may_see\nimport mybert.attention as m"
    )
    notebook.run("def layer(x):\n    return m.padding_mask(x), may_see(x)")
    facts = plans.find("attention_scores") | {"kept_in": "encoder", "names": ["layer"]}
    imports = {"from mybert.attention import causal_mask as may_see"}
    imports.add("import mybert.attention as m" if history else "from mybert import attention as m")
    assert imports <= set(gather(facts, notebook.space, set()).statements)


def test_a_stand_in_is_nobodys_answer(course):
    outcome = Notebook().run("from mybert.attention import padding_mask").check("padding_mask")
    assert "Not kept" in outcome.kept and not (course / "mybert/attention.py").exists()


def _solved(notebook, name="03_attention"):
    notebook.run(cells.read(name)[0])
    for exercise in catalogue.of_notebook(name):
        notebook.run(cells.answer_cell(exercise))
    return notebook


@pytest.mark.parametrize("name", sorted({exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in}))
@pytest.mark.parametrize("history", [True, False])
def test_every_answer_of_the_course_can_stand_in_a_module(name, history):
    notebook = _solved(Notebook(history), name)
    exercises = [exercise for exercise in catalogue.of_notebook(name) if exercise.kept_in]
    for module in {exercise.kept_in for exercise in exercises}:
        asked = [exercise.names for exercise in exercises if exercise.kept_in == module]
        space = {"__name__": f"mybert.{module}"}
        exec(module_text(module, [notebook.piece(names[0]) for names in asked]), space)
        assert {name for names in asked for name in names if name in notebook.space} <= set(space)


def test_a_class_its_neighbours_and_the_course_order():
    notebook = _solved(Notebook())
    names = [exercise.names[0] for exercise in catalogue.of_notebook("03_attention")]
    text = module_text("attention", [notebook.piece(name) for name in names])
    defined = [node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert defined == names and text.count("MASKED_SCORE = -1e9") == 1
    alone = {}
    exec(module_text("attention", [notebook.piece("MultiHeadAttention")]), alone)
    assert {"MultiHeadAttention", "attention_scores", "softmax_rows", "MASKED_SCORE"} <= set(alone)
    assert "mh_attention" not in alone


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted({exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in}))
def test_every_passed_answer_of_the_course_is_kept(course, name):
    notebook = _solved(Notebook(), name)
    for exercise in catalogue.of_notebook(name):
        assert notebook.check(exercise.names[0]).kept == f"Kept in mybert/{exercise.kept_in}.py.", exercise.id


@pytest.mark.exhaustive
def test_a_whole_notebook_is_kept_whatever_the_order_of_checks(course):
    notebook = _solved(Notebook())
    exercises = list(catalogue.of_notebook("03_attention"))
    for exercise in reversed(exercises):
        assert notebook.check(exercise.names[0]).kept == "Kept in mybert/attention.py."
    assert list(store.load(course)) == [exercise.id for exercise in exercises]
    for exercise in exercises:
        assert store.passes(exercise.id, course).passed


def test_of_two_versions_of_a_helper_the_exercises_own_counts_then_the_newer():
    def piece(exercise, name, order, *statements):
        return Piece(exercise, "3.1", "T", "attention", (name,), statements, order)

    pieces = [
        piece(
            "one", "f", 2, "def helper():\n    return 1", "def g():\n    return 'carried along'", "def f(): return g()"
        ),
        piece("two", "g", 1, "def helper():\n    return 2", "def g():\n    return helper()"),
    ]
    names = {}
    exec(module_text("attention", pieces), names)
    assert names["f"]() == 1 and module_text("attention", pieces).count("def g") == 1


# --- where ---


def test_the_home_is_found_from_any_notebook(course, tmp_path, monkeypatch):
    assert home.find() == course
    monkeypatch.chdir(tmp_path)
    assert home.find() == tmp_path
    (course / "mybert").mkdir()
    (course / "03_attention/deeper").mkdir()
    monkeypatch.chdir(course / "03_attention/deeper")
    assert home.find() == course
    monkeypatch.setenv(home.VARIABLE, str(tmp_path / "elsewhere"))
    assert home.find() == tmp_path / "elsewhere"


def test_progress_counts_the_whole_course_and_takes_over_an_older_file(course, monkeypatch):
    old = {"version": 1, "exercises": {"scores": {"points": 2, "status": "partly", "failures": 1, "last": "x"}}}
    (course / "03_attention" / state.FILE).write_text(json.dumps(old))
    (course / "04_encoder").mkdir()
    Notebook().run(ROWS).check("add_to_rows")
    monkeypatch.chdir(course / "04_encoder")
    assert {name: entry["points"] for name, entry in state.load().items()} == {"scores": 2, "add-to-rows": 2}
    assert not (course / "03_attention" / state.FILE).exists() and (course / state.FILE).exists()


def test_a_home_that_cannot_be_written_costs_the_package_not_the_check(course, monkeypatch):
    (course / "file").write_text("")
    monkeypatch.setenv(home.VARIABLE, str(course / "file"))
    outcome = Notebook().run(ROWS).check("add_to_rows")
    assert outcome.verdict.passed and outcome.kept.startswith("Not kept in your package")


# --- outside the course ---


def test_the_package_can_be_installed_and_used_without_the_course(course, tmp_path):
    notebook = Notebook().run(SCORES).run(ROWS)
    notebook.check("attention_scores"), notebook.check("add_to_rows")
    target = tmp_path / "site"
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--no-build-isolation", "--no-index", "--target", str(target), str(course / "mybert")]  # fmt: skip
    subprocess.run(words, check=True, cwd=tmp_path, capture_output=True)
    assert sorted(path.name for path in (target / "mybert").iterdir() if path.suffix == ".py") == [
        "__init__.py", "attention.py",
    ]  # fmt: skip
    program = "import mybert.attention as a, sys; print(a.add_to_rows(1, 2), 'autograde' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(target)}, cwd=tmp_path,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == "3 False\n"


def test_the_tests_in_the_package_are_its_checks(course, tmp_path):
    planning.write_fingerprints([catalogue.find(name) for name in ("scores", "add-to-rows")], tmp_path / "fingerprints")
    notebook = Notebook().run(SCORES).run(ROWS)
    notebook.check("attention_scores"), notebook.check("add_to_rows")
    path = course / "mybert/attention.py"
    path.write_text(path.read_text().replace("x + b", "x - b"))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mybert/tests"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "AUTOGRADE_FINGERPRINTS": str(tmp_path / "fingerprints")}
    done = subprocess.run(words, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout and "✗ 3.2 add_to_rows" in done.stdout
