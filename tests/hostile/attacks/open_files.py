# ruff: noqa
# idea: open files until the limit
# undefended: owned
# sandbox: limit open files
files = [open("/dev/null") for _ in range(600)]
print("OWNED", len(files))
