"""`bertlab distill` and `distill-task`: a small model that learns from a large one, before fine-tuning or on a task."""

from pathlib import Path

from bertlab.cli.config_file import write_config
from bertlab.cli.finetune import OF_LAYERS, OF_TASKS, RESULTS, SEEDS, chosen_seeds, reported
from bertlab.cli.from_signature import FOLDER, REQUIRED, Options, command, is_given, option
from bertlab.cli.labelled_rows import TrainingRows
from bertlab.cli.options import MEMORY_CHECK, say
from bertlab.cli.pretrain import DATA, LAST, OUT, VALIDATION, trained
from bertlab.common.backend import load_backend
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.presets import PretrainingSettings

TO = option(
    REQUIRED, "The student: LAYERSxWIDTH, such as 2x128, or the folder of one to train further.", metavar="SIZE"
)
# The teacher decides the shape of its student.
_OF_MODELS = ("pre_norm", "padded_vocabulary", "objective", "generator_width", "label_smoothing")


@command(config=True, json=LAST)
def distill(
    teacher: str,
    *,
    to: str = TO,
    data: tuple[Path, ...] = DATA,
    out: Path = OUT,
    validation: Path | None = VALIDATION,
    losses: DistillationSettings,
    settings: PretrainingSettings = Options(without=_OF_MODELS),
    memory_check: bool = MEMORY_CHECK,
):
    """Train a small student to resemble TEACHER: a pre-trained checkpoint, or the name of a published model.

    The student is a model to fine-tune; `bertlab distill-task` trains one on a task. The run can be stopped or killed
    at any moment; the same command resumes it.

    \b
    Examples:
      bertlab distill bertlab-mini --to 2x128 --data examples --out student --preset small --steps 1000
      bertlab finetune package --model student/checkpoint --out runs/student
    """
    load_backend()
    from bertlab.training.distillation.general import distill as train

    return trained(
        train, teacher, to, data, out=out, settings=settings, distillation=losses, validation=validation,
        memory_check=memory_check,
    )  # fmt: skip


@command(config=True, json=RESULTS)
def distill_task(
    teacher: str,
    rows: str,
    *,
    to: str = TO,
    reading: TrainingRows,
    out: FOLDER = OUT,
    losses: DistillationSettings = Options(without=("cosine_factor", "soft_positions")),
    seeds: int = SEEDS,
    recipe: Recipe = Options(without=(*OF_LAYERS, *OF_TASKS, "class_weights", "best")),
    memory_check: bool = MEMORY_CHECK,
):
    """Train a small student on the task of the labelled ROWS to resemble TEACHER, which is fine-tuned on that task.

    ROWS are a task of `bertlab task list`, or your own file or folder. After an interruption the same command resumes.

    \b
    Example:
      bertlab finetune package --model bertlab-mini --out runs/package
      bertlab distill-task runs/package package --to student/checkpoint --out runs/distilled
    """
    task = reading.task(rows, least_classes=1)
    recipe = recipe.replace(seeds=chosen_seeds(seeds))
    load_backend()
    from bertlab.training.distillation.task import distill_task as train
    from bertlab.training.distillation.task import longest_row

    if not is_given("max_length"):
        recipe = recipe.replace(max_length=longest_row(teacher, recipe.devices))
    result = train(
        teacher, to, task, out, recipe, losses, say=say, memory_check=memory_check,
        on_begin=lambda: write_config(out, recipe),
    )  # fmt: skip
    yield reported(result, out, "the student")
