"""Drawings of tokens, as HTML: every script is drawn with the reader's own fonts and can be copied.

    colour_pieces([["un", "##aff", "##able"]], alt="…")   boxes, one colour per word, dashed edges inside a word
    input_table({"token": […], "segment": […]}, alt="…")  one column per position
    merge_trees({"hug": [["h", "##u", "##g"], ["hu", "##g"], ["hug"]]}, alt="…")   how tokens grew together (matplotlib)

No information is in the colour alone: an edge or a word shows it too.
"""

import html

from autograde.student.pictures import _centred, _figure, _show, show

_TINTS = ("#cfe2f7", "#f9dcc0", "#dcd6ee")  # light enough for black text, told apart by their brightness as well
_SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")
_LEGEND = "one colour per word · dashed edge: continues the word · double edge: [UNK] · dotted edge: special token"
_BOX = (
    "display:inline-block;padding:.1em .4em;margin:.1em 0;border:{edge} #333;border-radius:.3em;"
    "background:{tint};color:#111;font-family:monospace;font-size:1.1em"
)
_LABEL = '<span style="flex:none;width:{width}ch;opacity:.8;margin-right:.8em;padding:.1em 0">{text}</span>'


class HtmlDrawing:
    """A drawing made of HTML, with its alternative text."""

    def __init__(self, body: str, alt: str, text: str):
        self.body, self.alt, self.text = body, alt, text

    def __repr__(self):
        return f"[picture: {self.alt}]\n{self.text}"

    def _repr_html_(self):
        return f'<div role="group" aria-label="{html.escape(self.alt)}" style="color:inherit">{self.body}</div>'


def colour_pieces(rows: list[list[str]], labels: list[str] | None = None, *, alt: str) -> None:
    """Each row of tokens as boxes, behind a label; a token that begins with ## belongs to the word before it."""
    widest = max(map(len, labels or [""]))
    lines = []
    for index, pieces in enumerate(rows):
        label = _LABEL.format(width=widest, text=html.escape(labels[index])) if labels else ""
        lines.append(
            f'<div style="display:flex;margin:.3em 0;line-height:1.9">{label}<div>{_boxes(pieces)}</div></div>'
        )
    legend = f'<p style="margin:.3em 0;font-size:.85em;opacity:.8">{_LEGEND}</p>'
    heads = [f"{label}: " for label in labels] if labels else [""] * len(rows)
    show(HtmlDrawing("".join(lines) + legend, alt, "\n".join(h + " ".join(p) for h, p in zip(heads, rows))))


def _boxes(pieces):
    """Boxes, those of a word held together where a line ends."""
    words = []
    for piece in pieces:
        if words and _goes_on(piece):
            words[-1].append(piece)
        else:
            words.append([piece])
    spans = []
    for number, word in enumerate(words):
        spans.append("")
        for piece in word:
            edge = "2px dotted" if piece in _SPECIAL else "2px dashed" if _goes_on(piece) else "2px solid"
            edge = "4px double" if piece == "[UNK]" else edge
            style = _BOX.format(edge=edge, tint="#fff" if piece in _SPECIAL else _TINTS[number % 3])
            spans[-1] += f'<span style="{style}">{html.escape(piece)}</span>'
    return " ".join(f'<span style="white-space:nowrap">{span}</span>' for span in spans)


def _goes_on(piece):
    return piece.startswith("##") and len(piece) > 2


def input_table(rows: dict[str, list], *, alt: str) -> None:
    """Draws lists of the same length below each other, one column per position."""
    cell = "text-align:center;padding:.15em .5em;border:1px solid currentColor;font-family:monospace"
    lines = []
    for name, items in rows.items():
        cells = "".join(f'<td style="{cell}">{html.escape(str(item))}</td>' for item in items)
        head = f'<th scope="row" style="text-align:left;padding-right:1em">{html.escape(name)}</th>'
        lines.append(f'<tr style="background:transparent">{head}{cells}</tr>')
    table = f'<table style="color:inherit;background:transparent"><tbody>{"".join(lines)}</tbody></table>'
    widths = [max(len(str(item)) for item in column) for column in zip(*rows.values())]
    text = [f"{name:<12}" + " ".join(f"{item!s:>{width}}" for item, width in zip(items, widths))
            for name, items in rows.items()]  # fmt: skip
    show(HtmlDrawing(f'<div style="overflow-x:auto">{table}</div>', alt, "\n".join(text)))


def merge_trees(words: dict[str, list[list[str]]], title="", *, alt: str) -> None:
    """A tree per word: its letters below, above them each token that merges made, with the merge's number.

    words: word → its tokens before the first merge, after it, after the second …
    """
    figure, axes = _figure(1 + sum(0.62 * len(word) + 0.5 for word in words), 3.0, 1, len(words))
    for axis, (word, stages) in zip(axes.flat, words.items()):
        _draw_tree(axis, stages)
        axis.set_title(word)
    figure.suptitle(title)
    _show(figure, alt)


def _draw_tree(axis, stages) -> None:
    heights = {span: 0 for span, _ in _spans(stages[0])}
    for (left, _), piece in _spans(stages[0]):
        _write(axis, left, 0, piece)
    before = set(heights)
    for number, pieces in enumerate(stages[1:], 1):
        after = _spans(pieces)
        for span, piece in after:
            if span not in before:
                parts = [part for part in before if span[0] <= part[0] and part[1] <= span[1]]
                heights[span] = 1 + max(heights[part] for part in parts)
                for part in parts:
                    axis.plot([_middle(part), _middle(span)], [heights[part], heights[span]], color="#666", zorder=0)
                _write(axis, _middle(span), heights[span], f"{piece}\n{number}")
        before = {span for span, _ in after}
    axis.set(xlim=(-0.7, max(end for _, end in heights) - 0.3), ylim=(-0.4, max(2, *heights.values()) + 0.5))
    axis.set_axis_off()


def _write(axis, x, y, text) -> None:
    box = dict(boxstyle="round,pad=0.25", facecolor=_TINTS[0] if y else "white", edgecolor="#333")
    _centred(axis, x, y, text, family="monospace", bbox=box)


def _spans(pieces) -> list[tuple[tuple[int, int], str]]:
    """((first letter, the one after the last), token) of each token of a word."""
    spans, start = [], 0
    for index, piece in enumerate(pieces):
        end = start + len(piece.removeprefix("##") if index else piece)
        spans.append(((start, end), piece))
        start = end
    return spans


def _middle(span) -> float:
    return (span[0] + span[1] - 1) / 2
