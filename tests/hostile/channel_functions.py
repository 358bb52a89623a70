# ruff: noqa
# Put before every attack in attacks/channel_*.py: it writes to the channel between a sandbox and the grader.
import json, os, struct

os.set_blocking(CHANNEL, True)


def frame(header, *buffers):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">I", len(head)) + head + b"".join(buffers)


def reply_with(change, *buffers):
    """Replaces these entries of the next reply, which a grader's own agent sends with the right id."""
    if __name__ == "<plain>":
        return os.write(CHANNEL, frame({**change, "sizes": [len(b) for b in buffers]}, *buffers))
    import gc

    from autograde.boundary.channel import Channel

    channel = [thing for thing in gc.get_objects() if type(thing) is Channel][0]
    send = channel.send
    channel.send = lambda header, ours=(): send({**header, **change}, buffers)
