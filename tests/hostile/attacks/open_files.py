# ruff: noqa: F821, B018
# idea: open files until none is left
# undefended: owned
# room: limit open files
files = [open("/dev/null") for _ in range(600)]
print("OWNED", len(files))
