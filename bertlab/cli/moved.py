"""Options that are in a command of their own now, and the message for a user who types an old spelling."""

_TASKS = "use `bertlab finetune-tasks TASK TASK …`"
_FEATURES = "use `bertlab train-features TASK --layers LAYERS`"
_BASELINE = "use `bertlab train-baseline TASK --kind KIND`"
_DISTILL_TASK = "use `bertlab distill-task TEACHER ROWS`"

# command → options and what to do instead.
_MOVED = {
    "finetune": {
        ("--with", "--task", "--task-layer", "--task-sampling"): _TASKS,
        ("--features", "--head", "--vectors"): _FEATURES,
        ("--baseline", "--tokenizer", "--word-vectors", "--freeze-words", "--word-size"): _BASELINE,
        ("--min-count", "--most-words", "--lowercase", "--cased"): _BASELINE,
        ("--units", "--recurrent-layers", "--head-dropout"): f"{_BASELINE}, or {_FEATURES.removeprefix('use ')}",
    },
    "distill": {
        ("--stage",): f"{_DISTILL_TASK} for the task stage; `bertlab distill` is the general one",
        ("--epochs", "--seeds", "--patience", "--max-length", "--stride"): _DISTILL_TASK,
        ("--validation-share", "--train-rows", "--column", "--labels"): _DISTILL_TASK,
    },
    "distill-task": {("--stage", "--data", "--preset", "--steps"): "use `bertlab distill` for the general stage"},
}


def where_now(command: str | None, option: str) -> str | None:
    """The advice about an option that a command does not have any more."""
    return next((hint for options, hint in _MOVED.get(command, {}).items() if option in options), None)
