# ruff: noqa
# idea: write for ever
# undefended: channel
# sandbox: ended protocol
while True:
    os.write(CHANNEL, b"\x00\x00\x00\x02{}" * 1000)
