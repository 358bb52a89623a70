"""A notebook's JSON without its outputs, read in bounded memory even if the outputs are very large.

One pass over the file finds strings and brackets, nothing else, and leaves out the value of every key named `outputs`
or `attachments`. A printed loop of 100 MB therefore costs a second and no memory; the remaining text is small enough to
parse. In JSON a string followed by a colon is always a key, so text that contains "outputs" stays.
"""

import re

LARGEST_FILE = 512 << 20  # bytes
LARGEST_TEXT = 8 << 20  # bytes, without outputs: a course notebook has 0.1 MB
DEEPEST = 64  # levels of brackets outside outputs: a notebook has about 6
MAX_TOKENS = 20_000_000  # about 10 s

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"(\s*+:)?+|[\[\]{}]|"', re.DOTALL)
_SPACE = re.compile(rb"\s*+")
_LEFT_OUT = (b'"outputs"', b'"attachments"')
_LONGEST_KEY = 40


class TooLarge(Exception):
    """The file is larger or deeper than any notebook; the message gives the exceeded limit."""


def without_outputs(data) -> bytes:
    """The JSON of a notebook with `null` in place of outputs and attachments.

    data: bytes, or an open `mmap`. Broken JSON comes back broken in the same way. Raises TooLarge.
    """
    if len(data) > LARGEST_FILE:
        raise TooLarge(f"it has {len(data) >> 20} MB; the largest size allowed is {LARGEST_FILE >> 20} MB")
    parts, size, start = [], 0, 0
    for begin, end in _values_left_out(data):
        parts += [data[start:begin], b" null"]
        size += begin - start
        if size > LARGEST_TEXT:
            break
        start = end
    if size + len(data) - start > LARGEST_TEXT:
        raise TooLarge(f"it has more than {LARGEST_TEXT >> 20} MB even without its outputs")
    return b"".join([*parts, data[start:]])


def _values_left_out(data):
    """Yields where each value that is left out begins and ends."""
    depth = 0
    skipped_from = None  # where the value begins that is being left out
    skipped_depth = 0  # depth at which it ends
    for count, token in enumerate(_TOKEN.finditer(data)):
        if count > MAX_TOKENS:
            raise TooLarge(f"it contains more than {MAX_TOKENS:,} brackets and strings")
        first = data[token.start() : token.start() + 1]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
        elif token.end() - token.start() == 1:
            return  # a string that never ends: the file is cut short
        if skipped_from is not None:
            if depth <= skipped_depth and token[1] is None:
                yield skipped_from, token.end()
                skipped_from = None
        elif depth > DEEPEST:
            raise TooLarge(f"its brackets are nested more than {DEEPEST} deep")
        elif (
            token[1] is not None
            and token.start(1) - token.start() <= _LONGEST_KEY  # long keys are not copied to find out
            and data[token.start() : token.start(1)] in _LEFT_OUT
        ):
            value = _SPACE.match(data, token.end()).end()
            if data[value : value + 1] in (b"[", b"{", b'"'):
                skipped_from, skipped_depth = token.end(), depth
