# ruff: noqa
# idea: answer before the question is finished, as the agent would
# undefended: channel
# sandbox: ended protocol
os.write(CHANNEL, frame({"id": "0" * 32, **{"outputs": [], "error": None, "limit": None, "sizes": []}}))
