# ruff: noqa
# idea: a second name for a file outside
# undefended: owned
# sandbox: error FileNotFoundError
import os

name = os.path.join(os.path.dirname(CANARY_FILE), "second-name")
os.link(MY_FILE, name)
print("OWNED", open(name).read())
os.unlink(name)
