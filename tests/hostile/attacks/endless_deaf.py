# ruff: noqa
# idea: a loop that ignores the interrupt
# undefended: silence
# sandbox: ended wall clock
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    continue
