# ruff: noqa: F821, B018
# idea: a loop without an end
# undefended: silence
# room: limit wall clock
while True:
    continue
