"""The student's own package: what is kept of a passed answer, where, and how it is used elsewhere."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from student_notebook import ROWS, SCORES, Notebook, course_folder, module_of, two_checked  # noqa: F401 (a fixture)

from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.student import home, load_state, plans, progress_file, store, time_limit
from autograde.student.kept_answers import KeptAnswer, gather, module_text

pytestmark = pytest.mark.usefixtures("course")
ROOT = Path(__file__).resolve().parents[3]


# --- what is kept ---


def test_a_passed_answer_can_be_imported_and_one_line_names_its_file(course):
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


def test_whole_cells_are_kept_but_for_bare_expressions_and_imports_that_nothing_reads():
    notebook = Notebook()
    notebook.space["get_ipython"] = lambda: SimpleNamespace(run_line_magic=print)
    notebook.run(CELL)
    text = module_text("attention", [notebook.answer("attention_scores")])
    assert "import math\n\nfrom keras import ops\n" in text and "# my scores\n" in text
    whole = CELL[CELL.index("POWER") : CELL.index("print")].strip("\n")
    assert whole in text and "    # done\n" in text and "shown = attention_scores(" in text
    for left_out in ("print", "check", "matplotlib", "k_"):
        assert left_out not in text


def test_helpers_constants_and_imports_of_other_cells_come_along():
    notebook = Notebook()
    notebook.run("import functools as ft\nTABLE = {}\nTABLE['half'] = 0.5")
    notebook.run("def power():\n    return TABLE['half']")
    notebook.run("@ft.lru_cache\ndef root(d):\n    return d ** power()")
    notebook.run("UNRELATED = 1")
    notebook.run("LARGE = list(range(20000))")  # the cell that makes it is short
    notebook.run(SCORES.replace("q.shape[-1] ** 0.5", "root(q.shape[-1] + 0 * LARGE[0])"))
    kept = notebook.answer("attention_scores").cells
    assert kept[:3] == ("from keras import ops", "import functools as ft", "TABLE = {}\nTABLE['half'] = 0.5")
    first_lines = ["def power():", "@ft.lru_cache", "LARGE = list(range(20000))", SCORES.split("\n")[0]]
    assert [text.split("\n")[0] for text in kept[3:]] == first_lines


NOT_KEPT = [  # cells of a notebook that passes its check, and why its answer cannot run by itself
    (("TABLE = {'half': 0.5}", "TABLE['half'] = 1", SCORES.replace("0.5", "(TABLE['half'] / 2)")),
     "it does not pass its check outside of the notebook"),
    (("def twice(f):\n    return f", SCORES, "attention_scores = twice(attention_scores)"),
     "it fails outside of the notebook (NameError: name 'attention_scores' is not defined)"),
    ((SCORES + " + (0 if thing else 0)",), "it uses `thing`, and no cell"),
    (("import time", f"waited = time.sleep(30) if __name__ != '__main__' else 0\n{SCORES}"),
     "its cells take longer than 0.2 s"),
    ((f"number = 1 / (__name__ == '__main__')\n{SCORES}",),
     "it fails outside of the notebook (ZeroDivisionError: division by zero)"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "reason"), NOT_KEPT)
def test_what_cannot_run_by_itself_is_not_kept_and_one_sentence_says_why(course, monkeypatch, program, reason):
    monkeypatch.setattr(time_limit, "SECONDS", 0.2 if "sleep" in program[-1] else 20)
    notebook = Notebook()
    notebook.space["thing"] = object()
    for cell in program:
        notebook.run(cell)
    outcome = notebook.run("_shown = check(attention_scores, seconds=60)").space["_shown"]
    assert outcome.verdict.passed and outcome.kept.startswith(f"Not kept in your package: {reason}")
    assert not (course / "mybert/attention.py").exists()


def test_without_the_notebooks_cells_and_of_a_stand_in_nothing_is_kept_and_the_check_counts(course):
    for notebook, source, name in (
        (Notebook(history=False), SCORES, "attention_scores"),
        (Notebook(), "from mybert.attention import padding_mask", "padding_mask"),
    ):
        outcome = notebook.run(source).check(name)
        assert outcome.verdict.passed and outcome.kept.startswith(f"Not kept in your package: it uses `{name}`")
    assert not (course / "mybert/attention.py").exists()


def test_a_helper_in_a_timed_cell_is_found():
    notebook = Notebook().run(SCORES.replace("q.shape[-1] ** 0.5", "root(q.shape[-1])"))
    notebook.space["In"].append("get_ipython().run_cell_magic('time', '', 'def root(d):\\n    return d ** 0.5\\n')\n")
    exec(compile("def root(d):\n    return d ** 0.5", "<timed exec>", "exec"), notebook.space)
    assert "def root(d):\n    return d ** 0.5" in notebook.answer("attention_scores").cells


def test_a_name_means_what_it_meant_when_the_check_passed():
    notebook = Notebook().run("def root(d):\n    return d")
    notebook.run(SCORES.replace("q.shape[-1] ** 0.5", "root(q.shape[-1])"))
    notebook.run("def root(d):\n    return d ** 0.5")
    kept = notebook.answer("attention_scores").cells
    assert "def root(d):\n    return d ** 0.5" in kept and "def root(d):\n    return d" not in kept


def test_answers_of_other_notebooks_are_imported_from_there():
    notebook = Notebook().run("from mybert.attention import causal_mask as may_see\nimport mybert.attention as m")
    notebook.run("def layer(x):\n    return m.padding_mask(x), may_see(x)")
    facts = plans.find("attention_scores") | {"kept_in": "encoder", "names": ["layer"]}
    imports = {"from mybert.attention import causal_mask as may_see", "import mybert.attention as m"}
    assert imports <= set(gather(facts, notebook.space).cells)


def _solved(notebook, name="03_attention"):
    notebook.run(cells.read(name)[0])
    for exercise in catalogue.of_notebook(name):
        notebook.run(cells.answer_cell(exercise))
    return notebook


@pytest.mark.parametrize("name", sorted({exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in}))
def test_every_answer_of_the_course_can_be_in_a_module(name):
    notebook = _solved(Notebook(), name)
    exercises = [exercise for exercise in catalogue.of_notebook(name) if exercise.kept_in]
    for module in {exercise.kept_in for exercise in exercises}:
        asked = [exercise.names for exercise in exercises if exercise.kept_in == module]
        space = {"__name__": f"mybert.{module}"}
        exec(module_text(module, [notebook.answer(names[0]) for names in asked]), space)
        assert {name for names in asked for name in names if name in notebook.space} <= set(space)


def test_a_class_its_neighbours_and_the_course_order():
    notebook = _solved(Notebook())
    names = [exercise.names[0] for exercise in catalogue.of_notebook("03_attention")]
    text = module_text("attention", [notebook.answer(name) for name in names])
    defined = [node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert defined == names and text.count("MASKED_SCORE = -1e9") == 1
    alone = {}
    exec(module_text("attention", [notebook.answer("MultiHeadAttention")]), alone)
    assert {"MultiHeadAttention", "attention_scores", "softmax_rows", "MASKED_SCORE"} <= set(alone)
    assert "mh_attention" not in alone


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted({exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in}))
def test_every_passed_answer_of_the_course_is_kept(course, name):
    notebook = _solved(Notebook(), name)
    for exercise in catalogue.of_notebook(name):
        assert notebook.check(exercise.names[0]).kept == f"Kept in mybert/{exercise.kept_in}.py.", exercise.id


@pytest.mark.exhaustive
def test_a_whole_notebook_is_kept_for_any_order_of_checks(course):
    notebook = _solved(Notebook())
    exercises = list(catalogue.of_notebook("03_attention"))
    for exercise in reversed(exercises):
        assert notebook.check(exercise.names[0]).kept == "Kept in mybert/attention.py."
    assert list(store.load(course)) == [exercise.id for exercise in exercises]
    for exercise in exercises:
        assert store.passes(exercise.id, course).passed


def _answer(exercise, name, order, *kept):
    return KeptAnswer(exercise, "3.1", "T", "attention", (name,), kept, order)


def test_of_two_versions_of_a_helper_the_exercises_own_counts_then_the_newer():
    carried = "def g():\n    return 'carried along'"
    answers = [
        _answer("one", "f", 2, "def helper():\n    return 1", carried, "def f(): return g()"),
        _answer("two", "g", 1, "def helper():\n    return 2", "def g():\n    return helper()"),
    ]
    names = {}
    exec(module_text("attention", answers), names)
    assert names["f"]() == 1 and module_text("attention", answers).count("def g") == 1


@pytest.mark.parametrize("orders", [(1, 2), (2, 1)])
def test_of_a_helper_in_two_answers_own_cells_the_newer_counts_for_both(orders):
    answers = [
        _answer("one", "f", orders[0], "def helper():\n    return 1\n\ndef f():\n    return helper()"),
        _answer("two", "g", orders[1], "def helper():\n    return 2\n\ndef g():\n    return helper()"),
    ]
    names = {}
    exec(module_text("attention", answers), names)
    newer = 1 if orders[0] > orders[1] else 2
    assert names["f"]() == names["g"]() == newer


def test_a_package_of_version_0_1_loads_works_and_grows(course):
    """Its answers are lists of statements, two of which change in place what others made."""
    load_state(Path(__file__).parents[2] / "golden/mybert_state_0.1.zip")
    kept = ["add-to-rows", "softmax-rows", "scores", "attention", "padding-mask"]
    assert list(store.load(course)) == kept
    for exercise in kept:
        assert store.passes(exercise, course).passed
    text = module_of(course)
    assert "def root(d):" in text and text.index("STEPS = []") < text.index("STEPS.append(1)")
    notebook_03 = Notebook().run("def helper(x):\n    return x").run(ROWS.replace("x + b", "helper(x) + b"))
    assert notebook_03.check("add_to_rows").kept == "Kept in mybert/attention.py."
    assert "def helper" in module_of(course) and "def root(d):" in module_of(course)
    for exercise in kept:
        assert store.passes(exercise, course).passed
    assert not list((course / "mybert").glob("*.edited-*"))


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
    (course / "03_attention" / progress_file.FILE).write_text(json.dumps(old))
    (course / "04_encoder").mkdir()
    Notebook().run(ROWS).check("add_to_rows")
    monkeypatch.chdir(course / "04_encoder")
    assert {name: entry["points"] for name, entry in progress_file.load().items()} == {"scores": 2, "add-to-rows": 2}
    assert not (course / "03_attention" / progress_file.FILE).exists() and (course / progress_file.FILE).exists()


def test_a_home_that_cannot_be_written_costs_the_package_not_the_check(course, monkeypatch):
    (course / "file").write_text("")
    monkeypatch.setenv(home.VARIABLE, str(course / "file"))
    outcome = Notebook().run(ROWS).check("add_to_rows")
    assert outcome.verdict.passed and outcome.kept.startswith("Not kept in your package")


# --- outside the course ---


@pytest.mark.slow
def test_the_package_can_be_installed_and_used_without_the_course(course, tmp_path):
    two_checked()
    target = tmp_path / "site"
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--no-build-isolation", "--no-index", "--target", str(target), str(course / "mybert")]  # fmt: skip
    subprocess.run(words, check=True, cwd=tmp_path, capture_output=True)
    installed = {path.name for path in (target / "mybert").glob("*.py")}
    assert installed == {"__init__.py", "attention.py"}
    program = "import mybert.attention as a, sys; print(a.add_to_rows(1, 2), 'autograde' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(target)}, cwd=tmp_path,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == "3 False\n"


@pytest.mark.slow
def test_the_tests_in_the_package_are_its_checks(course, tmp_path):
    planner.write_fingerprints([catalogue.find(name) for name in ("scores", "add-to-rows")], tmp_path / "fingerprints")
    two_checked()
    path = course / "mybert/attention.py"
    path.write_text(path.read_text().replace("x + b", "x - b"))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mybert/tests"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "AUTOGRADE_FINGERPRINTS": str(tmp_path / "fingerprints")}
    done = subprocess.run(words, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout and "✗ 3.2 add_to_rows" in done.stdout
