# ruff: noqa
# idea: a loop without an end
# undefended: silence
# sandbox: limit wall clock
while True:
    continue
