"""The limits of a sandbox, and the names of the reasons for which it can end."""

from dataclasses import dataclass

# Why a sandbox ended, or why a cell was cut short. These words reach the student's feedback.
WALL_CLOCK = "wall clock"
CPU_TIME = "cpu time"
MEMORY = "memory"
PROCESSES = "processes"
DISK = "disk"
INODES = "inodes"
FILE_SIZE = "file size"
OPEN_FILES = "open files"
OUTPUT = "output"
EXIT = "exit"
SIGNAL = "signal"
PROTOCOL = "protocol"
CLOSED = "closed"
LOST = "lost"
KILLED = "killed from outside"
FROM_OUTSIDE = (LOST, KILLED)  # as far as we can tell, not caused by the program


@dataclass(frozen=True)
class Limits:
    """Caps on one sandbox, in bytes and seconds. Waiting for a processor that others use does not count."""

    cell_seconds: float = 60.0  # one cell, or one round of questions
    grace_seconds: float = 2.0  # that an interrupted cell has to come back
    wall_seconds: float = 900.0  # the whole sandbox
    cpu_seconds: float = 600.0  # all its processes together
    memory: int = 3 << 30  # all its processes together, pages shared with the zygote counted by share
    processes: int = 256  # threads count
    disk: int = 256 << 20  # /tmp, /dev/shm and the working folder together
    inodes: int = 20_000
    file_size: int = 128 << 20
    open_files: int = 1024
    output: int = 100_000  # characters of text kept per cell
    threads: int = 2  # TensorFlow's and BLAS's own
    covered: tuple[str, ...] = ()  # modules whose files are covered before the program runs; only with a zygote


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class End:
    """The end of a sandbox. `reason` is one of the words above; `detail` is one sentence."""

    reason: str
    detail: str

    def __str__(self):
        return f"{self.reason}: {self.detail}"
