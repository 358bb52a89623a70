# ruff: noqa
# idea: one file larger than allowed
# undefended: owned
# sandbox: limit file size
import os, tempfile

with open(os.path.join(tempfile.mkdtemp(dir=SHARED_TMP), "large"), "wb") as file:
    for _ in range(12):
        file.write(bytes(1 << 20))
print("OWNED")
