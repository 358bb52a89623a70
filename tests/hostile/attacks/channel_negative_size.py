# ruff: noqa
# idea: announce less than nothing
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [-1]}, b"x"))
