"""Drawings of notebooks P and 11: results of several seeds beside recorded ones and floors, who reads whom, tables."""

import textwrap

import numpy as np

from autograde.student.pictures import Markdown, _figure, _finish, _plot, _show, show

_BLUE, _ORANGE, _GREY, _RED = "#1f5fa8", "#c8500a", "#9a9a9a", "#b2182b"
_COLOURS = (_BLUE, _ORANGE, "#2f7d32", "#7b3294", "#6b6b6b", "#a0322d")
_DASHES = (("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"), ((0, (6, 2, 1, 2)), "v"), ((0, (1, 3)), "P"))
_BESIDE = dict(loc="center left", bbox_to_anchor=(1.0, 0.5))  # where a legend is, right of the axes


def who_reads_whom(masks: dict, words: list[str], *, alt: str) -> None:
    """Each mask (title → (words, words) booleans, True where the query, a row, sees the key) as lines between two rows
    of dots."""
    figure, axes = _figure(4.2 * len(masks), 2.5, 1, len(masks))
    for axis, (title, mask) in zip(axes.flat, masks.items()):
        mask = np.asarray(mask, bool)
        for query, key in np.argwhere(mask):
            axis.plot([key, query], [0, 1], color=_BLUE, linewidth=1, alpha=0.6, zorder=1)
        for height in (0, 1):
            axis.scatter(range(len(words)), [height] * len(words), s=110, color="white", edgecolor="black", zorder=2)
        axis.set(title=title, yticks=[0, 1], yticklabels=["reads", "writes"], ylim=(-0.15, 1.15))
        axis.set_xticks(range(len(words)), words)
        axis.tick_params(length=0)
        for side in ("left", "bottom"):
            axis.spines[side].set_visible(False)
    _show(figure, alt)


def beside_records(yours: dict, floors: dict, records: list[dict]) -> None:
    """Held-out losses of your runs, a panel each, beside recorded runs of the same objective (grey) and the floor.

    yours: name → {step: loss}; floors: name → the smallest possible loss; records: rows of objective, seed, step, loss.
    """
    figure, axes = _figure(6.2 * len(yours), 3.8, 1, len(yours))
    told = []
    for axis, (name, losses) in zip(axes.flat, yours.items()):
        seeds = sorted({row["seed"] for row in records if row["objective"] == name})
        for seed in seeds:
            rows = [row for row in records if (row["objective"], row["seed"]) == (name, seed)]
            points = [row["step"] for row in rows], [row["loss"] for row in rows]
            axis.plot(*points, color=_GREY, linestyle="-.", label="recorded, three seeds" if seed == seeds[0] else None)
        axis.plot(list(losses), list(losses.values()), color=_BLUE, marker="o", linewidth=2, label="yours")
        axis.axhline(floors[name], color=_ORANGE, linestyle="--", label=f"floor {floors[name]:.2f}")
        _finish(axis, {}, title=name, xlabel="step", ylabel="loss (nats)", ylim=(1.2, 4.2))
        told.append(f"{name}: {list(losses.values())[-1]:.2f} after {list(losses)[-1]} steps, floor {floors[name]:.2f}")
    _show(figure, f"Held-out losses that fall towards their floors. {'; '.join(told)}")


def dots(runs: dict, title: str, y: str, line: tuple[str, float] | None = None) -> None:
    """A column for each name: every run a dot, their mean a bar. line: (what it is, its height), drawn dashed."""
    figure, axis = _plot(max(6.4, 1.3 * len(runs)), 3.8)
    for place, values in enumerate(runs.values()):
        axis.plot([place] * len(values), values, "o", color=_BLUE)
        axis.plot([place - 0.22, place + 0.22], [np.mean(values)] * 2, color=_ORANGE, linewidth=2)
    if line:
        axis.axhline(line[1], color="black", linestyle="--", linewidth=1)
        axis.annotate(line[0], (len(runs) - 0.45, line[1]), ha="right", va="bottom", fontsize=10)
    axis.set_xticks(range(len(runs)), [textwrap.fill(name, 14) for name in runs], fontsize=10)
    _finish(axis, grid="y", title=title, ylabel=y, xlim=(-0.5, len(runs) - 0.4))
    _show(figure, f"{title}: " + ", ".join(f"{name} {np.mean(values):.1f}" for name, values in runs.items()))


def marked_words(rows: dict) -> None:
    """Sentences (title → words, 1 for each replaced one, chosen places): replaced words red, chosen ones that stayed
    boxed."""
    longest = max(len(words) for words, _, _ in rows.values())
    widths = [0.13 * max(len(words[place]) for words, _, _ in rows.values()) + 0.2 for place in range(longest)]
    starts = np.cumsum([1.6, *widths])
    figure, axis = _plot(starts[-1], 0.45 * len(rows) + 0.2, bare=True)
    axis.set(xlim=(0, starts[-1]), ylim=(-len(rows) + 0.4, 0.6))
    told = []
    for line, (title, (words, replaced, chosen)) in enumerate(rows.items()):
        axis.text(0, -line, title, va="center", color="#555555")
        for place, (word, is_replaced) in enumerate(zip(words, replaced)):
            boxed = dict(boxstyle="round,pad=0.15", facecolor="white", edgecolor=_BLUE)
            box = boxed if place in list(chosen) and not is_replaced else None
            style = dict(color=_RED, weight="bold") if is_replaced else {}
            axis.text(starts[place], -line, word, va="center", bbox=box, **style)
        marked = (f"*{word}*" if mark else word for word, mark in zip(words, replaced))
        told.append(f"{title}: {' '.join(marked)}")
    _show(figure, "Replaced words between stars. " + "; ".join(told))


def family_table(counts: dict, milliseconds: dict) -> None:
    """Prints the parameters of each model, and beside its family's first one the milliseconds of the small shape."""
    print(f"{'model':18}{'parameters':>14}   {'ms, small shape':>16}")
    seen = set()
    for name, count in counts.items():
        kind = name.partition("-")[0]
        speed = "" if kind in seen else f"{milliseconds[kind]:16.1f}"
        print(f"{name:18}{count:14,}   {speed}")
        seen.add(kind)


# --- notebook P ---


def distance_curves(curves: dict, title="", x="", y="", *, alt: str) -> None:
    """Curves (name → values at the distances 0, 1, 2 …) with a logarithmic y axis; numbers of 0 are left out."""
    figure, axis = _plot(8.0, 4.2)
    for (name, values), colour, (dash, marker) in zip(curves.items(), _COLOURS, _DASHES):
        values = np.asarray(values, "float64")
        steps = np.flatnonzero(values > 0)
        look = dict(color=colour, linestyle=dash, marker=marker, markevery=max(1, len(values) // 12))
        axis.plot(steps, values[steps], label=name, **look)
    axis.set_yscale("log")
    axis.xaxis.get_major_locator().set_params(integer=True)
    _finish(axis, _BESIDE, title=title, xlabel=x, ylabel=y)
    _show(figure, alt)


def with_recorded(recorded: dict, own: dict, title="", x="", y="", *, alt: str) -> None:
    """Recorded results (name → {distance: values of the seeds}) in grey, with a line through the means; one's own (name
    → {distance: value}) as large marks."""
    figure, axis = _plot(8.4, 4.4)
    for number, (name, by_distance) in enumerate(recorded.items()):
        dash, marker = _DASHES[number]
        aside = 1 + 0.05 * (number - len(recorded) / 2)  # side by side, so that equal ones are all seen
        places = sorted(by_distance)
        means = [np.mean(by_distance[place]) for place in places]
        look = dict(color="#8a8a8a", linestyle=dash, marker=marker, label=f"{name}, recorded")
        axis.plot([aside * place for place in places], means, **look)
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
    _finish(axis, _BESIDE, title=title, xlabel=x, ylabel=y)
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
    _finish(axis, _BESIDE, "y", title=title, ylabel=y, xlim=(-0.5, len(recorded) - 0.5))
    _show(figure, alt)


def number_table(columns: list[str], rows: dict[str, list[str]]) -> None:
    """A table of numbers: name of a row → its cells, as texts."""
    lines = [["", *columns], ["---", *["---:"] * len(columns)], *([name, *cells] for name, cells in rows.items())]
    show(Markdown("\n".join(f"| {' | '.join(line)} |" for line in lines)))
