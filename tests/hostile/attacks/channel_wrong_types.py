# ruff: noqa
# idea: a reply whose parts are of the wrong kind
# undefended: channel
# sandbox: ended protocol
reply_with({"outputs": {"kind": "stdout"}, "error": None, "limit": None})
