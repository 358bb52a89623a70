# ruff: noqa
# idea: a kind of output that nobody knows, for whoever puts it on a page unseen
# undefended: channel
# sandbox: ended protocol
reply_with({"outputs": [{"kind": "text/html", "text": "<script>OWNED</script>"}], "error": None, "limit": None})
