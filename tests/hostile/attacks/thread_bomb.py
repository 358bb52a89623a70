# ruff: noqa
# idea: more threads than anyone needs
# undefended: owned
# sandbox: limit processes or limit memory
import threading, time

for _ in range(100):
    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
print("OWNED", threading.active_count())
