# ruff: noqa
# idea: a Unix socket that lies in the file system
# undefended: owned
# sandbox: error PermissionError
import socket

with socket.socket(socket.AF_UNIX) as line:
    line.connect(PATH_SOCKET)
    print("OWNED", line.recv(20))
