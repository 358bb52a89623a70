# ruff: noqa
# idea: an abstract Unix socket has no file to protect it
# undefended: owned
# sandbox: error PermissionError
import socket

with socket.socket(socket.AF_UNIX) as line:
    line.connect(ABSTRACT_SOCKET)
    print("OWNED", line.recv(20))
