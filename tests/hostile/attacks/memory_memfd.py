# ruff: noqa
# idea: memory in a nameless file that no process is charged for
# undefended: owned
# sandbox: error PermissionError
# limits: cell_seconds=6.0
import os

files = [os.memfd_create("x") for _ in range(4)]
for file in files:
    for _ in range(150):
        os.write(file, bytes(1 << 20))
print("OWNED: 600 MiB")
