# Programs that end, or do not end, as a grader expects.
import os, signal

# === abort: abort()
# undefended: silence; sandbox: ended signal
os.abort()

# === background_shell: a shell command that runs on in the background
# undefended: heartbeat; sandbox: harmless
import subprocess

line = f"while sleep 0.2; do echo x >> {OUTSIDE}/heartbeat; done"
subprocess.Popen(["timeout", "3", "sh", "-c", line], start_new_session=True, stdout=-3, stderr=-3)

# === daemon: a double fork that outlives the kernel
# undefended: heartbeat; sandbox: ended exit
import time

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

# === endless_c: a loop inside C code, which looks at no signal
# undefended: silence; sandbox: ended wall clock
import itertools

sum(itertools.repeat(1))

# === endless_catching: a loop that catches every exception
# undefended: silence; sandbox: ended wall clock or limit wall clock
while True:
    try:
        while True:
            continue
    except BaseException:
        continue

# === endless_deaf: a loop that ignores the interrupt
# undefended: silence; sandbox: ended wall clock
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    continue

# === endless_python: a loop without an end
# undefended: silence; sandbox: limit wall clock
while True:
    continue

# === endless_sleep: wait for ever without using the processor
# undefended: silence; sandbox: limit wall clock
import time

time.sleep(10_000)

# === exit_at_once: leave without a word
# undefended: silence; sandbox: ended exit
os._exit(0)

# === exit_hook: code that runs when the interpreter ends
# undefended: owned; sandbox: ended exit
import atexit, sys

atexit.register(lambda: os.write(1, b"OWNED"))
if __name__ == "<plain>":
    sys.exit()
os._exit(3)

# === kill_another: end another process of the same user
# undefended: owned; sandbox: error ProcessLookupError
os.kill(VICTIM, signal.SIGTERM)
print("OWNED")

# === kill_the_parent: end the process that looks after the kernel
# undefended: owned; sandbox: harmless
import time

parent = os.getppid()
os.kill(parent, signal.SIGKILL)
time.sleep(0.3)
if os.getppid() != parent:
    print("OWNED", flush=True)

# === kill_yourself: SIGKILL to oneself
# undefended: silence; sandbox: ended memory or ended signal or ended killed from outside
os.kill(os.getpid(), signal.SIGKILL)

# === segfault: read from address 0
# undefended: silence; sandbox: ended signal
import ctypes

ctypes.string_at(0)

# === stop_yourself: a stopped process answers nothing and does not die
# undefended: silence; sandbox: ended wall clock
os.kill(os.getpid(), signal.SIGSTOP)
