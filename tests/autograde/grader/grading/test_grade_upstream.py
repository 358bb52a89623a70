"""A student's own earlier answers under a later notebook: used where they are right, harmless where they are wrong.

Both notebooks are small ones made here: the first exercises of notebook 03, and two on the student's own
`attention_scores`.
"""

import dataclasses
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from grade_class import SECRET, answer, copied, hand_in

from autograde.exercises import catalogue, notebooks
from autograde.exercises.spec import Case, Exercise, Misconception, function, named, values
from autograde.grader.book.course import make_course
from autograde.grader.grading import cluster, upstream
from autograde.grader.grading.grade import grade, open_assignment
from autograde.grader.grading.regrade import regrade
from autograde.grader.grading.results import Result, load_results
from autograde.release import editions
from autograde.release.assignment import write_assignment

EARLY, LATE = "03_start", "04_toy"
WHOLE, IN_EARLY = "03_attention", ("concat-heads", "add-to-rows", "softmax-rows", "scores", "attention")
SOLUTION = '''# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %%
from autograde.student import check, a_drawing_of_later

# %% tags=["setup"]
from keras import ops

from mybert.attention import attention_scores

# %%
a_drawing_of_later([[1.0]], alt="nothing").and_more()

# %% [markdown]
# ## 4.1 A toy · 2 points · ~1 minute

# %% ANSWER(toy-sums)
def score_sums(q, k):
    """The sum of each row of scores."""
    ### BEGIN SOLUTION
    return ops.sum(attention_scores(q, k), axis=-1)
    ### END SOLUTION

# %% CHECK(toy-sums)
check(score_sums)

# %% [markdown]
# ## 4.2 A toy · 2 points · ~1 minute

# %% ANSWER(toy-largest)
def largest_sum(q, k):
    """The largest of these sums."""
    ### BEGIN SOLUTION
    return ops.max(score_sums(q, k), axis=-1, keepdims=True)
    ### END SOLUTION

# %% CHECK(toy-largest)
check(largest_sum)
'''


_COMMON = {"schema_version": 3, "task": False}
_ANSWER = _COMMON | {"grade": False, "locked": False, "solution": True}
_CHECK = _COMMON | {"grade": True, "locked": True, "points": 2, "solution": False}


def _with_metadata(match):
    kind, name = match.groups()
    graded = _ANSWER | {"grade_id": name} if kind == "ANSWER" else _CHECK | {"grade_id": f"check-{name}"}
    return f"nbgrader={json.dumps(graded)}"


SOLUTION = re.sub(r"(ANSWER|CHECK)\((.*)\)", _with_metadata, SOLUTION)


def _sums(q, k):
    return (q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])).sum(-1)


def _draw(rng):
    return [Case((rng.normal(size=(3, 4)).astype("float32"), rng.normal(size=(5, 4)).astype("float32")))]


def _toy(name, number, defines, reference):
    return Exercise(
        id=name, notebook=LATE, kept_in="encoder", number=number, title="A toy", minutes=1, lines="", names=(defines,),
        arguments=("q", "k"), probe=named(function(), defines), reference=reference, parts=(values(2, _draw),),
        hints=("One.", "Two.", "Three."),
        misconceptions=(Misconception("one", "It is always 1.", cell=f"def {defines}(q, k):\n    return 1.0"),),
    )  # fmt: skip


TOYS = (
    _toy("toy-sums", "4.1", "score_sums", _sums),
    _toy("toy-largest", "4.2", "largest_sum", lambda q, k: _sums(q, k).max(-1, keepdims=True)),
)


@pytest.fixture(scope="module", autouse=True)
def toy_catalogue(tmp_path_factory):
    """The catalogue of the two notebooks."""
    folder = tmp_path_factory.mktemp("solutions")
    whole = (notebooks.SOLUTIONS / f"{WHOLE}.py").read_text()
    first_exercises = whole.partition("# %% [markdown]\n# ## 3.6 ")[0]
    (folder / f"{WHOLE}.py").write_text(whole)  # from its stubs the exercises read the shapes of their inputs
    (folder / f"{EARLY}.py").write_text(first_exercises)
    (folder / f"{LATE}.py").write_text(SOLUTION)
    with pytest.MonkeyPatch.context() as patch:
        early = tuple(dataclasses.replace(catalogue.find(name), notebook=EARLY) for name in IN_EARLY)
        patch.setattr(catalogue, "EXERCISES", early + TOYS)
        patch.setattr(notebooks, "SOLUTIONS", folder)
        yield folder


@pytest.fixture(scope="module")
def pattern(tmp_path_factory, toy_catalogue):
    """A course with both notebooks released, in assignments whose names sort the wrong way round."""
    course = tmp_path_factory.mktemp("pattern")
    make_course(course)
    (course / ".autograde/secret").write_text(SECRET)
    write_assignment(course, "z-early", [editions.make(EARLY, folder=toy_catalogue)])
    write_assignment(course, "a-late", [editions.make(LATE, folder=toy_catalogue)])
    return course


@pytest.fixture
def course(pattern, tmp_path):
    return copied(pattern, tmp_path / "course")


def _late(edits=None):
    return _solved(LATE, edits)


def _early(edits=None):
    return _solved(EARLY, edits)


def _solved(notebook, edits):
    content = json.loads(editions.make(notebook, folder=notebooks.SOLUTIONS).source)
    for cell in content["cells"]:
        cell["source"] = (edits or {}).get(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"])
    return json.dumps(content)


def _hand_in(course, student, early=None, late=None):
    for assignment, notebook, text in (("z-early", EARLY, early), ("a-late", LATE, late)):
        if text is not None:
            hand_in(course, student, text, assignment, notebook)


def _grade(course, name, launcher, **options):
    report = grade(open_assignment(course, name), launcher, **options)
    assert report.failures == []
    return report


def _result(course, student):
    return Result.load(Result("a-late", student, LATE).path(course))


def _points(course, student):
    return [verdict.points for verdict in _result(course, student).verdicts]


def _records(course):
    return [replace(result, seconds=0.0) for name in ("z-early", "a-late") for result in load_results(course, name)]


STOOD_IN = (
    "It ran on the library's stand-in for `mybert.attention.attention_scores`: no passed answer of yours was there."
)
QUIRK = """
print("what is shown is left out", softmax_rows)
SCALE = 2
def scale(d):
    return d ** (1 / SCALE)

def attention_scores(q, k):
    attention_scores.used = True
    return ops.matmul(q, ops.swapaxes(k, -1, -2)) / scale(q.shape[-1])
"""


def test_a_later_notebook_runs_on_the_students_own_passed_answers(course, launcher):
    told = "def score_sums(q, k):\n    assert attention_scores(q, k) is not None and attention_scores.used\n"
    told += "    return ops.sum(attention_scores(q, k), axis=-1)"
    _hand_in(course, "own", _early({"scores": QUIRK}), _late({"toy-sums": told}))
    _grade(course, "a-late", launcher)
    assert _points(course, "own") == [2, 2]
    text = _result(course, "own").upstream["attention"]
    assert "def scale(d)" in text and "SCALE = 2" in text and "print" not in text and "check(" not in text
    assert all(not verdict.notes for verdict in _result(course, "own").verdicts)


@pytest.mark.slow
def test_a_wrong_or_missing_answer_is_replaced_and_costs_nothing_later(course, launcher):
    wrong = answer("scores").replace("/ d_attn**0.5", "")
    _hand_in(course, "wrong", _early({"scores": wrong}), _late())
    _hand_in(course, "missing", None, _late())
    _grade(course, "a-late", launcher)
    assert _points(course, "wrong") == _points(course, "missing") == [2, 2]
    assert _result(course, "missing").upstream == {}
    for student in ("wrong", "missing"):
        assert [verdict.notes for verdict in _result(course, student).verdicts] == [(STOOD_IN,), (STOOD_IN,)]


def test_what_fails_on_the_students_own_package_is_graded_again_on_stand_ins_with_a_note(course, launcher):
    _hand_in(course, "beside", None, _late())
    package = course / "submitted/beside/a-late/mybert"
    package.mkdir()
    (package / "attention.py").write_text("def attention_scores(q, k):\n    return q @ k.T\n")
    _grade(course, "a-late", launcher)
    result = _result(course, "beside")
    assert [verdict.points for verdict in result.verdicts] == [2, 2]
    for verdict in result.verdicts:
        assert "the library's stand-ins for mybert.attention in place of yours" in verdict.notes[0]
    mended = {"attention": "from keras import ops\ndef attention_scores(q, k):\n    return ops.zeros((3, 5))\n"}
    (package / "attention.py").write_text(mended["attention"])
    assert _grade(course, "a-late", launcher).graded == 1  # another package is another submission
    assert _result(course, "beside").upstream == mended and _points(course, "beside") == [2, 2]


def test_a_mistake_of_this_notebook_still_costs_its_points(course, launcher):
    _hand_in(course, "both", None, _late({"toy-sums": "def score_sums(q, k):\n    return ops.sum(q, axis=-1)"}))
    (course / "submitted/both/a-late/attention.py").write_text("def attention_scores(q, k):\n    return q @ k.T\n")
    _grade(course, "a-late", launcher)
    assert _points(course, "both") == [0, 2]
    (sentence,) = _result(course, "both").verdicts[1].notes
    assert "4.1 score_sums and the library's stand-ins for mybert.attention" in sentence


@pytest.mark.parametrize(
    "deed",
    ["import os\nos._exit(3)", "while True: pass", "raise SystemExit", "import sys\nsys.setrecursionlimit(1 << 30)"],
)
def test_a_package_that_ends_the_program_costs_nothing(course, launcher, deed):
    _hand_in(course, "deadly", None, _late())
    (course / "submitted/deadly/a-late/attention.py").write_text(deed)
    limits = dataclasses.replace(open_assignment(course, "a-late").limits, cell_seconds=3.0)
    assert grade(open_assignment(course, "a-late", limits), launcher).failures == []
    assert _points(course, "deadly") == [2, 2]


def test_a_package_that_shadows_ours_or_lies_elsewhere_changes_nothing(course, launcher, tmp_path):
    _hand_in(course, "shadow", None, _late())
    package = course / "submitted/shadow/a-late/mybert"
    package.mkdir()
    poison = "raise SystemExit('poison')"
    for name in ("keras", "autograde", "numpy", "encoder", "own", "__init__", "Attention", "..evil", "bad-name"):
        (package / f"{name}.py").write_text(poison)
    (tmp_path / "secret.py").write_text("def attention_scores(q, k):\n    return 'secret'\n")
    os.symlink(tmp_path / "secret.py", package / "attention.py")
    (package / "embeddings.py").write_text("#" * 300_000)
    (package / "wordpiece.py").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(package / "pipe.py")
    _grade(course, "a-late", launcher)
    result = _result(course, "shadow")
    assert [verdict.points for verdict in result.verdicts] == [2, 2] and result.technical is None
    assert set(result.upstream) == {"autograde", "keras", "numpy", "own"}
    refused = [sentence for sentence in result.repairs if "was not used" in sentence]
    assert len(refused) == 7
    for name in ("Attention", "..evil", "bad-name", "attention", "embeddings", "wordpiece", "pipe"):
        assert any(f"{name}.py" in sentence for sentence in refused), name


def test_a_link_in_place_of_the_package_is_not_followed(course, tmp_path):
    (tmp_path / "mybert").mkdir()
    (tmp_path / "mybert/attention.py").write_text("x = 1")
    (course / "here").mkdir()
    os.symlink(tmp_path / "mybert", course / "here/mybert")
    assert upstream.submitted_modules(course / "here") == ({}, ())


@pytest.mark.slow
def test_a_notebook_finds_nothing_of_what_it_builds_itself(course, launcher):
    """Or `from mybert.attention import attention_scores` would be the answer to the exercise."""
    stolen = "from mybert.attention import attention_scores"
    direct = "from autograde.student.stand_ins.attention import attention_scores"
    _hand_in(course, "thief", _early({"scores": stolen}))
    _hand_in(course, "sneak", _early({"scores": direct}))
    (course / "submitted/thief/z-early/attention.py").write_text(answer("scores"))
    _grade(course, "z-early", launcher)
    for student in ("thief", "sneak"):
        result = Result.load(Result("z-early", student, EARLY).path(course))
        assert next(verdict.points for verdict in result.verdicts if verdict.exercise == "scores") == 0


@pytest.mark.slow
def test_grades_depend_neither_on_workers_nor_on_the_order_of_grading(course, launcher, tmp_path):
    for number in range(3):
        edits = [{}, {"scores": answer("scores").replace("/ d_attn**0.5", "")}, {"scores": "import os\nos._exit(1)"}]
        _hand_in(course, f"s{number}", _early(edits[number]), _late())
    other = copied(course, tmp_path / "other")
    for name in ("z-early", "a-late"):
        _grade(course, name, launcher)
    for name in ("a-late", "z-early"):
        _grade(other, name, launcher, workers=2)
    assert _records(course) == _records(other) and len(_records(course)) == 6
    assert all(_points(course, f"s{number}") == [2, 2] for number in range(3))


@pytest.mark.slow
def test_the_files_for_a_cluster_contain_all_that_a_submission_builds_on(course, launcher, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_shared_launcher", lambda: launcher)
    _hand_in(course, "anna", _early({"scores": QUIRK}), _late())
    _hand_in(course, "wrong", _early({"scores": answer("scores").replace("/ d_attn**0.5", "")}), _late())
    there = copied(course, tmp_path / "there")
    _grade(course, "a-late", launcher)
    with ThreadPoolExecutor(1) as pool:
        report = cluster.grade(pool, 1, open_assignment(there, "a-late"), (), False, lambda *done: None)
    assert report.graded == 2 and _records(there) == _records(course)
    assert "def scale(d)" in _result(there, "anna").upstream["attention"]


@pytest.mark.slow
def test_what_a_submission_was_built_on_stays_with_it_until_it_is_handed_in_again(course, launcher):
    _hand_in(course, "anna", _early({"scores": QUIRK}), _late())
    for name in ("z-early", "a-late"):
        _grade(course, name, launcher)
    before = _records(course)
    _hand_in(course, "anna", _early({"scores": "def attention_scores(q, k):\n    return q"}))
    _grade(course, "z-early", launcher)
    assert _grade(course, "a-late", launcher).up_to_date == 1
    _grade(course, "a-late", launcher, again=True)
    assert regrade(open_assignment(course, "a-late"), TOYS[0], launcher).same == 1
    assert _records(course)[-1] == before[-1] and "def scale" in _result(course, "anna").upstream["attention"]

    _hand_in(course, "anna", late=_late({"toy-sums": answer("toy-sums") + "\n# handed in once more"}))
    _grade(course, "a-late", launcher)
    anew = _result(course, "anna").upstream["attention"]
    assert "def scale" not in anew and "stand_ins.attention import attention_scores" in anew  # it failed there


@pytest.mark.slow
def test_notebooks_of_one_assignment_build_on_each_other(course, launcher, toy_catalogue):
    write_assignment(course, "both", [editions.make(name, folder=toy_catalogue) for name in (EARLY, LATE)])
    hand_in(course, "ben", _early({"scores": QUIRK}), "both", EARLY)
    hand_in(course, "ben", _late(), "both", LATE)
    _grade(course, "both", launcher)
    result = Result.load(Result("both", "ben", LATE).path(course))
    assert "def scale(d)" in result.upstream["attention"] and result.points == 4


def test_the_modules_before_a_notebook_go_by_its_number():
    assert upstream.modules_before("03_attention") == ("wordpiece", "embeddings")
    assert upstream.modules_before(LATE) == ("wordpiece", "embeddings", "attention")
    assert "finetuning" in upstream.modules_before("09_features") and upstream.modules_before("00_welcome") == ()


def test_the_second_part_of_a_notebook_builds_on_the_first():
    first, second = (upstream.modules_before(name) for name in ("08_finetuning", "08b_how_good"))
    assert second == (*first, "finetuning") and first[-1] == "pretraining"
