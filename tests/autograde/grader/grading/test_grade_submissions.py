"""One notebook in a sandbox: what counts, what costs once, what ends a sandbox and what does not end the grading."""

import json
from dataclasses import replace

import pytest
from grade_class import FUNCTIONS, LAYER, NOTEBOOK, POINTS_OF_FUNCTIONS, answer, grade_alone, released_template, solved
from grade_class import POINTS as POINTS_OF_ALL

from autograde.exercises import catalogue
from autograde.exercises.cells import patched_cell, stub_cell
from autograde.exercises.proofs import alternatives
from autograde.grader.grading import run_cells
from autograde.grader.grading.submission import LIMITS
from autograde.release import editions

POINTS = POINTS_OF_FUNCTIONS


@pytest.fixture(scope="module")
def graded(launcher):
    """Grades a notebook's text, by default its functions; returns the record and its verdicts by exercise."""
    template = released_template()

    def grade(text, limits=LIMITS, student="jane", exercises=FUNCTIONS):
        return grade_alone(text, launcher, template, exercises, limits, student)

    return grade


@pytest.mark.slow
def test_the_solution_earns_everything_and_the_untouched_release_nothing(graded):
    every = catalogue.of_notebook(NOTEBOOK)
    result, _ = graded(editions.make(NOTEBOOK).source, exercises=every)
    assert (result.points, result.max_points, result.technical) == (POINTS_OF_ALL, POINTS_OF_ALL, None)
    untouched, verdicts = graded(editions.make(NOTEBOOK).student, exercises=every)
    assert (untouched.points, untouched.max_points) == (0, POINTS_OF_ALL)
    assert {verdict.status for verdict in verdicts.values()} == {"not attempted"}


def test_an_answer_may_use_what_a_cell_of_the_notebook_imports(launcher):
    """`check` accepts it, because the notebook's first cell has run; the grader does not run that cell."""
    first_cell = "from collections import Counter"
    assert first_cell in editions.make("01_wordpiece").student
    counting = "    counts = Counter(pair for ps, n in spelled for pair in zip(ps, ps[1:]) for _ in range(n))\n"
    head = answer("count-pairs").partition("    ### BEGIN SOLUTION")[0]
    text = solved({"count-pairs": head + counting + "    return dict(counts)"}, notebook="01_wordpiece")
    exercises = (catalogue.find("count-pairs"),)
    result, _ = grade_alone(text, launcher, released_template("01_wordpiece"), exercises)
    assert (result.points, result.technical) == (2, None)


@pytest.mark.slow
def test_one_mistake_costs_once_and_is_named(graded):
    wrong = answer("scores").replace("/ d_attn**0.5", "* d_attn**0.5")
    result, verdicts = graded(solved({"scores": wrong}))
    assert verdicts["scores"].misconception == "multiplied-by-root"
    assert verdicts["scores"].points == 0 and result.points == POINTS - 3
    assert verdicts["attention"].passed
    assert "3.4 attention_scores in place of yours" in verdicts["attention"].notes[0]
    assert not verdicts["softmax-rows"].notes  # it built on nothing that was wrong


@pytest.mark.slow
def test_a_mistake_of_its_own_is_not_forgiven_for_an_earlier_one(graded):
    edits = {
        "scores": answer("scores").replace("/ d_attn**0.5", ""),
        "causal-mask": answer("causal-mask").replace("j <= i", "j < i"),
    }
    result, verdicts = graded(solved(edits))
    assert verdicts["causal-mask"].points == 0 and verdicts["causal-mask"].misconception
    assert result.points == POINTS - 3 - 2


NO_COLON = "def add_to_rows(x, b)\n    return x + b"
ABORTS = "import os\n\ndef softmax_rows(a):\n    os.abort()"


@pytest.mark.parametrize(
    ("exercise", "cell", "status", "said"),
    [
        ("padding-mask", "import os\nos._exit(3)", "technical", "ended itself"),
        pytest.param("softmax-rows", ABORTS, "technical", "SIGABRT", marks=pytest.mark.slow),
        pytest.param("add-to-rows", NO_COLON, "missing", "SyntaxError", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_cell_that_fails_costs_its_own_exercise_and_says_why(graded, exercise, cell, status, said):
    result, verdicts = graded(solved({exercise: cell}))
    verdict = verdicts[exercise]
    assert verdict.status == status and said in (verdict.technical or " ".join(verdict.advice))
    assert said in (result.technical or said)
    assert result.points == POINTS - verdict.max_points


@pytest.mark.slow
def test_a_cell_without_end_is_cut_off_and_the_rest_counts(graded):
    short = replace(LIMITS, cell_seconds=1.0, grace_seconds=1.0)
    result, _ = graded(solved(after={"scores": "while True:\n    pass"}), short)
    assert result.points == POINTS


@pytest.mark.parametrize(
    "first", ["from google.colab import drive\ndrive.mount('/content/drive')\n", "import os\nos.chdir('/content')\n"]
)
def test_what_only_colab_can_do_costs_nothing_in_the_set_up(graded, first):
    """First seen at 8bb5020d: 0 of 29 points, since nothing behind these lines was run."""
    content = json.loads(solved({LAYER: stub_cell(answer(LAYER))}))
    setup = next(one for one in content["cells"] if "setup" in one["metadata"].get("tags", []))
    setup["source"] = first + "".join(setup["source"])
    for one in content["cells"]:
        one["metadata"] = {"id": "x"}  # all that Colab leaves
    result, _ = graded(json.dumps(content))
    assert result.points == POINTS


def test_an_unused_module_that_is_not_here_costs_nothing(graded):
    result, _ = graded(solved({LAYER: stub_cell(answer(LAYER)), "scores": f"import seaborn\n{answer('scores')}"}))
    assert result.points == POINTS
    assert any("does not have the module 'seaborn'" in sentence for sentence in result.repairs)


def test_an_answer_above_what_it_needs_is_found_at_the_end(graded):
    early = f"{answer('attention')}\n"
    later = "def attention(*all_of_it):\n    return _attention(*all_of_it)"
    edits = {"attention": later}
    helper = early.replace("def attention(", "def _attention(")
    result, _ = graded(solved(edits, after={"cross-attention": helper}))
    assert result.points == POINTS


@pytest.mark.slow
def test_the_output_of_a_program_beside_solutions_reaches_nobody(graded):
    """After a failed exercise the program may read the solution; its words must not come out."""
    wrong = answer("scores").replace("/ d_attn**0.5", "")
    spy = "def cross_attention(*a):\n    raise ValueError(In[-1] + str(attention_scores.__doc__) + 'CANARY')"
    result, verdicts = graded(solved({"scores": wrong, "cross-attention": spy}))
    first_words = " ".join(verdicts["cross-attention"].advice)
    assert "d_attn = q.shape[-1]" not in first_words  # a line of the solution
    assert verdicts["cross-attention"].points == 0


@pytest.mark.slow
def test_an_error_is_reported_by_its_name_and_line_without_what_the_program_put_into_it(graded):
    spy = "class Spy(Exception):\n    pass\n\ndef softmax_rows(a):\n    raise {}(str(a))"
    for raised, told in (
        ("ValueError", "ValueError in line 5"),
        ("type(str(a.numpy().tolist()), (Spy,), {})", "an error"),
    ):
        _, verdicts = graded(solved({"softmax-rows": spy.replace("{}", raised, 1)}))
        sentence, hint = verdicts["softmax-rows"].advice
        assert hint == f"Hint: {catalogue.find('softmax-rows').hints[0]}"
        assert verdicts["softmax-rows"].status == "raised" and told in sentence and "[" not in sentence


@pytest.mark.slow
def test_a_cell_cannot_tell_what_an_earlier_question_asked(graded):
    edits = {
        "softmax-rows": "seen = []\ndef softmax_rows(a):\n    seen.append(str(a.numpy().tolist()))\n    return a",
        "causal-mask": "raise ValueError(str(seen))",
        "padding-mask": "padding_maks",
    }
    result, verdicts = graded(solved(edits))
    assert verdicts["causal-mask"].advice[-2].endswith("failed: ValueError in line 1.")
    assert verdicts["padding-mask"].advice[-2].endswith("name 'padding_maks' is not defined.")
    assert "[[" not in str(result.to_json())


def test_right_answers_that_do_not_fit_together_are_both_right(graded):
    """3.11 leans on 3.8 for inputs without a batch, which this 3.8, like its docstring, does not know."""
    leaning = alternatives(catalogue.find("cross-attention"))["masked self attention of both"]
    query_by_query = "MASKED_SCORE = -1e9\n" + alternatives(catalogue.find("masked-attention"))["query by query"]
    result, verdicts = graded(solved({"masked-attention": query_by_query, "cross-attention": leaning}))
    assert result.points == POINTS and "answers to the exercises before it" in verdicts["cross-attention"].notes[0]
    (sentence,) = result.untested  # all that it leans on had passed: a test of 3.8 is missing
    assert sentence.startswith("3.11 cross_attention is right on") and "3.8 masked_attention" in sentence


@pytest.mark.slow
def test_a_mistake_that_shows_as_an_error_is_named_too(graded):
    mistake = next(one for one in catalogue.find("scores").misconceptions if one.id == "not-turned")
    _, verdicts = graded(solved({"scores": patched_cell(catalogue.find("scores"), mistake)}))
    assert verdicts["scores"].status == "raised" and verdicts["scores"].misconception == "not-turned"


def test_hidden_inputs_differ_between_students_and_stay_the_same_for_one(graded):
    memory = {}
    for student in ("jane", "john", "jane"):
        _, verdicts = graded(editions.make(NOTEBOOK).student, student=student)
        memory.setdefault(student, []).append(verdicts["scores"].seed)
    assert memory["jane"][0] == memory["jane"][1] != memory["john"][0]


@pytest.mark.slow
def test_the_same_file_gets_the_same_verdict(graded):
    text = solved({"mh-attention": answer("mh-attention").replace("concat_heads(found)", "found[0]")})
    first, second = (replace(graded(text)[0], seconds=0) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("content", [b"", b"hello", b'{"cells": [', b"%PDF-1.4", b"\xff\xfe\x00\x01"])
def test_a_file_that_cannot_be_read_is_a_verdict_for_the_student(graded, content):
    result, verdicts = graded(content)
    assert result.problem and result.points == 0 and result.max_points == POINTS
    assert all(verdict.advice == (result.problem,) for verdict in verdicts.values())


@pytest.mark.slow
def test_a_part_that_was_lost_to_the_clock_says_so(graded, monkeypatch):
    monkeypatch.setattr(run_cells, "QUESTION_SECONDS", 3.0)
    wait = "__import__('time').sleep(0.1)"  # in the last part only
    endless = f"    while tuple(k.shape) == (1, 5, 4): {wait}\n    scores = attention_scores"
    slow = answer("masked-attention").replace("    scores = attention_scores", endless)
    result, verdicts = graded(solved({"masked-attention": slow}))
    assert (verdicts["masked-attention"].status, verdicts["masked-attention"].points) == ("partly", 3)
    assert "To a question it had given no answer after 3 seconds." in verdicts["masked-attention"].advice
    assert result.points == POINTS - 1
