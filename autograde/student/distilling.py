"""The training run of notebook 12: its settings and its folder.

The student reads the text of notebook 07's short run, with the tokens of the packaged model.
"""

from pathlib import Path

from autograde.student import home
from autograde.student.training_run import RunSettings, own_seed

NOTEBOOK = "12_distillation"
FILE = "distilled_weights.safetensors"  # what is handed in, beside the notebook
_RUNS = "distillation_run"


def distillation_settings(sizes: dict, **changes) -> RunSettings:
    """The settings of the run; the seed is drawn once for a home. sizes: of the student; changes: any field."""
    settings = dict(text="python", length=32, batch_size=64, steps=200, warmup_steps=20, peak=1e-3, interval=25,
                    compiled=False, model=sizes | {"dropout": 0.1})  # fmt: skip
    if "seed" not in changes:
        changes["seed"] = own_seed(home.of_notebook(NOTEBOOK) / _RUNS)
    return RunSettings(**settings | changes)


def distillation_folder(settings: RunSettings) -> Path:
    """The folder of a run in the student's home: a run of another length has another one."""
    return home.of_notebook(NOTEBOOK) / _RUNS / f"{settings.steps}_steps"
