# ruff: noqa
# idea: NaN, which is not JSON
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame(b'{"sizes": [NaN]}'))
