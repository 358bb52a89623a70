# ruff: noqa
# idea: end another process of the same user
# undefended: owned
# sandbox: error ProcessLookupError
import os, signal

os.kill(VICTIM, signal.SIGTERM)
print("OWNED")
