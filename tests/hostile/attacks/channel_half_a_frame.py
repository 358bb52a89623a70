# ruff: noqa
# idea: half a frame, then silence
# undefended: channel
# sandbox: ended exit
os.write(CHANNEL, frame({"id": "", "sizes": [10]}, b"12345"))
os._exit(0)
