"""Programs that want points without an answer, in the grader: none gets more than plain wrong code would."""

import json
from dataclasses import replace

import pytest
from grade_class import NOTEBOOK, POINTS, answer, grade_alone, released_template

from autograde.exercises import catalogue
from autograde.grader.grading.results import Result
from autograde.grader.grading.submission import LIMITS
from autograde.release import editions

EXERCISES = catalogue.of_notebook(NOTEBOOK)
LYING = """
import numpy as np
class Yes:
    shape, dtype, ndim = (1, 1), "float32", 2
    def __eq__(self, other): return True
    def __array__(self, *arguments, **keywords): return np.zeros((1, 1), "float32")
    def numpy(self): return np.zeros((1, 1), "float32")
    def __getattr__(self, name): return self
    def __call__(self, *arguments, **keywords): return self
"""
NAMES = [exercise.names[0] for exercise in EXERCISES]
CALL_ANSWER = "from autograde.boundary import call_answer\ncall_answer.answer = lambda questions, *a, **k: "
ALL_OF = "for _name in {names!r}:\n    globals()[_name] = {value}"

CHEATS = {
    "equal to everything": LYING + ALL_OF.format(names=NAMES, value="lambda *a, **k: Yes()"),
    "an array subclass": "import numpy as np\nclass A(np.ndarray):\n    def __eq__(self, o): return True\n"
    + ALL_OF.format(names=NAMES, value="lambda *a, **k: np.zeros((2, 2), 'float32').view(A)"),
    "patched comparisons": "import builtins, numpy as np\nnp.allclose = np.array_equal = lambda *a, **k: True\n"
    "builtins.all = builtins.any = lambda *a: True\n"
    + ALL_OF.format(names=NAMES, value="lambda *a, **k: np.zeros((1,), 'float32')"),
    "a patched judge": "import sys, types\nfor name in ('judge', 'compare', 'verdict'):\n"
    "    name = f'autograde.judging.{name}'\n"
    "    sys.modules[name] = types.ModuleType(name)\n    sys.modules[name].compare = lambda *a: None\n"
    "    sys.modules[name].judge = lambda *a, **k: None",
    "a probe that always answers ok": CALL_ANSWER + "[{'status': 'ok', 'value': q['arguments'][0], 'error': None,"
    " 'notes': {'returned': 'tensor'}} for q in questions]",
    "notes and points of its own": CALL_ANSWER
    + "[{'status': 'ok', 'value': {'points': 99, 'status': 'passed'}, 'error': None,"
    " 'notes': {'returned': 'tensor', 'points': 99, 'passed': True}} for q in questions]",
    "errors without their fields": CALL_ANSWER + "[{'status': 'raised', 'value': None, 'error': {},"
    " 'notes': {'mutated': [[]], 'watched': [{}]}} for q in questions]",
    "answers by the names of others": ALL_OF.format(names=NAMES, value="lambda *a, **k: a[0]"),
    "the references": "from autograde.exercises.numpy_bert import scores\nattention_scores = scores",
    "looking for solutions on the disk": "import glob\nfor p in glob.glob('/[hrov]*/**/*03_att*', recursive=True):\n"
    "    exec(open(p).read())",
    "exit without an error": "import atexit, sys\nprint('PASSED 35/35')\nsys.exit(0)",
    "an input transformer": "get_ipython().input_transformers_post.append(lambda lines: ['attention_scores = 1'])",
    "the library's own layers": "from bertlab.layers import *\nimport bertlab.layers as l\n"
    "MultiHeadAttention = getattr(l, 'MultiHeadAttention', None)",
}


@pytest.fixture(scope="module")
def template():
    return released_template()


def _graded(launcher, template, tmp_path, content) -> Result:
    path = tmp_path / f"{NOTEBOOK}.ipynb"
    path.write_text(json.dumps(content))
    return grade_alone(path, launcher, template, limits=replace(LIMITS, cell_seconds=5.0))[0]


def _own(source):
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_in_place_of_answers_earns_nothing(launcher, template, tmp_path, name):
    content = json.loads(editions.make(NOTEBOOK).student)
    after_last_answer = max(n for n, cell in enumerate(content["cells"]) if "YOUR CODE HERE" in cell["source"])
    for place in (after_last_answer + 1, 2):  # behind the stubs, where it may overwrite them, and in front
        content["cells"].insert(place, _own(CHEATS[name]))
    for cell in content["cells"]:
        graded = cell["metadata"].get("nbgrader", {})
        if graded.get("solution"):
            cell["source"] = f"{CHEATS[name]}\n"
    result = _graded(launcher, template, tmp_path, content)
    assert (result.points, result.max_points) == (0, POINTS)


@pytest.mark.parametrize("change", [
    {"points": 99}, {"grade": False, "solution": False}, {"grade_id": "check-mh-attention"}, {"locked": False},
])  # fmt: skip
def test_forged_metadata_gain_nothing(launcher, template, tmp_path, change):
    content = json.loads(editions.make(NOTEBOOK).student)
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader"):
            cell["metadata"]["nbgrader"] |= change
        if cell["source"].startswith("check("):
            cell["source"] = "1.0  # full marks"
    result = _graded(launcher, template, tmp_path, content)
    assert (result.points, result.max_points) == (0, POINTS)


def test_an_answer_copied_from_another_exercise_earns_nothing_there(launcher, template, tmp_path):
    content = json.loads(editions.make(NOTEBOOK).student)
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "attention":
            cell["source"] = answer("scores") + "\nattention = mh_attention = cross_attention = attention_scores"
    result = _graded(launcher, template, tmp_path, content)
    assert [verdict.exercise for verdict in result.verdicts if verdict.points] == ["scores"]  # found by its name


@pytest.mark.slow
def test_seeds_and_inputs_stay_out_of_what_students_see(launcher, template, tmp_path):
    from autograde.grader.grading.autograded import autograded
    from autograde.grader.reading.repair import read_submission

    content = json.loads(editions.make(NOTEBOOK).source)
    result = _graded(launcher, template, tmp_path, content)
    shown = autograded(template, read_submission(tmp_path / f"{NOTEBOOK}.ipynb", template), result.verdicts)
    for verdict in result.verdicts:
        assert verdict.seed and verdict.seed not in json.dumps(shown)
        assert verdict.facts == () and verdict.picture is None
