# ruff: noqa
# idea: an unknown kind of output, for a program that puts it on a page without a check
# undefended: channel
# sandbox: ended protocol
reply_with({"outputs": [{"kind": "text/html", "text": "<script>OWNED</script>"}], "error": None, "limit": None})
