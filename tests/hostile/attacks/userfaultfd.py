# ruff: noqa
# idea: hold the kernel in the middle of a copy
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

if libc.syscall(NUMBERS["userfaultfd"], 1) >= 0:
    print("OWNED")
