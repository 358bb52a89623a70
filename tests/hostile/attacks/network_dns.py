# ruff: noqa
# idea: a name server sees what is asked for
# undefended: owned
# sandbox: error PermissionError
import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    line.sendto(b"a question", ("127.0.0.1", PORT_4))
    print("OWNED")
