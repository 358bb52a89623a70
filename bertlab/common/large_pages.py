"""Memory in pages of 2 MB on Linux, for the large arrays of a model on a processor.

A processor keeps the addresses of a few thousand pages at hand. The arrays of a training step fill hundreds of
thousands of pages of 4 KB, so that looking up their addresses takes a good part of a step; pages of 2 MB are 512 times
fewer. Where the kernel leaves the choice to programs (its policy is "madvise"), glibc asks for large pages if a
variable is set when the process starts. NumPy asks for them itself, TensorFlow does not.

Source: glibc manual, "Memory Allocation Tunables", glibc.malloc.hugetlb; Linux, "Transparent Hugepage Support".
"""

import contextlib
import os
import sys
from pathlib import Path

VARIABLE, TUNABLE = "GLIBC_TUNABLES", "glibc.malloc.hugetlb"
POLICY = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def with_large_pages(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process that asks for large pages; the same where that changes nothing or is set already.

    Example:
        >>> with_large_pages({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"})
        {'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=0'}
    """
    tunables = environment.get(VARIABLE, "")
    if TUNABLE in tunables or not _program_decides():
        return environment
    return environment | {VARIABLE: ":".join(filter(None, (tunables, f"{TUNABLE}=1")))}


def restart_with_large_pages() -> None:
    """Starts this program again, in the same process and with the same arguments, if that gives it large pages.

    To be called before anything is loaded or read: glibc reads the variable only at the start. A process that was not
    started with the arguments in `sys.argv`, such as the child of another program, is left as it is.
    """
    environment = with_large_pages(dict(os.environ))
    if environment != dict(os.environ) and _was_started_as(sys.argv):
        with contextlib.suppress(OSError):  # then it computes more slowly, and everything else is the same
            os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def _was_started_as(arguments: list[str]) -> bool:
    """Whether this process was started with these arguments. Without any, its program must be that of the first one."""
    program, *others = arguments
    if others:
        return sys.orig_argv[-len(others) :] == others
    file = Path(program).with_suffix("")
    module = file.parent if file.name == "__main__" else file
    started = sys.orig_argv[-1]  # a file, or the name of a module
    return started == program or module.parts[-started.count(".") - 1 :] == tuple(started.split("."))


def _program_decides() -> bool:
    """Whether the kernel gives large pages to programs that ask for them, and only to these."""
    return sys.platform == "linux" and POLICY.is_file() and "[madvise]" in POLICY.read_text(encoding="ascii")
