"""The end of a run of the tests: seconds, budget, the slowest files and exercises."""

from types import SimpleNamespace

from budget import Budget, note_exercise


def report(nodeid, duration, exercise=None):
    properties = [("exercise", exercise)] if exercise else []
    return SimpleNamespace(nodeid=nodeid, duration=duration, user_properties=properties)


def test_seconds_are_added_up_by_file_and_by_exercise():
    budget = Budget(480)
    for one in (report("tests/a.py::x", 1.0), report("tests/a.py::y[s]", 2.5, "scores"), report("tests/b.py::z", 9.0),
                report("tests/b.py::z[s]", 0.5, "scores"), report("tests/b.py::z[t]", 1.0, "tokens")):  # fmt: skip
        budget.pytest_runtest_logreport(one)
    assert budget.lines(300.4) == [
        "300 s of a budget of 480 s; slowest files: tests/b.py 10 s, tests/a.py 4 s",
        "2.0 s for an exercise of a budget of 2 s; slowest: scores 3.0 s, tokens 1.0 s",
    ]


def test_without_exercises_and_without_a_limit_one_line_shows_the_time():
    budget = Budget(None)
    budget.pytest_runtest_logreport(report("tests/a.py::x", 1.0))
    assert budget.lines(2.0) == ["2 s; slowest files: tests/a.py 1 s"]


def test_a_test_that_is_given_an_exercise_reports_its_id():
    scores = SimpleNamespace(id="scores")
    given = SimpleNamespace(callspec=SimpleNamespace(params={"exercise": scores}), user_properties=[])
    other = SimpleNamespace(user_properties=[])
    note_exercise(given)
    note_exercise(other)
    assert (given.user_properties, other.user_properties) == ([("exercise", "scores")], [])
