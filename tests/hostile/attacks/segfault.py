# ruff: noqa
# idea: read from address 0
# undefended: silence
# sandbox: ended signal
import ctypes

ctypes.string_at(0)
