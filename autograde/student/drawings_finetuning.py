"""Drawings of notebooks 08 and 08b: the vectors that a head uses, start and end of an answer, scores with spreads."""

import numpy as np

from autograde.student.pictures import _centred, _figure, _finish, _plot, _rectangle, _show
from bertlab.training.runs.recorded import recorded_runs

_PLAIN, _READ, _DARK = "#eef2f7", "#1f5fa8", "#303030"
_GREY, _POINT = "#c9c9c9", "#c8500a"


def read_offs(rows: dict, *, alt: str) -> None:
    """Rows of tokens as boxes, what is made of a token's vector above it. rows: title → (tokens, {position: label})."""
    widest = max(_ends(tokens)[-1] for tokens, _ in rows.values())
    figure, axes = _figure(11, 1.25 * len(rows) + 0.2, len(rows), 1)
    for axis, (title, (tokens, read)) in zip(axes.flat, rows.items()):
        axis.set_title(title, loc="left", fontsize=12)
        axis.set(xlim=(-0.1, widest + 0.1), ylim=(0, 2.4))
        axis.set_axis_off()
        for position, (token, end) in enumerate(zip(tokens, _ends(tokens))):
            fill, ink = (_READ, "white") if position in read else (_PLAIN, "black")
            left, middle = end - _width(token), end - _width(token) / 2
            _rectangle(axis, left, 0.1, _width(token), 1, facecolor=fill, edgecolor=_DARK, linewidth=0.8)
            _centred(axis, middle, 0.58, token, fontsize=11, color=ink)
            if position in read:
                _centred(axis, middle, 1.95, read[position], fontsize=11, weight="bold", color=_DARK)
                _centred(axis, middle, 1.4, "▲", fontsize=10, color=_READ)
    _show(figure, alt)


def _width(token: str) -> float:
    return 0.95 + 0.42 * len(token)


def _ends(tokens) -> np.ndarray:
    """The place where each token's box ends, with a small gap between them."""
    widths = np.array([_width(token) for token in tokens])
    return np.cumsum(widths + 0.25) - 0.25


def span_bars(tokens, start, end, span=None, *, alt: str) -> None:
    """Start and end logits (tokens,) as bars over the tokens, none below −1000; a chosen span (first, last) is framed,
    its tokens bold."""
    xs = np.arange(len(tokens))
    figure, axes = _figure(max(7, 0.42 * len(tokens) + 1), 4.2, 2, 1)
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
    _show(figure, alt)


def four_types(yours: dict, unpretrained: dict) -> None:
    """Recorded scores of the four small tasks as bars ± sd over seeds, from random and from packaged weights; the
    student's own (task type → score) as points."""
    measured = {"sentence": "accuracy", "pair": "accuracy", "tagging": "F1 of names", "question": "exact match"}
    names = {"sentence": "sentiment", "pair": "follows", "tagging": "names", "question": "who-where"}
    recorded = recorded_runs("task_types")
    figure, axis = _plot(8.2, 3.8)
    said = []
    for number, (kind, task) in enumerate(names.items()):
        for side, (weights, own) in enumerate((("random", unpretrained), ("bertlab-mini", yours))):
            rows = [row for row in recorded if (row["task"], row["weights"]) == (task, weights)]
            most = max(row["labels"] for row in rows)
            scores = [row["score"] for row in rows if row["labels"] == most]
            place = number + 0.4 * (side - 0.5)
            mean, spread = 100 * np.mean(scores), 100 * np.std(scores, ddof=1)
            axis.bar([place], [mean], 0.36, color=_GREY, edgecolor=_DARK, linewidth=0.8, hatch=("", "///")[side])
            axis.errorbar([place], [mean], [spread], color=_DARK, capsize=4)
            said.append(f"{task} from {weights} {mean:.0f}% ± {spread:.0f}%")
            if kind in own:
                axis.plot([place], [100 * own[kind]], "o", color=_POINT, markersize=8, zorder=3)
                said[-1] += f", yours {own[kind]:.0%}"
    axis.bar([0], [0], color=_GREY, edgecolor=_DARK, label="recorded, from random weights")
    axis.bar([0], [0], color=_GREY, edgecolor=_DARK, hatch="///", label="recorded, from bertlab-mini")
    axis.plot([], [], "o", color=_POINT, markersize=8, label="yours")
    labels = [f"{kind}: {task}\n{measured[kind]}" for kind, task in names.items()]
    axis.set_xticks(range(len(names)), labels)
    axis.set(ylim=(0, 104), ylabel="%", title="Four task types")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    _show(figure, "Scores ± standard deviation over seeds: " + "; ".join(said))


def by_labels(task: str, yours: dict[int, float]) -> None:
    """Recorded scores against the number of labels, mean ± sd over seeds, and the student's own as points."""
    recorded = [row for row in recorded_runs("task_types") if row["task"] == task]
    counts = sorted({row["labels"] for row in recorded})
    figure, axis = _plot(6.4, 3.8)
    said = []
    for weights, line, marker in (("bertlab-mini", "-", "s"), ("random", ":", "^")):
        scores = [[r["score"] for r in recorded if (r["labels"], r["weights"]) == (n, weights)] for n in counts]
        means, spreads = [100 * np.mean(row) for row in scores], [100 * np.std(row, ddof=1) for row in scores]
        axis.errorbar(counts, means, spreads, color="#6b6b6b", linestyle=line, marker=marker, capsize=4,
                      label=f"recorded, from {'random weights' if weights == 'random' else weights}")  # fmt: skip
        said += [f"{weights} {n} labels {m:.0f} ± {s:.0f}" for n, m, s in zip(counts, means, spreads)]
    axis.plot(list(yours), [100 * share for share in yours.values()], "o", color=_POINT, markersize=8, label="yours")
    axis.axhline(50, color=_DARK, linewidth=0.8)
    _finish(axis, title="Labels and pre-training", xlabel="labelled sentences", ylabel="accuracy, %")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    _show(figure, "Accuracy in percent, mean ± standard deviation over seeds: " + "; ".join(said))


def bootstrap_histograms(differences: dict, results: dict) -> None:
    """Histograms of the differences of all rounds (name → (rounds,)), with the interval of each as a line. results:
    name → (low, high, share not better)."""
    figure, axes = _figure(8.2, 1.7 * len(differences), len(differences), 1)
    largest = max(np.abs(values).max() for values in differences.values())
    said = []
    for axis, (name, values) in zip(axes.flat, differences.items()):
        low, high, share = results[name]
        found = np.unique(np.round(values, 9))
        step = np.diff(found).min() if len(found) > 1 else 0.01  # one example more or less
        edges = np.arange(found[0] - step / 2, found[-1] + step, step)
        axis.hist(100 * values, bins=100 * edges, color="#9db8d9", edgecolor="white", linewidth=0.4)
        axis.axvline(0, color=_DARK, linewidth=1)
        axis.plot([100 * low, 100 * high], [0, 0], color=_POINT, linewidth=6, solid_capstyle="butt", clip_on=False)
        axis.set_title(f"{name}: not better in {share:.1%} of the rounds", loc="left", fontsize=11)
        axis.set(xlim=(-100 * largest, 100 * largest), yticks=[])
        said.append(f"{name}: {low:+.1%} to {high:+.1%}, not better in {share:.1%}")
    axes.flat[-1].set_xlabel("difference B − A in points; thick line: 95 % of the rounds")
    _show(figure, "Differences of all rounds: " + "; ".join(said))
