"""Models from before BERT, beside it, on one task.

    python -m benchmarks.training.baselines [--task package] [--rows 800]

Every kind of baseline; with --elmo also a head on an ELMo as it is, such as one that was pre-trained before by
`bertlab pretrain`; heads on the vectors of the packaged bertlab-mini as it is; bertlab-mini fine-tuned.
All train on the same rows with the same seeds. Each run stops after some epochs without improvement on the development
rows and keeps its best epoch, so that a linear model does not go on to overfit; the figure is that of this epoch.
Finished parts are kept in the folder: the same command resumes. Writes results.md there.

Supports: docs/finetuning.md, "All of them on one task"; docs/vectors.md, "One vector for each word: word2vec".
"""

import dataclasses
from functools import partial
from pathlib import Path

import click

from bertlab.common.backend import load_backend
from bertlab.common.files import write_text
from bertlab.training.baselines.settings import FROZEN, KINDS, RECURRENT
from bertlab.training.features.settings import FeatureSettings

MODEL = "bertlab-mini"
HEADS = (("last", "linear"), ("last4-concat", "linear"), ("all-mix", "linear"), ("last4-concat", "bilstm"))
PATIENCE = 2
SLOW = {"epochs": 16, "patience": 4}  # recurrent networks begin to learn late on few rows


def task_of(name: str, rows: int):
    """The task with so many training rows and at most 500 development rows."""
    from bertlab.data.tasks.load import load_task

    task = load_task(name)
    return dataclasses.replace(task, train=task.train[:rows], validation=task.validation[:500], test=[])


def ways(task, folder: Path, seeds: tuple[int, ...], max_length: int, elmo: Path | None, words: Path | None):
    """Yields each way to do the task: its name, and a function that trains it and returns the `FineTuningResult`."""
    from bertlab.training.finetuning import (
        Recipe,
        baseline_recipe,
        feature_recipe,
        finetune,
        train_baseline,
        train_features,
    )

    common = {"seeds": seeds, "patience": PATIENCE, "max_length": max_length}
    for kind in KINDS:
        if task.shape == "tagging" and kind in ("bow", "tfidf", "cbow"):
            continue
        recipe = baseline_recipe(kind, **common | (SLOW if kind in RECURRENT else {}))
        yield kind, partial(train_baseline, kind, task, folder / kind, recipe)
    for kind, freeze in (("cbow", False), ("bilstm", False), ("bilstm", True)) if words else ():
        recipe = baseline_recipe(kind, **common | (SLOW if kind in RECURRENT else {}))
        way = f"{kind} from {words.name}{', frozen' * freeze}"
        begin = {"word_vectors": words, "freeze_words": freeze}
        yield way, partial(train_baseline, kind, task, folder / way.replace(", ", "-"), recipe, **begin)
    for kind in FROZEN if elmo else ():
        recipe = baseline_recipe(kind, **common | SLOW)
        yield f"{kind} of {elmo.name}", partial(train_baseline, kind, task, folder / kind, recipe, model=elmo)
    for layers, head in HEADS:
        recipe, settings = feature_recipe(head, **common), FeatureSettings(layers=layers, head=head)
        vectors = folder / f"vectors-{layers}"
        run = partial(train_features, MODEL, task, folder / f"{layers}-{head}", recipe, settings, vectors=vectors)
        yield f"frozen {MODEL}, {layers}, {head}", run
    recipe = Recipe(learning_rate=3e-4, epochs=4, **common)
    yield f"{MODEL} fine-tuned", partial(finetune, MODEL, task, folder / "fine-tuned", recipe)
    plain = recipe.replace(dropout=0.0)
    yield f"{MODEL} fine-tuned, dropout 0", partial(finetune, MODEL, task, folder / "fine-tuned-dropout-0", plain)


def line(name: str, result) -> str:
    """A row of the table: mean ± standard deviation, seconds of training, parameters that it changes."""
    summary = result.summaries[0]
    seconds = sum(run.seconds for run in summary.runs) / len(summary.runs)
    figure = f"{summary.mean[result.metric]:.3f} ± {summary.sd[result.metric]:.3f}"
    return f"| {name} | {figure} | {seconds:.1f} | {result.parameters:,} |"


@click.command()
@click.option("--task", "name", default="package", show_default=True, help="A task of `bertlab task list`.")
@click.option("--rows", default=800, show_default=True, help="Training rows.")
@click.option("--seeds", default=3, show_default=True, type=click.IntRange(2))
@click.option("--max-length", default=64, show_default=True, help="Longest row, in tokens; longer ones are cut.")
@click.option(
    "--elmo", type=click.Path(exists=True, path_type=Path), help="Checkpoint of an ELMo for the baseline elmo."
)
@click.option(
    "--word-vectors", "words", type=click.Path(exists=True, path_type=Path), help="Vectors that words begin with."
)
@click.option("--only", default="", help="Train only the ways whose names begin with this text, such as elmo.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/baselines"), show_default=True)
def main(name, rows, seeds, max_length, elmo, words, only, out):
    """Print a table of the baselines and bertlab-mini on one task."""
    load_backend()
    folder = out / f"{name}-{rows}-{max_length}-{seeds}"
    task = task_of(name, rows)
    lines = []
    for way, train in ways(task, folder, tuple(range(1, seeds + 1)), max_length, elmo, words):
        if not way.startswith(only):
            continue
        result = train()
        if not lines:
            lines += [f"| {name}, {rows} rows | {result.metric} | seconds | trained parameters |", "|---" * 4 + "|"]
            click.echo("\n".join(lines))
        lines.append(line(way, result))
        click.echo(lines[-1])
    write_text(folder / "results.md", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
