"""Removes the markup from one paragraph of reStructuredText, Markdown or plain docstring text.

The result is the text that a reader sees. Words marked as code stay, each run of them between `CODE_START` and
`CODE_END`; `unmark` removes those marks at the end and returns their positions.
"""

import re

from bertlab.data.corpus.sentences import CODE_END, CODE_START

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
    text = text.translate(_QUOTES)
    if "\x00" in text:
        text = text.replace("\x00", "")
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
