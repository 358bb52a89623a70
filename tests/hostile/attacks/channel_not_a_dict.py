# ruff: noqa
# idea: a header that is a list
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame([1, 2, 3]))
