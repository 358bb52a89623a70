# ruff: noqa
# idea: leave a file in /tmp for the next student's code to find
# undefended: owned
# sandbox: harmless
import glob, os, tempfile

with open(os.path.join(SHARED_TMP, "autograde-hostile-note"), "w") as file:
    file.write("a message for the next sandbox")
if os.path.exists(SHARED_TMP + "/made-by-the-tests"):
    print("OWNED")
