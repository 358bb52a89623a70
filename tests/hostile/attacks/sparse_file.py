# ruff: noqa
# idea: a file that claims to be a terabyte
# undefended: owned
# sandbox: limit file size
import os, tempfile

with open(os.path.join(tempfile.mkdtemp(dir=SHARED_TMP), "sparse"), "wb") as file:
    file.truncate(1 << 40)
print("OWNED")
