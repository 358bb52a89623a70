# ruff: noqa: F821, B018
# idea: SIGKILL to oneself
# undefended: silence
# room: ended memory or ended signal
import os, signal

os.kill(os.getpid(), signal.SIGKILL)
