"""The task stage: a student learns a task from labelled rows and from a teacher that is fine-tuned on it.

It is a fine-tuning with another loss (see `bertlab.training.finetuning.experiment`): same runs, states and files. The
teacher's outputs on the training rows are computed once and kept in OUT/teacher.safetensors; hidden states and
attention scores are too large for that, so a teacher whose layers are learned from reads every batch.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from keras import ops

from bertlab import checkpoints
from bertlab.checkpoints.kinds import kind_of, model_class, variables_of
from bertlab.checkpoints.opening import find
from bertlab.common.errors import CheckpointError, ConfigError, DataError
from bertlab.common.progress import bar
from bertlab.data.tasks.rows import TaskData
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.devices.precision import policy_of
from bertlab.training.distillation.kept import taught_rows
from bertlab.training.distillation.models import check_layers, reading_memory
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.distillation.student import (
    Size,
    chosen_student,
    same_parts,
    start_from,
    student_config,
)
from bertlab.training.distillation.tuner import LayerTuner, SoftTuner
from bertlab.training.finetuning.experiment import Experiment
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import STARTS, Recipe
from bertlab.training.finetuning.task_info import load_info
from bertlab.training.finetuning.task_kinds import TaskInfo, task_kind_of
from bertlab.training.finetuning.trainer import FineTuner
from bertlab.training.runs.start import TrainedWeights
from bertlab.training.runs.vocabularies import treatment

KEPT = "teacher.safetensors"


def distill_task(
    teacher: str | Path,
    to: str | Path,
    task: TaskData,
    out: str | Path,
    recipe: Recipe | None = None,
    distillation: DistillationSettings | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    callbacks: Sequence = (),
    on_begin: Callable[[], object] = lambda: None,
    memory_check: bool = True,
) -> FineTuningResult:
    """Trains a student on a task beside a teacher that is fine-tuned on it; writes the best of all runs into a folder.

    Args:
        teacher: the folder of a fine-tuned model.
        to: the student: a size such as "2x128" (layers × width), or the folder of a pre-trained or distilled one.
        task, out, recipe, say, callbacks, on_begin, memory_check: as for `bertlab.training.finetuning.finetune`.
        distillation: what the student learns; half soft targets, half labels if left out.

    Raises what `finetune` raises; ConfigError also for a student that does not fit the teacher, CheckpointError for a
    teacher that is not fine-tuned, DataError for rows with labels that it does not have.
    """
    recipe = recipe or Recipe()
    with data_parallel(recipe.devices):
        settings = distillation or DistillationSettings()
        experiment = TaskDistillation(teacher, to, task, Path(out), recipe, settings, say)
        return experiment.run(callbacks, on_begin, memory_check)


def longest_row(teacher: str | Path, devices: int = 1) -> int:
    """The number of tokens to which the rows of a fine-tuned model were cut.

    devices: of the run that follows; TensorFlow cannot divide a processor once it has loaded a model.
    """
    folder = find(teacher)
    with data_parallel(devices):
        return load_info(folder, checkpoints.load(folder, padded_vocabulary=True)).max_length


class TaskDistillation(Experiment):
    """A fine-tuning whose loss also knows a teacher. Arguments: see `distill_task`."""

    def __init__(self, teacher, to, task: TaskData, out: Path, recipe: Recipe, distillation, say):
        self.distillation = distillation.for_stage("task")
        self.layers = distillation.losses == "layers"
        self.teacher_folder = find(teacher)
        self.student = chosen_student(to)
        self.teacher = checkpoints.load(self.teacher_folder, padded_vocabulary=True)
        check_task(load_info(self.teacher_folder, self.teacher), task, self.teacher_folder)
        if not isinstance(self.student, Size):
            _check_tokenizers(self.student, self.teacher_folder)
        start = self.teacher_folder if isinstance(self.student, Size) else self.student
        super().__init__(start, {task.name: task}, out, recipe, {}, say)
        if kind_of(self.teacher) != self.group.model_kind:
            raise CheckpointError(
                f"{self.teacher_folder}: expected a teacher with a head for {self.group.model_kind}, got one for "
                f"{kind_of(self.teacher)}; choose a model that is fine-tuned on {task.name}"
            )
        if self.layers:
            check_layers(self.config, self.teacher.config)

    def _load(self, model) -> tuple[dict, object]:
        """The weights that the student starts from, and its configuration."""
        if not isinstance(self.student, Size):
            return super()._load(model)
        config = student_config(self.teacher.config, self.student, self.distillation.heads)
        if self.distillation.start == "fresh" or not same_parts(config, self.teacher.config):
            self._note("the student starts from fresh weights")
            self.start = STARTS[1]
            return {}, config
        self._note("the student starts from layers of the teacher")
        student = model_class(self.group.model_kind)(config, **self.group.model_options)
        start_from(student, self.teacher)
        return {path: ops.convert_to_numpy(variable) for path, variable in variables_of(student).items()}, config

    def _free_memory(self, rows: int, tokens: int) -> int | None:
        """Without the teacher's weights and, where it reads every batch, what that takes."""
        free = super()._free_memory(rows, tokens)
        if free is None:
            return None
        free -= 4 * self.teacher.count_params()
        if not self.layers:
            return free
        return free - reading_memory(self.config, self.teacher.config, rows, tokens, None, self.precision, layers=True)

    def identity(self) -> dict:
        return super().identity() | {
            "teacher": TrainedWeights(self.teacher_folder).sha256(),
            "to": str(self.student),
            "distillation": self.distillation.to_dict(),
        }

    def _tuner(self, *arguments) -> FineTuner:
        if not self.layers:
            return SoftTuner(self.distillation, *arguments)
        policy = policy_of(self.precision)
        teacher = checkpoints.load(self.teacher_folder, padded_vocabulary=True, dtype=policy)
        return LayerTuner(teacher, self.distillation, *arguments)

    def _prepare(self) -> None:
        if self.layers:
            return
        info, identity = self.group.only.info, self.identity()
        ((name, rows),) = self.splits["train"].items()
        limit = min(info.max_length, self.teacher.config.max_tokens)
        # All that decides the teacher's outputs: its weights, the rows, and how they are cut.
        made_from = f"{identity['teacher']} {identity['rows']} {info.max_length} {info.stride} {limit}"
        with bar("Reading of the teacher", len(rows.features)) as running:
            kept = self.out / KEPT, made_from
            taught = taught_rows(self.teacher, rows.features, limit, *kept, running.advance)
        self.splits["train"] = {name: dataclasses.replace(rows, features=taught)}


def check_task(info: TaskInfo, task: TaskData, teacher: Path) -> None:
    """Raises DataError for rows of another shape or with other labels than the teacher's."""
    ours, its_kind = task_kind_of(info, None).model_kind, task.shape
    wanted = task_kind_of(TaskInfo.of(task, info.max_length, info.stride), None).model_kind
    if ours != wanted:
        raise DataError(f"{task.name}: expected rows for a teacher of the shape {info.shape}, got the shape {its_kind}")
    if task.shape in ("multiple-choice", "question"):
        return
    if info.multi_label != task.multi_label or bool(info.labels) != bool(task.labels):
        raise DataError(f"{task.name}: expected rows with the teacher's kind of labels, as {teacher} was fine-tuned on")
    lacking = [label for label in task.labels if label not in info.labels]
    if lacking:
        raise DataError(
            f"{task.name}: rows have labels that the teacher does not have: {', '.join(map(str, lacking))}; it knows "
            f"{', '.join(map(str, info.labels))}"
        )
    if tuple(task.labels) != tuple(info.labels):
        raise DataError(
            f"{task.name}: expected the teacher's labels in its order; give --labels {','.join(map(str, info.labels))}"
        )


def _check_tokenizers(student: Path, teacher: Path) -> None:
    """Raises ConfigError unless both have the same vocabulary and treat capitals and accents alike."""
    own, theirs = checkpoints.load_tokenizer(student), checkpoints.load_tokenizer(teacher)
    if own.kind != theirs.kind or own.vocabulary != theirs.vocabulary:
        raise ConfigError(
            f"{student}: expected a student with the vocabulary of its teacher {teacher}, got another; distill from a "
            "teacher with the same vocabulary"
        )
    if hasattr(own, "lowercase") and treatment(own) != treatment(theirs):  # others do nothing to the text
        raise ConfigError(
            f"{student}: expected a student that reads text {treatment(theirs)}, as its teacher {teacher}, got "
            f"one that reads it {treatment(own)}; distill from a teacher that reads text as the student does"
        )
