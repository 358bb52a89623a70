# ruff: noqa
# idea: SIGKILL to oneself
# undefended: silence
# sandbox: ended memory or ended signal
import os, signal

os.kill(os.getpid(), signal.SIGKILL)
