# ruff: noqa
# idea: leave without a word
# undefended: silence
# sandbox: ended exit
import os

os._exit(0)
