"""The gallery's pictures: of the reference runs that ship with the library, and of the demo where it has run."""

import json

from bertlab import plots
from bertlab.demo.pipeline import STAGES
from bertlab.demo.report import figures
from bertlab.demo.settings import DemoSettings
from bertlab.demo.stages import Demo
from bertlab.training.runs.curves import objectives_in, read_metrics, reference_curves

OF_THE_DEMO = {
    "loss": ("Pre-training: loss", "MLM loss over the training steps, training and held-out text"),
    "accuracy": ("Pre-training: blanks", "Masked accuracy over the training steps"),
    "attention": ("Where the heads look", "Attention weights of every head, a row per layer"),
    "finetuning": ("Fine-tuning", "Accuracy after each epoch, pre-trained and from scratch"),
    "confusion": ("Confusion matrix", "Confusion matrix of the best fine-tuned model"),
}


def pictures(root) -> dict[str, tuple[str, str, str]]:
    """name → (title, alternative text, SVG). root: the project's folder, whose build/demo is used if it is there."""
    runs = {name: read_metrics(path) for name, path in reference_curves().items()}
    objectives = {name: objectives_in(rows)[:1] for name, rows in runs.items()}
    drawn = plots.pretraining_runs(runs, objectives, references=list(runs))
    found = {
        "reference": (
            "Is my loss right?",
            "Loss and masked accuracy of the reference runs over their steps",
            plots.figure_svg(drawn),
        )
    }
    folder = root / "build" / "demo"
    if (folder / "report.html").exists():
        results = {
            name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            for name, _, _ in STAGES
            if (folder / f"{name}.json").exists()
        }
        made = figures(Demo(DemoSettings(), folder), results)
        found |= {name: (*words, plots.figure_svg(made[name])) for name, words in OF_THE_DEMO.items()}
    return found
