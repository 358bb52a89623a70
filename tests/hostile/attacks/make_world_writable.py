# ruff: noqa
# idea: open a folder for others
# undefended: owned
# sandbox: error FileNotFoundError
import os

os.chmod(MY_FILE, 0o777)
print("OWNED")
