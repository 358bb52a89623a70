# ruff: noqa: F821, B018
# idea: open a folder for others
# undefended: owned
# room: error FileNotFoundError
import os

os.chmod(MY_FILE, 0o777)
print("OWNED")
