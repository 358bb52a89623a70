# ruff: noqa
# idea: claim a limit that does not exist
# undefended: channel
# sandbox: ended protocol
reply_with({"outputs": [], "error": None, "limit": "full marks"})
