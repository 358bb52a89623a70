# ruff: noqa
# idea: the grader's environment holds a secret
# undefended: owned
# sandbox: harmless
import os

if SECRET_NAME in os.environ:
    print("OWNED", os.environ[SECRET_NAME])
