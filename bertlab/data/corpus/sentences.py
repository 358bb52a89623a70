"""Removes markup, splits paragraphs into sentences, and separates English prose from text that only looks like it.

A full stop ends a sentence when white space and a plausible beginning follow it, unless the word before it is an
abbreviation. Full stops inside "3.11", "tf.data" or "setup.py" have no white space after them, so they never split.

Words that were marked as code are between `CODE_START` and `CODE_END` until `unmark` returns their positions. They are
a plausible beginning ("`axis` must be …") and are never split inside.
"""

import re

CODE_START, CODE_END = "\ue000", "\ue001"  # private-use characters: real text does not contain them

# Lower case, without the last full stop. Single letters are initials ("J. Smith") and list marks.
_ABBREVIATIONS = frozenset(
    "e.g eg i.e ie etc cf vs viz resp approx al fig figs eq eqs sec sect ch chap no nos vol pp p ref refs ed eds "
    "dr mr mrs ms prof st jr sr inc ltd dept est max min std dim dims arg args param params incl excl "
    "jan feb mar apr jun jul aug sep sept oct nov dec w.r.t wrt a.k.a aka op ops".split()
)
# These end a sentence when a capital follows: "… lists, tuples, etc. The result …", "the max. The …".
_ABBREVIATIONS_THAT_MAY_END = frozenset("etc al max min dim dims arg args param params op ops no std".split())

_BOUNDARY = re.compile(
    rf"(?P<stop>[.!?…]+[\"'”’)\]]*)(?P<code_end>{CODE_END}?)\s+(?=[\"'“‘(\[]*(?:[^\W_a-z]|{CODE_START}))"
)
_INITIALS = re.compile(r"[a-z](?:\.[a-z])*")  # the J of "J. Smith", the u.s of "U.S. English"
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]*$")


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, in order, stripped. A line break in the paragraph always separates two."""
    sentences = []
    for line in paragraph.split("\n"):
        start = 0
        for match in _BOUNDARY.finditer(line):
            if _ends_sentence(line, start, match):
                sentences.append(line[start : match.end()].strip())
                start = match.end()
        sentences.append(line[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _ends_sentence(line: str, start: int, match: re.Match) -> bool:
    before, after = line[start : match.start()], line[match.end() : match.end() + 1]
    if before.count(CODE_START) > before.count(CODE_END):
        return bool(match["code_end"]) and not before.endswith(CODE_START)  # inside code: only at its very end
    if match["stop"].startswith(("!", "?")):
        return True
    if match["stop"].startswith(("..", "…")):
        return after.isupper() and before.count("[") <= before.count("]")  # not inside [D0, D1, ... DN]
    word = _LAST_WORD.search(before)[0].lower().rstrip(".")
    if _INITIALS.fullmatch(word):
        return after == CODE_START
    if word in _ABBREVIATIONS:
        return word in _ABBREVIATIONS_THAT_MAY_END and after.isupper()
    return bool(before.strip())


# The most frequent words of English that carry grammar rather than subject; prose holds one in every few words.
_FUNCTION_WORDS = frozenset(
    "the a an of to is in and for if this be or with that it as are by on not from will which can at when has have "
    "its used all any you was been must should than each into no only but such these does may do their use we "
    "between whether where how what there same using".split()
)
# A sentence does not end in one of these: the code or formula that followed was removed.
_NEVER_LAST = frozenset(
    "the a an of to is and or with as are by from if be than then its their into when where which whose "
    "should must will may might can could would was were and/or".split()
)
_BAD_START = frozenset(":;,-+$%<>=|/&^~#@!?)]}*\\")
_NOT_FOR_READERS = re.compile(r"TODO|FIXME|XXX|Copyright|pylint|noqa|type: ignore|pragma|isort|mypy:|clang-format")
_INSIDE_WORDS = str.maketrans("", "", "-'/")
_EDGES = "\"'“”‘’()[]{}.,;:!?…*"
_URL_OR_MATH = re.compile(
    r"https?:|www\.|\\[a-zA-Z(\[]|\$[^$]+\$|%\(\w*\)[sdr]|[{}]|<[/!a-zA-Z]|==|->|=>|\|\||&&|__{2,}"
)


def is_prose(sentence: str, least_words: int = 3) -> bool:
    """Whether a sentence (code words still marked) reads like English rather than code, a formula or a heading.

    It needs `least_words` words, three quarters of those outside code alphabetic, at most half of all in code, one in
    eight a function word, and no address, formula, markup or template in it.
    """
    plain = outside_code(sentence) if CODE_START in sentence else sentence
    if sentence[0] in _BAD_START or _URL_OR_MATH.search(plain) or _NOT_FOR_READERS.search(plain):
        return False
    words = [word for word in [word.strip(_EDGES) for word in plain.split()] if word]
    total = sentence.count(" ") + 1
    last = sentence.rsplit(None, 1)[-1]
    ends_abruptly = last[-1] in ",;(-" or last.lower().rstrip(":") in _NEVER_LAST
    if total < least_words or 2 * len(words) < total or ends_abruptly:
        return False
    alphabetic = sum(
        word in "aAI" if len(word) == 1 else word in ("e.g", "i.e") or word.translate(_INSIDE_WORDS).isalpha()
        for word in words
    )
    function_words = sum(word.lower() in _FUNCTION_WORDS for word in words)
    return 4 * alphabetic >= 3 * len(words) and 8 * function_words >= len(words)


_MARKED = re.compile(f"{CODE_START}[^{CODE_END}]*{CODE_END}")


def outside_code(sentence: str) -> str:
    """The sentence without the words that were marked as code."""
    return _MARKED.sub(" ", sentence)


# === Markup ===

_QUOTES = str.maketrans({
    "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "\u2009": " ", "\u202f": " ", "‐": "-", "‑": "-",
    "\u200b": None, "\ufeff": None, "\u00ad": None, CODE_START: None, CODE_END: None,
})  # fmt: skip
_TEXT_ROLES = "doc|ref|term|rfc|pep|mod|abbr|dfn|ticket|issue|pr|ghissue|ghpull|emphasis|strong|sup|sub|std:[a-z]+"
_CODE = CODE_START + r"\g<code>" + CODE_END

# (a character without which it cannot match, pattern, replacement), applied in this order. Each is one construct of
# reStructuredText, Markdown or HTML. Looking for the character first is several times faster.
_INLINE = [
    (needle, re.compile(pattern), replacement)
    for needle, pattern, replacement in (
        ("]", r"!\[[^\]]*\]\([^)]*\)", " "),  # ![image](address)
        ("]", r"\[([^\]\[]+)\]\((?:[^()\s]|\([^()]*\))+(?:\s+\"[^\"]*\")?\)", r"\1"),  # [text](address)
        ("]", r"\[([^\]\[]+)\]\[[^\]]*\]", r"\1"),  # [text][label]
        ("`", r":math:`[^`]*`", r" \\math "),  # formulas are left for `is_prose` to see and drop
        ("\\", r"\\\(.*?\\\)|\\\[.*?\\\]", r" \\math "),
        ("$", r"\$\$.*?\$\$", r" \\math "),
        ("`", rf":(?:{_TEXT_ROLES}):`[!~]?([^`<]*?)\s*(?:<[^`>]*>)?`", r"\1"),  # :ref:`text <label>`
        ("`", r":[\w:+.-]+:`(?P<code>[^`<>]+?)\s*(?:<[^`]*>)?`", _CODE),  # :func:`text <name>`
        ("`", r":[\w:+.-]+:`<?(?P<code>[^`<>]+)>?`", _CODE),  # :func:`<name>`
        ("`", r"`([^`<]+?)\s*<[^`>]*>`__?", r"\1"),  # `text <address>`_
        ("`", r"(?<!`)`([^`]+?)`__?(?!\w)", r"\1"),  # `text`_
        ("`", r"```?(?P<code>[^`]+?)```?", _CODE),  # ``code``
        ("`", r"(?<!\w)`(?P<code>[^`]+?)`", _CODE),  # `code`
        ("<", r"<code>(?P<code>.*?)</code>", _CODE),
        ("*", r"\*\*([^*\s](?:[^*]*[^*\s])?)\*\*", r"\1"),  # **strong**
        ("*", r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])", r"\1"),  # *emphasis*
        ("|", r"(?<!\w)\|@?([A-Za-z][^|`]*)\|(?!\w)", r"\1"),  # |substitution|
        ("]", r"\s*\[(?:#?\w+|\*)\]_", ""),  # [1]_
        ("]", r"^\s*\[\w{1,3}\]\s*", ""),  # [1] at the head of a footnote
        ("<", r"</?(?:b|i|em|strong|br|p|a|sup|sub|span|kbd|tt|pre|div|img|h\d)\b[^>]*>", " "),
        ("/", r"[(<\[]\s*(?:see:?\s+)?(?:https?|ftp)://[^\s)>\]]+\s*[)>\]]", ""),  # (https://…)
        (":", r"(?<=\S)::(?=\s|$)", ":"),
        ("\\", r"\\([*_`|<>#\[\]])", r"\1"),  # escapes
    )
]
_SPACE = re.compile(r"[ \t\r\f\v]+")
_SPACE_BEFORE_STOP = re.compile(r" +([.,;:!?)])(?=\s|$)")
_PAIR = re.compile(f"{CODE_START}([^{CODE_START}{CODE_END}]*){CODE_END}")


def clean_inline(text: str) -> str:
    """One paragraph without markup, code words marked; line breaks in it survive, other white space is one space."""
    text = text.translate(_QUOTES).replace("\x00", "")
    for needle, pattern, replacement in _INLINE:
        if needle in text:
            text = pattern.sub(replacement, text)
    text = text.replace("`", "")
    if CODE_START in text:
        text = _PAIR.sub(lambda match: CODE_START + _readable_code(match[1]) + CODE_END, text)
    text = _SPACE_BEFORE_STOP.sub(r"\1", _SPACE.sub(" ", text))
    return re.sub(r" ?\n ?", "\n", text).strip()


def _readable_code(code: str) -> str:
    """The name as a reader sees it: ``~numpy.pad``, ``.Axes.plot`` and ``_orm.Session`` are pad, Axes.plot, Session."""
    code = " ".join(code.split())
    if code.startswith("~"):
        return code.rstrip("()").rsplit(".", 1)[-1].lstrip("~!")
    code = code.lstrip("!")
    if re.fullmatch(r"\.[A-Za-z][\w.]*(?:\(\))?", code):
        return code[1:]
    return re.sub(r"^_[a-z]+\.(?=[A-Za-z][\w.]*$)", "", code)


def unmark(sentence: str) -> tuple[str, list[tuple[int, int]]]:
    """The sentence without marks, and where its code words are as (start, end) character offsets."""
    text, spans, end = "", [], 0
    for match in _PAIR.finditer(sentence):
        text += _without_marks(sentence[end : match.start()])
        if match[1]:
            spans.append((len(text), len(text) + len(match[1])))
        text += match[1]
        end = match.end()
    return text + _without_marks(sentence[end:]), spans


def _without_marks(text: str) -> str:
    return text.replace(CODE_START, "").replace(CODE_END, "")
