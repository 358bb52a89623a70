"""Drawings of notebook 13: what a decoder reads and predicts, the curves of a translator, right translations by length,
and how settings change what is drawn."""

import numpy as np

from autograde.student.drawings_training import _Live
from autograde.student.pictures import _LINES, _centred, _figure, _finish, _plot, _show

_GREY = "#8a8a8a"
_KINDS = (("attention to the source", "all vectors of the source", "-", "s"),
          ("its mean vector alone", "their mean alone", "--", "^"))  # fmt: skip


def reading_and_writing(reads: list[str], predicts: list[str]) -> None:
    """Two rows of tokens: below what a decoder reads at each position, above what it has to predict there."""
    figure, axis = _plot(1.35 * len(reads) + 1.2, 2.1, bare=True)
    axis.set(xlim=(-1.3, len(reads) - 0.4), ylim=(-0.5, 1.6))
    for height, name, row in ((0.0, "reads", reads), (1.1, "predicts", predicts)):
        axis.text(-1.25, height, name, va="center", fontsize=11, style="italic")
        for place, token in enumerate(row):
            is_text = not token.startswith("[")
            box = dict(boxstyle="round,pad=0.35", facecolor="#eaf1fa" if is_text else "#e4e4e4", edgecolor="#1f5fa8")
            _centred(axis, place, height, token, fontsize=11, bbox=box)
    for place, token in enumerate(predicts):
        if token != "[PAD]":
            axis.annotate("", (place, 0.82), (place, 0.28), arrowprops=dict(arrowstyle="->"))
    pairs = ", ".join(f"{read} → {told}" for read, told in zip(reads, predicts) if told != "[PAD]")
    _show(figure, f"Two rows of tokens; at each position the decoder reads one and predicts the one above it: {pairs}")


class TranslationCurves(_Live):
    """A picture of a translator's run that is updated as the run continues."""

    def _drawing(self, history):
        """history: rows with step, training loss ("train"), held-out loss ("loss"), fraction of right ones ("long")."""
        figure, axes = _figure(11, 3.6, 1, 2)
        left, right = axes.flat
        steps = [row["step"] for row in history]
        for (name, key), (colour, dash, marker) in zip((("held out", "loss"), ("training batch", "train")), _LINES):
            left.plot(steps, [row[key] for row in history], color=colour, linestyle=dash, marker=marker, label=name)
        right.plot(steps, [row["long"] for row in history], color=_LINES[0][0], marker=_LINES[0][2])
        _finish(left, {}, title="loss per token", xlabel="step", ylabel="loss", yscale="log")
        title = "sources of 9 to 16 words: exactly right"
        _finish(right, title=title, xlabel="step", ylabel="fraction", ylim=(-0.02, 1.02))
        right.yaxis.set_major_formatter("{x:.0%}")
        last = history[-1]
        return figure, (
            f"Curves of a translator after {last['step']} steps: held-out loss {last['loss']:.3f}; of the long sources "
            f"{last['long']:.1%} are translated exactly"
        )


def exact_by_length(recorded: list[dict], own: dict[str, float] | None) -> None:
    """The fraction of translations that are exactly right by the words of the source: recorded runs in grey, mean and
    standard deviation over the seeds, and one's own.

    recorded: rows with decoder_sees, seed, words and exact. own: words → share; None without a run of one's own.
    """
    names = list(dict.fromkeys(row["words"] for row in recorded))
    places, told = np.arange(len(names)), []
    figure, axis = _plot(7.0, 3.8)
    for (kind, label, dash, marker), shift in zip(_KINDS, (-0.04, 0.04)):
        each = [[row["exact"] for row in recorded if (row["decoder_sees"], row["words"]) == (kind, n)] for n in names]
        means, spread = np.array([np.mean(one) for one in each]), np.array([np.std(one, ddof=1) for one in each])
        axis.errorbar(places + shift, means, spread, color=_GREY, linestyle=dash, marker=marker, capsize=4,
                      label=f"recorded: {label}")  # fmt: skip
        told.append(f"{label}: " + ", ".join(f"{n} words {a:.0%} ± {b:.0%}" for n, a, b in zip(names, means, spread)))
    if own is not None:
        axis.plot(places, [own[name] for name in names], color=_LINES[0][0], marker="o", linewidth=2, label="yours")
        told.append("yours: " + ", ".join(f"{name} words {own[name]:.0%}" for name in names))
    axis.set_xticks(places, names)
    legend = dict(loc="lower left")
    _finish(axis, legend, xlabel="words of the source", ylabel="exactly right", ylim=(-0.03, 1.05))
    axis.yaxis.set_major_formatter("{x:.0%}")
    _show(figure, "Fraction of translations that are exactly right, by the length of the source. " + "; ".join(told))
    print("\n".join(told))


def setting_bars(vocabulary: list[str], draws: dict[str, np.ndarray], before: str, shown: int = 14) -> None:
    """Bars of how often each token was drawn after the word `before`, a panel for each setting."""
    order, largest = np.argsort(-next(iter(draws.values())))[:shown], max(map(np.max, draws.values()))
    figure, axes = _figure(3.4 * len(draws), 3.6, 1, len(draws))
    for axis, (name, shares) in zip(axes.flat, draws.items()):
        axis.barh(np.arange(shown), shares[order], color="#1f5fa8")
        kept = int(np.count_nonzero(shares))
        axis.set(title=f"{name}\n{kept} different tokens", xlabel="fraction", xlim=(0, 1.1 * largest))
        axis.set_yticks(np.arange(shown), [vocabulary[token] for token in order])
        axis.invert_yaxis()
    told = "; ".join(f"{name}: {np.count_nonzero(shares)} different tokens, the most frequent {np.max(shares):.0%}"
                     for name, shares in draws.items())  # fmt: skip
    _show(figure, f"Bars of the tokens that were drawn after {before!r}. {told}")
