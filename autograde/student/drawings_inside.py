"""Drawings for notebook 10: maps of all heads, words by layer, heads beside fixed offsets, senses on a plane."""

import textwrap

import numpy as np

from autograde.student.pictures import _centred, _figure, _finish, _plot, _show

_BLUE, _ORANGE, _GREY = "#1f5fa8", "#c8500a", "#b8b8b8"
_MARKERS = ("o", "s", "^", "D")


def named_maps(attention, names: dict, tokens: list[str]) -> None:
    """A small map for each head, a line for each layer. attention: (layers, heads, tokens, tokens). names: (layer,
    head), from 0 → what the head is called beside its number."""
    attention = np.asarray(attention)
    layers, heads = attention.shape[:2]
    figure, axes = _figure(2.5 * heads, 2.75 * layers, layers, heads)
    titles = {}
    for layer, head in np.ndindex(layers, heads):
        axis, number = axes[layer, head], f"{layer + 1}-{head + 1}"
        axis.imshow(attention[layer, head], cmap="Blues", vmin=0, vmax=1)
        titles[number] = names.get((layer, head), "")
        axis.set_title(f"{number}: {titles[number]}" if titles[number] else number, fontsize=11)
        axis.set_xticks(range(len(tokens)), tokens if layer == layers - 1 else [], rotation=90, fontsize=8)
        axis.set_yticks(range(len(tokens)), tokens if head == 0 else [], fontsize=8)
        axis.tick_params(length=0)
    told = "; ".join(f"{number} {name}".strip() for number, name in titles.items())
    _show(figure, f"Maps of all heads while the model reads: {' '.join(tokens)}. {told}")


def words_by_layer(tables: dict, shown: int = 3) -> None:
    """The most likely tokens of each text after each layer; the darker, the more likely. tables: text → for each layer,
    from the embeddings on, pairs (token, probability), the likeliest first."""
    layers = max(map(len, tables.values()))
    figure, axes = _figure(max(7.0, 4.4 * len(tables)), 0.46 * layers + 1.0, 1, len(tables))
    told = []
    for axis, (text, rows) in zip(axes.flat, tables.items()):
        chances = np.array([[chance for _, chance in row[:shown]] for row in rows])
        axis.imshow(chances, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
        for (layer, rank), chance in np.ndenumerate(chances):
            _centred(axis, rank, layer, f"{rows[layer][rank][0]} {chance:.2f}", fontsize=10)
        axis.set_title(textwrap.fill(text, 34), fontsize=11)
        axis.set_xticks([])
        axis.set_yticks(range(len(rows)), ["embeddings", *(f"layer {number}" for number in range(1, len(rows)))])
        axis.tick_params(length=0)
        told.append(f"{text}: {', then '.join(row[0][0] for row in rows)}")
    _show(figure, "The most likely token at the blank, after the embeddings and after each layer. " + "; ".join(told))


def gain_bars(rows: list[dict]) -> None:
    """Bars of what a head and the best fixed offset find. rows: name, head, score, offset, control, count."""
    figure, axis = _plot(8.6, 0.3 * len(rows) + 1.1)
    places = np.arange(len(rows))
    axis.barh(places - 0.2, [100 * row["score"] for row in rows], 0.38, color=_BLUE, label="best head")
    axis.barh(places + 0.2, [100 * row["control"] for row in rows], 0.38, color=_GREY, label="best fixed offset")
    axis.set_yticks(places, [f"{row['name']}  ({row['head']} | {row['offset']:+d})" for row in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    _finish(axis, grid="x", xlabel="edges found (%)", xlim=(0, 100))
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    told = ", ".join(f"{row['name']} {row['score']:.0%} against {row['control']:.0%}" for row in rows)
    _show(figure, f"Edges that the best head finds, against the best fixed offset: {told}")


def planes_by_layer(points: list, senses: list[str], titles: list[str]) -> None:
    """The examples of a word on a plane, a panel for each layer. points: for each layer (examples, 2)."""
    figure, axes = _figure(2.7 * len(points), 3.1, 1, len(points))
    for axis, layer, title in zip(axes.flat, points, titles):
        for kind, (name, colour) in enumerate(zip(dict.fromkeys(senses), (_BLUE, _ORANGE, "#6b6b6b", "black"))):
            chosen = np.array([sense == name for sense in senses])
            axis.scatter(*np.asarray(layer)[chosen].T, color=colour, marker=_MARKERS[kind], alpha=0.8, label=name)
        axis.set_title(title, fontsize=11)
        axis.set(xticks=[], yticks=[])
        axis.margins(0.12)
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    _show(figure, f"The examples on a plane, layer by layer: {'; '.join(titles)}")


def layer_table(rows: dict, layers: int) -> None:
    """Prints a line for each name with the mean and spread at each layer. rows: name → (layers + 1, seeds) in %."""
    print(" " * 42 + "".join(f"{name:>13}" for name in ["embeddings", *(f"layer {n}" for n in range(1, layers + 1))]))
    for name, values in rows.items():
        spreads = [f" ± {np.std(row, ddof=1):.1f}" if len(row) > 1 else "" for row in values]
        cells = [f"{np.mean(row):.1f}{spread}" for row, spread in zip(values, spreads)]
        print(f"{name:42}" + "".join(f"{cell:>13}" for cell in cells))


def layer_curves(rows: dict, title: str, y: str) -> None:
    """Curves over the layers, the mean of the seeds with their spread as a band. rows: name → (layers + 1, seeds)."""
    figure, axis = _plot(7.2, 4.4)
    told = []
    styles = zip(("-", "--", ":", "-."), _MARKERS, (_BLUE, _ORANGE, "#3a7d34", "#444444"))
    for (name, values), (dash, marker, colour) in zip(rows.items(), styles):
        values = np.asarray(values)
        mean, spread = values.mean(axis=1), values.std(axis=1, ddof=1 if values.shape[1] > 1 else 0)
        axis.plot(range(len(mean)), mean, color=colour, linestyle=dash, marker=marker, linewidth=2, label=name)
        axis.fill_between(range(len(mean)), mean - spread, mean + spread, color=colour, alpha=0.15)
        told.append(f"{name} {', '.join(f'{one:.0f}' for one in mean)}")
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_xticks(range(len(mean)), ["embeddings", *(f"layer {number}" for number in range(1, len(mean)))])
    _finish(axis, title=title, ylabel=y)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    _show(figure, f"{title}, from the embeddings to the last layer: {'; '.join(told)}")
