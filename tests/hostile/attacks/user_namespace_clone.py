# ruff: noqa
# idea: the same through clone
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

result = libc.syscall(NUMBERS["clone"], 0x10000000 | 17, None, None, None, None)
if result == 0:
    os._exit(0)
if result > 0:
    print("OWNED", result)
