# ruff: noqa
# idea: abort()
# undefended: silence
# room: ended signal
import os

os.abort()
