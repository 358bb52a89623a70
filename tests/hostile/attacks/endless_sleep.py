# ruff: noqa
# idea: wait for ever without using the processor
# undefended: silence
# sandbox: limit wall clock
import time

time.sleep(10_000)
