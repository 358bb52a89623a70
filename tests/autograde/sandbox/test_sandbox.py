"""A sandbox from the grader's side: what honest code gets, how sandboxes end, and that they share nothing."""
# ruff: noqa: F811 (fixtures of another file)

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sandbox_case import QUICK, SMALL, sandbox, zygote  # noqa: F401 (fixtures)

from autograde.common.errors import SandboxEnded
from autograde.grader.grading.budget import Budget
from autograde.sandbox import bubblewrap, seccomp

ROOT = Path(__file__).parents[3]


def _function(name, *arguments):
    return {"probe": {"kind": "function", "name": name, "tensors": False}, "arguments": list(arguments)}


def test_our_modules_come_before_another_autograde_in_the_environment(sandbox):
    """On a hub it has the student wheel. Without an __init__ of ours its package would be found in place of ours."""
    said = sandbox.run_cell("import autograde; print(autograde.__file__)").stdout
    assert said == f"{bubblewrap.LIBRARY}/autograde/__init__.py\n"


# --- cells ---


def test_a_cell_gives_its_output_and_leaves_its_names_for_the_next(sandbox):
    assert sandbox.run_cell("x = 20\nprint('hello')").stdout == "hello\n"
    assert sandbox.run_cell("print(x + 1)").stdout == "21\n"


def test_an_error_names_the_students_own_line_even_in_an_earlier_cell(sandbox):
    sandbox.run_cell("def f(x):\n    y = 1\n    return y / x")
    error = sandbox.run_cell("import math\nf(0)").error
    assert (error.name, error.cell, error.line) == ("ZeroDivisionError", 1, 3)


def test_a_syntax_error_costs_only_its_own_cell(sandbox):
    error = sandbox.run_cell("x = 1\nif x\n    y = 2").error
    assert (error.name, error.line) == ("SyntaxError", 2)
    assert sandbox.run_cell("print(3)").stdout == "3\n"


def test_shell_commands_and_installations_do_nothing_and_say_so(sandbox):
    result = sandbox.run_cell("!touch made-by-a-shell\n%pip install something\nfiles = !ls\nprint(len(files))")
    assert result.error is None and result.stdout.count("Not run") == 3
    assert sandbox.run_cell("import os; print(os.listdir())").stdout == "[]\n"


@pytest.mark.parametrize(
    "code",
    [
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);",
        "from IPython.display import HTML, display\ndisplay(HTML('<b>bold</b>'))\n1",
    ],
)
def test_pictures_and_html_stay_in_the_sandbox(sandbox, code):
    result = sandbox.run_cell(code)
    assert (result.stdout, result.error, result.limit) == ("", None, None)


def test_files_of_the_submission_can_be_put_into_the_working_folder(sandbox):
    sandbox.put({"data/words.txt": b"one two"})
    assert sandbox.run_cell("print(open('data/words.txt').read())").stdout == "one two\n"


def test_a_cell_that_takes_too_long_is_interrupted_and_the_sandbox_continues(sandbox):
    result = sandbox.run_cell("x = 5\nwhile True: pass", seconds=0.5)
    assert (result.limit, result.error.name, result.error.line) == ("wall clock", "KeyboardInterrupt", 2)
    assert sandbox.run_cell("print(x)").stdout == "5\n"


@pytest.mark.slow
def test_time_spent_waiting_for_a_processor_does_not_count(zygote):
    """Far more spinning processes than processors, and a cell that computes for most of the time it is given."""
    spin = [sys.executable, "-c", "while True: pass"]
    # Each a session of its own: Linux may share processors out among sessions, not among processes.
    crowd = [subprocess.Popen(spin, start_new_session=True) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        with zygote.start(QUICK) as sandbox:
            sandbox.run_cell("import time\ndef work(seconds):\n    end = time.process_time() + seconds\n"
                          "    while time.process_time() < end: pass")  # fmt: skip
            began = time.monotonic()
            result = sandbox.run_cell("work(0.5)", seconds=1.0)
            seconds = time.monotonic() - began
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    assert result.error is None and result.limit is None
    assert seconds > 1.0  # it took longer than it was given: by the crowd's part


# --- a grader that stands still ---


@contextlib.contextmanager
def _stopped(after: float, seconds: float):
    """This process is stopped meanwhile, as by a laptop that is suspended; the sandbox continues."""
    me = os.getpid()
    with subprocess.Popen(["sh", "-c", f"sleep {after}; kill -STOP {me}; sleep {seconds}; kill -CONT {me}"]):
        yield


def test_a_pause_of_the_grader_makes_no_cell_late(sandbox):
    """It stood still for 19 s, and half of the quick answers were called late."""
    with _stopped(after=0.3, seconds=3):
        result = sandbox.run_cell("import time\ntime.sleep(0.8)\nprint('done')", seconds=1.5)
    assert (result.stdout, result.limit, result.error) == ("done\n", None, None)


def test_a_pause_of_the_grader_interrupts_no_answer(sandbox):
    """Numbers that fill the socket: the agent is in the middle of writing when the grader looks again."""
    sandbox.run_cell("import time\nimport numpy as np\ndef large(n):\n    time.sleep(0.6)\n    return np.arange(n)")
    with _stopped(after=0.3, seconds=3):
        [answer] = sandbox.ask([_function("large", 1_000_000)], 1.5)
    assert answer.status == "ok" and answer.value[-1] == 999_999
    assert sandbox.run_cell("print('alive')").stdout == "alive\n"


def test_a_pause_of_the_grader_is_not_time_of_the_sandbox_or_the_budget(zygote):
    budget = Budget(wall_seconds=4.0, cpu_seconds=10)
    with budget.sandbox(zygote, QUICK) as sandbox:
        with _stopped(after=0.2, seconds=5):
            assert sandbox.run_cell("import time\ntime.sleep(0.7)").error is None
        assert sandbox.run_cell("print(1)").error is None
    assert budget.wall < 3 and budget.spent_on is None


# --- questions ---


def test_questions_come_back_as_plain_arrays(sandbox):
    sandbox.run_cell("def double(x):\n    print('ignored')\n    return 2 * x")
    [answer] = sandbox.ask([_function("double", np.arange(3.0))])
    np.testing.assert_array_equal(answer.value, [0.0, 2.0, 4.0])
    assert answer.printed


def test_a_function_that_draws_is_called_with_a_generator_of_each_seed(sandbox):
    sandbox.run_cell("def draw(n, rng):\n    return list(rng.permutation(n))")
    probe = {"kind": "seeded", "name": "draw", "tensors": False, "seeds": [1, 2, 1]}
    [answer] = sandbox.ask([{"probe": probe, "arguments": [5]}])
    first, other, again = answer.value
    assert first == again == np.random.default_rng(1).permutation(5).tolist() and first != other


def test_a_question_that_takes_too_long_does_not_cost_the_answers_before_it(sandbox):
    sandbox.run_cell("def quick(x): return x\ndef slow(x):\n    while True: pass")
    one = np.ones(1)
    answers = sandbox.ask([_function("quick", one), _function("slow", one), _function("quick", one)], 0.5)
    assert [answer.status for answer in answers] == ["ok", "raised", "raised"]
    assert answers[1].late and answers[1].failure.kind == "TimeoutError"


@pytest.mark.parametrize(
    "forged",
    [
        "call_answer.answer = lambda *a, **k: []",
        "call_answer.answer = lambda *a, **k: [{'status': 'full marks', 'value': None, 'error': None, 'notes': {}}]",
        "call_answer.answer = lambda *a, **k: [{'status': 'ok'}]",
        "call_answer.answer = lambda *a, **k: 'ok'",
        "call_answer.answer = lambda *a, **k: [1]",
        # an array of objects
        "values.encode_items = lambda *a: (['array', {'dtype': 'object', 'shape': [1], 'buffer': 0}], [b'12345678'])",
    ],
)
def test_answers_that_are_not_answers_end_the_sandbox(sandbox, forged):
    sandbox.run_cell(f"from autograde.boundary import call_answer, values\n{forged}")
    with pytest.raises(SandboxEnded, match="protocol"):
        sandbox.ask([_function("anything")])


@pytest.mark.parametrize(
    ("code", "fitting"),
    [
        ("return np.zeros(n)", 4),  # 15 MiB each: 64 together
        ("return ['\u00e9' * 100_000] * 5", 1),  # in JSON each is six characters
        ("return [[float(i)] for i in range(5000)]", 5),
        ("return [np.zeros(1)] * 1000", 4),
    ],
)
def test_several_large_answers_do_not_end_the_agent(sandbox, code, fitting):
    """Each for itself was small enough, and all together cost the answers and the sandbox."""
    sandbox.run_cell(f"import numpy as np\ndef large(n): {code}\ndef small(n): return n")
    questions = [_function("large", 2_000_000)] * 8 + [_function("small", 1)]
    *large, small = sandbox.ask(questions)
    assert [answer.status for answer in large] == ["ok"] * fitting + ["refused"] * (8 - fitting)
    assert large[-1].failure.reason == "too large" and small.value == 1
    assert sandbox.run_cell("print('alive')").stdout == "alive\n"


# --- how sandboxes end ---


@pytest.mark.parametrize(
    "code, reason, detail",
    [
        ("import os; os._exit(3)", "exit", "the program ended itself"),
        ("import ctypes; ctypes.string_at(0)", "signal", "SIGSEGV"),
        ("import signal; signal.signal(2, signal.SIG_IGN)\nwhile True: pass", "wall clock", "within 0.5 s"),
    ],
)
def test_a_sandbox_that_ends_says_how(sandbox, code, reason, detail):
    with pytest.raises(SandboxEnded, match=detail):
        sandbox.run_cell(code, seconds=0.5)
    assert sandbox.ended.reason == reason
    with pytest.raises(SandboxEnded, match=detail):
        sandbox.run_cell("1")


def test_a_closed_sandbox_says_so(zygote):
    sandbox = zygote.start(QUICK)
    sandbox.close()
    assert sandbox.ended.reason == "closed"


def test_a_sandbox_knows_what_it_used(sandbox):
    sandbox.run_cell("data = b'x' * (64 << 20)\nfor _ in range(3_000_000): pass\nimport time; time.sleep(0.3)")
    assert sandbox._watch.peak > 64 << 20 and sandbox.usage()["cpu_seconds"] > 0


# --- sandboxes share nothing ---


def test_what_one_sandbox_does_no_other_sees(zygote):
    with zygote.start(QUICK) as first, zygote.start(QUICK) as second:
        first.run_cell("import builtins, json\nbuiltins.left_behind = 1\njson.left_behind = 1\nopen('/tmp/x', 'w')")
        code = "import builtins, json, os\nprint(hasattr(builtins, 'left_behind'), hasattr(json, 'left_behind'))"
        assert second.run_cell(code).stdout == "False False\n"
        assert second.run_cell("print(os.path.exists('/tmp/x'))").stdout == "False\n"


def test_sandboxes_draw_different_random_numbers_unless_they_are_given_a_seed(zygote):
    code = "import random, numpy\nprint(random.random(), numpy.random.rand())"

    def draw(seed):
        with zygote.start(QUICK, seed=seed) as sandbox:
            return sandbox.run_cell(code).stdout

    assert draw(None) != draw(None)
    assert draw(7) == draw(7) != draw(8)


def test_eight_sandboxes_at_once_each_answer_for_themselves(zygote):
    printed = {}

    def work(number):
        with zygote.start(QUICK) as sandbox:
            sandbox.run_cell(f"x = {number}")
            printed[number] = sandbox.run_cell("print(x * x)").stdout

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert printed == {number: f"{number * number}\n" for number in range(8)}


def test_many_sandboxes_leave_no_descriptor_and_no_process(zygote):
    def open_here():
        return len(os.listdir("/proc/self/fd"))

    with zygote.start(QUICK) as sandbox:
        sandbox.run_cell("1")
    before = open_here()
    for _ in range(20):
        with zygote.start(QUICK) as sandbox:
            sandbox.run_cell("1")
    assert open_here() == before


def test_when_the_grader_is_killed_everything_in_its_sandboxes_dies():
    program = (
        "import time\nfrom autograde.sandbox.launchers import Zygote\n"
        "sandbox = Zygote(packages={}, preload=()).start()\nprint(sandbox.pid, flush=True)\n"
        "sandbox.run_cell('while True: pass')"
    )
    grader = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    line = grader.stdout.readline()
    if not line:
        pytest.skip("no sandbox can be made here")
    time.sleep(0.3)
    grader.kill()
    grader.communicate()
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{line.strip()}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{line.strip()}")


# --- the protections ---


def test_every_denied_system_call_is_denied_in_a_sandbox(sandbox):
    numbers = {name: seccomp.number(name) for name in seccomp.DENIED if seccomp.number(name) is not None}
    code = (
        "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"for name, number in {numbers!r}.items():\n"
        "    result = libc.syscall(number, -1, -1, -1, -1, -1, -1)\n"
        "    if result != -1 or ctypes.get_errno() != errno.EPERM:\n        print(name, result, ctypes.get_errno())"
    )
    assert sandbox.run_cell(code).stdout == ""


@pytest.mark.parametrize(
    "column, header", [(0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), (1, "/usr/include/asm-generic/unistd.h")]
)
def test_the_numbers_of_system_calls_are_the_kernels(column, header):
    if not os.path.exists(header):
        pytest.skip(f"{header} is not installed (package linux-libc-dev)")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text()))
    for name, numbers in (seccomp.DENIED | seccomp._SPECIAL).items():
        if name in known or numbers[column] is None:
            assert numbers[column] == (int(known[name]) if name in known else None), name


def test_a_sandbox_sees_its_own_processes_only(sandbox, zygote):
    with zygote.start(QUICK):
        listing = sandbox.run_cell("import os\nprint([name for name in os.listdir('/proc') if name.isdigit()])").stdout
    assert listing == "['1', '2']\n"


def test_threads_and_children_still_work(sandbox):
    code = (
        "import subprocess, threading\nt = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n"
        "print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout)"
    )
    assert sandbox.run_cell(code).stdout == "thread\nchild\n\n"


def test_of_our_own_package_a_sandbox_holds_only_what_it_needs(sandbox):
    listing = sandbox.run_cell("import os\nprint(sorted(os.listdir('/sandbox/lib/autograde')))").stdout
    assert listing == "['__init__.py', 'boundary', 'common', 'sandbox', 'student']\n"
    for room in ("boundary", "common"):
        held = sorted(name.removeprefix(f"{room}/") + ".py" for name in bubblewrap.SHARED_MODULES if room in name)
        assert sandbox.run_cell(f"print(sorted(os.listdir('/sandbox/lib/autograde/{room}')))").stdout == f"{held}\n"
    code = "import os\nprint([sorted(names) for *_, names in os.walk('/sandbox/lib/autograde/student')])"
    assert sandbox.run_cell(code).stdout == "[['__init__.py'], ['__init__.py']]\n"


READ = """
import os
import email, ipaddress
names = [ipaddress.__file__, os.path.join(os.path.dirname(email.__file__), "message.py")]
def texts(name):
    folder, last = os.path.split(name)
    yield lambda: open(name).read()
    yield lambda: os.read(os.open(last, os.O_RDONLY, dir_fd=os.open(folder, os.O_RDONLY)), 100)
    os.symlink(name, f"/tmp/{last}")
    yield lambda: open(f"/tmp/{last}").read()
    yield lambda: open(f"/proc/self/root{name}").read()
    yield lambda: __import__("subprocess").run(["cat", name], capture_output=True).stdout
for name in names:
    for text in texts(name):
        try:
            print(len(text()))
        except FileNotFoundError:
            print(0)
"""


def test_the_files_of_covered_modules_are_gone_by_every_way_to_them(zygote):
    for covered, wanted in ((("email", "ipaddress", "no_such_module", "email.no.such"), [0]), ((), range(1, 200_000))):
        with zygote.start(replace(QUICK, covered=covered)) as sandbox:
            result = sandbox.run_cell(READ)
            assert result.error is None and all(int(size) in wanted for size in result.stdout.split()), result
            umount = "import ctypes, email\nprint(ctypes.CDLL(None).umount2(email.__path__[0].encode(), 2))"
            assert sandbox.run_cell(umount).stdout == "-1\n"


def test_checks_and_drawings_do_nothing_in_a_sandbox_under_any_name(sandbox):
    code = (
        "from autograde.student import check, heat_maps, a_drawing_of_later\n"
        "check(print, seconds=1)\nwith heat_maps([[1.0]], alt='x').more as shown:\n    print(list(shown))\n"
        "from autograde.student.stand_ins import __path__ as places\nprint(len(places))\n"
        "from autograde.student.checking import check"
    )
    result = sandbox.run_cell(code)
    assert result.stdout == "[]\n1\n" and result.error.name == "ModuleNotFoundError"
