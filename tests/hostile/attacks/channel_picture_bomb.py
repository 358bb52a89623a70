# ruff: noqa
# idea: a PNG of 500 bytes whose header declares 10 000 000 000 pixels
# undefended: channel
# sandbox: harmless
png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 100_000, 100_000) + bytes(500)
reply_with({"outputs": [{"kind": "png", "text": ""}], "error": None, "limit": None}, png)
