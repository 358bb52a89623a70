# ruff: noqa
# idea: many children with a little too much each
# undefended: owned
# sandbox: ended memory or limit memory or limit processes
# limits: cell_seconds=6.0
import os, time

for _ in range(12):
    if os.fork() == 0:
        block = b"x" * (48 << 20)
        time.sleep(2)
        os._exit(0)
time.sleep(1.2)
if os.waitpid(-1, os.WNOHANG) == (0, 0):
    print("OWNED: 576 MiB in 12 children")
