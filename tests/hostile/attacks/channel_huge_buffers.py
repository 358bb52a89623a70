# ruff: noqa
# idea: announce a terabyte of array
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [1 << 40]}, b"x" * 1000))
