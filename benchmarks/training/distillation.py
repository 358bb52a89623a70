"""A student's gain from its teacher.

    python -m benchmarks.training.distillation [--size 2x128] [--seeds 3] [--students 2]

The teacher is the packaged bertlab-mini (4 layers of 256). Two students have the same configuration, rows, steps and
recipe: one is distilled, one is pre-trained from scratch. Both are judged on the held-out part of the built-in corpus
and fine-tuned on two tasks with each seed. The distilled student is also distilled in the task stage, from the
fine-tuned teacher. `--students 2` trains both kinds again with another seed, for the spread of the results on held-out
text; the tasks are those of the first. Finished parts are kept in the folder: the same command resumes. Writes
results.json, results.md and distillation.png there.

Supports: benchmarks/training/README.md, "A student's gain from bertlab-mini"; docs/distillation.md, "What it brings".
"""

import dataclasses
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import read_json, write_atomically, write_json, write_text
from bertlab.data.pretraining.records import MANIFEST
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.presets import PretrainingSettings

TEACHER = "bertlab-mini"
TASKS = {"package": 1500, "pairs": 1500}  # name: training rows
ROWS = ExampleSettings(sequence_length=64, next_sentence=False, dynamic_masking=True)
TAUGHT = DistillationSettings(soft_positions="masked")
TEACHERS, DISTILLED, SCRATCH = "teacher", "distilled", "same size from scratch"
ON_TASK = "distilled, and on the task too"


def recipe(steps: int, seed: int) -> PretrainingSettings:
    """The same for both students."""
    return PretrainingSettings(
        steps=steps, batch_size=32, learning_rate=1e-3, warmup_share=0.1, beta_2=0.98, dropout=0.0,
        width_scaled_init=True, masked_lm_probability=0.3, interval=100, seed=seed,
    )  # fmt: skip


def make_rows(folder: Path) -> tuple[Path, Path]:
    """Rows to train on and held-out rows, of the built-in corpus."""
    from bertlab import checkpoints
    from bertlab.data.pretraining.make import make_data

    tokenizer = checkpoints.load_tokenizer(TEACHER)
    for split in ("train", "validation"):
        if not (folder / split / MANIFEST).exists():
            make_data("builtin", tokenizer, folder / split, ROWS, split=split)
    return folder / "train", folder / "validation"


def pretrained(folder: Path, size: str, steps: int, seed: int) -> dict[str, Path]:
    """The checkpoints of both students, trained on the same rows for as many steps. seed: of their pre-training."""
    from bertlab.training.distillation.general import DistillationRun
    from bertlab.training.pretraining import CHECKPOINT, pretrain

    train, _ = make_rows(folder)
    ending = "" if seed == 1 else f"-{seed}"
    runs = {DISTILLED: folder / f"distilled{ending}", SCRATCH: folder / f"scratch{ending}"}
    run = DistillationRun(TEACHER, size, train, runs[DISTILLED], recipe(steps, seed), TAUGHT)
    if not (runs[DISTILLED] / CHECKPOINT).exists():
        run.train(say=show)
    if not (runs[SCRATCH] / CHECKPOINT).exists():
        pretrain(run.config, train, runs[SCRATCH], recipe(steps, seed), say=show)
    return {kind: out / CHECKPOINT for kind, out in runs.items()}


def held_out(model: Path | str, folder: Path, name: str) -> dict[str, float]:
    """Loss and accuracy of the guesses on held-out rows."""
    from bertlab import checkpoints
    from bertlab.training.runs.evaluation import evaluate

    file = folder / f"held-out-{name}.json"
    if not file.exists():
        figures = evaluate(checkpoints.load(model, "pretraining"), folder / "validation", rows=1024)
        chosen = {"masked loss": figures["masked_lm_loss"], "masked accuracy": figures["masked_lm_accuracy"]}
        write_json(file, chosen)
    return read_json(file)


def finetuned(model: Path | str, folder: Path, name: str, seed: int, teachers: bool = False) -> dict[str, float]:
    """The development figure of a model on each task; with `teachers` distilled from the fine-tuned teacher."""
    from bertlab.data.tasks.load import load_task
    from bertlab.training.distillation.task import distill_task
    from bertlab.training.finetuning import Recipe, finetune

    figures = {}
    for task_name, rows in TASKS.items():
        task = load_task(task_name)
        task = dataclasses.replace(task, train=task.train[:rows], validation=task.validation[:1000], test=[])
        own = Recipe(learning_rate=1e-3 if name != TEACHERS else 3e-4, epochs=3, max_length=64, seeds=(seed,))
        out = folder / "tasks" / f"{task_name}-{name}-{seed}".replace(" ", "-")
        if teachers:
            teacher = folder / "tasks" / f"{task_name}-{TEACHERS}-1"
            result = distill_task(teacher, model, task, out, own, DistillationSettings(), show)
        else:
            result = finetune(model, task, out, own, say=show)
        figures[f"{task_name} {result.metric}"] = next(iter(result.dev.values()))
    return figures


def show(line: str) -> None:
    print(line, flush=True)


def measured(folder: Path, size: str, seeds: int, steps: int, tasks: bool, students: int) -> dict[str, list[dict]]:
    """Kind of model → the metrics of each seed: of pre-training for held-out text, of fine-tuning for the tasks."""
    make_rows(folder)
    found = {kind: [] for kind in (TEACHERS, DISTILLED, ON_TASK, SCRATCH)}
    found[TEACHERS].append(held_out(TEACHER, folder, TEACHERS))
    for seed in range(1, students + 1):
        for kind, model in pretrained(folder, size, steps, seed).items():
            found[kind].append(held_out(model, folder, model.parent.name))
    if tasks:
        first = pretrained(folder, size, steps, seed=1)
        found[TEACHERS].append(finetuned(TEACHER, folder, TEACHERS, seed=1))
        for seed in range(1, seeds + 1):
            for kind, model in first.items():
                found[kind].append(finetuned(model, folder, kind, seed))
            found[ON_TASK].append(finetuned(first[DISTILLED], folder, "on-task", seed, teachers=True))
    return found


def metric_names(found: dict[str, list[dict]]) -> list[str]:
    """The names of all metrics, each once, in the order in which they were measured."""
    return list(dict.fromkeys(name for rows in found.values() for row in rows for name in row))


def table(found: dict[str, list[dict]]) -> str:
    """Mean ± standard deviation over the seeds, as a Markdown table."""
    names = metric_names(found)
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for kind, rows in found.items():
        lines.append(f"| {kind} | {' | '.join(cell([row[name] for row in rows if name in row]) for name in names)} |")
    return "\n".join(lines) + "\n"


def cell(values: list[float]) -> str:
    if not values:
        return "–"
    spread = f" ± {np.std(values, ddof=1):.3f}" if len(set(values)) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"


def draw(found: dict[str, list[dict]], path: Path) -> None:
    """A panel for each metric, a bar for each kind of model, a dot for each seed."""
    from bertlab.plots import BLUE, GREEN, GREY, ORANGE, new_figure

    names = metric_names(found)
    figure, panels = new_figure(3.2 * len(names), 3.6, 1, len(names))
    for axes, name in zip(panels, names):
        for index, ((kind, rows), colour) in enumerate(zip(found.items(), (GREY, BLUE, GREEN, ORANGE))):
            values = [row[name] for row in rows if name in row]
            if values:
                axes.bar(index, np.mean(values), color=colour, label=kind)
                axes.plot([index] * len(values), values, ".", color="black")
        axes.set(title=name, xticks=[])
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    write_atomically(path, lambda partial: figure.savefig(partial, format="png", dpi=120))


@click.command()
@click.option("--folder", type=click.Path(path_type=Path), default=Path("build/distillation"), show_default=True)
@click.option("--size", default="2x128", show_default=True, help="Layers and width of the student.")
@click.option("--seeds", default=3, show_default=True, type=click.IntRange(1), help="Seeds of the fine-tuning.")
@click.option("--steps", default=400, show_default=True, type=click.IntRange(100))
@click.option("--students", default=1, show_default=True, type=click.IntRange(1), help="Students of each kind.")
@click.option("--tasks/--no-tasks", default=True, show_default=True, help="Also fine-tune on two tasks.")
def main(folder: Path, size: str, seeds: int, steps: int, students: int, tasks: bool) -> None:
    """Trains, judges and draws; finished parts are kept."""
    load_backend()
    found = measured(folder, size, seeds, steps, tasks, students)
    write_json(folder / "results.json", found)
    write_text(folder / "results.md", table(found))
    draw(found, folder / "distillation.png")
    print(table(found))


if __name__ == "__main__":
    main()
