# ruff: noqa: F821, B018
# idea: set-uid programs give the rights of their owner
# undefended: owned
# room: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

if libc.prctl(39, 0, 0, 0, 0) == 0 or not int(open("/proc/self/status").read().split("CapBnd:")[1].split()[0], 16) == 0:
    print("OWNED: nothing forbids new privileges")
