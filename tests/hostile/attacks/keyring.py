# ruff: noqa
# idea: leave something in the kernel's key ring
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

if libc.syscall(NUMBERS["add_key"], b"user", b"autograde", b"x", 1, -2) >= 0:
    print("OWNED")
