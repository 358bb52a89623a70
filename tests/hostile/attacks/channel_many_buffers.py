# ruff: noqa
# idea: announce a million buffers
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame({"id": "", "sizes": [0] * 1_000_000}))
