# Frames that no honest agent writes to the channel between a sandbox and the grader.
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


# === channel_closed: close the channel and go on
# undefended: channel; sandbox: ended lost or ended exit
import time

os.close(CHANNEL)
time.sleep(5)

# === channel_deep_json: a header nested so deep that parsing it overflows the stack
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame(b"[" * 200_000))

# === channel_drip: one byte now and then, so that every read succeeds
# undefended: channel; sandbox: ended wall clock
import signal, time

signal.signal(signal.SIGINT, signal.SIG_IGN)
for byte in frame({"id": "x" * 1000, "sizes": []}):
    os.write(CHANNEL, bytes([byte]))
    time.sleep(0.2)

# === channel_endless_digits: a number that takes minutes to read
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame(b'{"sizes": [], "id": ' + b"9" * 1_000_000 + b"}"))

# === channel_float_size: announce a length that is not a whole number
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [1.5]}, b"xx"))

# === channel_flood: write for ever
# undefended: channel; sandbox: ended protocol
while True:
    os.write(CHANNEL, b"\x00\x00\x00\x02{}" * 1000)

# === channel_forged_limit: claim a limit that does not exist
# undefended: channel; sandbox: ended protocol
reply_with({"outputs": [], "error": None, "limit": "full marks"})

# === channel_forged_reply: answer before the question is finished, as the agent would
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame({"id": "0" * 32, **{"outputs": [], "error": None, "limit": None, "sizes": []}}))

# === channel_half_a_frame: half a frame, then silence
# undefended: channel; sandbox: ended exit
os.write(CHANNEL, frame({"id": "", "sizes": [10]}, b"12345"))
os._exit(0)

# === channel_huge_buffers: announce a terabyte of array
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [1 << 40]}, b"x" * 1000))

# === channel_huge_header: announce four gigabytes
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, b"\xff\xff\xff\xff" + b"x" * 1000)

# === channel_lone_surrogate: text that cannot be written to any file
# undefended: channel; sandbox: harmless
reply_with({"outputs": [{"kind": "stdout", "text": "\ud800"}], "error": None, "limit": None})

# === channel_lying_output: an output whose text is a list
# undefended: channel; sandbox: ended protocol
reply_with({"outputs": [{"kind": "stdout", "text": ["OWNED"]}], "error": None, "limit": None})

# === channel_many_buffers: announce a million buffers
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [0] * 1_000_000}))

# === channel_negative_size: announce less than nothing
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [-1]}, b"x"))

# === channel_no_id: a reply that does not say what it answers
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame({"outputs": [], "error": None, "limit": None, "sizes": []}))

# === channel_no_json: a header that is not JSON
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame(b"{'sizes': []}"))

# === channel_not_a_dict: a header that is a list
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame([1, 2, 3]))

# === channel_not_a_number: NaN, which is not JSON
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame(b'{"sizes": [NaN]}'))

# === channel_not_utf8: a header that is not text
# undefended: channel; sandbox: ended protocol
os.write(CHANNEL, frame(b'{"sizes": [], "id": "\xff\xfe"}'))

# === channel_pickle: a pickle that runs a command where it is read
# undefended: channel; sandbox: ended protocol
import pickle


class Bomb:
    def __reduce__(self):
        return print, ("OWNED",)


os.write(CHANNEL, frame(pickle.dumps(Bomb())))

# === channel_picture_bomb: a PNG of 500 bytes whose header declares 10 000 000 000 pixels
# undefended: channel; sandbox: harmless
png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 100_000, 100_000) + bytes(500)
reply_with({"outputs": [{"kind": "png", "text": ""}], "error": None, "limit": None}, png)

# === channel_unknown_output: an unknown kind of output, for a program that puts it on a page without a check
# undefended: channel; sandbox: ended protocol
reply_with({"outputs": [{"kind": "text/html", "text": "<script>OWNED</script>"}], "error": None, "limit": None})

# === channel_wrong_types: a reply whose parts are of the wrong kind
# undefended: channel; sandbox: ended protocol
reply_with({"outputs": {"kind": "stdout"}, "error": None, "limit": None})
