"""Drawings of notebook 07: clipped arrows, paths in a valley, live curves of two runs, and the final scores."""

import numpy as np

from autograde.judging.verdict import png_of
from autograde.student.pictures import _LINES, Drawing, Place, _figure, _finish, _plot, _show

_GREY = "#8a8a8a"


def clipped_arrows(before: np.ndarray, after: np.ndarray) -> None:
    """Gradients of two numbers as arrows from the origin, before and after clipping to length 1: (n, 2) each."""
    figure, axes = _figure(8.4, 4.2, 1, 2)
    turn = np.linspace(0, 2 * np.pi, 100)
    reach = 1.1 * max(np.abs(before).max(), 1)
    for axis, arrows, title in zip(axes.flat, (before, after), ("before", "after clip_gradients")):
        axis.plot(np.cos(turn), np.sin(turn), color=_GREY, linestyle=":", label="length 1")
        for x, y in arrows:
            axis.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": _LINES[0][0], "lw": 1.6})
        axis.set(title=title, xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axis.legend(frameon=False, loc="upper left")
    alt = f"{len(before)} arrows from the origin, before and after clipping; after clipping the longest has length"
    _show(figure, f"{alt} {np.linalg.norm(after, axis=1).max():.2f}")


def two_scores(figures: dict, fresh: dict, unigram) -> None:
    """Bars of "loss" and "accuracy" of an untrained model, of a unigram model, and of the trained one."""
    names = ["untrained", "unigram", "yours"]
    losses = [fresh["loss"], unigram.unigram_loss, figures["loss"]]
    shares = [fresh["accuracy"], unigram.unigram_accuracy, figures["accuracy"]]
    drawn, axes = _figure(8.4, 3.0, 1, 2)
    panels = (losses, "held-out loss", "{:.2f}"), (shares, "accuracy", "{:.1%}")
    for axis, (values, title, form) in zip(axes.flat, panels):
        bars = axis.barh(names, values, color=[_GREY, _GREY, _LINES[0][0]])
        axis.bar_label(bars, [form.format(value) for value in values], padding=4)
        axis.set(title=title, xlim=(0, 1.25 * max(values)))
        axis.locator_params(axis="x", nbins=5)
        axis.invert_yaxis()
    summary = "; ".join(f"{n}: loss {a:.2f}, accuracy {b:.1%}" for n, a, b in zip(names, losses, shares))
    _show(drawn, f"Bars of loss and masked accuracy: {summary}")


def valley(paths: dict, steepness: np.ndarray) -> None:
    """Paths of an optimizer over the contours of ½ Σ steepness · place². paths: name → (steps, 2)."""
    figure, axis = _plot(7.6, 3.8)
    x, y = np.meshgrid(np.linspace(-2.2, 0.6, 120), np.linspace(-1, 1, 120))
    height = 0.5 * (steepness[0] * x**2 + steepness[1] * y**2)
    axis.contour(x, y, height, levels=np.geomspace(0.05, 25, 9), colors=_GREY, linewidths=0.7)
    for (name, path), (colour, dash, marker) in zip(paths.items(), _LINES, strict=False):
        axis.plot(*path.T, color=colour, linestyle=dash, marker=marker, markersize=3, linewidth=1, label=name)
    axis.plot([0], [0], "*", color="black", markersize=12)
    steps = max(map(len, paths.values())) - 1
    axis.set(xlabel="x, flat", ylabel="y, steep", title=f"{steps} steps; the star is the lowest point")
    figure.legend(loc="outside lower center", ncols=len(paths), frameon=False)
    last = "; ".join(f"{name} ends at ({path[-1][0]:.2f}, {path[-1][1]:.2f})" for name, path in paths.items())
    _show(figure, f"Paths of {len(paths)} optimizers in a narrow valley: {last}")


class _Live:
    """A picture that is updated as a run continues; `_drawing` returns the picture and its alternative text."""

    def __init__(self):
        self._place = Place()

    def draw(self, state) -> None:
        figure, alt = self._drawing(state)
        self._place.show(Drawing(png_of(figure), alt))


class FloorCurve(_Live):
    """The held-out loss (step → loss) of the short run above the floor of the small world, recorded runs in grey."""

    def __init__(self, floor: float):
        from bertlab.training.runs.recorded import recorded_runs

        super().__init__()
        self.floor, self._recorded = floor, recorded_runs("small_world")

    def _drawing(self, losses: dict[int, float]):
        figure, axis = _plot(7.2, 3.8)
        for seed in sorted({row["seed"] for row in self._recorded}):
            rows = [row for row in self._recorded if row["seed"] == seed]
            label = "recorded runs" if seed == 1 else None
            points = [row["step"] for row in rows], [row["loss"] for row in rows]
            axis.plot(*points, color=_GREY, linestyle="-.", lw=1, label=label)
        axis.plot(list(losses), list(losses.values()), color=_LINES[0][0], marker="o", label="yours, held out")
        axis.axhline(self.floor, color="black", lw=1.5, label="floor: the best possible reader")
        last = max(row["step"] for row in self._recorded)
        _finish(axis, {}, xlabel="step", ylabel="loss per hidden word", ylim=(1, 4.3), xlim=(0, last + 40))
        step, loss = list(losses.items())[-1]
        return figure, f"The held-out loss after {step} steps is {loss:.2f}; the floor is {self.floor:.2f}"


class LiveCurves(_Live):
    """A picture of a run that is updated as the run continues.

    pieces: V, for the line at ln V. unigram_loss: loss of a model that knows only token frequencies. reference: name
    of a curve in the library. trained: the name of the training loss. levels: name → "loss" and "accuracy" of another
    model, as lines.
    """

    def __init__(
        self, pieces: int, unigram_loss: float, reference="", trained="training batch (MLM + NSP)", levels=None
    ):
        super().__init__()
        self.pieces, self.unigram_loss, self.reference = pieces, unigram_loss, reference
        self.trained, self.levels = trained, levels or {}

    def _drawing(self, history: list[dict]):
        """history: rows with step, training loss ("train"), held-out loss ("loss") and accuracy ("accuracy")."""
        from bertlab.training.runs.curves import read_metrics, reference_curves

        figure, axes = _figure(11, 3.9, 1, 2)
        steps = [row["step"] for row in history]
        left, right = axes.flat
        for (name, key), (colour, dash, marker) in zip((("held out", "loss"), (self.trained, "train")), _LINES):
            left.plot(steps, [row[key] for row in history], color=colour, linestyle=dash, marker=marker, label=name)
        left.axhline(np.log(self.pieces), color="black", lw=1, linestyle=(0, (6, 3)), label="ln V: untrained")
        left.axhline(self.unigram_loss, color="black", lw=1, linestyle=":", label="unigram: token frequencies only")
        right.plot(steps, [row["accuracy"] for row in history], color=_LINES[0][0], marker="o", label="yours, held out")
        recorded = read_metrics(reference_curves()[self.reference]) if self.reference else []
        recorded = [row for row in recorded if row["step"] <= max(steps)]
        for axis, column in ((left, "val_masked_lm_loss"), (right, "val_masked_lm_accuracy")):
            if len(recorded) > 1:  # one point has no line
                points = [row["step"] for row in recorded], [row[column] for row in recorded]
                axis.plot(*points, color=_GREY, linestyle="-.", label="recorded run")
        for name, scores in self.levels.items():
            left.axhline(scores["loss"], color=_GREY, lw=1, label=name)
            right.axhline(scores["accuracy"], color=_GREY, lw=1, label=name)
        legend = dict(fontsize=9, loc="upper right", bbox_to_anchor=(1, 0.92))
        _finish(left, legend, title="loss per prediction", xlabel="step", ylabel="loss")
        right.set_ylim(bottom=0)
        _finish(right, dict(fontsize=9), title="accuracy", xlabel="step", ylabel="fraction correct")
        last = history[-1]
        return figure, (
            f"Curves of a run after {last['step']} steps: held-out loss {last['loss']:.2f}, perplexity "
            f"{np.exp(last['loss']):.0f}, accuracy {last['accuracy']:.1%}"
        )
