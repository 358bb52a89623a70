"""The student's own package: what is kept of a passed answer, where, and that nothing damages it."""

import ast
import importlib
import json
import linecache
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograde import planning
from autograde.exercises import catalogue, cells
from autograde.student import home, own, plans, saving, state, store
from autograde.student.pieces import NotKept, Piece, gather
from autograde.student.written import module_text

ROOT = Path(__file__).resolve().parents[1]
SCORES = "def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5"
ROWS = "def add_to_rows(x, b):\n    return x + b"


class Notebook:
    """A kernel's names and history, as IPython keeps them."""

    count = 0

    def __init__(self, history=True):
        self.space = {"__name__": "__main__"} | ({"In": [""]} if history else {})
        self.run("from keras import ops\nimport numpy as np\nfrom autograde.student import check")

    def run(self, source):
        Notebook.count += 1
        name = f"<ipython-input-{Notebook.count}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        self.space.get("In", []).append(source)
        exec(compile(source, name, "exec"), self.space)
        return self

    def check(self, name):
        return self.run(f"_shown = check({name})").space["_shown"]

    def piece(self, name, kept=()):
        return gather(plans.find(name), self.space, set(kept))


@pytest.fixture(autouse=True)
def course(tmp_path, monkeypatch):
    """A student's course folder, with notebook 03's as the current one."""
    folder = tmp_path / "course"
    (folder / "03_attention").mkdir(parents=True)
    monkeypatch.chdir(folder / "03_attention")
    monkeypatch.delenv(home.VARIABLE, raising=False)
    with own.only_stand_ins():
        own.install(home.find)
        yield folder


def _module(course):
    return (course / "mybert/attention.py").read_text()


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
    before = _module(course)
    failed = notebook.run("def attention_scores(q, k):\n    return q").check("attention_scores")
    assert failed.kept == "" and _module(course) == before
    notebook.run(SCORES.replace("** 0.5", "** (1 / 2)")).check("attention_scores")
    assert "(1 / 2)" in _module(course) and "** 0.5" not in _module(course)


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
    assert defined == names and text.count("HIDDEN = -1e9") == 1
    alone = {}
    exec(module_text("attention", [notebook.piece("MultiHeadAttention")]), alone)
    assert {"MultiHeadAttention", "attention_scores", "softmax_rows", "HIDDEN"} <= set(alone)
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


# --- nothing damages it ---


def test_a_file_edited_by_hand_is_never_written_over_without_a_copy(course):
    notebook = Notebook().run(SCORES)
    notebook.check("attention_scores")
    path = course / "mybert/attention.py"
    edited = path.read_text().replace("** 0.5", "** 0.5  # mine")
    path.write_text(edited)
    assert notebook.check("attention_scores").kept == "Kept in mybert/attention.py." and path.read_text() == edited
    store.mend(course)
    assert path.read_text() == edited
    kept = notebook.run(ROWS).check("add_to_rows").kept
    (copy,) = (course / "mybert").glob("attention.edited-*.py")
    assert copy.read_text() == edited and copy.name in kept and "def add_to_rows" in path.read_text()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"def (", b"# generated 0123456789abcdef from scores\nx = 1\n"])
def test_whatever_stands_in_a_module_it_is_kept_aside(course, content):
    (course / "mybert").mkdir()
    (course / "mybert/attention.py").write_bytes(content)
    assert "your version is in mybert/attention.edited-" in Notebook().run(SCORES).check("attention_scores").kept
    (copy,) = (course / "mybert").glob("attention.edited-*.py")
    assert copy.read_bytes() == content


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"exercise": "../x"}', '{"exercise": 3, "names": [], "statements": []}']
)
def test_a_damaged_piece_is_left_out(course, content):
    notebook = Notebook().run(SCORES)
    notebook.check("attention_scores")
    (course / "mybert/.kept/scores.json").write_text(content)
    assert store.load(course) == {}
    before = _module(course)
    notebook.run(ROWS).check("add_to_rows")  # the module would lose a piece: the old one is kept beside
    (copy,) = (course / "mybert").glob("attention.edited-*.py")
    assert copy.read_text() == before


def test_a_broken_module_costs_only_itself(course, capsys):
    Notebook().run(SCORES).check("attention_scores")
    (course / "mybert/attention.py").write_text("raise SystemExit(3)")
    own.install(home.find)
    from mybert.attention import attention_scores, softmax_rows

    assert attention_scores.__module__ == softmax_rows.__module__ == "autograde.student.stand_ins.attention"
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("mybert/attention.py cannot be used (SystemExit: 3)")


def test_what_a_killed_check_left_out_is_written_by_the_next(course):
    notebook = Notebook().run(SCORES).run(ROWS)
    notebook.check("attention_scores"), notebook.check("add_to_rows")
    whole = {path: path.read_bytes() for path in (course / "mybert").rglob("*.*") if path.is_file()}
    for path in whole:
        if path.suffix != ".json":
            path.unlink()
    own.install(home.find, prepare=store.mend)
    importlib.import_module("mybert")
    assert {path: path.read_bytes() for path in whole} == whole


WRITER = """
import sys
from tests.test_student_store import Notebook, SCORES, ROWS
name, number = sys.argv[1:]
notebook = Notebook()
while True:
    source = SCORES if name == "attention_scores" else ROWS
    kept = notebook.run(f"{source}\\n    # {number} {'-' * 3000}").check(name).kept
    assert kept == "Kept in mybert/attention.py.", kept
    number = int(number) + 1
    print("checked", flush=True)
"""


def _writer(name, number=0):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [sys.executable, "-c", WRITER, name, str(number)]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _whole(course):
    """The package is one that can be imported, every file of it as some check left it."""
    for path in (course / "mybert").glob("*.py"):
        ast.parse(path.read_text())
        assert path.name == "__init__.py" or store.is_generated(path.read_text()), path
    for path in (course / "mybert/.kept").glob("*.json"):
        Piece.from_dict(json.loads(path.read_text()))
    own.install(home.find)
    return importlib.import_module("mybert.attention")


@pytest.mark.exhaustive
def test_killed_and_concurrent_checks_never_damage_the_package(course):
    for kill in range(3):
        writers = [_writer("attention_scores", 1000 * kill), _writer("add_to_rows", 1000 * kill)]
        for writer in writers:
            assert writer.stdout.readline() == "checked\n", writer.stderr.read()
        until = time.monotonic() + 4
        while time.monotonic() < until:
            if (course / "mybert/attention.py").exists():
                _whole(course)
        for writer in writers:
            assert writer.poll() is None, writer.stderr.read()
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        store.mend(course)
        module = vars(_whole(course))
        assert "attention_scores" in module and "add_to_rows" in module
    assert not list((course / "mybert").glob("*.edited-*"))


def test_killed_at_every_write_the_package_stays_whole(course, monkeypatch):
    """The same, step by step: the process ends before the n-th file is put in place."""

    class Killed(BaseException):
        pass

    real = os.replace
    for limit in range(8):
        left = [limit]

        def replace_or_die(source, target, left=left):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            real(source, target)

        notebook = Notebook().run(SCORES + f"\n    # {limit}").run(ROWS + f"\n    # {limit}")
        monkeypatch.setattr(os, "replace", replace_or_die)
        for name in ("attention_scores", "add_to_rows"):
            try:
                notebook.check(name)
            except Killed:
                pass
        monkeypatch.setattr(os, "replace", real)
        if (course / "mybert/attention.py").exists():
            _whole(course)
    store.mend(course)
    assert {"attention_scores", "add_to_rows"} <= set(vars(_whole(course)))


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


# --- machines that forget ---


def _some_work(course):
    notebook = Notebook().run(SCORES).run(ROWS)
    notebook.check("attention_scores"), notebook.check("add_to_rows")
    return {path.relative_to(course): path.read_bytes() for path in course.rglob("*") if path.is_file()}


def test_a_saved_state_brings_everything_back_on_another_machine(course, tmp_path, monkeypatch):
    work = _some_work(course)
    said = saving.save_state(tmp_path / "state.zip")
    assert repr(said).startswith("2 pieces and your progress are saved in")
    assert saving.save_state(tmp_path / "again.zip").path.read_bytes() == said.path.read_bytes()
    other = tmp_path / "content"
    other.mkdir()
    monkeypatch.chdir(other)
    assert repr(saving.load_state(said.path)) == f"2 pieces from state.zip are in {other / 'mybert'} now."
    there = {path.relative_to(other): path.read_bytes() for path in other.rglob("*") if path.is_file()}
    assert {name: json.loads(content) for name, content in there.items() if name.suffix == ".json"} == {
        name: json.loads(content) for name, content in work.items() if name.suffix == ".json"
    }
    assert {n: c for n, c in there.items() if n.suffix != ".json"} == {
        n: c for n, c in work.items() if n.suffix != ".json"
    }


def test_loading_adds_to_what_is_there_and_takes_nothing_away(course, tmp_path, monkeypatch):
    _some_work(course)
    path = course / "mybert/attention.py"
    edited = path.read_text() + "MINE = 1\n"
    path.write_text(edited)
    saving.save_state(tmp_path / "state.zip")
    other = tmp_path / "content"
    other.mkdir()
    monkeypatch.chdir(other)
    newer = SCORES + "\n    # newer"
    Notebook().run(newer).check("attention_scores")
    assert repr(saving.load_state(tmp_path / "state.zip")).startswith("1 pieces")
    text = (other / "mybert/attention.py").read_text()
    assert "# newer" in text and "def add_to_rows" in text
    (copy,) = (other / "mybert").glob("attention.edited-*.py")
    assert copy.read_text() == edited and state.load()["add-to-rows"]["points"] == 2


ATTACKS = {
    "out": ("../x.py", b"x"),
    "absolute": ("/tmp/x.py", b"x"),
    "windows": ("mybert\\..\\..\\x.py", b"x"),
    "within": ("mybert/../x.py", b"x"),
    "start-up file": ("sitecustomize.py", b"x"),
    "notebook": ("03_attention/03_attention.ipynb", b"{}"),
    "compiled": ("mybert/attention.pyc", b"x"),
    "hidden": ("mybert/.git/config", b"x"),
    "another's piece": ("mybert/.kept/scores.json", b'{"exercise": "other"}'),
    "no piece": ("mybert/.kept/scores.json", b"[" * 100_000),
    "progress": (".course_progress.json", b"no json"),
    "large": ("mybert/attention.py", b"#" * (1 << 20) + b"x"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_file_with_anything_else_in_it_changes_nothing(course, tmp_path, attack):
    with zipfile.ZipFile(tmp_path / "bad.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mybert/encoder.py", "x = 1\n")
        archive.writestr(*ATTACKS[attack])
    with pytest.raises(saving.StateError, match="nothing was loaded"):
        saving.load_state(tmp_path / "bad.zip")
    assert [path for path in course.rglob("*") if path.is_file()] == [] and not (tmp_path / "x.py").exists()


def test_a_link_in_a_saved_state_becomes_no_link_and_a_bomb_is_not_unpacked(course, tmp_path):
    link = zipfile.ZipInfo("mybert/attention.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    saving.load_state(tmp_path / "link.zip")
    assert not (course / "mybert/attention.py").is_symlink()
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"mybert/m{number}.py", b"\n" * (1 << 20))
    with pytest.raises(saving.StateError, match="too large"):
        saving.load_state(tmp_path / "bomb.zip")
    for name, content in {"empty": b"", "text": b"hello", "cut": (tmp_path / "bomb.zip").read_bytes()[:2000]}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(saving.StateError):
            saving.load_state(tmp_path / name)
    with pytest.raises(saving.StateError, match="save_state"):
        saving.load_state(tmp_path / "nothing.zip")


def test_a_drive_that_is_refused_ends_in_a_sentence_and_the_home_stays(course, tmp_path, monkeypatch):
    """Colab's module exists on Colab only; this stands in for the one call of it, as it fails."""

    def mount(folder):
        raise ValueError("mount failed")

    colab = SimpleNamespace(drive=SimpleNamespace(mount=mount))
    for name, module in (("google.colab", colab), ("google", SimpleNamespace(colab=colab, __path__=[]))):
        monkeypatch.setitem(sys.modules, name, module)
    before = home.find()
    said = saving.keep_in_drive(drive=tmp_path / "MyDrive")
    assert "mount failed" in said and "save_state()" in said and home.find() == before


def test_a_folder_of_the_drive_becomes_the_home_and_what_is_there_comes_along(course, tmp_path, monkeypatch):
    monkeypatch.setenv(home.VARIABLE, "")  # so that what keep_in_drive sets is taken back
    drive = tmp_path / "MyDrive"
    with pytest.raises(saving.StateError, match="on Colab"):
        saving.keep_in_drive(drive=drive)
    drive.mkdir()
    Notebook().run(SCORES).check("attention_scores")
    saving.keep_in_drive("BertLab", drive)
    assert (
        home.find() == drive / "BertLab"
        and "def attention_scores" in (drive / "BertLab/mybert/attention.py").read_text()
    )
    Notebook().run(ROWS).check("add_to_rows")
    assert set(store.load(drive / "BertLab")) == {"scores", "add-to-rows"} and set(store.load(course)) == {"scores"}
    assert state.load()["scores"]["points"] == 3
    from mybert.attention import add_to_rows

    assert add_to_rows(1, 2) == 3
