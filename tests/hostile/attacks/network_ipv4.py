# ruff: noqa
# idea: send what was found to a server
# undefended: owned
# sandbox: error PermissionError
import socket

with socket.socket(socket.AF_INET) as line:
    line.connect(("127.0.0.1", PORT_4))
    print("OWNED", line.recv(20))
