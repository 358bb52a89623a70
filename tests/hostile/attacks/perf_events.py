# ruff: noqa
# idea: count what the processor does
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

attributes = (ctypes.c_uint32 * 32)()
attributes[0], attributes[1] = 1, 128  # PERF_TYPE_SOFTWARE
attributes[10] = 0b1100000  # exclude the kernel and the hypervisor
if libc.syscall(NUMBERS["perf_event_open"], attributes, 0, -1, -1, 0) >= 0:
    print("OWNED")
