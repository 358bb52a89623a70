# ruff: noqa
# idea: abort()
# undefended: silence
# sandbox: ended signal
import os

os.abort()
