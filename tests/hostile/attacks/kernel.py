# Ways into the kernel.
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)

# === file_handles: open files by number instead of by name
# undefended: owned; sandbox: harmless
handle = (ctypes.c_uint32 * 40)(128)
number = ctypes.c_int()
if libc.syscall(NUMBERS["name_to_handle_at"], -100, b"/usr", handle, ctypes.byref(number), 0) == 0:
    print("OWNED")

# === io_uring: system calls through a ring that a filter does not see
# undefended: owned; sandbox: harmless
if libc.syscall(NUMBERS["io_uring_setup"], 4, (ctypes.c_uint8 * 120)()) >= 0:
    print("OWNED")

# === keyring: leave something in the kernel's key ring
# undefended: owned; sandbox: harmless
if libc.syscall(NUMBERS["add_key"], b"user", b"autograde", b"x", 1, -2) >= 0:
    print("OWNED")

# === memory_memfd: memory in a nameless file that no process is charged for
# undefended: owned; sandbox: error PermissionError; limits: cell_seconds=6.0
files = [os.memfd_create("x") for _ in range(4)]
for file in files:
    for _ in range(150):
        os.write(file, bytes(1 << 20))
print("OWNED: 600 MiB")

# === memory_system_v: a System V segment that stays when its maker is gone
# undefended: owned; sandbox: harmless; limits: cell_seconds=6.0
segment = libc.shmget(0x4175746F, 1 << 20, 0o1666)
if segment >= 0:
    print("OWNED", segment)
    libc.shmctl(segment, 0, None)

# === mount: put a file system of one's own over something
# undefended: owned; sandbox: harmless
libc.unshare(0x10000000 | 0x20000)
if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0:
    print("OWNED")

# === open_devices: a device of the machine: a GPU, a disk, FUSE
# undefended: owned; sandbox: harmless
import stat

harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
for folder, _, names in os.walk("/dev"):
    for name in names:
        path = os.path.join(folder, name)
        kind = os.lstat(path).st_mode
        if name in harmless or folder == "/dev/pts" or not (stat.S_ISCHR(kind) or stat.S_ISBLK(kind)):
            continue
        try:
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        except OSError:
            continue
        print("OWNED", path)

# === other_architecture: 32-bit system calls have other numbers
# undefended: owned; sandbox: ended signal
import mmap, platform

code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("OWNED", call())

# === perf_events: count what the processor does
# undefended: owned; sandbox: harmless
attributes = (ctypes.c_uint32 * 32)()
attributes[0], attributes[1] = 1, 128  # PERF_TYPE_SOFTWARE
attributes[10] = 0b1100000  # exclude the kernel and the hypervisor
if libc.syscall(NUMBERS["perf_event_open"], attributes, 0, -1, -1, 0) >= 0:
    print("OWNED")

# === process_vm_readv: read another process's memory by a system call
# undefended: owned; sandbox: harmless
text = ctypes.create_string_buffer(b"something to read")
child = os.fork()
if child == 0:
    import time

    time.sleep(2)
    os._exit(0)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


into = ctypes.create_string_buffer(9)
here, there = Piece(ctypes.addressof(into), 9), Piece(ctypes.addressof(text), 9)
if libc.process_vm_readv(child, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 9:
    print("OWNED", into.value)

# === ptrace: steer another process
# undefended: owned; sandbox: harmless
child = os.fork()
if child == 0:
    import time

    time.sleep(2)
    os._exit(0)
if libc.ptrace(16, child, None, None) == 0:
    print("OWNED")

# === user_namespace: become root in a namespace of one's own
# undefended: owned; sandbox: harmless
if libc.unshare(0x10000000) == 0:
    print("OWNED")

# === user_namespace_clone: the same through clone
# undefended: owned; sandbox: harmless
result = libc.syscall(NUMBERS["clone"], 0x10000000 | 17, None, None, None, None)
if result == 0:
    os._exit(0)
if result > 0:
    print("OWNED", result)

# === user_namespace_clone3: the same through clone3, whose flags a filter cannot see
# undefended: owned; sandbox: harmless
arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
result = libc.syscall(NUMBERS["clone3"], arguments, 64)
if result == 0:
    os._exit(0)
if result > 0:
    print("OWNED", result)

# === userfaultfd: hold the kernel in the middle of a copy
# undefended: owned; sandbox: harmless
if libc.syscall(NUMBERS["userfaultfd"], 1) >= 0:
    print("OWNED")
