# ruff: noqa
# idea: code that runs when the interpreter ends
# undefended: owned
# sandbox: ended exit
import atexit, os, sys

atexit.register(lambda: os.write(1, b"OWNED"))
if __name__ == "<plain>":
    sys.exit()
os._exit(3)
