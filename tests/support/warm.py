"""Commands in processes that have TensorFlow already: for tests that need a process of its own, not a cold start.

Python, TensorFlow and Keras take about four seconds of a processor to start. A server that has loaded them (and has run
no operation yet) forks once for each command. Tests of the start itself use `subprocess`, in test_cli.py.
"""

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tensorflow", "keras", "tensorflow_text", "matplotlib.pyplot", "rich.progress"])


def run_module(
    *command, text: str | None = None, cwd: Path | None = None, environment: dict | None = None, timeout=600
):
    """Returns as `subprocess.run([sys.executable, "-m", *command], input=text, capture_output=True, text=True)` does.

    environment: variables of the process besides those of this one.
    """
    command = [str(part) for part in command]
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(text or "", encoding="utf-8")
        variables = os.environ | (environment or {})
        arguments = (command, streams, str(cwd or Path.cwd()), dict(variables))
        process = _CONTEXT.Process(target=_as_main, args=arguments)
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, timeout)
        shown = [path.read_text(encoding="utf-8") for path in streams[1:]]
    return subprocess.CompletedProcess(command, process.exitcode, *shown)


def _as_main(command, streams, folder, variables):
    """Becomes the program: its own standard streams, folder and variables, and a run of the module as the main one."""
    for number, path in enumerate(streams):
        file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(file, number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False) for number in range(3)
    )
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = command
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # a process of multiprocessing leaves without them
        sys.stdout.flush()
        sys.stderr.flush()
