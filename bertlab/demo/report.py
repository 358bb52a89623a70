"""The demo's report: one HTML file without other files."""

import os
import sys
from importlib import resources

import numpy as np

from bertlab import plots
from bertlab.common.files import write_text
from bertlab.demo.stages import Demo
from bertlab.training.finetuning import STARTS


def write_report(demo: Demo, results: dict) -> None:
    """Writes `report.html` into the demo's folder from the results of all stages."""
    import jinja2

    template = resources.files("bertlab.demo").joinpath("report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["percent"] = lambda value: f"{value:.1%}"
    environment.filters["thousands"] = lambda value: f"{value:,.0f}"
    page = environment.from_string(template).render(
        settings=demo.settings.to_dict(),
        masked_lm_probability=demo.settings.recipe.masked_lm_probability,
        phases=demo.settings.phases,
        config=demo.settings.config,
        figures={name: plots.figure_svg(figure) for name, figure in figures(demo, results).items()},
        sample=[
            demo.tokenizer.tokenize(blank["text"].replace("[MASK]", blank["hidden"]))
            for blank in results["blanks"]["blanks"][:4]
        ],
        finetuning_rows=_finetuning_rows(results["finetuning"]),
        times=[(name, result["seconds"]) for name, result in results.items()],
        tokens_per_second=results["pretraining"]["tokens"] / results["pretraining"]["history"][-1]["seconds"],
        machine=f"{os.cpu_count()} CPU cores, Python {sys.version.split()[0]}",
        **results,
    )
    write_text(demo.folder / "report.html", page)


def figures(demo: Demo, results: dict) -> dict:
    """The report's drawings by name, from the results of all stages."""
    pretraining, examples, finetuning = results["pretraining"], results["examples"], results["finetuning"]
    history, phases = pretraining["history"], demo.settings.phases
    ends = np.cumsum([phase.steps for phase in phases])
    marks = [(int(end), f"{phase.sequence_length} tokens") for end, phase in zip(ends[:-1], phases[1:], strict=True)]
    with np.load(demo.folder / "attention.npz", allow_pickle=False) as attention:
        pieces, maps = attention["pieces"].tolist(), attention["maps"]
    return {
        "loss": plots.training_curves(
            history,
            "masked_lm_loss",
            "MLM loss (nats per masked token)",
            ("word frequencies alone", examples["unigram_loss"]),
            marks,
        ),
        "accuracy": plots.training_curves(
            history,
            "masked_lm_accuracy",
            "Masked tokens predicted correctly",
            ("always the most frequent token", examples["unigram_accuracy"]),
            marks,
        ),
        "next_sentence": plots.training_curves(
            history, "next_sentence_accuracy", "Next-sentence accuracy", ("chance", 0.5), marks
        ),
        "attention": plots.attention_grid(pieces, maps),
        "finetuning": plots.compared_runs(
            {start: np.array(finetuning["curves"][start]) for start in STARTS}, finetuning["majority"]
        ),
        "confusion": plots.confusion_matrix(np.array(finetuning["confusion"]), finetuning["labels"]),
    }


def _finetuning_rows(finetuning: dict) -> list[dict]:
    """One table row per starting point: each seed's accuracy, their mean and standard deviation."""
    rows = []
    for start in STARTS:
        values = np.array(finetuning["accuracies"][start])
        rows.append({"start": start, "values": values.tolist(), "mean": values.mean(), "sd": values.std(ddof=1)})
    return rows
