"""A check ends also where the student's code does not, and says in which loop it was."""

import signal
import threading
import time

import nbformat.v4 as v4
import pytest
from autograde_case import written
from nbclient import NotebookClient

from autograde.student import time_limit
from autograde.student.time_limit import counted

RIGHT = "return q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5"
ENDLESS = """# a comment
def attention_scores(q, k):
    i = 0
    while i < len(q):
        for row in range(3):
            i + 1
    return q"""
CALLS_AN_ENDLESS_ONE = """def smaller(i):
    return i

def attention_scores(q, k):
    i = 3
    while i:
        i = smaller(i)
    return q"""
SLOW = """def attention_scores(q, k):
    import time
    for i in range(10**6):
        try:
            time.sleep(1)
        except Exception:
            pass
    return q"""


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module", autouse=True)
def warm():
    """The first call of an operation is slow; afterwards a second is long."""
    check_of(f"def attention_scores(q, k):\n    {RIGHT}", seconds=60)


def check_of(source: str, seconds: float, name: str = "attention_scores"):
    space = written("from autograde.student import check\n" + source)
    exec(f"shown = check({name}, seconds={seconds})", space)
    return space["shown"]


# Lines count from the cell's first, which `check_of` adds.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "loop", "inside"),
    [
        (ENDLESS, "line 5: `while i < len(q):`", ("your line 5:", "your line 6:", "your line 7:")),
        (CALLS_AN_ENDLESS_ONE, "line 7: `while i:`", ("your line 2:", "your line 3:", "your line 7:", "your line 8:")),
        (SLOW, "line 4: `for i in range(10**6):`", ("your line 6:",)),
    ],
)
def test_an_endless_loop_is_stopped_and_named(source, loop, inside):
    began = time.monotonic()
    shown = check_of(source, seconds=2)
    assert time.monotonic() - began < 100
    text = str(shown.verdict)
    assert shown.verdict.status == "raised" and shown.verdict.points == 0
    assert f"did not end within 2 s, in the loop that begins in {loop}" in text
    assert any(place in text for place in inside), text
    assert "which condition ends it" in text


@pytest.mark.slow
def test_what_was_right_before_an_endless_call_keeps_its_points():
    """Two matrices are put together; with a batch in front of them it never ends."""
    source = "def concat_heads(heads):\n    while len(heads[0].shape) > 2:\n        pass\n"
    verdict = check_of(source + "    return ops.concatenate(heads, axis=-1)", 2, "concat_heads").verdict
    assert verdict.status == "partly" and 0 < verdict.points < verdict.max_points
    assert "did not end within 2 s" in str(verdict) and "line 3: `while len(heads[0].shape) > 2:`" in str(verdict)


@pytest.mark.slow
def test_code_without_a_loop_is_named_by_its_line():
    verdict = check_of("def attention_scores(q, k):\n    import time\n    time.sleep(60)", seconds=2).verdict
    assert "did not end within 2 s" in str(verdict) and "in the loop" not in str(verdict)
    assert "your line 4:  time.sleep(60)" in str(verdict)


def test_no_alarm_rings_afterwards_and_another_ones_handler_is_back():
    def other(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGALRM, other)
    try:
        with pytest.raises(time_limit.TimeLimitExceeded), time_limit.limit(0.05):
            time.sleep(30)
        with time_limit.limit(0.5):
            pass
        assert signal.getsignal(signal.SIGALRM) is other
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_alarm_that_is_caught_rings_again():
    with pytest.raises(time_limit.TimeLimitExceeded), time_limit.limit(0.05):
        try:
            time.sleep(30)
        except:  # noqa: E722
            time.sleep(30)


def test_where_no_alarm_can_ring_a_line_shows_how_to_end_the_cell(capsys):
    def in_another_thread():
        with time_limit.limit(0.1):
            time.sleep(1)

    thread = threading.Thread(target=in_another_thread)
    thread.start()
    thread.join()
    assert "The ■ button stops the cell" in capsys.readouterr().out
    with time_limit.limit(30):  # ends in time
        pass
    assert capsys.readouterr().out == ""


def test_a_check_from_another_thread_still_judges():
    found = []
    space = written(f"from autograde.student import check\ndef attention_scores(q, k):\n    {RIGHT}")
    thread = threading.Thread(target=lambda: found.append(eval("check(attention_scores)", space)))
    thread.start()
    thread.join()
    assert found[0].verdict.passed


@pytest.mark.exhaustive
def test_in_a_notebooks_kernel_the_lines_are_the_cells_and_the_kernel_continues(tmp_path):
    cells = [
        "from autograde.student import check, load_backend\nload_backend()\nfrom keras import ops",
        "%matplotlib inline\ndef attention_scores(q, k):\n    i = 0\n    while i < 1:\n        i = i * 2\n    return q",
        "check(attention_scores, seconds=5)",
        "print('still here')",
    ]
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in cells])
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    shown = notebook.cells[2].outputs[0]["data"]["text/plain"]
    assert "did not end within 5 s, in the loop that begins in line 4: `while i < 1:`" in shown
    assert notebook.cells[3].outputs[0]["text"] == "still here\n"


@pytest.mark.slow
def test_a_loop_that_catches_everything_is_stopped_too():
    loop = "    while True:\n        try:\n            q = q + 1\n        except:\n            pass"
    text = str(check_of(f"def attention_scores(q, k):\n{loop}", seconds=1).verdict)
    assert "did not end within 1 s, in the loop that begins in line 3: `while True:`" in text


@pytest.mark.slow
@pytest.mark.parametrize("tensor", ["ops.ones((200000, 1)) @ ops.ones((1, 200000))", "np.zeros((10**6, 10**6)) + q"])
def test_a_tensor_larger_than_memory_ends_within_a_minute_and_says_so(tensor):
    began = time.monotonic()
    text = str(check_of(f"def attention_scores(q, k):\n    return {tensor}", seconds=20).verdict)
    assert time.monotonic() - began < 60
    assert "needs more memory than this machine has" in text and "job:localhost" not in text


def test_an_alarm_inside_of_tensorflows_own_error_is_about_memory():
    mixed = {"type": "RuntimeError", "base": "RuntimeError", "message": "MISMATCH: REPLACED BY TimeLimitExceeded"}
    answer = {"status": "raised", "value": None, "notes": {}, "error": mixed}
    assert time_limit._is_out_of_memory(answer) and answer["error"]["type"] == "MemoryError"


# --- the line of a slow check ---


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves: its list's last number is the time."""
    times = [0.0]
    monkeypatch.setattr(time_limit.time, "monotonic", lambda: times[-1])
    return times


def test_a_slow_check_shows_one_line_that_replaces_itself(clock, capsys):
    for _ in counted(["a", "b", "c"]):
        clock.append(clock[-1] + 5)
    first, second, third, last = capsys.readouterr().out.split("\r")
    assert (first, second) == ("", "Checking: call 2 of 3 after 5 s …")
    assert third == "Checking: call 3 of 3 after 10 s …"
    assert last.rstrip(" \n") == "Checked in 15 s." and len(last) > len(third)  # spaces hide the line before


def test_a_check_that_takes_a_second_shows_none(clock, capsys):
    for _ in counted(list(range(100))):
        clock.append(clock[-1] + 0.01)
    assert capsys.readouterr().out == ""


def test_the_line_ends_where_the_check_stops_early(clock, capsys):
    for call in counted(["a", "b", "c"]):
        clock.append(clock[-1] + 5)
        if call == "b":
            break
    assert capsys.readouterr().out.rstrip(" \n").endswith("\rChecked in 10 s.")


def test_a_check_counts_its_calls(monkeypatch, capsys):
    monkeypatch.setattr(time_limit, "PATIENCE", -1.0)
    question = {"probe": {"kind": "call"}, "names": ["missing"], "arguments": {}}
    monkeypatch.setattr(time_limit.call_answer, "answer", lambda questions, space: [{"status": "ok", "error": None}])
    assert len(time_limit.answer_in_time([question] * 4, {})) == 4
    assert "call 4 of 4 after 0 s" in capsys.readouterr().out
