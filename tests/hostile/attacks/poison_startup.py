# ruff: noqa
# idea: leave a start-up file for the next kernel
# undefended: owned
# sandbox: harmless
import os

folder = os.path.expanduser("~/.ipython/profile_default/startup")
os.makedirs(folder, exist_ok=True)
with open(folder + "/00.py", "w") as file:
    file.write("poisoned = True")
if os.path.expanduser("~").startswith(OUTSIDE):
    print("OWNED")
