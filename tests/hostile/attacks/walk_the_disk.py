# ruff: noqa: F821, B018
# idea: look for anything that is called like a gradebook
# undefended: owned
# room: harmless
import os

for place in ("/home", "/srv", "/var", "/opt", "/mnt", "/media", os.path.dirname(CANARY_FILE)):
    for folder, _, files in os.walk(place):
        if "gradebook.db" in files:
            print("OWNED", folder)
