# ruff: noqa
# idea: open files until none is left
# undefended: owned
# sandbox: limit open files
files = [open("/dev/null") for _ in range(600)]
print("OWNED", len(files))
