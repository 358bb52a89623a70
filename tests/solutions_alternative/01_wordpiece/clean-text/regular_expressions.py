import re


def clean_text(text):
    kept = [c for c in re.sub(r"[\t\n\r]", " ", text) if unicodedata.category(c) not in {"Cc", "Cf"} and c != "\ufffd"]
    plain = "".join(" " if unicodedata.category(c) == "Zs" else c for c in kept)
    blocks = "".join(
        f"{chr(a)}-{chr(b)}"
        for a, b in [
            (0x4E00, 0x9FFF),
            (0x3400, 0x4DBF),
            (0x20000, 0x2A6DF),
            (0x2A700, 0x2B73F),
            (0x2B740, 0x2B81F),
            (0x2B820, 0x2CEAF),
            (0xF900, 0xFAFF),
            (0x2F800, 0x2FA1F),
        ]
    )
    return re.sub(f"([{blocks}])", r" \1 ", plain)
