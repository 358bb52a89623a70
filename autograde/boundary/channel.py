"""The channel between the grader and a sandbox: length-prefixed frames, read without trusting a byte.

    4 bytes, big-endian: length of the header │ header: one JSON object │ the raw buffers its "sizes" name, in order

Student code may write any bytes at the far end. The near end checks every length *before* it sets memory aside, waits
no longer than a deadline however slowly a frame drips, accepts plain JSON objects only, and turns any violation into
`ProtocolError`, after which the caller gives the sandbox up.
"""

import json
import os
import select
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from autograde.common.errors import ChannelClosed, DeadlinePassed, ProtocolError

_CHUNK = 1 << 18  # bytes asked for at once: memory grows with what has come, not with what was announced
_TICK = 0.05  # seconds between two looks at the sandbox while waiting


@dataclass(frozen=True)
class FrameLimits:
    """Caps on one frame."""

    header: int = 4 << 20  # bytes of JSON
    buffers: int = 64 << 20  # bytes, all buffers together
    count: int = 4096  # buffers


DEFAULT_LIMITS = FrameLimits()


class Channel:
    """One end. `on_wait` is called every few hundredths of a second while it waits, and may raise. Deadlines are times
    of `clock`."""

    def __init__(
        self, read_fd: int, write_fd: int, limits: FrameLimits = DEFAULT_LIMITS, on_wait: Callable | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):  # fmt: skip
        self.read_fd, self.write_fd, self.limits, self.on_wait, self.clock = read_fd, write_fd, limits, on_wait, clock
        self._received = bytearray()  # of the current frame
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)

    @property
    def has_begun(self) -> bool:
        """Whether a part of the next frame has come."""
        return bool(self._received)

    def send(self, header: dict, buffers: Iterable[bytes] = (), deadline: float | None = None) -> None:
        """Writes one frame. `deadline` is a time of the clock. Raises ChannelClosed, DeadlinePassed."""
        buffers = list(buffers)
        head = json.dumps({**header, "sizes": [len(b) for b in buffers]}, allow_nan=False).encode()
        for part in (len(head).to_bytes(4, "big") + head, *buffers):
            self._write(memoryview(part), deadline)

    def receive(self, deadline: float | None = None) -> tuple[dict, list[bytes]]:
        """Reads one frame. Raises ChannelClosed, ProtocolError, or DeadlinePassed: a later call then continues."""
        length = int.from_bytes(self._fill(0, 4, deadline), "big")
        if length > self.limits.header:
            raise ProtocolError(f"a header of {length} bytes was announced; at most {self.limits.header} may come")
        header = parse_header(self._fill(4, length, deadline))
        sizes = header.pop("sizes", None)
        if type(sizes) is not list or len(sizes) > self.limits.count:
            raise ProtocolError(f'"sizes" must be a list of at most {self.limits.count} lengths')
        if any(type(size) is not int or size < 0 for size in sizes) or sum(sizes) > self.limits.buffers:
            raise ProtocolError(f"the buffers' lengths must be whole numbers, {self.limits.buffers} bytes in all")
        offset, buffers = 4 + length, []
        for size in sizes:
            buffers.append(self._fill(offset, size, deadline))
            offset += size
        self._received.clear()
        return header, buffers

    def _fill(self, start: int, size: int, deadline: float | None) -> bytes:
        """Bytes start … start + size of the current frame, waiting for those that have not come yet."""
        while (missing := start + size - len(self._received)) > 0:
            self._wait(self.read_fd, select.POLLIN, deadline)
            try:
                chunk = os.read(self.read_fd, min(_CHUNK, missing))
            except BlockingIOError:
                continue
            except ConnectionError:
                chunk = b""
            if not chunk:
                raise ChannelClosed("the other end closed the channel")
            self._received += chunk
        return bytes(self._received[start : start + size])

    def _write(self, view: memoryview, deadline: float | None) -> None:
        while view:
            self._wait(self.write_fd, select.POLLOUT, deadline)
            try:
                view = view[os.write(self.write_fd, view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except ConnectionError:
                raise ChannelClosed("the other end closed the channel") from None

    def _wait(self, fd: int, event: int, deadline: float | None) -> None:
        poll = select.poll()
        poll.register(fd, event)
        while True:
            left = _TICK if deadline is None else max(0.0, deadline - self.clock())
            ready = poll.poll(min(left, _TICK) * 1000 if self.on_wait or deadline is not None else None)
            if self.on_wait:
                self.on_wait()
            if ready:
                return
            if left == 0:  # only now: what has come before the deadline counts, however late it is looked at
                raise DeadlinePassed("nothing complete came through the channel in time")


def parse_header(data: bytes) -> dict:
    """One JSON object, or ProtocolError."""
    try:
        header = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:  # bad JSON, bad UTF-8, endless digits, endless nesting
        raise ProtocolError(f"a header that is not plain JSON: {type(error).__name__}") from None
    if type(header) is not dict:
        raise ProtocolError("a header must be one JSON object")
    return header


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")
