# ruff: noqa
# idea: another program's file in /dev/shm
# undefended: owned
# sandbox: error FileNotFoundError
print("OWNED", open(SHARED_FILE).read())
