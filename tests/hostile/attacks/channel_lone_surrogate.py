# ruff: noqa
# idea: text that cannot be written to any file
# undefended: channel
# sandbox: harmless
reply_with({"outputs": [{"kind": "stdout", "text": "\ud800"}], "error": None, "limit": None})
