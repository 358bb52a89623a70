# ruff: noqa
# idea: become root in a namespace of one's own
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

if libc.unshare(0x10000000) == 0:
    print("OWNED")
