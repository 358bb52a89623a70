# ruff: noqa
# idea: a header that is not JSON
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame(b"{'sizes': []}"))
