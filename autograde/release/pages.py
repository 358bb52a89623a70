"""Solution notebooks run from top to bottom: as .ipynb with outputs, and as HTML pages without script and network.

Formulas are MathML, which a browser draws itself. latex2mathml knows TeX's commands, but not TeX's spacing: a minus is
a sign or an operation, `\\log p` has a gap, but `\\log(p)` has none. `_spaced` adds this spacing to the elements.
"""

import html
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograde.common.errors import AutogradeError
from autograde.grader.pages import POLICY
from autograde.release.editions import EXPECTED, Editions, ReleaseError
from bertlab.common.files import write_text

CELL_SECONDS = 1800  # the run of notebook 07 takes minutes on a processor

# nbconvert's own page, without what it loads from elsewhere: require.js, MathJax, mermaid.
_TEMPLATE = """{% extends 'lab/index.html.j2' %}
{% block html_head_js %}<meta http-equiv="Content-Security-Policy" content="POLICY">{% endblock %}
{% block jupyter_widgets %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_css %}<style>STYLE</style>{% endblock %}
"""
# Nothing is cut off at the right edge, on a screen or on paper; what is printed breaks between words; a listing in a
# text is set apart from what follows.
_STYLE = """
.highlight pre { white-space: pre-wrap; }
.jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
.jp-RenderedMarkdown .highlight { margin-bottom: 1em; }
"""

# For a page's <style>. Brackets grow only in a font made for formulas: Windows, macOS and most Linux desktops have one.
_FORMULAS = """
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


def write_executed(editions: Editions, folder: Path, course: Path) -> tuple[Path, Path]:
    """Runs a notebook's solutions and writes `NN_topic.ipynb` and `NN_topic.html` to `folder`; returns both paths.

    course: the folder in which it runs, like a student's course: later notebooks use the answers that earlier ones
    saved in `mybert`. Raises ReleaseError with the cell's own error if one fails.
    """
    notebook = nbformat.reads(editions.source, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if EXPECTED not in cell.metadata.get("tags", ())]
    (course / editions.name).mkdir(parents=True, exist_ok=True)
    resources = {"metadata": {"path": str(course / editions.name)}}
    kernel = {"kernel_name": "python3", "extra_arguments": ["--log-level=ERROR"]}
    try:
        NotebookClient(notebook, timeout=CELL_SECONDS, resources=resources, **kernel).execute()
    except CellExecutionError as failed:
        raise ReleaseError(f"{editions.name}: a cell of the solutions failed: {failed}") from None
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{editions.name}.ipynb", folder / f"{editions.name}.html"
    write_text(paths[0], nbformat.writes(notebook) + "\n")
    write_text(paths[1], page(notebook, editions.name))
    return paths


def page(notebook, name: str) -> str:
    """A notebook (of nbformat) with its outputs as one HTML page of this title. Raises FormulaError."""
    template = _TEMPLATE.replace("POLICY", POLICY).replace("STYLE", _STYLE + _FORMULAS)
    exporter = HTMLExporter(raw_template=template, embed_images=True)
    exporter.register_filter("markdown2html", markdown)
    written, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": name}})
    return written


class Renderer(IPythonRenderer):
    """nbconvert's Markdown with its formulas drawn."""

    def inline_math(self, body: str) -> str:
        return mathml(body)

    def block_math(self, body: str) -> str:
        return mathml(body, block=True)


def markdown(source: str, renderer: type[IPythonRenderer] = Renderer) -> str:
    """A Markdown cell as HTML. Raises FormulaError."""
    return MarkdownWithMath(renderer=renderer(escape=False)).render(source)


# --- formulas ---


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
