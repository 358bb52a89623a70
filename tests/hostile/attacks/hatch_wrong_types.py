# ruff: noqa
# idea: a reply whose parts are of the wrong kind
# undefended: hatch
# room: ended protocol
import json, os, struct

os.set_blocking(HATCH, True)


def frame(header, *buffers):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">I", len(head)) + head + b"".join(buffers)


def reply_with(change, *buffers):
    """Makes the next reply say this: from a grader's own agent, with the right id."""
    if __name__ == "<plain>":
        return os.write(HATCH, frame({**change, "sizes": [len(b) for b in buffers]}, *buffers))
    import gc

    from autograde.hatch import Hatch

    hatch = [thing for thing in gc.get_objects() if type(thing) is Hatch][0]
    send = hatch.send
    hatch.send = lambda header, ours=(): send({**header, **change}, buffers)


reply_with({"outputs": {"kind": "stdout"}, "error": None, "limit": None})
