"""Drawings for notebook P: results by distance and of several seeds, with recorded ones in grey; a table of numbers.

As in `pictures`: each shows its picture with a text for readers who cannot see it, and returns nothing.
"""

import numpy as np

from autograde.student.pictures import Markdown, _plot, _show, show

_COLOURS = ("#1f5fa8", "#c8500a", "#2f7d32", "#7b3294", "#6b6b6b", "#a0322d")
_GREYS = (("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"), ((0, (6, 2, 1, 2)), "v"), ((0, (1, 3)), "P"))


def distance_curves(curves: dict, title="", x="", y="", *, alt: str) -> None:
    """Curves (name → values at the distances 0, 1, 2 …) with a logarithmic y axis; numbers of 0 are left out."""
    figure, axis = _plot(8.0, 4.2)
    for (name, values), colour, (dash, marker) in zip(curves.items(), _COLOURS, _GREYS):
        values = np.asarray(values, "float64")
        steps = np.arange(len(values))
        some = values > 0
        axis.plot(
            steps[some], values[some], color=colour, linestyle=dash, marker=marker, label=name,
            markevery=max(1, len(values) // 12),
        )  # fmt: skip
    axis.set_yscale("log")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title=title, xlabel=x, ylabel=y)
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    _show(figure, alt)


def with_recorded(recorded: dict, own: dict, title="", x="", y="", *, alt: str) -> None:
    """Recorded results (name → {distance: values of the seeds}) in grey, with a line through the means; one's own (name
    → {distance: value}) as large marks."""
    figure, axis = _plot(8.4, 4.4)
    for number, (name, by_distance) in enumerate(recorded.items()):
        dash, marker = _GREYS[number]
        aside = 1 + 0.05 * (number - len(recorded) / 2)  # side by side, so that equal ones are all seen
        places = sorted(by_distance)
        mean = [np.mean(by_distance[place]) for place in places]
        label = f"{name}, recorded"
        axis.plot(
            [aside * place for place in places], mean, color="#8a8a8a", linestyle=dash, marker=marker, label=label
        )
        for place in places:
            axis.plot([aside * place] * len(by_distance[place]), by_distance[place], ".", color="#b5b5b5")
        if name in own:
            axis.plot(
                [aside * place for place in own[name]], list(own[name].values()), color=_COLOURS[number], marker=marker,
                markersize=13, linestyle="", markeredgecolor="black", label=f"{name}, yours", zorder=5,
            )  # fmt: skip
    axis.set_xscale("log", base=2)
    everywhere = sorted({place for by_distance in recorded.values() for place in by_distance})
    axis.set_xticks(everywhere, everywhere)
    axis.set(title=title, xlabel=x, ylabel=y)
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    _show(figure, alt)


def seed_dots(recorded: dict, own: dict, title="", y="", *, alt: str) -> None:
    """A column for each name: the values of the seeds as grey dots, their mean ± standard deviation, one's own as a
    large mark."""
    figure, axis = _plot(max(4.5, 2.3 * len(recorded)), 3.8)
    for place, (name, values) in enumerate(recorded.items()):
        axis.plot([place] * len(values), values, "o", color="#b5b5b5", label="recorded seeds" if not place else None)
        axis.errorbar(
            [place + 0.12], [np.mean(values)], yerr=[np.std(values, ddof=1)], fmt="_", color="#404040", capsize=4,
            markersize=14, label="mean ± sd" if not place else None,
        )  # fmt: skip
        if name in own:
            axis.plot(
                [place - 0.12], [own[name]], "D", color=_COLOURS[1], markersize=10, markeredgecolor="black",
                label="yours" if name == next(iter(own)) else None,
            )  # fmt: skip
    axis.set_xticks(range(len(recorded)), list(recorded))
    axis.set(title=title, ylabel=y, xlim=(-0.5, len(recorded) - 0.5))
    axis.grid(alpha=0.3, axis="y")
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    _show(figure, alt)


def number_table(columns: list[str], rows: dict[str, list[str]]) -> None:
    """A table of numbers: name of a row → its cells, as texts."""
    lines = [["", *columns], ["---", *["---:"] * len(columns)], *([name, *cells] for name, cells in rows.items())]
    show(Markdown("\n".join(f"| {' | '.join(line)} |" for line in lines)))
