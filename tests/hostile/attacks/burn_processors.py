# ruff: noqa
# idea: spread a loop over children, none of which breaks a limit of its own
# undefended: owned
# sandbox: ended cpu time
# limits: cpu_seconds=1.0, cell_seconds=6.0
import os, time

for _ in range(4):
    if os.fork() == 0:
        end = time.monotonic() + 4
        while time.monotonic() < end:
            continue
        os._exit(0)
while os.waitpid(-1, os.WNOHANG) == (0, 0):
    time.sleep(0.1)
print("OWNED", sum(os.times()[:4]), "seconds")
