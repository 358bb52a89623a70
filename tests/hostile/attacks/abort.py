# ruff: noqa: F821, B018
# idea: abort()
# undefended: silence
# room: ended signal
import os

os.abort()
