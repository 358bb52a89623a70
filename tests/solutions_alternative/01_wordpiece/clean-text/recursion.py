def clean_text(text):
    if len(text) > 1:
        half = len(text) // 2
        return clean_text(text[:half]) + clean_text(text[half:])
    if text == "" or text == "\ufffd":
        return ""
    kind = unicodedata.category(text)
    if kind == "Zs" or text in ("\t", "\n", "\r"):
        return " "
    if kind[0] == "C" and kind[1] in "cf":
        return ""
    code = ord(text)
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF
    chinese = chinese or 0x20000 <= code <= 0x2A6DF or 0x2A700 <= code <= 0x2CEAF or 0x2F800 <= code <= 0x2FA1F
    return f" {text} " if chinese else text
