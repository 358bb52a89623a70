# ruff: noqa
# idea: ask the kernel about the network's interfaces
# undefended: owned
# sandbox: error PermissionError
import socket

line = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
print("OWNED", [name for _, name in socket.if_nameindex()])
