# Exhausting the machine.
import os

# === burn_processors: spread a loop over children, none of which breaks a limit of its own
# undefended: owned; sandbox: ended cpu time; limits: cpu_seconds=1.0, cell_seconds=6.0
import time

for _ in range(4):
    if os.fork() == 0:
        end = time.monotonic() + 4
        while time.monotonic() < end:
            continue
        os._exit(0)
while os.waitpid(-1, os.WNOHANG) == (0, 0):
    time.sleep(0.1)
print("OWNED", sum(os.times()[:4]), "seconds")

# === disk: fill the disk, in files small enough each
# undefended: owned; sandbox: limit disk
import tempfile

folder = tempfile.mkdtemp(dir=SHARED_TMP)
for index in range(12):
    with open(f"{folder}/{index}", "wb") as file:
        file.write(bytes(4 << 20))
print("OWNED")

# === disk_shared_memory: fill /dev/shm
# undefended: owned; sandbox: limit disk
names = [f"/dev/shm/autograde-hostile-{index}" for index in range(12)]
try:
    for name in names:
        with open(name, "wb") as file:
            file.write(bytes(4 << 20))
    print("OWNED")
finally:
    for name in names:
        if os.path.exists(name):
            os.unlink(name)

# === endless_exception_text: an exception whose message is gigantic
# undefended: owned; sandbox: error ValueError or ended memory or limit memory; limits: cell_seconds=6.0
if __name__ == "<plain>":
    print("OWNED" + "x" * 100_000_000)
raise ValueError("x" * 100_000_000)

# === error_flood: the same on stderr, and past Python on the descriptors
# undefended: owned; sandbox: limit output
import sys

for _ in range(3_000):
    sys.stderr.write("x" * 1000)
    os.write(1, b"x" * 1000)
    os.write(2, b"x" * 1000)
sys.stdout.write("OWNED" if os.fstat(1).st_rdev == 0 else "")

# === file_size: one file larger than allowed
# undefended: owned; sandbox: limit file size
import tempfile

with open(os.path.join(tempfile.mkdtemp(dir=SHARED_TMP), "large"), "wb") as file:
    for _ in range(12):
        file.write(bytes(1 << 20))
print("OWNED")

# === fork_bomb: more processes than anyone needs
# undefended: owned; sandbox: limit processes or ended processes or ended memory
import time

made = 0
for _ in range(100):
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)
    made += 1
print("OWNED", made)

# === inodes: a million empty files
# undefended: owned; sandbox: limit inodes
import tempfile

folder = tempfile.mkdtemp(dir=SHARED_TMP)
for index in range(2000):
    open(f"{folder}/{index}", "w").close()
print("OWNED")

# === memory_children: many children with a little too much each
# undefended: owned; sandbox: ended memory or limit memory or limit processes; limits: cell_seconds=6.0
import time

for _ in range(12):
    if os.fork() == 0:
        block = b"x" * (48 << 20)
        time.sleep(2)
        os._exit(0)
time.sleep(1.2)
if os.waitpid(-1, os.WNOHANG) == (0, 0):
    print("OWNED: 576 MiB in 12 children")

# === memory_python: an ever longer list
# undefended: owned; sandbox: limit memory or ended memory; limits: cell_seconds=6.0
blocks = []
for _ in range(40):
    blocks.append(bytearray(b"x" * (16 << 20)))
print("OWNED", len(blocks) * 16, "MiB")

# === memory_shared: shared mappings, which the limit on private data does not count
# undefended: owned; sandbox: ended memory or limit memory; limits: cell_seconds=6.0
import mmap, time

blocks = []
for _ in range(20):
    block = mmap.mmap(-1, 32 << 20)
    for offset in range(0, len(block), 4096):
        block[offset] = 1
    blocks.append(block)
time.sleep(0.5)
print("OWNED", len(blocks) * 32, "MiB")

# === open_files: open files until the limit
# undefended: owned; sandbox: limit open files
files = [open("/dev/null") for _ in range(600)]
print("OWNED", len(files))

# === print_flood: print without an end
# undefended: owned; sandbox: limit output or limit wall clock
for _ in range(30_000):
    print("x" * 1000)
print("OWNED")

# === raise_own_limits: lift the limits again
# undefended: owned; sandbox: error ValueError
import resource

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("OWNED", hard)

# === sparse_file: a file that claims to be a terabyte
# undefended: owned; sandbox: limit file size
import tempfile

with open(os.path.join(tempfile.mkdtemp(dir=SHARED_TMP), "sparse"), "wb") as file:
    file.truncate(1 << 40)
print("OWNED")

# === thread_bomb: more threads than anyone needs
# undefended: owned; sandbox: limit processes or limit memory
import threading, time

for _ in range(100):
    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
print("OWNED", threading.active_count())
