# ruff: noqa
# idea: system calls through a ring that a filter does not see
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

if libc.syscall(NUMBERS["io_uring_setup"], 4, (ctypes.c_uint8 * 120)()) >= 0:
    print("OWNED")
