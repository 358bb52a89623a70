# ruff: noqa
# idea: look for anything that is called like a gradebook
# undefended: owned
# sandbox: harmless
import os

for place in ("/home", "/srv", "/var", "/opt", "/mnt", "/media", os.path.dirname(CANARY_FILE)):
    for folder, _, files in os.walk(place):
        for name in {"gradebook.db"} & set(files):
            with open(os.path.join(folder, name), "rb") as file:
                if b"CANARY" in file.read(100):
                    print("OWNED", folder)
