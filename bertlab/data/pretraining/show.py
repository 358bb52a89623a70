"""Pre-training examples to look at: tokens, masks, segments and labels as text, and histograms of a whole folder."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.data.pretraining.batches import Batches
from bertlab.data.pretraining.collators import MaskTokens
from bertlab.data.pretraining.make import count_examples
from bertlab.data.pretraining.masking import PieceTable
from bertlab.data.pretraining.records import ExampleFiles

LABELS = ("IsNext", "random next")
ORDER_LABELS = ("in order", "swapped")


@dataclass(frozen=True)
class Statistics:
    """Statistics of a sample of N rows.

    lengths: (N,) tokens that are not padding. predicted: (N,) the fraction of them that are predicted. shares: the
    fractions of all predictions that became [MASK], became another token, or stayed. random_next: the fraction of the
    pairs whose B is random, None without pairs.
    """

    lengths: np.ndarray
    predicted: np.ndarray
    shares: dict[str, float]
    random_next: float | None


def sample_of(folder: str | Path, count: int, seed: int | None = None) -> dict[str, np.ndarray]:
    """Up to `count` examples of a folder, the first ones or, with a seed, random ones; masked if they were not."""
    files = ExampleFiles(folder)
    table = PieceTable.of(files.tokenizer.vocabulary)
    masks = MaskTokens(table, files.settings, seed or 0)
    return Batches(files, min(count, len(files)), shuffle_seed=seed, collators=[masks])[0]


def statistics_of(examples: dict[str, np.ndarray], table: PieceTable) -> Statistics:
    """Counts lengths, predictions, replacements and labels of masked examples."""
    lengths = (examples["input_ids"] != table.pad).sum(axis=1)  # (N,)
    counts = count_examples(examples, table.pad, table.mask)
    total, masked, kept = (counts[f"predictions{kind}"] for kind in ("", "_masked", "_kept"))
    shares = {"[MASK]": masked, "another token": total - masked - kept, "kept": kept}
    labels = examples.get("next_sentence_labels")
    return Statistics(
        lengths=lengths,
        predicted=(examples["masked_lm_weights"] > 0).sum(axis=1) / lengths,
        shares={name: count / total for name, count in shares.items()},
        random_next=None if labels is None else float(labels.mean()),
    )


def describe(
    examples: dict[str, np.ndarray], row: int, pieces: tuple[str, ...], labels: tuple[str, str] = LABELS
) -> str:
    """One example as text: a line per segment, predicted tokens as {shown←original}.

    A  [CLS] the {[MASK]←boat} sank . [SEP]
    """
    tokens = [pieces[index] for index in examples["input_ids"][row]]
    for position, original, weight in zip(
        examples["masked_lm_positions"][row], examples["masked_lm_ids"][row], examples["masked_lm_weights"][row]
    ):
        if weight > 0:
            tokens[position] = f"{{{tokens[position]}←{pieces[original]}}}"
    if "sequence_ids" in examples:
        numbers = examples["sequence_ids"][row]
        lines = [f"{n:>3}  {_joined(tokens, numbers == n)}" for n in range(1, numbers.max() + 1)]
        padding = int((numbers == 0).sum())
    else:
        real, second = examples["attention_mask"][row] == 1, examples["token_type_ids"][row] == 1
        lines = [f"  A  {_joined(tokens, real & ~second)}"]
        if second.any():
            lines.append(f"  B  {_joined(tokens, second)}")
        padding = int((~real).sum())
    label = f", {labels[examples['next_sentence_labels'][row]]}" if "next_sentence_labels" in examples else ""
    predictions = int((examples["masked_lm_weights"][row] > 0).sum())
    head = f"{len(tokens) - padding} tokens, {padding} padding, {predictions} predictions{label}"
    return "\n".join([head, *lines])


def _joined(tokens: list[str], chosen: np.ndarray) -> str:
    return " ".join(token for token, here in zip(tokens, chosen) if here)


def draw_histograms(statistics: Statistics, path: str | Path, title: str = "") -> None:
    """Draws lengths, fraction of predicted tokens, replacements and labels of a sample to an image file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6), layout="constrained")
    lengths, predicted, shares, labels = figure.subplots(2, 2).flat
    figure.suptitle(f"{title}{len(statistics.lengths):,} examples")
    lengths.hist(statistics.lengths, bins=40)
    lengths.set(xlabel="tokens in a row, without padding", ylabel="rows")
    predicted.hist(statistics.predicted, bins=40)
    predicted.set(xlabel="fraction of the tokens that are predicted", ylabel="rows")
    _bars(shares, statistics.shares, "fraction of the predictions")
    if statistics.random_next is None:
        labels.set_axis_off()
        labels.text(0.5, 0.5, "no next-sentence labels", ha="center", va="center")
    else:
        _bars(labels, dict(zip(LABELS, (1 - statistics.random_next, statistics.random_next))), "fraction of the pairs")
    figure.savefig(path, dpi=120)


def _bars(axes, shares: dict[str, float], label: str) -> None:
    bars = axes.bar(list(shares), list(shares.values()))
    axes.bar_label(bars, [f"{share:.1%}" for share in shares.values()])
    axes.set(ylabel=label, ylim=(0, 1.1 * max(shares.values())))
