# ruff: noqa
# idea: read from address 0
# undefended: silence
# room: ended signal
import ctypes

ctypes.string_at(0)
