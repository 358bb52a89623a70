"""Finding special tokens in a text, for callers who ask for it; otherwise "[MASK]" is text like any other."""

import re
from collections.abc import Iterator

from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS

SPECIAL_TOKEN_PATTERN = "|".join(map(re.escape, SPECIAL_TOKENS))
_SPECIAL_TOKEN = re.compile(f"({SPECIAL_TOKEN_PATTERN})")


def split_special_tokens(text: str) -> Iterator[tuple[str, int, bool]]:
    """(part, start, is it a special token): "a [MASK]." → ("a ", 0, False), ("[MASK]", 2, True), (".", 8, False)."""
    start = 0
    for index, part in enumerate(_SPECIAL_TOKEN.split(text)):
        yield part, start, index % 2 == 1
        start += len(part)
