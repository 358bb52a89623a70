# ruff: noqa
# idea: /proc shows the environment a parent process was started with
# undefended: owned
# sandbox: harmless
import os

pid = os.getppid()
while pid > 0:
    try:
        text = open(f"/proc/{pid}/environ").read()
        pid = int(open(f"/proc/{pid}/stat").read().rpartition(") ")[2].split()[1])
    except OSError:
        break
    if SECRET_NAME in text:
        print("OWNED", text)
