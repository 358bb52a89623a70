"""Fine-tuning: one pre-trained model, four shapes of labelled data, and figures that can be trusted.

    from bertlab.data.tasks.load import load_task
    from bertlab.training.finetuning import Recipe, finetune

    result = finetune("bertlab-mini", load_task("package"), "runs/package", Recipe(learning_rate=3e-4))
    print(result.summary())

The names below are imported when first used: settings can be read without loading a backend.
"""

import importlib

_HOMES = {
    name: f"bertlab.training.{module}"
    for module, names in {
        "finetuning.settings": ("PUBLISHED_GRID", "STARTS", "Recipe"),
        "finetuning.experiment": ("finetune",),
        "finetuning.multi_task": ("finetune_tasks",),
        "baselines.training": ("baseline_recipe", "train_baseline"),
        "features.training": ("feature_recipe", "train_features"),
        "finetuning.results": ("FineTuningResult", "RunResult"),
        "finetuning.task_kinds": ("task_kind_of",),
    }.items()
    for name in names
}
__all__ = list(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
