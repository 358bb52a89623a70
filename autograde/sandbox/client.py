"""The trusted end of a sandbox: sends cells and questions in, takes plain data out, ends the sandbox when it must.

    with launcher.start(Limits()) as sandbox:
        result = sandbox.run_cell("x = 1 / 0")          # CellResult; result.error.name == "ZeroDivisionError"
        answers = sandbox.ask([question, …], 10)        # Answers, see autograde.judging.answers

A sandbox that ends, for any reason, raises `SandboxEnded` from that call and every later one; `sandbox.ended` is the
reason, in words of this module alone. Nothing that comes out is trusted: sizes are capped, types are exact, and an
answer that is not exactly an answer ends the sandbox as "protocol".
"""

import contextlib
import json
import os
import secrets
import select
import signal
import socket
from dataclasses import dataclass, replace

from autograde.boundary import values
from autograde.boundary.channel import Channel
from autograde.common.errors import ChannelClosed, DeadlinePassed, ProtocolError, SandboxEnded, SandboxError
from autograde.judging import answers
from autograde.judging.answers import Answer
from autograde.sandbox import limits as names
from autograde.sandbox import watch
from autograde.sandbox.limits import End, Limits

SHUTDOWN_SECONDS = 2.0  # seconds that init has to report an end
_START = 60.0  # seconds until a sandbox must have started (without a zygote it imports first)
_OUTPUTS = ("stdout", "stderr", "png")  # kinds that may come; only the first is kept, a picture is not looked at
_CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP")  # signals that a bug ends a program with
_SOFT_LIMITS = (names.MEMORY, names.PROCESSES, names.DISK, names.INODES, names.FILE_SIZE,
                names.OPEN_FILES, names.OUTPUT)  # fmt: skip


@dataclass(frozen=True)
class CellError:
    """The exception that ended a cell. `cell` and `line`: the student's own innermost line."""

    name: str
    cell: int | None
    line: int | None


@dataclass(frozen=True)
class CellResult:
    """The result of cell `index`. limit: the one that an honest program reached, or that its output was cut."""

    index: int
    stdout: str
    error: CellError | None
    limit: str | None


class Sandbox:
    """One running sandbox. Made by a launcher (launchers.py); used by one thread at a time."""

    def __init__(self, limits: Limits, channel: socket.socket, control: socket.socket, cgroup=None):
        self.limits, self.ended, self._cells = limits, None, 0
        self._sockets = (channel, control)
        self._handles: list[int] = []
        self._cgroup = cgroup
        self._longest_wait = 0.0
        self._deadline = watch.now() + limits.wall_seconds
        try:
            message, self._handles = self._report(_START, descriptors=2)
            if "started" not in message or len(self._handles) != 2:
                raise SandboxError(f"the sandbox could not be made: {message.get('failed', 'its maker went away')}")
        except BaseException:
            self._release()
            raise
        self.pid = _pid_behind(self._handles[0])  # the sandbox's init, as this side sees it
        self._agent = _pid_behind(self._handles[1])
        self._watch = watch.Watch(self.pid, limits)
        if cgroup:
            cgroup.take(_pid_behind(handle) for handle in self._handles)
        self._channel = Channel(channel.fileno(), channel.fileno(), on_wait=self._check_limits, clock=watch.now)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    # --- what a sandbox is for ---

    def run_cell(self, source: str, seconds: float | None = None) -> CellResult:
        """Runs one cell. Raises SandboxEnded. `seconds` defaults to the limits'."""
        self._cells += 1
        request = {"op": "cell", "index": self._cells, "source": source}
        reply, _, late = self._exchange(request, [], seconds or self.limits.cell_seconds)
        with self._ending_on_protocol_errors():
            result = _cell_result(reply, self.limits, self._cells)
        return replace(result, limit=names.WALL_CLOCK) if late else result

    def ask(self, questions: list[dict], timeout: float | None = None) -> list[Answer]:
        """Puts questions to the student's code; one answer each. Raises SandboxEnded. One deadline for all of them."""
        header, buffers = values.encode(questions)
        seconds = timeout or self.limits.cell_seconds
        reply, back, late = self._exchange({"op": "probe", "questions": header}, buffers, seconds)
        with self._ending_on_protocol_errors():
            given = values.decode(reply["answers"], back, values.ANSWERS) if late or "answers" in reply else None
            if type(given) is not list or len(given) > len(questions) or not all(map(_is_answer, given)):
                raise ProtocolError("the answers are not answers")
            if len(given) < len(questions) and not late:
                raise ProtocolError("fewer answers than questions")
        late_ones = [answers.too_late()] * (len(questions) - len(given))
        return [answers.read(*pair) for pair in zip(given, questions)] + late_ones

    def put(self, files: dict[str, bytes]) -> None:
        """Writes files into the sandbox's working folder. Names are relative; the write happens inside the sandbox."""
        self._exchange({"op": "put", "names": list(files)}, list(files.values()), self.limits.cell_seconds)

    def forbid(self, names: list[str], stand_ins: list[str]) -> None:
        """Makes functions and modules inert, except what these stand-ins for earlier answers need. Only before the
        student's first cell. Raises SandboxEnded."""
        request = {"op": "forbid", "names": names, "stand_ins": stand_ins}
        self._exchange(request, [], self.limits.cell_seconds)

    def usage(self) -> dict:
        """CPU seconds so far, and the seconds in which the program waited for a processor."""
        cpu = self._watch.count_cpu() if self.ended is None else self._watch.cpu
        return {"cpu_seconds": cpu, "waited_seconds": self._waited()}

    def close(self) -> None:
        """Ends the sandbox; nothing of it lives afterwards."""
        if self.ended is None:
            self._kill(names.CLOSED, "the grader was done with it")

    # --- the exchange ---

    def _exchange(self, request: dict, buffers: list[bytes], seconds: float) -> tuple[dict, list[bytes], bool]:
        """(reply, buffers, whether it had to be interrupted). Raises SandboxEnded."""
        if self.ended:
            raise SandboxEnded(self.ended)
        word, late = secrets.token_hex(16), False
        with self._ending_on_protocol_errors():
            try:
                self._channel.send({**request, "id": word}, buffers, watch.now() + seconds)
                try:
                    reply, back = self._receive(seconds)
                except DeadlinePassed:
                    reply, back, late = self._receive_late()
            except DeadlinePassed:
                self._kill(names.WALL_CLOCK, f"no answer within {seconds:g} s, and the interrupt was ignored")
                raise SandboxEnded(self.ended) from None
            except ChannelClosed:
                self._finish()
                raise SandboxEnded(self.ended) from None
            if reply.pop("id", None) != word:
                raise ProtocolError("a reply to something that was not asked")
        return reply, back, late

    def _receive_late(self) -> tuple[dict, list[bytes], bool]:
        """The frame that has begun, or the one that the agent sends when it is interrupted; and whether it was."""
        if self._channel.has_begun:  # an interrupt would cut it off
            try:
                return *self._receive(self.limits.grace_seconds), False
            except DeadlinePassed:
                pass
        self._signal(1, signal.SIGINT)
        return *self._receive(self.limits.grace_seconds), True

    def _receive(self, seconds: float) -> tuple[dict, list[bytes]]:
        """The next frame, within these seconds and as many more as the program spent waiting for a processor: how busy
        the machine is must not decide a grade. Raises DeadlinePassed."""
        began, waited = watch.now(), self._waited()
        while True:
            deadline = began + seconds + self._waited() - waited
            try:
                return self._channel.receive(deadline)
            except DeadlinePassed:
                if began + seconds + self._waited() - waited <= watch.now():
                    raise

    def _waited(self) -> float:
        """Seconds in which the agent could have run, and others did; of an ended one, as far as it was seen."""
        if self.ended is None:
            self._longest_wait = max(self._longest_wait, watch.waiting_seconds(self._agent))
        return self._longest_wait

    @contextlib.contextmanager
    def _ending_on_protocol_errors(self):
        try:
            yield
        except (ProtocolError, values.ValueTreeError, KeyError):  # its message may quote what the program sent
            self._kill(names.PROTOCOL, "the program wrote into the grader's own connection")
            raise SandboxEnded(self.ended) from None

    def _check_limits(self) -> None:
        """Called while waiting: ends the sandbox if it is over a limit of the whole sandbox."""
        over = self._watch.over()
        if watch.now() > self._deadline and watch.now() > self._deadline + self._waited():
            over = names.WALL_CLOCK, f"the sandbox has been open for {self.limits.wall_seconds:g} s"
        if over:
            self._kill(*over)
            raise SandboxEnded(self.ended)

    # --- beginning and end ---

    def _report(self, seconds: float, descriptors: int = 0) -> tuple[dict, list[int]]:
        """The next message of the sandbox's init (our code): empty if none comes."""
        control = self._sockets[1]
        if not select.select([control], [], [], seconds)[0]:
            return {}, []
        try:
            message, handles, _, _ = socket.recv_fds(control, 4096, descriptors)
        except ConnectionError:
            return {}, []
        return json.loads(message or b"{}"), handles

    def _signal(self, which: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handles[which], number)

    def _kill(self, reason: str, detail: str) -> None:
        self._end_processes()
        self.ended = End(reason, detail)
        self._release()

    def _end_processes(self) -> None:
        """Kills init: the kernel then kills all that lives in the sandbox's pid namespace, and only then ends init."""
        self._signal(1, signal.SIGKILL)  # without a pid namespace (trusted submissions) this is what ends the agent
        self._signal(0, signal.SIGKILL)
        select.select([self._handles[0]], [], [], SHUTDOWN_SECONDS)

    def _finish(self) -> None:
        message, _ = self._report(SHUTDOWN_SECONDS)
        code = message.get("exit")
        if code is None:
            self._kill(names.LOST, "the sandbox ended without a report")
            return
        self._watch.cpu = message["cpu"] or self._watch.cpu
        self._end_processes()
        self.ended = _end_of(code, self.limits, message["cpu"], self._over_its_memory(message["peak"]))
        self._release()

    def _over_its_memory(self, peak: int) -> bool:
        """Whether the sandbox itself used more memory than it may, by its control group or by the last look at it."""
        return self._watch.peak > self.limits.memory or bool(self._cgroup and self._cgroup.killed_for_memory())

    def _release(self) -> None:
        for handle in self._handles:
            os.close(handle)
        self._handles = []
        for end in self._sockets:
            end.close()
        if self._cgroup:
            self._cgroup.remove()


def _pid_behind(handle: int) -> int:
    """The process that a pidfd stands for, as this process sees it."""
    with open(f"/proc/self/fdinfo/{handle}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))


def _end_of(code: int, limits: Limits, cpu_seconds: float, over_memory: bool) -> End:
    """The end of a sandbox that ended by itself. A SIGKILL that neither we nor a limit of its own explains came from
    outside, as from a kernel that is short of memory; a program that kills itself looks the same, and is tried once
    more too."""
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and cpu_seconds >= limits.cpu_seconds):
        return End(names.CPU_TIME, f"more than {limits.cpu_seconds:g} s of CPU")
    if code == -signal.SIGKILL and over_memory:
        return End(names.MEMORY, "killed by the kernel for using more memory than it may")
    if code == -signal.SIGKILL:
        return End(names.KILLED, "killed from outside, most likely because this machine is short of memory")
    if code < 0:
        # The name of a signal that a crash sends; a program can send itself any other and choose the number.
        name = next((name for name in _CRASHES if getattr(signal, name) == -code), "a signal")
        return End(names.SIGNAL, f"ended by {name}")
    return End(names.EXIT, "the program ended itself")


# --- what may come out ---


def _is_answer(answer) -> bool:
    if type(answer) is not dict or set(answer) != {"status", "value", "error", "notes"}:
        return False
    error = answer["error"]
    plain = (str, int, type(None))
    return (
        type(answer["status"]) is str
        and answer["status"] in answers.STATUSES
        and type(answer["notes"]) is dict
        and (error is None or (type(error) is dict and all(type(value) in plain for value in error.values())))
    )


def _text(value, longest: int) -> str:
    if type(value) is not str:
        raise ProtocolError("text was expected")
    return value[:longest].encode("utf-8", "replace").decode("utf-8")


def _whole(value) -> int | None:
    if value is not None and (type(value) is not int or not 0 <= value <= 1_000_000):
        raise ProtocolError("a line or cell number was expected")
    return value


def _cell_result(reply: dict, limits: Limits, index: int) -> CellResult:
    outputs, limit = reply["outputs"], reply["limit"]
    if type(outputs) is not list or len(outputs) > 256:
        raise ProtocolError("too many outputs")
    if any(type(item) is not dict or item.get("kind") not in _OUTPUTS for item in outputs):
        raise ProtocolError("an unknown kind of output")
    if limit is not None and limit not in _SOFT_LIMITS:
        raise ProtocolError("an unknown limit")
    printed = "".join(_text(item["text"], limits.output) for item in outputs if item["kind"] == "stdout")
    error = reply["error"]
    if error is not None:
        if type(error) is not dict:
            raise ProtocolError("an error is described by a dict")
        error = CellError(_text(error["name"], 200), _whole(error["cell"]), _whole(error["line"]))
    return CellResult(index, printed, error, limit)
