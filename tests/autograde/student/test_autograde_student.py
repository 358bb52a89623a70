"""`check` and `progress` as a student meets them."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import IPython
import keras
import numpy as np
import pytest
import tensorflow as tf
from autograde_case import fingerprint, student_machine_with, written
from matplotlib.backends.backend_agg import FigureCanvasAgg

from autograde.boundary import fingerprints
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import Gradebook
from autograde.judging.verdict import is_dark, scale_of
from autograde.release import editions
from autograde.release.assignment import write_assignment
from autograde.student import drawings_boxes, pictures, plans, progress_file
from autograde.student.checking import CheckFailed, Message, _source_of, check
from autograde.student.progress_file import Overview, progress

ROOT = Path(__file__).resolve().parents[3]
EXERCISES = tuple(catalogue.find(name) for name in ("scores", "softmax-rows", "concat-heads", "layer-norm-layer"))


@pytest.fixture(scope="module")
def fingerprint_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fingerprints")
    for exercise in EXERCISES:
        shutil.copy(fingerprint(exercise.id), folder)
    planner.write_indexes(EXERCISES, folder)
    return folder


@pytest.fixture(autouse=True)
def student_machine(fingerprint_folder, tmp_path, monkeypatch):
    yield from student_machine_with(fingerprint_folder, tmp_path, monkeypatch)


@pytest.fixture
def figures(monkeypatch):
    """The figures that are drawn, in place of their pictures."""
    drawn = []
    for module in (pictures, drawings_boxes):
        monkeypatch.setattr(module, "_show", lambda figure, alt: drawn.append(figure))
    return drawn


def _check(source, call="check(attention_scores)", name="<cell>"):
    """Runs a cell and then a check cell; gives back what the check cell shows."""
    space = written("from autograde.student import check\n" + source, name)
    exec(f"shown = {call}", space)
    return space["shown"]


def _scores(body):
    return _check("def attention_scores(q, k):\n    " + body)


WRONG = "return q @ ops.swapaxes(k, -1, -2) / 3.0"
RIGHT = "return q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5"


def test_check_finds_the_exercise_by_the_function_its_name_or_a_variable():
    assert _scores(RIGHT).verdict.passed
    assert _check(f"def attention_scores(q, k):\n    {RIGHT}", "check('attention_scores')").verdict.passed
    as_lambda = "attention_scores = lambda q, k: q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5"
    assert _check(as_lambda).verdict.passed


def test_check_reports_a_name_that_is_missing_or_is_not_an_exercise():
    missing = _check("", "check('attention_scores')")
    assert missing.verdict.status == "missing" and "`attention_scores` is not defined yet" in repr(missing)
    other = _check("def atention_scores(q, k): pass", "check(atention_scores)")
    assert isinstance(other, Message) and "Did you mean `attention_scores`?" in repr(other)
    assert "There is no exercise for `int`" in repr(_check("", "check(3)"))


SOMETHING_ELSE = [  # cell, its check, what is said
    ("class LayerNorm(keras.layers.Layer):\n    pass", "check(LayerNorm())",
     "got a layer that was made with it: write `check(LayerNorm)`, not `check(LayerNorm(…))`."),
    ("attention_scores = [1]", "check(attention_scores)", "Expected the function `attention_scores`, got a list."),
    ("import functools\nattention_scores = functools.partial(print, 1)", "check(attention_scores)",
     "Write `def attention_scores(…)` and call your other function"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "call", "words"), SOMETHING_ELSE)
def test_check_explains_what_to_pass_instead_of_a_layer_a_result_or_a_partial(source, call, words):
    shown = _check(source, call)
    assert isinstance(shown, Message) and words in repr(shown)


def test_hints_get_more_specific_with_each_different_failing_try_and_survive_a_restart():
    for _ in range(2):  # the same code again is no new try
        assert "Hint" not in repr(_scores(WRONG))
    for place, number in enumerate((1, 2, 3, 3)):
        assert f"Hint {number} of 3" in repr(_scores(f"{WRONG} + {place}"))
    assert json.loads((open(progress_file.FILE)).read())["exercises"]["scores"]["failures"] == 5
    assert "Hint" not in repr(_scores(RIGHT))
    assert "Hint" not in repr(_scores(WRONG))  # begins again after a pass


def test_a_change_in_a_helper_is_another_try():
    code = "def scale(x):\n    return x / {}\n\n"
    code += "def attention_scores(q, k):\n    return scale(q @ ops.swapaxes(k, -1, -2))"
    shown = [repr(_check(code.format(divisor))) for divisor in ("3.0", "3.0", "5.0", "7.0")]
    assert ["Hint" in words for words in shown] == [False, False, True, True]
    assert "Hint 2 of 3" in shown[-1]


def test_the_hints_follow_a_sentence_that_names_the_mistake_and_all_are_shown():
    named = "return q @ ops.swapaxes(k, -1, -2)"  # without the root: a mistake with a name
    for more in ("", " + 0.0", " * 1.0"):
        assert "Hint" not in repr(_scores(named + more))
    assert "Hint 1 of 3" in repr(_scores(WRONG))
    assert "Hint 1 of 3" in repr(_scores(WRONG))  # the same code again is no new try
    assert "Hint 2 of 3" in repr(_scores(WRONG + " + 1"))


def test_no_hint_or_message_holds_a_line_of_the_solution():
    for exercise in catalogue.EXERCISES:
        solution = [line.strip() for line in cells.answer_cell(exercise).splitlines()]
        spoken = " ".join([*exercise.hints, *(known.hint for known in exercise.misconceptions)])
        for line in solution:
            if len(line) > 20 and "SOLUTION" not in line:
                assert line not in spoken


def test_fingerprints_hold_no_code(fingerprint_folder):
    for exercise in EXERCISES:
        plan = fingerprints.load(fingerprint_folder / f"{exercise.id}.npz")
        text = json.dumps(plan["exercise"])
        for known in plan["misconceptions"]:
            assert set(known) == {"id", "hint", "outcomes"}
        assert "swapaxes(k, -1, -2))" not in text.replace("`ops.swapaxes(k, -1, -2)`", "")


def test_a_damaged_fingerprint_says_what_to_do(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(fingerprints.FingerprintError, match="install the course package again"):
        fingerprints.load(tmp_path / "x.npz")


def test_a_fingerprint_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    path, plan = tmp_path / "folder/x.npz", fingerprints.load(fingerprint("scores"))
    fingerprints.save(plan, path)
    assert path.read_bytes() == fingerprint("scores").read_bytes()
    fingerprints.save_index([{"id": "scores", "title": "größer"}], path.parent)
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    assert fingerprints.load_index(path.parent) == [{"id": "scores", "title": "größer"}]
    monkeypatch.setattr(os, "replace", _refused)
    with pytest.raises(fingerprints.FingerprintError, match=r"x\.npz: cannot be written \(No space left on device\)"):
        fingerprints.save(plan | {"exercise": {}}, path)
    with pytest.raises(fingerprints.FingerprintError, match=r"index\.json: cannot be written"):
        fingerprints.save_index([], path.parent)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


def _refused(source, target):
    raise OSError(28, "No space left on device")


def test_progress_that_cannot_be_written_leaves_the_file_before_and_the_check_works(student_machine, monkeypatch):
    entry = {"points": 1, "status": "partly", "failures": 1, "last": progress_file.digest_of("x")}
    progress_file.record("scores", "partly", 1, "x")
    assert json.loads(Path(progress_file.FILE).read_text()) == {"version": 1, "exercises": {"scores": entry}}
    before = {file: file.read_bytes() for file in student_machine.iterdir()}
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", _refused)
        assert progress_file.record("scores", "partly", 1, "y") == 2
        assert progress_file.next_hint("scores", 2, 3) == 1
        assert _scores(RIGHT).verdict.passed
    assert progress_file.load() == {"scores": entry}
    assert {file: file.read_bytes() for file in student_machine.iterdir() if file.is_file()} == before
    (student_machine / "file").write_text("")
    monkeypatch.setenv("MYBERT_HOME", str(student_machine / "file"))
    assert progress_file.record("scores", "partly", 1, "z") == 1


@pytest.mark.parametrize("content", ["", "[]", '{"exercises": 3}', "{broken", '{"exercises": {"scores": 3}}'])
def test_a_damaged_state_file_costs_nothing_but_its_memory(content):
    open(progress_file.FILE, "w").write(content)
    assert not _scores(WRONG).verdict.passed
    assert "0 of 8 points" in repr(progress())


def test_an_answer_that_builds_on_a_failing_one_is_sent_there_first():
    wrong = "def softmax_rows(a):\n    return ops.exp(a)\n"
    right = "def softmax_rows(a):\n    e = ops.exp(a - ops.max(a, -1, keepdims=True))\n"
    right += "    return e / ops.sum(e, -1, keepdims=True)\n"
    uses_it = "def attention_scores(q, k):\n    return softmax_rows(q @ ops.swapaxes(k, -1, -2))"
    _check(wrong, "check(softmax_rows)")
    assert "uses `softmax_rows`, which failed its own check (3.3): fix that one first" in repr(_check(wrong + uses_it))
    changed = wrong.replace("ops.exp(a)", "ops.exp(a) + 1") + uses_it
    assert "failed its own check (3.3): run `check(softmax_rows)` again." in repr(_check(changed))
    assert "fix that one first" not in repr(_scores(WRONG))  # does not use it
    elsewhere = _check("softmax_rows = ops.exp\n" + uses_it)  # as one that `mybert` gave
    assert not elsewhere.verdict.passed and "fix that one first" not in repr(elsewhere)
    _check(right, "check(softmax_rows)")
    assert "fix that one first" not in repr(_check(right + uses_it))


def test_progress_shows_points_in_text_and_html_without_colour():
    _scores(RIGHT)
    unstable = "def softmax_rows(a):\n    e = ops.exp(a)\n    return e / ops.sum(e, -1, keepdims=True)"
    _check(unstable, "check(softmax_rows)")
    text, page = repr(progress()), progress()._repr_html_()
    assert "✓ 3.4" in text and "3/3  passed" in text and "1/3  partly" in text and "4 of 8 points" in text
    for fact in ("✓", "passed", "partly", "not attempted", "4 of 8 points", "aria-label", "the whole course"):
        assert fact in page


def test_progress_has_the_notebooks_titles_and_its_bars_in_a_column():
    long = {"notebook": "09_own", "notebook_title": "09 · " + "long " * 9, "number": "9.1", "title": "x", "points": 1}
    for exercises in (planner.index(), [long]):
        lines = repr(Overview([(facts, 0.0, "not attempted") for facts in exercises])).splitlines()
        lines = [line for line in lines if "points" in line]
        assert len(lines) == len({facts["notebook"] for facts in exercises}) + 1
        assert lines[-1].startswith("the whole course ") and len({line.index("·" * 20) for line in lines}) == 1
        assert len(exercises) == 1 or lines[3].startswith("03 · Attention ")


@pytest.mark.slow
def test_progress_notebooks_and_gradebook_agree_on_the_points(tmp_path, monkeypatch):
    names = editions.notebooks()
    course = tmp_path / "course"
    make_course(course)
    write_assignment(course, "all", [editions.make(name) for name in names])
    with Gradebook(course) as book:
        graded = {one.name: one.max_score for one in book.book.find_assignment("all").notebooks}
    cells_of = {name: json.loads(editions.make(name).student)["cells"] for name in names}
    released = {
        name: sum(cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in those)
        for name, those in cells_of.items()
    }
    shown = dict.fromkeys(names, 0)
    fingerprints.save_index(planner.index(), tmp_path / "all")
    fingerprints.save_index(planner.runs_of(catalogue.EXERCISES), tmp_path / "all", fingerprints.RUNS)
    monkeypatch.setenv("AUTOGRADE_FINGERPRINTS", str(tmp_path / "all"))
    plans.index.cache_clear()
    for facts, _, _ in progress().rows:
        shown[facts["notebook"]] += facts["points"]
    assert graded == released == shown
    assert f"0 of {sum(shown.values()):g} points" in repr(progress())


def test_a_check_takes_less_than_a_second_after_the_first():
    _scores(RIGHT)
    start = time.process_time()
    for _ in range(3):
        _scores(RIGHT)
    assert (time.process_time() - start) / 3 < 1


def test_pictures_carry_their_text(capsys):
    pictures.heat_maps([[[0.0, float("nan")]], [[1.0, 2.0]]], titles=["a"], columns=["x", "y"], alt="two rows")
    pictures.lines([1, 2], {"measured": [3, 4]}, log=True, alt="one curve")
    assert capsys.readouterr().out == "[picture: two rows]\n[picture: one curve]\n"
    assert 'alt="a &lt; b"' in pictures.Drawing(b"", "a < b")._repr_html_()


@pytest.mark.slow
def test_a_check_from_fingerprints_loads_nothing_of_the_instructors_side(fingerprint_folder):
    program = (
        "import sys\nfrom autograde.student import check\nassert 'keras' not in sys.modules\n"
        "print(repr(check('attention_scores')))\n"
        "assert not any(name.startswith('autograde.exercises') for name in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("? 3.4 attention_scores")


def test_the_source_of_a_class_written_in_a_cell_is_that_of_its_methods():
    sources = set()
    for number in (1, 1, 2):
        source = f"class Layer:\n    def call(self, q):\n        return q + {number}"
        sources.add(_source_of(written(source, f"<cell {number}>")["Layer"]))
    assert sources == {"def call(self, q):\n    return q + 1", "def call(self, q):\n    return q + 2"}


def test_a_check_compares_in_full_float32_and_leaves_the_setting_as_it_was(tmp_path, monkeypatch):
    """On newer GPUs TensorFlow rounds products to TF32 unless a setting forbids it."""
    monkeypatch.chdir(tmp_path)
    seen = []

    def concat_heads(heads):
        seen.append(tf.config.experimental.tensor_float_32_execution_enabled())
        return tf.concat(heads, axis=-1)

    before = tf.config.experimental.tensor_float_32_execution_enabled()
    assert check(concat_heads).verdict.passed
    assert set(seen) == {False} and tf.config.experimental.tensor_float_32_execution_enabled() is before is True


def test_where_nbgrader_validates_a_failed_check_raises_one_line_and_a_passed_one_shows_nothing(monkeypatch):
    assert not _scores(WRONG).verdict.passed  # in ordinary work it raises nothing: Run All continues
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert _scores(RIGHT) is None
    with pytest.raises(CheckFailed, match=r"^✗ 3\.4 attention_scores: wrong, 0 of 3 points\. .+"):
        _scores("return q @ ops.swapaxes(k, -1, -2)")
    for call, words in (("check('attention_scores')", "is not defined yet"), ("check('nobody')", "no exercise")):
        with pytest.raises(CheckFailed, match=words) as caught:
            _check("", call)
        shown = caught.value._render_traceback_()
        assert max(map(len, shown)) <= 78 and " ".join(map(str.strip, shown)) == str(caught.value)


def test_heat_maps_label_each_matrix_or_the_first_and_write_no_minus_zero(figures):
    pictures.heat_maps([[[1.0]], [[-0.001], [2.0]]], rows=[["a"], ["b", "c"]], numbers=True, alt="own")
    pictures.heat_maps([[[1.0]], [[2.0]]], rows=["a"], alt="shared")
    labels = [[[text.get_text() for text in axis.get_yticklabels()] for axis in figure.axes] for figure in figures]
    assert labels == [[["a"], ["b", "c"]], [["a"], [""]]]
    assert [text.get_text() for text in figures[0].axes[1].texts] == ["0.00", "2.00"]


def test_heat_maps_name_the_rows_once_per_line_and_the_columns_below_each(figures):
    pictures.heat_maps([np.eye(2)] * 3, per_line=2, row_axis="query", column_axis="key", alt="three")
    axes = figures[0].axes[:3]
    assert [axis.get_ylabel() for axis in axes] == ["query", "", "query"]
    assert [axis.get_xlabel() for axis in axes] == ["key"] * 3


def test_titles_of_heat_maps_and_labels_of_bars_stay_inside_and_apart(figures):
    names = ["fonttools", "jupyter", "sqlalchemy"]
    title = "true (row) against predicted (column)"  # longer than three columns are wide
    pictures.heat_maps([np.eye(3)], titles=[title], rows=names, columns=names, alt="one")
    pictures.heat_maps([np.eye(3)] * 2, titles=[title] * 2, rows=names, alt="two")
    drawings_boxes.bars(["make:\npair, truncate, mask", "mask only", "read from shards"], {"a": [1, 2, 3]}, alt="bars")
    for figure in figures:
        FigureCanvasAgg(figure).draw()
        drawn = [axis.title for axis in figure.axes] if figure.axes[0].images else figure.axes[0].get_xticklabels()
        boxes = [text.get_window_extent() for text in drawn]
        assert boxes[0].x0 >= 0 and boxes[-1].x1 <= figure.bbox.width
        assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))


def test_the_map_is_open_where_there_is_something_to_do_and_where_one_is():
    facts = [{"notebook": f"0{n}_x", "number": f"{n}.1", "title": "one", "points": 2} for n in range(5)]
    reached = [(2, "passed"), (1, "partly"), (0, "not attempted"), (2, "passed"), (0, "not attempted")]
    page = Overview([(fact, *row) for fact, row in zip(facts, reached)])._repr_html_()
    opened = re.findall(r"<details open><summary><strong[^>]*>(\w+):", page)
    assert opened == ["01_x", "03_x"] and page.count("<details>") == 3


def test_pictures_of_signed_numbers_have_two_colours_and_0_in_the_middle(figures):
    pictures.heat_maps([[[-1.0, 0.0, 3.0]], [[0.0, 2.0, 1.0]]], alt="one with signs, one without")
    signed, plain = (axis.images[0] for axis in figures[0].axes)
    assert (signed.get_cmap().name, signed.get_clim()) == ("RdBu", (-3.0, 3.0))
    assert (plain.get_cmap().name, plain.get_clim()) == ("Blues", (0.0, 2.0))
    assert scale_of(np.array([-2.0, 1.0])) == (-2.0, 2.0, "RdBu")
    assert is_dark(-1.9, -2.0, 2.0) and not is_dark(0.1, -2.0, 2.0)


class History:
    """As much of IPython as `check` reads: the cells that ran, failed ones among them."""

    def __init__(self, *cells):
        self.history_manager = self
        self.input_hist_parsed = ["", *cells]


def test_a_function_of_an_older_version_of_its_cell_is_not_checked(monkeypatch):
    right = f"def attention_scores(q, k):\n    {RIGHT}\n"
    broken = right.replace("(q, k):", "(q, k:")
    space = written("from autograde.student import check\n" + right, "<older>")
    older = "from autograde.student import check\n" + right
    monkeypatch.setattr(IPython, "get_ipython", lambda: History(older, broken, "check(attention_scores)"))
    shown = eval("check(attention_scores)", space)
    assert "The newest version of the cell that defines `attention_scores`" in repr(shown)
    assert not Path(progress_file.FILE).exists()
    monkeypatch.setattr(IPython, "get_ipython", lambda: History(broken, older, "check(attention_scores)"))
    assert eval("check(attention_scores)", space).verdict.passed


def test_after_a_restart_check_says_which_cell_to_run_and_nothing_is_lost():
    assert _scores(RIGHT).verdict.passed
    before = Path(progress_file.FILE).read_text()
    uses_it = "def softmax_rows(a):\n    return attention_scores(a, a)"
    shown = _check(uses_it, "check(softmax_rows)")
    assert "Run the cell of 3.4 `attention_scores` first: `softmax_rows` uses it" in repr(shown)
    assert "Run the cell of 3.4 `attention_scores` first: it is not" in repr(_check("", "check('attention_scores')"))
    assert Path(progress_file.FILE).read_text() == before
    other = _check("def softmax_rows(a):\n    return nowhere(a)", "check(softmax_rows)")
    assert "Does a cell above define `nowhere`?" in repr(other)


def test_an_array_of_right_numbers_is_told_how_to_become_a_tensor():
    assert "`ops.convert_to_tensor(…)` makes a tensor of an array" in repr(_scores(f"return ({RIGHT[7:]}).numpy()"))


@pytest.mark.parametrize("setting", ["set_dtype_policy('mixed_float16')", "set_floatx('float64')"])
def test_a_precision_that_a_cell_has_set_is_named_and_costs_nothing(setting):
    try:
        own = "self.add_weight(shape=(shape[-1],), initializer={!r})"
        shown = _check(
            f"keras.config.{setting}\nclass LayerNorm(keras.layers.Layer):\n"
            "    def __init__(self, epsilon=1e-12, **kwargs):\n"
            "        super().__init__(**kwargs)\n        self.epsilon = epsilon\n"
            f"    def build(self, shape):\n        self.gamma = {own.format('ones')}\n"
            f"        self.beta = {own.format('zeros')}\n"
            "    def call(self, x):\n        c = x - ops.mean(x, -1, keepdims=True)\n"
            "        v = ops.mean(c**2, -1, keepdims=True)\n"
            "        return c / ops.sqrt(v + self.epsilon) * self.gamma + self.beta\n",
            "check(LayerNorm)",
        )
        assert shown.verdict.passed and f"keras.config.{setting}" in repr(shown)
        assert {keras.config.dtype_policy().name, keras.config.floatx()} != {"float32"}  # as the cell has set it
    finally:
        keras.config.set_floatx("float32")
        keras.config.set_dtype_policy("float32")
