# ruff: noqa
# idea: steer another process
# undefended: owned
# sandbox: harmless
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

child = os.fork()
if child == 0:
    import time

    time.sleep(2)
    os._exit(0)
if libc.ptrace(16, child, None, None) == 0:
    print("OWNED")
