# ruff: noqa
# idea: leave a file where everyone may write
# undefended: owned
# sandbox: error FileNotFoundError
with open(OUTSIDE + "/left-behind", "w") as file:
    file.write("x")
print("OWNED")
