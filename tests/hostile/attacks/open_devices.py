# ruff: noqa
# idea: a device of the machine: a GPU, a disk, FUSE
# undefended: owned
# sandbox: harmless
import os, stat

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
