CHINESE_BLOCKS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def cleaned(character):
    if character.isspace() and character in "\t\n\r":
        return " "
    match unicodedata.category(character):
        case "Zs":
            return " "
        case "Cc" | "Cf":
            return ""
    if character == "\N{REPLACEMENT CHARACTER}":
        return ""
    for first, last in CHINESE_BLOCKS:
        if ord(character) in range(first, last + 1):
            return " " + character + " "
    return character


def clean_text(text):
    return "".join(map(cleaned, text))
