"""Splits a docstring or a page of documentation into prose, list items, parameters, and dropped text.

Docstrings come in three styles (Google's "Args:", NumPy's underlined sections, Sphinx's ":param x:"), inside
reStructuredText or Markdown. One pass over the lines, which tracks the current section and paragraph, reads them all.
Dropped: code (fenced, indented after "::", doctests), tables, formulas, images, references, headings.
"""

import inspect
import re
from dataclasses import dataclass, field

PROSE, ITEM, PARAMETER, RETURNS, RAISES = "prose", "item", "parameter", "returns", "raises"

_SECTIONS = {
    PARAMETER: "args, arguments, parameters, params, attributes, inputs, properties, fields, keyword arguments, "
               "keyword args, optional arguments, other parameters, required arguments, call arguments",
    RETURNS: "returns, return, yields, outputs, output, result",
    RAISES: "raises, raise, exceptions, warns",
    "": "see also, references, reference, citation, citations, index, toctree, methods, routine listings",
    PROSE: "examples, example, notes, note, usage, warnings, warning, description, details, caution, tip, important, "
           "remarks",
}  # fmt: skip
_KIND_OF = {name: kind for kind, names in _SECTIONS.items() for name in names.split(", ")}
_KEPT_DIRECTIVES = frozenset("note warning tip important attention caution hint admonition danger".split())
_UNDERLINE = re.compile(r"\s*([-=~^\"'#*+`:._])\1{2,}\s*$")
_COLON_HEADING = re.compile(r"\s*(?:#+\s*)?([A-Z][A-Za-z ]{2,24}):\s*$")
_MARKDOWN_HEADING = re.compile(r"#{1,6} ")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_DOCTEST = re.compile(r"\s*(?:>>> ?|\.\.\. |In \[\d+\]:)")
_DIRECTIVE = re.compile(r"\s*\.\. (?:([\w:-]+)::)?\s*(.*)$")
_FIELD = re.compile(
    r"\s*:(?:param|parameter|arg|argument|key|keyword|ivar|cvar|var|attr)\s+"
    r"(?:[^:]*[\s*])?(\w+?)(?:\\?_)?(?:=[^:\s]*)?\s*:\s*(.*)$"
)
_DEFINITION = re.compile(r"\s*[\"'`*]*[\w.]+[\"'`*]*(?:\s?\([^()]*\))?(?:\s+--?\s+|\s*:\s+)\S")
_OTHER_FIELD = re.compile(r"\s*:(returns?|raises?|rtype|type|meta|yields?|vartype|since)\b[^:]*:\s*(.*)$")
_BULLET = re.compile(r"\s*(?:[-*+•–]|\d{1,2}[.)]|\([a-z\d]{1,2}\)|[a-z]\))\s+(?=\S)")
_GOOGLE_ITEM = re.compile(
    r"\s*(?:[-*]\s+)?\\?[`*\"']{0,3}(\w+)[`*\"']{0,3}\s*"
    r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*:(?:\s+(.*))?$"
)
_NUMPY_ITEM = re.compile(r"\s*\\?[`*]{0,3}(\w+)[`*]{0,2}(?:\s*,\s*\\?[`*]{0,2}\w+[`*]{0,2})*(?:\s*:.*)?$")
_TABLE_LINE = re.compile(r"\s*(?:\|.*\||\+[-=+]+\+|[=-]{2,}(?:\s+[=-]{2,})+)\s*$")


@dataclass
class Block:
    """One paragraph, list item or description, with its markup. A line break separates its own paragraphs."""

    kind: str
    name: str = ""  # of the parameter or exception
    indent: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(line if line == "\n" else line.strip() for line in self.lines).strip()


class _Reader:
    """The state of the pass: finished blocks, the open one, its section, and the kind of text being skipped."""

    def __init__(self):
        self.blocks: list[Block] = []
        self.open: Block | None = None
        self.section, self.section_indent, self.underlined = PROSE, -1, False
        self.item_indent: int | None = None
        self.last_indent = 0
        self.skip_deeper: int | None = None  # lines indented more than this belong to dropped code

    def close(self) -> None:
        """Ends the open block; one with a table line in it is dropped."""
        block, self.open = self.open, None
        if block and block.lines and not any(_TABLE_LINE.match(line) for line in block.lines):
            self.blocks.append(block)

    def start(self, kind: str, indent: int, text: str = "", name: str = "") -> None:
        self.close()
        self.open = Block(kind, name, indent, [text] if text else [])

    def enter(self, section: str, indent: int, underlined: bool) -> None:
        self.close()
        self.section, self.section_indent, self.underlined, self.item_indent = section, indent, underlined, None

    # --- one line at a time ---

    def blank(self) -> None:
        block = self.open
        if block is None:
            return
        if block.lines and block.lines[-1].rstrip().endswith("::"):
            self.skip_deeper = block.indent
        if block.name:
            block.lines.append("\n")  # more of the same description may follow
        else:
            self.close()

    def line(self, line: str) -> None:
        indent = len(line) - len(line.lstrip())
        if self.skip_deeper is not None:
            if indent > self.skip_deeper:
                return
            self.skip_deeper = None
        if not self.underlined and self.section != PROSE and indent <= self.section_indent:
            self.enter(PROSE, -1, False)
        if self._heading(line, indent) or self._directive(line, indent) or self._field(line, indent):
            return
        if self.section == "":
            return
        if self.section in (PARAMETER, RAISES, RETURNS) and self._item(line, indent):
            return
        if self.open is not None and self.open.name:
            self._description_line(line, indent)
        else:
            self._prose_line(line, indent)
        self.last_indent = indent

    def _description_line(self, line: str, indent: int) -> None:
        """A line under a parameter, exception or named result: it continues it, or ends it by its indentation."""
        bullet = _BULLET.match(line)
        if indent < self.open.indent:
            self.close()
            self._prose_line(line, indent)
        elif bullet and indent > self.open.indent:
            self.open.lines += ["\n", line[bullet.end() :]]
        else:
            self.open.lines.append(line)

    def _prose_line(self, line: str, indent: int) -> None:
        bullet = _BULLET.match(line)
        if bullet:
            self.start(ITEM, indent, line[bullet.end() :])
        elif _DEFINITION.match(line) or self._leaves_level(indent):
            self.start(ITEM, indent, line)
        elif self.open is None:
            self.start(RETURNS if self.section == RETURNS else PROSE, indent, line)
        else:
            self.open.lines.append(line)

    def _leaves_level(self, indent: int) -> bool:
        """Whether a list without bullets continues here: one that a colon announced, or a term after a description."""
        if self.open is None or not self.open.lines:
            return False
        announced = indent > self.last_indent and self.open.lines[-1].rstrip().endswith(":")
        return announced or (indent < self.last_indent and len(self.open.lines) > 1)

    def _heading(self, line: str, indent: int) -> bool:
        if _MARKDOWN_HEADING.match(line):
            self.enter(_KIND_OF.get(line.strip("# :").lower(), PROSE), -1, True)
            return True
        match = _COLON_HEADING.match(line)
        if match and match[1].lower() in _KIND_OF:
            self.enter(_KIND_OF[match[1].lower()], indent, False)
            return True
        return False

    def _directive(self, line: str, indent: int) -> bool:
        match = _DIRECTIVE.match(line)
        if match:
            self.close()
            if match[1] not in _KEPT_DIRECTIVES:
                self.skip_deeper = indent
            elif match[2] and match[1] != "admonition":
                self.start(PROSE, indent, match[2])
        return match is not None

    def _field(self, line: str, indent: int) -> bool:
        if match := _FIELD.match(line):
            self.start(PARAMETER, indent, match[2], match[1])
        elif match := _OTHER_FIELD.match(line):
            self.start(RETURNS, indent, match[2] if match[1].startswith(("return", "raise", "yield")) else "")
        return match is not None

    def _item(self, line: str, indent: int) -> bool:
        """Begins a parameter (or exception, or named result) if the line is the head of one."""
        if self.underlined:
            match = _NUMPY_ITEM.match(line) if indent <= max(self.section_indent, 0) else None
            description = ""
        else:
            if self.item_indent is None:
                self.item_indent = indent
            match = _GOOGLE_ITEM.match(line) if indent <= self.item_indent else None
            description = match[2] or "" if match else ""
        if not match:
            return False
        self.start(self.section, indent, description, match[1])
        return True


def read_blocks(text: str) -> list[Block]:
    """The blocks of a docstring or page, in order."""
    lines = inspect.cleandoc(text).split("\n")
    reader = _Reader()
    fence = doctest = False
    skip_next = False
    for number, line in enumerate(lines):
        if _FENCE.match(line) and line.count("`") != 6:
            fence = not fence
            reader.blank()
            continue
        if fence or skip_next:
            skip_next = False
            continue
        if not line.strip():
            doctest = False
            reader.blank()
            continue
        if doctest or _DOCTEST.match(line):
            if not doctest:
                reader.close()
            doctest = True
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if _UNDERLINE.match(line):
            reader.close()
        elif _UNDERLINE.match(following) and len(following.strip()) >= 0.6 * len(line.strip()):
            reader.enter(_KIND_OF.get(line.strip(" :").lower(), PROSE), len(line) - len(line.lstrip()), True)
            skip_next = True
        else:
            reader.line(line)
    reader.close()
    return reader.blocks
