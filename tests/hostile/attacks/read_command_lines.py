# ruff: noqa
# idea: /proc shows every process's arguments, and one holds a secret
# undefended: owned
# sandbox: harmless
import os

for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        text = open(f"/proc/{pid}/cmdline").read()
    except OSError:
        continue
    if "victim" in text and int(pid) != os.getpid():
        print("OWNED", text)
