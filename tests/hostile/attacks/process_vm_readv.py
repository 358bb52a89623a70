# ruff: noqa
# idea: read another process's memory by a system call
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

text = ctypes.create_string_buffer(b"something to read")
child = os.fork()
if child == 0:
    import time

    time.sleep(2)
    os._exit(0)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


into = ctypes.create_string_buffer(9)
here, there = Piece(ctypes.addressof(into), 9), Piece(ctypes.addressof(text), 9)
if libc.process_vm_readv(child, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 9:
    print("OWNED", into.value)
