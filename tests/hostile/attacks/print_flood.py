# ruff: noqa
# idea: print without an end
# undefended: owned
# sandbox: limit output or limit wall clock
for _ in range(30_000):
    print("x" * 1000)
print("OWNED")
