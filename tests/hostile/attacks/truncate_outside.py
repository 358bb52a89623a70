# ruff: noqa
# idea: empty a file that belongs to the course
# undefended: owned
# sandbox: error FileNotFoundError
import os

os.truncate(MY_FILE, 0)
print("OWNED")
