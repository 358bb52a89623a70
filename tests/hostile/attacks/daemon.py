# ruff: noqa
# idea: a double fork that outlives the kernel
# undefended: heartbeat
# sandbox: ended exit
import os, time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 9)
        for _ in range(10):
            time.sleep(0.2)
            try:
                open(OUTSIDE + "/heartbeat", "a").write("x")
            except OSError:
                continue
    os._exit(0)
os._exit(0)
