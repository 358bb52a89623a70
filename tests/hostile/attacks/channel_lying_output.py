# ruff: noqa
# idea: an output whose text is a list
# undefended: channel
# sandbox: ended protocol
reply_with({"outputs": [{"kind": "stdout", "text": ["OWNED"]}], "error": None, "limit": None})
