"""Formulas as MathML: a browser draws them itself, without a script and without a network.

latex2mathml knows TeX's commands, but not TeX's spacing: a minus is a sign or an operation, `\\log p` has a gap, but
`\\log(p)` has none. `_spaced` adds this spacing to the elements, because browsers do not.
"""

import html
import re
import xml.etree.ElementTree as ElementTree

from autograde.common.errors import AutogradeError

# For a page's <style>. Brackets grow only in a font made for formulas: Windows, macOS and most Linux desktops have one.
STYLE = """
math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", math; }
math[display="block"] { margin: 0.8em 0; }
mtd.left { text-align: left; }
"""
_FUNCTIONS = set("arg cos det dim exp lim ln log max min Pr sin tanh".split())
_SIGNS = {"−", "-", "+", "±"}
_CLOSING = set(")]}⟩!")
_LIKE_A_LETTER = {"∞", "…", "⋯"}
_NAMED_SPACES = {"negativethinmathspace": "-0.167em"}
_THIN, _MEDIUM, _THICK = "0.167em", "0.222em", "0.278em"
_BOLD = {
    first + offset: bold + offset
    for first, bold, many in ((48, 0x1D7CE, 10), (65, 0x1D400, 26), (97, 0x1D41A, 26))
    for offset in range(many)
}  # digits and letters → the characters that are bold by themselves
_UPRIGHT = re.compile("[Α-Ω]")  # capital Greek letters


class FormulaError(AutogradeError, ValueError):
    """A formula that cannot be drawn, or the missing package that draws it."""


def mathml(tex: str, block: bool = False) -> str:
    """A formula in TeX's notation as a <math> element; block: on a line of its own. Raises FormulaError."""
    try:
        from latex2mathml.converter import convert_to_element
    except ImportError:
        raise FormulaError("formulas need latex2mathml: pip install latex2mathml") from None
    try:
        math = convert_to_element(tex.strip(), display="block" if block else "inline")
    except Exception as error:  # the library has no common base for its errors
        raise FormulaError(f"the formula {tex.strip()!r} is not understood ({type(error).__name__})") from None
    for element in list(math.iter()):
        element.text = html.unescape(element.text or "")  # the library's elements hold entities
    unknown = [element.text for element in math.iter() if element.tag != "mtext" and element.text.startswith("\\")]
    if unknown:
        raise FormulaError(f"the formula {tex.strip()!r} is not understood at {unknown[0]}")
    for element in list(math.iter()):
        _leaf(element)
    for element in list(math.iter()):
        _label_over_arrow(element)
        if element.tag in ("math", "mrow", "mtd", "mstyle", "msqrt"):
            element[:] = _spaced(list(element))
    return ElementTree.tostring(math, encoding="unicode", short_empty_elements=False)


def _leaf(element) -> None:
    text = element.text
    if element.tag == "mtext":
        element.text = text.replace("\\_", "_")
    elif element.tag == "mspace":
        element.set("width", _NAMED_SPACES.get(element.get("width"), element.get("width", "0")))
    elif element.tag == "mo" and (text in _LIKE_A_LETTER or text in _FUNCTIONS):
        element.tag = "mi"
        element.attrib.clear()
    elif element.tag == "mi" and _UPRIGHT.fullmatch(text):
        element.set("mathvariant", "normal")
    elif element.get("mathvariant") == "bold":
        element.text = text.translate(_BOLD)
    elif element.tag == "mi" and text == ";":
        element.tag = "mo"
    elif element.tag == "mo" and text == "/":
        element.attrib |= {"lspace": "0", "rspace": "0"}
    elif element.tag == "mtd" and element.get("columnalign") == "left":
        element.set("class", "left")


def _label_over_arrow(element) -> None:
    """`\\xrightarrow`: a plain stretching arrow, and a label with a small gap on both sides."""
    if element.tag != "mover" or not element.findall("mpadded"):
        return
    arrow, label = next(element.iter("mo")), element.find("mpadded").find("mrow")
    arrow.attrib = {"stretchy": "true", "lspace": _THICK, "rspace": _THICK}
    label.insert(0, _space("0.5em"))
    label.append(_space("0.5em"))
    element[:] = [arrow, label]


def _spaced(children: list) -> list:
    """A row of elements, each adapted to its neighbours: signs, gaps around functions, bars."""
    made, bars = [], 0
    for index, child in enumerate(children):
        before = children[index - 1] if index else None
        after = children[index + 1] if index + 1 < len(children) else None
        text = child.text or ""
        if child.tag == "mo" and text in _SIGNS and _starts_a_term(before):
            child.attrib |= {"form": "prefix", "lspace": "0", "rspace": "0"}
        elif child.tag == "mo" and text == "‖":
            bars += 1
            form = "prefix" if bars % 2 else "postfix"
            child.attrib = {"form": form, "stretchy": "false", "lspace": "0", "rspace": "0"}
        elif child.tag == "mrow" and len(child) == 1 and child[0].tag == "mo":  # {,} in a number: no gap
            child[0].attrib |= {"lspace": "0", "rspace": "0"}
        elif child.tag == "mi" and text == ":" and after is not None and _ends_a_term(after):  # such that, not a slice
            child.tag, child.attrib = "mo", {"lspace": _THICK, "rspace": _THICK}
        if _is_function(child):
            gap_before = before is not None and _ends_a_term(before)
            is_bracketed = after is not None and after.tag == "mrow" and len(after) and (after[0].text or " ") in "([{⟨"
            gap_after = after is not None and after.tag not in ("mo", "mspace") and not is_bracketed
            made += [_space(_THIN)] * gap_before + [child] + [_space(_THIN)] * gap_after
        elif child.tag in ("msub", "msup") and child[0].tag == "mo" and child[0].text in _SIGNS:
            made += [_space(_MEDIUM), child, _space(_MEDIUM)]
        else:
            made.append(child)
    return made


def _space(width: str):
    return ElementTree.Element("mspace", width=width)


def _is_function(element) -> bool:
    base = element[0] if element.tag in ("msub", "msup", "msubsup", "munder") else element
    return base.tag == "mi" and base.text in _FUNCTIONS


def _starts_a_term(before) -> bool:
    """Whether a plus or minus after this element is a sign."""
    return before is None or (before.tag == "mo" and before.text not in _CLOSING) or before.tag == "mspace"


def _ends_a_term(before) -> bool:
    return before.tag not in ("mo", "mspace") and not _is_function(before)
