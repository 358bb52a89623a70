"""The Tab key, in a real bash: what `bertlab completion bash` prints is sourced and asked."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograde.cli import cli as autograde
from bertlab.cli import cli as bertlab

ROOT = Path(__file__).parents[3]
CLIS = {"bertlab": bertlab, "autograde": autograde}
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@pytest.fixture
def shell(tmp_path):
    """Asks a bash with both programs on its PATH what Tab would offer behind some words."""
    for program in CLIS:
        path = tmp_path / program
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {program} "$@"\n')
        path.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
    }  # fmt: skip

    def offered(program: str, *words: str) -> list[str]:
        typed = " ".join(map(shlex.quote, (program, *words)))
        script = f"""
            source <({program} completion bash)
            complete -p {program} >/dev/null || exit 3
            COMP_WORDS=({typed}); COMP_CWORD={len(words)}
            _{program}_completion {program}
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return offered


@needs_bash
def test_tab_completes_commands_their_commands_and_options(shell):
    assert shell("bertlab", "fi") == ["fill-mask", "finetune", "finetune-tasks"]
    assert "make" in shell("bertlab", "data", "m")
    assert shell("bertlab", "encode", "--pool") == ["--pooling"]
    assert shell("bertlab", "encode", "--pooling", "m") == ["mean", "max"]
    assert shell("autograde", "re") == ["release", "regrade", "report"]
    assert "--course" in shell("autograde", "grade", "--co")


@pytest.mark.parametrize("program", CLIS)
@pytest.mark.parametrize(
    ("shell_name", "sign"), [("bash", "complete -o"), ("zsh", "#compdef {}"), ("fish", "--command {}")]
)
def test_every_shell_gets_its_script(program, shell_name, sign):
    shown = CliRunner().invoke(CLIS[program], ["completion", shell_name])
    assert shown.exit_code == 0 and sign.format(program) in shown.output


def test_another_shell_is_refused_with_those_there_are():
    shown = CliRunner().invoke(bertlab, ["completion", "tcsh"])
    assert shown.exit_code == 2 and "'bash', 'zsh', 'fish'" in shown.output


def test_asking_for_commands_imports_none_of_them():
    code = (
        "import sys; from bertlab.cli import cli; import click\n"
        "items = cli.shell_complete(click.Context(cli), '')\n"
        "print(len(items), [name for name in sys.modules if name.startswith('bertlab.cli.')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert shown.split(maxsplit=1)[1].strip() == "['bertlab.cli.lazy']"
