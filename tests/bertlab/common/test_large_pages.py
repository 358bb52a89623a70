"""Large pages of memory: who gets them, and a program that starts again keeps its arguments and its input."""

import subprocess
import sys
from pathlib import Path

import pytest

from bertlab.common import large_pages

ASKED = "glibc.malloc.hugetlb=1"


@pytest.fixture
def policy(tmp_path, monkeypatch):
    """Sets the text of the kernel's file."""

    def write(text):
        file = tmp_path / "enabled"
        file.write_text(text)
        monkeypatch.setattr(large_pages, "POLICY", file)
        monkeypatch.setattr(sys, "platform", "linux")
        return file

    return write


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, ASKED),
        ({"GLIBC_TUNABLES": "glibc.malloc.check=3"}, f"glibc.malloc.check=3:{ASKED}"),
        ({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}, "glibc.malloc.hugetlb=0"),
    ],
)
def test_a_process_asks_for_them_unless_the_user_has_decided(policy, before, after):
    policy("always [madvise] never\n")
    assert large_pages.with_large_pages({"A": "b", **before}) == {"A": "b", "GLIBC_TUNABLES": after}


@pytest.mark.parametrize("text", ["[always] madvise never\n", "always madvise [never]\n"])
def test_where_the_kernel_decides_nothing_changes(policy, text):
    policy(text)
    assert large_pages.with_large_pages({}) == {}


def test_on_another_system_nothing_changes(policy, monkeypatch):
    policy("always [madvise] never\n").unlink()
    assert large_pages.with_large_pages({}) == {}
    policy("always [madvise] never\n")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert large_pages.with_large_pages({}) == {}


def shown(policy_file, program, *arguments, text=""):
    """The output of a program that reads `policy_file` in place of the kernel's file."""
    start = "import pathlib\nfrom bertlab.common import large_pages\n"
    start += f"large_pages.POLICY = pathlib.Path({str(policy_file)!r})\n"
    command = [sys.executable, "-c", start + program, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.split("|")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this file")
def test_a_program_that_starts_again_keeps_its_arguments_input_and_process(policy, monkeypatch):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    program = (
        "import os, sys; before = os.environ.setdefault('FIRST', str(os.getpid()))\n"
        "large_pages.restart_with_large_pages()\n"
        "found = os.environ.get('GLIBC_TUNABLES'), sys.argv[1:], sys.stdin.read(), before == str(os.getpid())\n"
        "print(*found, sep='|', end='')"
    )
    for text, tunables in (("always [madvise] never", ASKED), ("[always] madvise never", "None")):
        found = shown(policy(text), program, "a b", "--c", text="line")
        assert found == [tunables, "['a b', '--c']", "line", "True"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this file")
@pytest.mark.parametrize("command", [["tools/step.py"], ["-m", "tools.step"], ["-m", "tools"]])
def test_a_program_without_arguments_starts_again_too(policy, monkeypatch, tmp_path, command):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    file = policy("always [madvise] never")
    (tmp_path / "tools").mkdir()
    for name in ("step", "__main__"):
        (tmp_path / "tools" / f"{name}.py").write_text(
            "import os, pathlib\nfrom bertlab.common import large_pages\n"
            f"large_pages.POLICY = pathlib.Path({str(file)!r})\n"
            "large_pages.restart_with_large_pages()\nprint(os.environ.get('GLIBC_TUNABLES'), end='')\n"
        )
    monkeypatch.setenv("PYTHONPATH", str(Path(large_pages.__file__).parents[2]))
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == ASKED


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this file")
def test_the_child_of_another_program_does_not_start_that_program_again(policy, monkeypatch):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    program = (
        "import os, sys; sys.argv = ['bertlab', 'pretrain', '--out', 'run']\n"
        "large_pages.restart_with_large_pages(); print(os.environ.get('GLIBC_TUNABLES'), end='')"
    )
    assert shown(policy("always [madvise] never"), program, "serve") == ["None"]
    without = program.replace("'bertlab', 'pretrain', '--out', 'run'", "'/bin/bertlab'")
    assert without != program and shown(policy("always [madvise] never"), without) == ["None"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this file")
@pytest.mark.parametrize(("command", "tunables"), [("pretrain", ASKED), ("tokenize", "None"), ("--help", "None")])
def test_the_command_line_starts_again_for_commands_that_compute(policy, monkeypatch, command, tunables):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    program = (
        "import os; from bertlab import cli; cli.run = lambda *_: print(os.environ.get('GLIBC_TUNABLES'), end='')\n"
        "cli.main()"
    )
    assert shown(policy("always [madvise] never"), program, command) == [tunables]
