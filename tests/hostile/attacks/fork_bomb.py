# ruff: noqa
# idea: more processes than anyone needs
# undefended: owned
# sandbox: limit processes or ended processes or ended memory
import os, time

made = 0
for _ in range(100):
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)
    made += 1
print("OWNED", made)
