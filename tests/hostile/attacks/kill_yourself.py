# ruff: noqa
# idea: SIGKILL to oneself
# undefended: silence
# room: ended memory or ended signal
import os, signal

os.kill(os.getpid(), signal.SIGKILL)
