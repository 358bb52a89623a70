# ruff: noqa
# idea: delete the file of another student
# undefended: owned
# sandbox: error FileNotFoundError
import os

os.unlink(MY_FILE)
print("OWNED")
