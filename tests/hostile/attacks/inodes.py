# ruff: noqa
# idea: a million empty files
# undefended: owned
# sandbox: limit inodes
import tempfile

folder = tempfile.mkdtemp(dir=SHARED_TMP)
for index in range(2000):
    open(f"{folder}/{index}", "w").close()
print("OWNED")
