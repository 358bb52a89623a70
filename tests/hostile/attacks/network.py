# Attacks through the network.
import socket

# === network_abstract_unix: an abstract Unix socket has no file to protect it
# undefended: owned; sandbox: error PermissionError
with socket.socket(socket.AF_UNIX) as line:
    line.connect(ABSTRACT_SOCKET)
    print("OWNED", line.recv(20))

# === network_dns: a name server sees what is asked for
# undefended: owned; sandbox: error PermissionError
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    line.sendto(b"a question", ("127.0.0.1", PORT_4))
    print("OWNED")

# === network_interfaces: see the machine's interfaces without a socket
# undefended: owned; sandbox: harmless
names = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
if set(names) - {"lo"} or __name__ == "<plain>":
    print("OWNED", names)

# === network_ipv4: send what was found to a server
# undefended: owned; sandbox: error PermissionError
with socket.socket(socket.AF_INET) as line:
    line.connect(("127.0.0.1", PORT_4))
    print("OWNED", line.recv(20))

# === network_ipv6: the same over IPv6
# undefended: owned; sandbox: error PermissionError
with socket.socket(socket.AF_INET6) as line:
    line.connect(("::1", PORT_6))
    print("OWNED", line.recv(20))

# === network_listen: open a door for others
# undefended: owned; sandbox: error PermissionError
with socket.socket() as line:
    line.bind(("127.0.0.1", 0))
    line.listen()
    print("OWNED", line.getsockname())

# === network_netlink: ask the kernel about the network's interfaces
# undefended: owned; sandbox: error PermissionError
line = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
print("OWNED", [name for _, name in socket.if_nameindex()])

# === network_path_unix: a Unix socket that lies in the file system
# undefended: owned; sandbox: error PermissionError
with socket.socket(socket.AF_UNIX) as line:
    line.connect(PATH_SOCKET)
    print("OWNED", line.recv(20))
