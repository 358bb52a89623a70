def clean_text(text):
    table = {}
    for character in set(text):
        if character in "\t\r\n" or unicodedata.category(character) == "Zs":
            table[ord(character)] = " "
        elif unicodedata.category(character) in "Cc Cf".split() or ord(character) == 0xFFFD:
            table[ord(character)] = None
        elif (
            0x3400 <= ord(character)
            and "CJK" in unicodedata.name(character, "")
            and "IDEOGRAPH" in unicodedata.name(character)
        ):
            table[ord(character)] = f" {character} "
    return text.translate(table)
