"""The channel: for any bytes that come through it, the near end gets a frame or one of three named errors, in time."""

import json
import os
import socket
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograde.boundary.channel import Channel, FrameLimits, parse_header
from autograde.common.errors import ChannelClosed, DeadlinePassed, ProtocolError

SMALL = FrameLimits(header=1000, buffers=1000, count=4)


def _pair(limits=SMALL):
    near, far = socket.socketpair()
    return near, far, Channel(near.fileno(), near.fileno(), limits)


def _receive(data: bytes, close: bool = True, seconds: float = 0.2):
    near, far, channel = _pair()
    with near, far:
        far.sendall(data)
        if close:
            far.shutdown(socket.SHUT_WR)
        return channel.receive(time.monotonic() + seconds)


def _frame(header, *buffers: bytes) -> bytes:
    head = json.dumps(header).encode()
    return len(head).to_bytes(4, "big") + head + b"".join(buffers)


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.lists(st.binary(max_size=200), max_size=4))
def test_what_is_sent_arrives(header, buffers):
    header.pop("sizes", None)
    near, far, channel = _pair(FrameLimits())
    with near, far:
        Channel(far.fileno(), far.fileno()).send(header, buffers)
        assert channel.receive(time.monotonic() + 5) == (header, buffers)


def test_a_frame_larger_than_the_sockets_buffer_arrives_whole():
    near, far, channel = _pair(FrameLimits())
    payload = os.urandom(3 << 20)
    with near, far:
        sender = threading.Thread(target=Channel(far.fileno(), far.fileno()).send, args=({"id": 1}, [payload]))
        sender.start()
        assert channel.receive(time.monotonic() + 10) == ({"id": 1}, [payload])
        sender.join()


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_any_bytes_give_a_frame_or_a_named_error(data):
    try:
        header, buffers = _receive(data)
    except (ChannelClosed, ProtocolError):
        return
    assert type(header) is dict and all(type(buffer) is bytes for buffer in buffers)


@given(st.recursive(st.none() | st.integers() | st.floats(), lambda inner: st.lists(inner, max_size=4)))
def test_any_sizes_give_a_frame_or_a_named_error(sizes):
    try:
        _receive(_frame({"sizes": sizes}, b"x" * 50))
    except (ChannelClosed, ProtocolError):
        return
    assert type(sizes) is list and all(type(size) is int for size in sizes)


@pytest.mark.parametrize(
    "sizes", [[1001], [500, 501], [1] * 5, [-1], [1.0], [True], ["1"], None, {"a": 1}, [10**30]], ids=repr
)
def test_lengths_that_are_no_lengths_are_refused(sizes):
    with pytest.raises(ProtocolError):
        _receive(_frame({"sizes": sizes}, b"x" * 2000), close=False)


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": ' + b"9" * 10_000 + b"}", b"\xff", b"[1]", b""]
)
def test_headers_that_are_not_plain_json_objects_are_refused(text):
    with pytest.raises(ProtocolError):
        parse_header(text)


def test_what_came_before_the_deadline_counts_however_late_it_is_looked_at():
    near, far, channel = _pair()
    with near, far:
        far.sendall(_frame({"a": 1, "sizes": [2]}, b"xy"))
        assert channel.receive(time.monotonic() - 19) == ({"a": 1}, [b"xy"])
        assert not channel.has_begun
        far.sendall(_frame({"a": 1, "sizes": [2]}, b"x"))
        with pytest.raises(DeadlinePassed):
            channel.receive(time.monotonic() - 19)
        assert channel.has_begun


def test_an_announced_length_sets_no_memory_aside():
    with pytest.raises(ProtocolError, match="4294967295 bytes was announced"):
        _receive(b"\xff\xff\xff\xff")


def test_a_frame_that_drips_does_not_outlast_the_deadline():
    near, far, channel = _pair()
    stop = threading.Event()

    def drip():
        for byte in _frame({"sizes": [], "id": "x" * 500}):
            if stop.wait(0.02):
                return
            far.send(bytes([byte]))

    dripping = threading.Thread(target=drip)
    with near, far:
        dripping.start()
        began = time.monotonic()
        with pytest.raises(DeadlinePassed):
            channel.receive(began + 0.3)
        assert time.monotonic() - began < 2
        stop.set()
        dripping.join()


def test_a_frame_cut_by_a_deadline_is_read_on_where_it_was_left():
    near, far, channel = _pair()
    frame = _frame({"sizes": [5], "id": 7}, b"12345")
    with near, far:
        far.sendall(frame[:10])
        with pytest.raises(DeadlinePassed):
            channel.receive(time.monotonic() + 0.1)
        far.sendall(frame[10:])
        assert channel.receive(time.monotonic() + 1) == ({"id": 7}, [b"12345"])


def test_a_reader_that_never_reads_does_not_outlast_the_deadline():
    near, far, channel = _pair()
    with near, far, pytest.raises(DeadlinePassed):
        channel.send({}, [bytes(64 << 20)], time.monotonic() + 0.3)


def test_a_closed_channel_is_distinguished_from_a_late_one():
    near, far, channel = _pair()
    with near:
        far.close()
        with pytest.raises(ChannelClosed):
            channel.receive(time.monotonic() + 5)
        with pytest.raises(ChannelClosed):
            channel.send({}, [b"x"], time.monotonic() + 5)


def test_what_runs_in_a_sandbox_imports_nothing_of_ours_that_is_not_there():
    import ast
    from pathlib import Path

    import autograde
    from autograde.sandbox.bubblewrap import our_files

    there = {f"autograde.{name.removesuffix('.py').replace('/', '.')}" for name in our_files()}
    package = Path(autograde.__file__).parent
    for module in there - {"autograde.sandbox.__init__"}:
        path = package.joinpath(*module.split(".")[1:]).with_suffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograde"):
                modules = {f"{node.module}.{alias.name}" for alias in node.names}
                assert node.module in there or modules <= there, f"{module} imports {node.module}"
