"""Sandboxes for tests: a zygote for a file's tests, and a sandbox of it for each of them."""

import pytest

from autograde.common.errors import SandboxError
from autograde.sandbox import launchers
from autograde.sandbox.limits import Limits

QUICK = Limits(cell_seconds=5, grace_seconds=0.5, memory=500 << 20)
SMALL = ("numpy", "IPython.core.interactiveshell", "matplotlib_inline.backend_inline")


def small_zygote() -> launchers.Zygote:
    """A zygote with the small packages only, or a skipped test where this machine allows none."""
    try:
        return launchers.Zygote(packages={}, preload=SMALL)
    except SandboxError as error:
        pytest.skip(f"no sandbox can be made here: {error}")


@pytest.fixture(scope="module")
def zygote():
    with small_zygote() as launcher:
        yield launcher


@pytest.fixture
def sandbox(zygote):
    with zygote.start(QUICK) as sandbox:
        yield sandbox
