# ruff: noqa: F821, B018
# idea: empty a file that belongs to the course
# undefended: owned
# room: error FileNotFoundError
import os

os.truncate(MY_FILE, 0)
print("OWNED")
