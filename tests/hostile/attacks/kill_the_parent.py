# ruff: noqa
# idea: end the process that looks after the kernel
# undefended: owned
# sandbox: harmless
import os, signal, time

parent = os.getppid()
os.kill(parent, signal.SIGKILL)
time.sleep(0.3)
if os.getppid() != parent:
    print("OWNED", flush=True)
