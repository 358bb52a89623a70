"""One budget for all notebooks of a submission, a bounded number of gradings of a program that is killed; and which
stand-ins the notes, made within the budget, name for an answer.
"""

import json
import string
import time
from dataclasses import replace
from itertools import islice, product

import pytest
from grade_class import NAME, NOTEBOOK, answer, hand_in, opened, released_course, released_template, result_of, solved

from autograde.common.dependencies import ParsedCell
from autograde.exercises import catalogue
from autograde.grader.book.course import make_course
from autograde.grader.grading.budget import MAX_SANDBOXES, Budget
from autograde.grader.grading.grade import MAX_TRIES, anything_new, counted, digest, grade, open_assignment
from autograde.grader.grading.results import Result, load_results
from autograde.grader.grading.submission import LIMITS, Judged, Outcome, plan_task
from autograde.grader.grading.upstream import add_stand_in_notes, stand_ins_used
from autograde.grader.reading.repair import read_submission
from autograde.judging.verdict import Verdict
from autograde.release import editions
from autograde.release.assignment import write_assignment

SLEEPING = ("03_attention", "04_encoder_layer", "05_bert", "08_finetuning")


def test_nine_notebooks_get_twice_the_time_of_one():
    one, nine = Budget.of(LIMITS), Budget.of(LIMITS, 9)
    assert (nine.wall_seconds, nine.cpu_seconds) == (2 * one.wall_seconds, 2 * one.cpu_seconds)
    for left in range(9, 0, -1):  # as `grade_submission` shares it: each of nine that use up all they get
        share = nine.part(1 / left)
        assert share.wall_seconds > 60 and share.started == 0
        share.wall, share.started = share.wall_seconds, MAX_SANDBOXES
        nine.take(share)
    assert nine.spent_on


def test_a_notebook_has_as_many_starts_for_a_later_one_as_alone():
    """An earlier notebook had fewer, so its grade depended on the order of grading."""
    budget = Budget.of(LIMITS)
    budget.started = MAX_SANDBOXES
    assert "starts" in budget.spent_on
    assert budget.part(0.5).spent_on is None and Budget.of(LIMITS, 9).part(1 / 9).started == 0


class Timed:
    """A launcher that counts for how long its sandboxes were open, without the time they waited for a processor."""

    def __init__(self, launcher):
        self.launcher, self.seconds = launcher, 0.0

    def start(self, limits, seed=None):
        sandbox, began = self.launcher.start(limits, seed), time.monotonic()
        close = sandbox.close

        def closed():
            close()
            self.seconds += max(0.0, time.monotonic() - began - sandbox.usage()["waited_seconds"])

        sandbox.close = closed
        return sandbox


@pytest.mark.exhaustive
def test_several_sleeping_notebooks_hold_a_worker_as_long_as_two(tmp_path, launcher):
    make_course(tmp_path)
    write_assignment(tmp_path, "all", [editions.make(name) for name in SLEEPING])
    for name in SLEEPING:
        asleep = {exercise.id: "import time\ntime.sleep(1.5)" for exercise in catalogue.of_notebook(name)}
        hand_in(tmp_path, "jane", solved(after=asleep, notebook=name), "all", name)
    timed = Timed(launcher)
    assignment = open_assignment(tmp_path, "all", replace(LIMITS, cell_seconds=2.0, wall_seconds=6.0))
    report = grade(assignment, timed)
    assert report.graded == 1
    assert 9 < timed.seconds < 17  # 12 and the ends of sandboxes; each for itself had 6: 24
    assert all("not reached in time" in result.technical for result in load_results(tmp_path, "all"))


# --- what the grader itself computes ---


def _many_names() -> bytes:
    """A notebook of 400 kB: each answer uses two functions that read 36,000 unknown names, beside 24,000 statements."""
    names = ["".join(letters) for letters in islice(product(string.ascii_letters, repeat=3), 60_000)]
    functions = [f"def big{n}():\n    " + ";".join(f"q{name}" for name in names[n * 18_000 :][:18_000]) for n in (0, 1)]
    small = ["\n".join(f"z{name}=1" for name in names[start:][:12_000]) for start in (36_000, 48_000)]
    functions_of = {exercise.id: exercise.names[0] for exercise in catalogue.of_notebook(NOTEBOOK)}
    using = "{}\n\nif {} is None:\n    {} = big0, big1"
    content = json.loads(solved({one: using.format(answer(one), name, name) for one, name in functions_of.items()}))
    for number, source in enumerate(functions + small):
        content["cells"].append({"cell_type": "code", "id": f"own-{number}", "metadata": {}, "source": source,
                                 "outputs": [], "execution_count": None})  # fmt: skip
    return json.dumps(content).encode()


def _all_passed(text: bytes):
    """The task of a notebook, and the outcome in which each of its exercises has passed."""
    template, exercises = released_template(), catalogue.of_notebook(NOTEBOOK)
    submission = read_submission(text, template)
    assert submission.problem is None
    task = plan_task(submission, template, exercises, Result(NAME, "jane", NOTEBOOK), b"secret", LIMITS)
    return task, Outcome({one.id: Judged(Verdict(one.id, one.id, "passed", 1.0, 1.0)) for one in exercises})


def test_a_notebook_of_many_names_is_read_within_the_budget():
    """Names times statements, once for each exercise: 769 seconds of a budget of 300."""
    task, passed = _all_passed(_many_names())
    budget = Budget.of(LIMITS)
    add_stand_in_notes(task, passed, budget)
    assert 0 < budget.cpu < 0.2 * LIMITS.cpu_seconds


def test_notes_end_where_the_budget_ends():
    class Spent(Budget):
        asked = 0

        @property
        def spent_on(self):
            self.asked += 1
            return "all of it" if self.asked == 2 else None

    exercises = catalogue.of_notebook(NOTEBOOK)
    line = "{}\nfrom mybert.embeddings import sinusoids\nif {} is None:\n    {} = sinusoids"
    using = {one.id: line.format(answer(one.id), one.names[0], one.names[0]) for one in exercises}
    task, passed = _all_passed(solved(using).encode())
    noted = [add_stand_in_notes(task, passed, budget) for budget in (Budget.of(LIMITS), Spent(300, 300))]
    assert [sum(bool(outcome.verdict(one).notes) for one in exercises) for outcome in noted] == [len(exercises), 1]


# --- killed again and again ---


def test_a_file_that_is_killed_each_time_is_tried_three_times(tmp_path):
    course = released_course(tmp_path / "course")
    path = hand_in(course, "jane", solved())
    killed = Result(NAME, "jane", NOTEBOOK, sha256=digest(path), again=True, technical="killed")
    for tries in range(1, MAX_TRIES + 1):
        record = counted(course, killed)
        record.save(course)
        assert record.tries == tries
        assert anything_new(opened(course)) is (tries < MAX_TRIES)
    assert f"tried {MAX_TRIES} times and not again" in record.technical
    hand_in(course, "jane", solved() + " ")
    assert counted(course, replace(killed, sha256=digest(path))).tries == 1  # another file begins at 1


@pytest.mark.exhaustive
def test_a_program_that_kills_itself_is_not_tried_for_ever(tmp_path, launcher):
    """Each `grade` took it up again at 87264fd."""
    course = released_course(tmp_path / "course")
    hand_in(course, "jane", solved({"concat-heads": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"}))
    counts = [grade(opened(course), launcher).graded for _ in range(MAX_TRIES + 2)]
    assert counts == [1] * MAX_TRIES + [0, 0]
    result = result_of(course, "jane")
    assert (result.tries, result.again) == (MAX_TRIES, False) and "times and not again" in result.technical


# --- the stand-ins that an answer ran on, for every way in which they came in ---

PROGRAM = """
import keras
from mybert.attention import padding_mask as pad
from mybert.bert import Bert, own_variables

def places(bert):
    return own_variables(bert)

def width(bert):
    return len(places(bert))

def shape(x):
    return pad(x).shape
"""
BERT = "from mybert.encoder import Encoder\nclass Bert(Encoder): pass\ndef own_variables(bert): return {}\n"
ENCODER = "from mybert.attention import MultiHeadAttention\nclass Encoder(MultiHeadAttention): pass\n"


def _of(name, notebook="07_pretraining", **upstream):
    modules = {module: ParsedCell(text).statements for module, text in upstream.items()}
    return stand_ins_used(ParsedCell(PROGRAM).statements, {name}, notebook, modules)


def test_a_helper_that_is_not_the_students_own_is_named_where_it_is_used():
    assert _of("width") == ["mybert.bert.own_variables"]
    assert _of("width", bert="class Bert: pass") == ["mybert.bert.own_variables"]
    assert _of("shape") == ["mybert.attention.padding_mask"]


def test_what_is_the_students_own_is_not_named():
    assert _of("width", bert=BERT) == []
    assert _of("keras") == []


def test_what_an_own_answer_needs_in_turn_is_named():
    assert _of("Bert", bert=BERT) == ["mybert.encoder.Encoder"]
    assert _of("Bert", bert=BERT, encoder=ENCODER) == ["mybert.attention.MultiHeadAttention"]
    assert _of("Bert", bert=BERT, encoder=ENCODER, attention="class MultiHeadAttention: pass") == []


def test_an_answer_that_failed_and_was_replaced_in_its_module_is_named():
    replaced = "try:\n    from autograde.student.stand_ins.bert import own_variables\nexcept ImportError:\n    pass\n"
    assert _of("width", bert=f"{BERT}\n{replaced}") == ["mybert.bert.own_variables"]


def test_names_without_a_stand_in_are_not_named():
    unknown = ParsedCell("from mybert.bert import no_such_thing, _hidden").statements
    assert stand_ins_used(unknown, {"no_such_thing", "_hidden"}, "07_pretraining", {}) == []
    assert _of("Bert", notebook="05_bert") == []  # it builds that module itself


def test_modules_that_import_each_other_come_to_an_end():
    around = {
        "bert": "from mybert.encoder import Encoder as Bert",
        "encoder": "from mybert.bert import Bert as Encoder",
    }
    assert _of("Bert", **around) == []
