"""The agent inside a sandbox: runs cells in an IPython shell and answers probes over the channel.

Nothing here is trusted: student code shares this process and may rewrite all of it. This file only has to be correct
for honest code, and to keep honest mistakes (a print loop, a picture of 100 MB) within the caps.

A request is {"op", "id", …}; the reply repeats "id", a random word that cannot be known before the question.
"""

import contextlib
import errno
import io
import os
import signal
import traceback

from autograde.boundary import call_answer, values
from autograde.boundary.channel import Channel
from autograde.common.errors import ChannelClosed
from autograde.sandbox import forbidding
from autograde.sandbox import limits as names

_REST_OF_A_HEADER = 100_000  # bytes of a message beside its answers: the sizes of 4096 arrays, the id
_DISABLED_LINE_MAGICS = ("pip", "conda", "mamba", "micromamba", "uv", "system", "sx", "load_ext", "run", "edit")
_DISABLED_CELL_MAGICS = ("bash", "sh", "script", "system", "sx", "!", "perl", "ruby", "writefile")
_BY_ERRNO = {
    errno.EFBIG: names.FILE_SIZE,
    errno.EMFILE: names.OPEN_FILES,
    errno.EAGAIN: names.PROCESSES,
    errno.ENOMEM: names.MEMORY,
}


def make_shell():
    """An IPython shell with no history file and no way to a command line. Made in the zygote, before any fork."""
    from IPython.core.interactiveshell import InteractiveShell
    from matplotlib_inline.backend_inline import flush_figures
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    shell.compile.get_code_name = lambda raw_code, code, number: f"<cell {number}>"
    shell.events.register("post_execute", flush_figures)
    shell.system = shell.getoutput = _refuse_command
    shell.enable_gui = lambda gui=None: None  # `%matplotlib inline` is what we have anyway
    shell.showtraceback = shell.showsyntaxerror = lambda *arguments, **keywords: None  # errors come out as data
    # Nobody looks at pictures, HTML and the values of last expressions.
    shell.display_pub.publish = shell.displayhook.write_format_data = lambda *arguments, **keywords: None
    shell.displayhook.write_output_prompt = lambda: None
    for name in _DISABLED_LINE_MAGICS:
        shell.register_magic_function(_refuse_command, "line", name)
    for name in _DISABLED_CELL_MAGICS:
        shell.register_magic_function(_refuse_command, "cell", name)
    return shell


def _refuse_command(*arguments, **keywords):
    print("Not run: the grader works without a command line, and every package of the course is installed here.")
    return []


class CappedText(io.TextIOBase):
    """A text stream that keeps its first `limit` characters."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, limit: int):
        self.left, self.kept, self.is_cut = limit, [], False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes text, not {type(text).__name__}")
        if self.left:
            self.kept.append(text[: self.left])
        self.is_cut |= len(text) > self.left
        self.left -= min(self.left, len(text))
        return len(text)


class Agent:
    """One sandbox's agent. `serve` returns when the other end closes the channel."""

    def __init__(self, descriptor: int, shell, limits: dict):
        self.channel, self.shell, self.limits = Channel(descriptor, descriptor), shell, limits

    def serve(self) -> None:
        operations = {"cell": self.run_cell, "probe": self.answer, "put": self.put_files, "forbid": self.forbid}
        while True:
            try:
                request, buffers = self.channel.receive()
                reply, out = operations[request["op"]](request, buffers)
                with _uninterrupted():  # half a frame would be the end of the sandbox
                    self.channel.send({"id": request["id"], **reply}, out)
            except ChannelClosed:
                return
            except KeyboardInterrupt:
                continue  # an interrupt that came a moment after the work was done

    def run_cell(self, request: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        printed, warned = CappedText(self.limits["output"]), CappedText(self.limits["output"])
        self.shell.execution_count = request["index"]  # so that the cell's code is called <cell index>
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(warned):
            result = self.shell.run_cell(request["source"], store_history=True)
        error = result.error_before_exec or result.error_in_exec
        limit = _limit_behind(error) or (names.OUTPUT if printed.is_cut or warned.is_cut else None)
        outputs = [{"kind": "stdout", "text": "".join(printed.kept)}]
        return {"outputs": outputs, "error": error and describe_error(error, request["index"]), "limit": limit}, []

    def answer(self, request: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        questions = values.decode(request["questions"], buffers)
        answers, interrupted = [], False
        for question in questions:
            try:
                answers += call_answer.answer([question], self.shell.user_ns)
            except KeyboardInterrupt:
                interrupted = True
                break
        most = self.channel.limits
        header, out = values.encode_items(
            answers, call_answer.too_large, values.ANSWERS, most.header - _REST_OF_A_HEADER, most.count
        )
        return {"answers": header, "limit": names.WALL_CLOCK if interrupted else None}, out

    def forbid(self, request: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        """Before any code of the student runs; nothing can undo it in this sandbox."""
        forbidding.forbid(request["names"], request["stand_ins"])
        return {}, []

    def put_files(self, request: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        """Data files of the submission, into the working folder."""
        for name, content in zip(request["names"], buffers):
            folder = os.path.dirname(name)
            if folder:
                os.makedirs(folder, exist_ok=True)
            with open(name, "wb") as file:
                file.write(content)
        return {}, []


@contextlib.contextmanager
def _uninterrupted():
    """An interrupt waits until this is done."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def describe_error(error: BaseException, index: int) -> dict:
    """The kind of error, with line and cell of the innermost frame that a cell of the notebook holds."""
    cell, line = index, error.lineno if isinstance(error, SyntaxError) else None
    for frame, number in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        if name.startswith("<cell "):
            cell, line = int(name[6:-1]), number
    return {"name": type(error).__name__[:200], "line": line, "cell": cell}


def _limit_behind(error: BaseException | None) -> str | None:
    """Which of the sandbox's limits an honest program ran into, judging by its exception."""
    if isinstance(error, MemoryError):
        return names.MEMORY
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return names.PROCESSES
    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENOSPC:
        return names.INODES if os.statvfs(".").f_favail == 0 else names.DISK
    return _BY_ERRNO.get(error.errno)
