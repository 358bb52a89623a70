"""Scripts in processes of their own, on a backend of Keras that these tests do not run on."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]


def environment(backend: str, devices: int = 1, **more: str) -> dict[str, str]:
    assert backend == "tensorflow" or find_spec(backend), f"{backend} is not installed: make test-peers installs it"
    flags = f"--xla_force_host_platform_device_count={devices}"
    own = {"KERAS_BACKEND": backend, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    return os.environ | own | more


def last_line(script: str, *arguments, backend: str, **more) -> str:
    """What a script prints last; it must succeed. more: of `environment`."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(
        command, env=environment(backend, **more), cwd=ROOT, capture_output=True, text=True, timeout=1000
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]
