# ruff: noqa
# idea: a stopped process answers nothing and does not die
# undefended: silence
# sandbox: ended wall clock
import os, signal

os.kill(os.getpid(), signal.SIGSTOP)
