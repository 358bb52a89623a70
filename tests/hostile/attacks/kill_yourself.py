# ruff: noqa
# idea: SIGKILL to oneself
# undefended: silence
# sandbox: ended memory or ended signal or ended killed from outside
import os, signal

os.kill(os.getpid(), signal.SIGKILL)
