# ruff: noqa: F821, B018
# idea: a solution lies in a folder everyone may read
# undefended: owned
# room: error FileNotFoundError
print("OWNED", open(CANARY_FILE).read())
