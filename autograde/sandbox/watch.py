"""The time and the resources that a whole sandbox uses, measured by the trusted side without help from inside.

Resource limits bind one process; a sandbox may fork. Memory is the proportional share (Pss): a page that the sandbox
still shares with the zygote counts by share, so an idle sandbox costs little and a copy counts in full.
"""

import os
import threading
import time

_PAUSE = 0.1  # seconds between two looks: what a sandbox can overshoot by is what it can touch in this time
_TICKS = os.sysconf("SC_CLK_TCK")
_BEAT = 0.1  # seconds between two looks at the clock
_STOOD_STILL = 1.0  # a longer time between two looks: the grader itself was stopped
_lock = threading.Lock()
_last = time.monotonic()
_paused = 0.0
_thread: threading.Thread | None = None


def processes(root: int) -> list[int]:
    """The process and all its live descendants. A sandbox's orphans are its init's children, so none escapes."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    waiting += [int(child) for child in file.read().split()]
        except OSError:  # it ended while we looked
            continue
    return found


def _read(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}") as file:
            return file.read()
    except OSError:  # it ended, or is a zombie without memory
        return ""


def _kilobytes(text: str, *names: str) -> int:
    lines = (line.split() for line in text.splitlines())
    return sum(int(words[1]) for words in lines if words and words[0].rstrip(":") in names)


def cpu_seconds(pids: list[int]) -> float:
    """CPU time of these processes and of the children they have buried."""
    total = 0
    for pid in pids:
        fields = _read(pid, "stat").rpartition(") ")[2].split()
        total += sum(int(field) for field in fields[11:15])  # utime, stime, cutime, cstime
    return total / _TICKS


def waiting_seconds(pid: int) -> float:
    """The seconds that a process's first thread waited for a processor (the kernel's run delay); 0 if not counted."""
    words = _read(pid, "schedstat").split()
    return int(words[1]) / 1e9 if len(words) == 3 else 0.0


def memory(pids: list[int], enough: int) -> int:
    """Bytes in use. Exact figures cost a walk through the page tables, so only where a cheap upper bound > `enough`."""
    upper = sum(_kilobytes(_read(pid, "status"), "RssAnon", "RssShmem") for pid in pids) * 1024
    if upper <= enough:
        return upper
    return sum(_kilobytes(_read(pid, "smaps_rollup"), "Pss_Anon", "Pss_Shmem") for pid in pids) * 1024


class Watch:
    """Looks at one sandbox now and then. `over()` names the limit it is over, with a sentence, or None."""

    def __init__(self, root: int, limits):
        self.root, self.limits, self.next = root, limits, 0.0
        self.cpu, self.peak = 0.0, 0

    def count_cpu(self) -> float:
        """CPU seconds so far, counted now."""
        self.cpu = max(self.cpu, cpu_seconds(processes(self.root)))
        return self.cpu

    def over(self) -> tuple[str, str] | None:
        now = time.monotonic()
        if now < self.next:
            return None
        pids = processes(self.root)
        self.cpu = max(self.cpu, cpu_seconds(pids))
        used = memory(pids, self.limits.memory)
        self.peak = max(self.peak, used)
        # looking at a sandbox of many processes takes longer: never spend more than a fifth of the time on it
        self.next = time.monotonic() + max(_PAUSE, 4 * (time.monotonic() - now))
        if used > self.limits.memory:
            return "memory", f"the program used more than {self.limits.memory >> 20} MiB"
        if self.cpu > self.limits.cpu_seconds:
            return "cpu time", f"more than {self.limits.cpu_seconds:g} s of CPU"
        return None


def now() -> float:
    """Seconds of monotonic time without the pauses of the grader itself.

    A suspended laptop, or SIGSTOP, stops the grader while deadlines go on: an answer that came at once would be called
    late. So a thread looks at the clock several times a second. A longer time between two looks was a pause.
    """
    global _thread, _last, _paused
    with _lock:
        time_now = time.monotonic()
        if _thread is None:  # nobody has looked so far, and no pause can be told from that
            _thread = threading.Thread(target=_beat, daemon=True, name="clock")
            _thread.start()
        elif time_now - _last > _STOOD_STILL:
            _paused += time_now - _last - _BEAT
        _last = time_now
        return time_now - _paused


def _beat() -> None:
    while True:
        time.sleep(_BEAT)
        now()
