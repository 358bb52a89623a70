# ruff: noqa
# idea: a header that is not text
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame(b'{"sizes": [], "id": "\xff\xfe"}'))
