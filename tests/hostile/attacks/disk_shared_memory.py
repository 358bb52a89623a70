# ruff: noqa
# idea: fill /dev/shm
# undefended: owned
# sandbox: limit disk
import os

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
