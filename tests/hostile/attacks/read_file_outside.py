# ruff: noqa
# idea: a solution lies in a folder everyone may read
# undefended: owned
# sandbox: error FileNotFoundError
print("OWNED", open(CANARY_FILE).read())
