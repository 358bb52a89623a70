"""Drawings of notebook 08: the vectors that a head uses, and the start and end of an answer."""

import numpy as np

from autograde.student import pictures

_PLAIN, _READ, _DARK = "#eef2f7", "#1f5fa8", "#303030"


def read_offs(rows: dict, *, alt: str) -> None:
    """Rows of tokens as boxes, one below the other; the label of a used vector is above its token, with a ▲.

    rows: title → (tokens, {position: what is made of that token's vector}).
    """
    widest = max(_ends(tokens)[-1] for tokens, _ in rows.values())
    figure, axes = pictures._figure(11, 1.25 * len(rows) + 0.2, len(rows), 1)
    for axis, (title, (tokens, read)) in zip(axes.flat, rows.items()):
        axis.set_title(title, loc="left", fontsize=12)
        axis.set(xlim=(-0.1, widest + 0.1), ylim=(0, 2.4))
        axis.set_axis_off()
        for position, (token, end) in enumerate(zip(tokens, _ends(tokens))):
            _box(axis, token, end - _width(token), 0.1, position in read)
            if position in read:
                middle = end - _width(token) / 2
                axis.text(
                    middle, 1.95, read[position], ha="center", va="center", fontsize=11, weight="bold", color=_DARK
                )
                axis.text(middle, 1.4, "▲", ha="center", va="center", fontsize=10, color=_READ)
    pictures._show(figure, alt)


def _width(token: str) -> float:
    return 0.95 + 0.42 * len(token)


def _ends(tokens) -> np.ndarray:
    """The place where each token's box ends, with a small gap between them."""
    widths = np.array([_width(token) for token in tokens])
    return np.cumsum(widths + 0.25) - 0.25


def _box(axis, token, left, bottom, dark):
    from matplotlib.patches import Rectangle

    fill = _READ if dark else _PLAIN
    axis.add_patch(Rectangle((left, bottom), _width(token), 1, facecolor=fill, edgecolor=_DARK, linewidth=0.8))
    axis.text(
        left + _width(token) / 2, bottom + 0.48, token, ha="center", va="center", fontsize=11,
        color="white" if dark else "black",
    )  # fmt: skip


def span_bars(tokens, start, end, span=None, *, alt: str) -> None:
    """Start and end logits as two rows of bars over the tokens; a chosen span is framed, its tokens bold.

    tokens: strings. start, end: logits (tokens,); what is hidden (below −1000) has no bar. span: (first, last).
    """
    xs = np.arange(len(tokens))
    figure, axes = pictures._figure(max(7, 0.42 * len(tokens) + 1), 4.2, 2, 1)
    for axis, name, logits, hatch in zip(axes.flat, ("start", "end"), (start, end), ("", "///")):
        logits = np.asarray(logits, "float64")
        shown = np.where(logits < -1000, np.nan, logits)
        axis.bar(xs, shown, color="#9db8d9", edgecolor=_DARK, linewidth=0.6, hatch=hatch)
        axis.axhline(0, color=_DARK, linewidth=0.8)
        axis.set_ylabel(f"{name} logit")
        axis.set_xlim(-0.6, len(tokens) - 0.4)
        if span is not None:
            axis.axvspan(span[0] - 0.5, span[1] + 0.5, facecolor="none", edgecolor="#c8500a", linewidth=2)
    axes.flat[0].set_xticks(xs, [""] * len(tokens))
    axes.flat[1].set_xticks(xs, tokens, rotation=60, ha="right")
    for position, label in enumerate(axes.flat[1].get_xticklabels()):
        if span is not None and span[0] <= position <= span[1]:
            label.set_fontweight("bold")
    pictures._show(figure, alt)
