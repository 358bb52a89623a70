def clean_text(text):
    for blank in "\t\n\r":
        text = text.replace(blank, " ")
    for character in set(text):
        if unicodedata.category(character) == "Zs":
            text = text.replace(character, " ")
        elif unicodedata.category(character) in ("Cc", "Cf") or character == "\ufffd":
            text = text.replace(character, "")
    chinese = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]
    for character in set(text):
        if any(a <= ord(character) <= b for a, b in chinese):
            text = text.replace(character, f" {character} ")
    return text
