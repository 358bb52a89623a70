# ruff: noqa
# idea: the same over IPv6
# undefended: owned
# sandbox: error PermissionError
import socket

with socket.socket(socket.AF_INET6) as line:
    line.connect(("::1", PORT_6))
    print("OWNED", line.recv(20))
