# ruff: noqa
# idea: announce four gigabytes
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, b"\xff\xff\xff\xff" + b"x" * 1000)
