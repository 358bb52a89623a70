# ruff: noqa
# idea: one byte now and then, so that every read succeeds
# undefended: channel
# sandbox: ended wall clock
import signal, time

signal.signal(signal.SIGINT, signal.SIG_IGN)
for byte in frame({"id": "x" * 1000, "sizes": []}):
    os.write(CHANNEL, bytes([byte]))
    time.sleep(0.2)
