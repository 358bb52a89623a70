# ruff: noqa
# idea: a reply that does not say what it answers
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame({"outputs": [], "error": None, "limit": None, "sizes": []}))
