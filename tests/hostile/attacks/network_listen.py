# ruff: noqa
# idea: open a door for others
# undefended: owned
# sandbox: error PermissionError
import socket

with socket.socket() as line:
    line.bind(("127.0.0.1", 0))
    line.listen()
    print("OWNED", line.getsockname())
