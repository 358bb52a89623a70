# ruff: noqa
# idea: a loop without an end
# undefended: silence
# room: limit wall clock
while True:
    continue
