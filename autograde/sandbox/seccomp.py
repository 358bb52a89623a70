"""The system calls that code in a sandbox cannot make: a seccomp filter in classic BPF.

Written by hand, because libseccomp's binding would add a system library to every instructor's machine. It denies by
name: TensorFlow uses several hundred calls that change with its versions, and the namespaces are what isolates; the
filter takes away parts of the kernel that an exercise never needs and that have been ways out. A denied call fails with
EPERM, so an attempt is an ordinary Python exception.

Numbers: Linux's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

import ctypes
import errno
import platform
import struct

from autograde.sandbox import syscalls

# name: (x86-64, 64-bit ARM); None where the architecture has no such call
DENIED = {
    # looking into or steering other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "move_pages": (279, 239), "migrate_pages": (256, 238),
    # file systems and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    # large or much-attacked parts of the kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "modify_ldt": (154, None), "personality": (135, 92), "lookup_dcookie": (212, 18),
    # memory that no process is charged for
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    # the machine itself
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116),
    "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None),
    # the network; socketpair below stays for AF_UNIX
    "socket": (41, 198),
}  # fmt: skip
_SPECIAL = {"clone": (56, 220), "clone3": (435, 435), "socketpair": (53, 199)}
_CLONE_FLAGS = sum(syscalls.NEW_NAMESPACES.values())
_AF_UNIX = 1

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, AUDIT_ARCH_…
_X32_BIT = 0x4000_0000

_LOAD, _JUMP_EQUAL, _JUMP_FROM, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERROR = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_NUMBER, _ARCHITECTURE, _ARGUMENT_0 = 0, 4, 16  # offsets in struct seccomp_data; the low half of argument 0

_SET_SECCOMP, _FILTER_MODE = 22, 2


def supported() -> bool:
    return platform.machine() in _ARCHITECTURES


def number(name: str) -> int | None:
    """The system call's number on this machine."""
    return (DENIED | _SPECIAL)[name][_ARCHITECTURES[platform.machine()][0]]


def program() -> bytes:
    """The filter for this machine, as an array of `struct sock_filter`."""
    deny, allow = _op(_RETURN, _ERROR | errno.EPERM), _op(_RETURN, _ALLOW)
    code = [
        _op(_LOAD, _ARCHITECTURE),
        _op(_JUMP_EQUAL, _ARCHITECTURES[platform.machine()][1], 1, 0),
        _op(_RETURN, _KILL_PROCESS),  # a 32-bit program has other numbers
        _op(_LOAD, _NUMBER),
        _op(_JUMP_FROM, _X32_BIT, 0, 1),
        _op(_RETURN, _KILL_PROCESS),
    ]
    for name in DENIED:
        if number(name) is not None:
            code += [_op(_JUMP_EQUAL, number(name), 0, 1), deny]
    # clone3 takes its flags by pointer, which a filter cannot follow: "no such call", and the C library uses clone
    code += [_op(_JUMP_EQUAL, number("clone3"), 0, 1), _op(_RETURN, _ERROR | errno.ENOSYS)]
    code += [_op(_JUMP_EQUAL, number("clone"), 0, 4), _op(_LOAD, _ARGUMENT_0)]
    code += [_op(_JUMP_ANY_BIT, _CLONE_FLAGS, 0, 1), deny, allow]
    code += [_op(_JUMP_EQUAL, number("socketpair"), 0, 4), _op(_LOAD, _ARGUMENT_0)]
    code += [_op(_JUMP_EQUAL, _AF_UNIX, 1, 0), deny, allow]
    return b"".join([*code, allow])


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def install() -> None:
    """Puts the filter on this process for good; its children inherit it. Raises OSError."""
    code = program()
    buffer = ctypes.create_string_buffer(code, len(code))
    description = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    syscalls.forbid_new_privileges()
    syscalls.prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.addressof(description))
