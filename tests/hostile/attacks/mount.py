# ruff: noqa
# idea: put a file system of one's own over something
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

libc.unshare(0x10000000 | 0x20000)
if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0:
    print("OWNED")
