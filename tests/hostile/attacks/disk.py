# ruff: noqa
# idea: fill the disk, in files small enough each
# undefended: owned
# sandbox: limit disk
import os, tempfile

folder = tempfile.mkdtemp(dir=SHARED_TMP)
for index in range(12):
    with open(f"{folder}/{index}", "wb") as file:
        file.write(bytes(4 << 20))
print("OWNED")
