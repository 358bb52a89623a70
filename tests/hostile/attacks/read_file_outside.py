# ruff: noqa
# idea: a solution lies in a folder everyone may read
# undefended: owned
# room: error FileNotFoundError
print("OWNED", open(CANARY_FILE).read())
