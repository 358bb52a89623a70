# ruff: noqa
# idea: announce a length that is not a whole number
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [1.5]}, b"xx"))
