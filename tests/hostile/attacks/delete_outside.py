# ruff: noqa: F821, B018
# idea: delete the file of another student
# undefended: owned
# room: error FileNotFoundError
import os

os.unlink(MY_FILE)
print("OWNED")
