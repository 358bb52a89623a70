# ruff: noqa
# idea: open files by number instead of by name
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

handle = (ctypes.c_uint32 * 40)(128)
number = ctypes.c_int()
if libc.syscall(NUMBERS["name_to_handle_at"], -100, b"/usr", handle, ctypes.byref(number), 0) == 0:
    print("OWNED")
