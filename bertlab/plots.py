"""Plots in one common style: large enough for a projector, legible without colour.

Every function returns a matplotlib `Figure` without a window; `figure_svg` converts it to SVG text for a page.
"""

import io
from collections.abc import Sequence

import numpy as np

STYLE = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "lines.linewidth": 2.0,
    "figure.facecolor": "white",
    "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
    "svg.hashsalt": "bertlab",  # the same figure gives the same bytes
}
BLUE, ORANGE, GREY, GREEN, PURPLE = "#1f5fa8", "#c8500a", "#6b6b6b", "#2e7d32", "#7b3fa0"


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1):
    """A figure in the common style and its axes, (rows, columns) squeezed. width, height: in inches."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns)
    return figure, axes


def figure_svg(figure) -> str:
    """The figure as an <svg> element for an HTML page."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def training_curves(
    history: Sequence[dict],
    key: str,
    title: str,
    baseline: tuple[str, float] | None = None,
    marks: Sequence[tuple[int, str]] = (),
):
    """A figure of a pre-training run over its steps: training and validation, and a baseline as a dashed line.

    marks: steps at which something changed, and what.

    history: rows of `bertlab.training.runs.loop.Progress`; key: masked_lm_loss, masked_lm_accuracy …
    """
    figure, axes = new_figure(6.2, 3.8)
    history = [row for row in history if key in row]  # not every row has every metric
    steps = [row["step"] for row in history]
    axes.plot(steps, [row[key] for row in history], color=BLUE, label="training")
    if f"val_{key}" in history[0]:
        axes.plot(steps, [row[f"val_{key}"] for row in history], color=ORANGE, linestyle="-.", label="held-out text")
    if baseline is not None:
        name, value = baseline
        axes.axhline(value, color=GREY, linestyle="--", label=name)
    for step, text in marks:
        if not steps[0] < step < steps[-1]:
            continue
        axes.axvline(step, color=GREY, linewidth=1, linestyle=":")
        axes.text(step, 0.98, f" {text}", transform=axes.get_xaxis_transform(), va="top", color=GREY, fontsize=10)
    axes.set(title=title, xlabel="step")
    if key.endswith("accuracy"):
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:.0%}")
    axes.legend(frameon=False)
    return figure


def tuning_curves(rows: Sequence[dict], before: float | None):
    """Loss of contrastive tuning over its steps and, where it was judged, Spearman's correlation after each epoch.

    rows: with step and loss, those of an epoch with spearman, too. before: the correlation before training, or None.
    """
    judged = [(row["step"], row["spearman"]) for row in rows if row.get("spearman") is not None]
    figure, panels = new_figure(11 if judged else 6.2, 3.8, 1, 2 if judged else 1)
    panels = np.reshape(panels, -1)
    within = [row for row in rows if "epoch" not in row]
    panels[0].plot([row["step"] for row in within], [row["loss"] for row in within], color=BLUE, label="one batch")
    epochs = [row for row in rows if "epoch" in row]
    panels[0].plot(
        [row["step"] for row in epochs],
        [row["loss"] for row in epochs],
        color=ORANGE,
        marker="o",
        label="mean of epoch",
    )
    panels[0].set(title="Loss (nats)", xlabel="step")
    panels[0].legend(frameon=False)
    if judged:
        steps, values = zip(*judged)
        panels[1].plot(steps, values, color=ORANGE, marker="o", label="after an epoch")
        panels[1].axhline(before, color=GREY, linestyle="--", label="before tuning")
        panels[1].set(title="Spearman's correlation with the grades", xlabel="step")
        panels[1].legend(frameon=False)
    return figure


def attention_grid(pieces: Sequence[str], maps: np.ndarray):
    """Heat maps of all heads: a row per layer, a column per head. maps (layers, A, T, T), rows summing to 1."""
    layers, heads, tokens, _ = maps.shape
    size = max(2.6, 0.26 * tokens)
    figure, axes = new_figure(size * heads + 0.8, size * layers + 0.6, layers, heads)
    for (layer, head), axis in np.ndenumerate(np.asarray(axes).reshape(layers, heads)):
        axis.grid(False)
        image = axis.imshow(maps[layer, head], cmap="Blues", vmin=0, vmax=1)
        axis.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=11)
        axis.set_xticks(range(tokens), pieces, rotation=90, fontsize=8)
        axis.set_yticks(range(tokens), pieces if head == 0 else [""] * tokens, fontsize=8)
    figure.colorbar(image, ax=axes, shrink=0.5, label="attention weight")
    return figure


def confusion_matrix(counts: np.ndarray, labels: Sequence[str], max_labels: int = 40):
    """A confusion matrix: counts[i, j] rows of class i were predicted as j. Shows the numbers, shaded by row.

    If there are more than `max_labels` classes, only those with the most mistakes are drawn; the title mentions it.
    """
    mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)  # off the diagonal, in row and column
    drawn = np.sort(np.argsort(-mistakes, kind="stable")[:max_labels])
    size = 0.62 * len(drawn) + 2.2
    figure, axes = new_figure(size, size)
    axes.grid(False)
    of_class = counts.sum(axis=1, keepdims=True)  # including those not drawn
    shares = counts / np.maximum(of_class, 1)
    if len(drawn) < len(labels):
        axes.set_title(f"the {len(drawn)} of {len(labels)} classes with the most mistakes")
    counts, shares = counts[np.ix_(drawn, drawn)], shares[np.ix_(drawn, drawn)]
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(counts):
        if count:
            colour = "white" if shares[row, column] > 0.5 else "black"
            axes.text(column, row, str(int(count)), ha="center", va="center", color=colour, fontsize=10)
    names = [labels[index] for index in drawn]  # literally: a $ in them does not begin a formula
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", parse_math=False)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set(xlabel="called", ylabel="is")
    return figure


def reliability_diagram(confidences: Sequence[float], accuracies: Sequence[float], counts: Sequence[int], error: float):
    """Accuracy against confidence, a dot for each bin, as large as its number of predictions.

    confidences, accuracies, counts: of each bin. error: the expected calibration error, for the title.
    """
    figure, axes = new_figure(5, 5)
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1, label="calibrated")
    axes.plot(confidences, accuracies, color=BLUE, linewidth=1)
    sizes = 30 + 300 * np.asarray(counts) / max(max(counts), 1)
    axes.scatter(confidences, accuracies, s=sizes, color=BLUE, label="predictions")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy")
    axes.set_title(f"expected calibration error {error:.3f}")
    axes.legend(frameon=False, loc="upper left")
    return figure


def compared_runs(curves: dict[str, np.ndarray], chance: float):
    """Accuracy after each epoch from several starting points. curves: name → (seeds, epochs); chance: the baseline."""
    figure, axes = new_figure(6.2, 3.8)
    for (name, values), colour, marker in zip(curves.items(), (BLUE, ORANGE), ("o", "s"), strict=True):
        epochs = np.arange(1, values.shape[1] + 1)
        mean, deviation = values.mean(axis=0), values.std(axis=0, ddof=1 if len(values) > 1 else 0)
        axes.errorbar(epochs, mean, yerr=deviation, color=colour, marker=marker, capsize=4, label=name)
    axes.axhline(chance, color=GREY, linestyle="--", label="always the largest class")
    axes.set(title="Accuracy on held-out documents (mean ± sd)", xlabel="epoch", xticks=epochs)
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.legend(frameon=False)
    return figure


def pretraining_runs(
    runs: dict[str, Sequence[dict]],
    objectives: dict[str, Sequence[str]],
    along: str = "step",
    references: Sequence[str] = (),
):
    """Loss and accuracy of pre-training runs, side by side, each run with its own line style and colour.

    runs: name → rows of `bertlab.training.runs.loop.Progress`. objectives: name → those to draw, such as
    ["masked_lm", "next_sentence"]; each is a row of the figure. along: step | tokens | seconds. references: the runs
    drawn in grey. Held-out text of your own runs is drawn with dots.
    """
    count = max((len(names) for names in objectives.values()), default=1) or 1
    figure, panels = new_figure(11.0, 4.2 * count, count, 2)
    panels = np.reshape(panels, (count, 2))
    styles = [(colour, line) for line in ("-", "--", "-.") for colour in (BLUE, ORANGE, GREEN, PURPLE)]
    grey_styles = [(GREY, line) for line in (":", "-.", "--")]
    own = [name for name in runs if name not in references]
    for name, rows in runs.items():
        names, its_styles = (own, styles) if name in own else (list(references), grey_styles)
        colour, line = its_styles[names.index(name) % len(its_styles)]
        for pair, objective in zip(panels, objectives[name]):
            for axes, figure_name in zip(pair, ("loss", "accuracy")):
                key = f"{objective}_{figure_name}"
                axes.plot(*_points(rows, along, key), color=colour, linestyle=line, label=name)
                if name in own:
                    held_out = _points(rows, along, f"val_{key}")
                    axes.plot(*held_out, color=colour, linestyle="none", marker=".", markersize=4)
    for number, pair in enumerate(panels):
        others = sorted({names[number] for names in objectives.values() if len(names) > number})
        what = ", ".join(others).replace("_", " ") if number else "the guesses"
        pair[0].set_title(f"Loss of {what} (nats)")
        pair[1].set_title(f"Accuracy of {what}")
        pair[1].set_ylim(bottom=0)
        pair[1].yaxis.set_major_formatter("{x:.0%}")
        pair[0].set_xlabel({"step": "step", "tokens": "million tokens read", "seconds": "seconds"}[along])
        pair[1].set_xlabel(pair[0].get_xlabel())
    dots = any(name.startswith("val_") for run in own for row in runs[run] for name in row)
    panels[0, 0].legend(frameon=False, title="dots: held-out text" if dots else None)
    return figure


def _points(rows: Sequence[dict], along: str, key: str) -> tuple[list, list]:
    """The rows' positions on the horizontal axis, and their metric `key`; rows without it are left out."""
    if along == "tokens":
        xs = np.cumsum([row.get("tokens", 0.0) for row in rows]) / 1e6
    else:
        xs = [row[along] for row in rows]
    points = [(x, row[key]) for x, row in zip(xs, rows) if key in row]
    return [x for x, _ in points], [value for _, value in points]
