# ruff: noqa
# idea: a loop inside C code, which looks at no signal
# undefended: silence
# sandbox: ended wall clock
import itertools

sum(itertools.repeat(1))
