# ruff: noqa
# idea: the same on stderr, and past Python on the descriptors
# undefended: owned
# sandbox: limit output
import os, sys

for _ in range(3_000):
    sys.stderr.write("x" * 1000)
    os.write(1, b"x" * 1000)
    os.write(2, b"x" * 1000)
sys.stdout.write("OWNED" if os.fstat(1).st_rdev == 0 else "")
