"""Both commands when the user errs, interrupts or has an unusual disk: one line, an exit code, never a traceback."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec

import pytest

from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary

TOKENIZE = [sys.executable, "-m", "bertlab", "tokenize", "--vocab", "vocab.txt"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("the river the bank\n", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    Vocabulary([*SPECIAL_TOKENS, "the"]).save("vocab.txt")
    return tmp_path


def run(*command: str):
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("bertlab summary nothing.json", "nothing.json: "),
        ("bertlab summary gigantic", "there is no size 'gigantic'"),
        ("bertlab summary folder", "folder: no checkpoint here"),
        ("bertlab summary broken.json", "broken.json: not valid JSON"),
        ("bertlab tokenize --vocab empty.txt the", "empty.txt line 0"),
        ("bertlab vocab learn folder --out v.txt", "folder: cannot be read"),
        ("bertlab vocab learn text.txt --out text.txt/v.txt", "text.txt"),
        ("autograde init text.txt/course", "text.txt/course"),
        ("autograde status --course folder", "folder: expected a course folder"),
        ("autograde release 99_none --to folder", "99_none.py: the solution notebook does not exist"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(folder, command, said):
    done = run(*command.split())
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(f"{command.split()[0]}: ") and said in line


@pytest.mark.parametrize("backend, said", [("foo", "expected tensorflow, jax or torch"), ("jax", "is not installed")])
def test_a_backend_that_cannot_be_used_is_named_in_one_line(folder, monkeypatch, backend, said):
    if backend == "jax" and find_spec("jax"):
        pytest.skip("JAX is installed here")
    monkeypatch.setenv("KERAS_BACKEND", backend)
    done = run("bertlab", "fill-mask", "the [MASK]")
    assert done.returncode == 2 and done.stderr.startswith(f"bertlab: KERAS_BACKEND={backend}: ")
    assert said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["bertlab nosuch", "bertlab summary", "autograde grade --workers many"])
def test_a_command_line_that_cannot_be_read_is_answered_with_where_the_help_is(folder, command):
    done = run(*command.split())
    assert done.returncode == 2 and f"Try '{command.split()[0]}" in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_is_one_line_and_exit_code_130(folder):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731, also where the tests run in the background
    waits = subprocess.Popen(TOKENIZE, **pipes, text=True, preexec_fn=heard)
    waits.stdin.write("the\n" * 5000)  # more than the buffer of its output holds; then it waits for more
    waits.stdin.flush()
    assert waits.stdout.readline() == "the\n"
    waits.send_signal(signal.SIGINT)
    _, errors = waits.communicate(timeout=60)
    assert (waits.returncode, errors.strip()) == (130, "bertlab: interrupted")


def test_a_reader_that_leaves_is_no_error(folder):
    lines = "the\n" * 50_000
    (folder / "lines.txt").write_text(lines)
    done = subprocess.run(
        f"{' '.join(TOKENIZE)} < lines.txt | head -n 1", shell=True, capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr) == ("the\n", "")


@pytest.mark.parametrize("program", ["bertlab", "autograde"])
def test_help_takes_less_than_half_a_second_of_a_processor(program):
    """The best of three, so that other programs on the machine do not count."""
    seconds = []
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-m", program, "--help"], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        process.returncode = 0
        seconds.append(used.ru_utime + used.ru_stime)
    assert min(seconds) < 0.5
