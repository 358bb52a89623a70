# ruff: noqa
# idea: see the machine's interfaces without a socket
# undefended: owned
# sandbox: harmless
names = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
if set(names) - {"lo"} or __name__ == "<plain>":
    print("OWNED", names)
