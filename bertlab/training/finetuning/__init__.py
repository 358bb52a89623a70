"""Fine-tuning: one pre-trained model, four shapes of labelled data, and figures that can be trusted.

    from bertlab.data.tasks.load import load_task
    from bertlab.training.finetuning import Recipe, finetune

    result = finetune("bertlab-mini", load_task("package"), "runs/package", Recipe(learning_rate=3e-4))
    print(result.summary())

The names below are imported when first used: settings can be read without loading a backend.
"""

from bertlab.common.lazy import imported_when_used

__all__, __getattr__ = imported_when_used(
    __name__,
    {
        "bertlab.training.finetuning.settings": ("PUBLISHED_GRID", "STARTS", "Recipe"),
        "bertlab.training.finetuning.experiment": ("finetune", "finetune_tasks"),
        "bertlab.training.baselines.training": ("baseline_recipe", "train_baseline"),
        "bertlab.training.features.training": ("feature_recipe", "train_features"),
        "bertlab.training.finetuning.results": ("FineTuningResult", "RunResult"),
        "bertlab.training.finetuning.task_kinds": ("task_kind_of",),
    },
)
