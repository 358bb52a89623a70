# ruff: noqa: F821, B018
# idea: leave a file where everyone may write
# undefended: owned
# room: error FileNotFoundError
with open(OUTSIDE + "/left-behind", "w") as file:
    file.write("x")
print("OWNED")
