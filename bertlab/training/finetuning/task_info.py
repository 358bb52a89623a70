"""A fine-tuned model on disk: a checkpoint, its tokenizer, and `task.json`, which describes its outputs.

In Hugging Face's format the labels are also in config.json, as id2label and label2id, where transformers looks, and
`problem_type` where a row has any number of labels.
"""

import dataclasses
import json
from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.huggingface import CONFIG
from bertlab.checkpoints.kinds import kind_of
from bertlab.checkpoints.opening import find
from bertlab.checkpoints.stored import few
from bertlab.common.errors import CheckpointError, asked
from bertlab.common.files import write_text
from bertlab.data.tasks.metrics import default_metrics
from bertlab.models import MultiTaskModel
from bertlab.training.finetuning.task_kinds import EITHER, TaskInfo

TASK = "task.json"
TASKS = "tasks"  # in it, of a model of several tasks: the description of each
MULTI_LABEL = "multi_label_classification"  # of `problem_type` in config.json, as transformers writes it
NEXT_SENTENCE = ("is next", "is not next")  # the classes of the published next-sentence head
_SHAPES = {
    "next_sentence": "pair",
    "sequence_classification": EITHER,  # one architecture for both
    "token_classification": "tagging",
    "multiple_choice": "multiple-choice",
    "question_answering": "question",
}


def save_finetuned(
    model, folder: Path, tokenizer, info: TaskInfo | dict[str, TaskInfo], format: str, dtype: str | None = None
) -> None:
    """Writes model, tokenizer and task.json. format, dtype: of `checkpoints.save`. Raises CheckpointError.

    info: of a `MultiTaskModel`, by task.
    """
    checkpoints.save(model, folder, tokenizer, format=format, dtype=dtype)
    write_info(folder, info)
    if format == "huggingface" and info.labels and info.shape != "multiple-choice":
        values = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        values["id2label"] = {str(number): label for number, label in enumerate(info.labels)}
        values["label2id"] = {label: number for number, label in enumerate(info.labels)}
        if info.multi_label:
            values["problem_type"] = MULTI_LABEL
        write_text(folder / CONFIG, json.dumps(values, indent=2, ensure_ascii=False) + "\n", CheckpointError)


def write_info(folder: Path, info: TaskInfo | dict[str, TaskInfo]) -> None:
    """Writes task.json alone. info: of several tasks by name."""
    several = isinstance(info, dict)
    values = {TASKS: {name: dataclasses.asdict(own) for name, own in info.items()}} if several else vars(info)
    write_text(folder / TASK, json.dumps(values, indent=1) + "\n", CheckpointError)


def load_info(folder: str | Path, model, task: str | None = None, from_config: bool = True) -> TaskInfo:
    """The task of a fine-tuned model, from task.json or, for a model of transformers, from its config.json.

    task: the one that is expected, if any. from_config: False for a baseline or a head on features, which have no
    config.json. Whether a classifier reads one text or two, its config.json does not say: the shape is then `EITHER`.
    Raises CheckpointError for another task, a model without a fine-tuned head, or a task.json that cannot be used.
    """
    folder = Path(folder)
    if (folder / TASK).exists() or not from_config:
        info = _read(folder / TASK)
        if isinstance(info, dict):
            names = ", ".join(info)
            raise CheckpointError(f"{folder}: holds a model of several tasks ({names}); expected a model of one task")
        outputs, labels = (
            getattr(model, "num_labels", None),
            len(info.labels) or 1,
        )  # a regression has one and no labels
        if outputs not in (None, labels):
            raise CheckpointError(
                f"{folder / TASK}: names {labels} labels, and the model has {outputs} outputs: copy the {TASK} of this "
                "model into the folder"
            )
    else:
        info = _info_of_config(folder, model)
    if task not in (None, info.name):
        raise CheckpointError(f"{folder}: was fine-tuned on {info.name} alone, not on {task}; leave the task out")
    return info


def _info_of_config(folder: Path, model) -> TaskInfo:
    kind = kind_of(model)
    if kind not in _SHAPES:
        raise CheckpointError(f"{folder}: is not fine-tuned; `bertlab finetune TASK --model {folder}` does that")
    values = json.loads((folder / CONFIG).read_text(encoding="utf-8")) if (folder / CONFIG).exists() else {}
    shape, max_length = _SHAPES[kind], model.config.max_tokens
    multi_label, labels = shape == EITHER and values.get("problem_type") == MULTI_LABEL, ()
    if kind == "next_sentence":
        labels = NEXT_SENTENCE
    elif kind.endswith("classification"):
        labels = _labels_of_config(values, model.num_labels, multi_label)
    metrics = default_metrics("sentence" if shape == EITHER else shape, labels, multi_label)
    return TaskInfo(folder.name, shape, labels, metrics, max_length, min(128, max_length), multi_label=multi_label)


def described_in(folder: str | Path, model) -> TaskInfo | dict[str, TaskInfo] | None:
    """The task of a model in a folder, or of a model of several each by its name; None without a fine-tuned head."""
    if isinstance(model, MultiTaskModel):
        return {task: _info_of_several(Path(folder), task) for task in model.tasks}
    return load_info(folder, model) if kind_of(model) in _SHAPES else None


def load_task_model(path_or_name: str | Path, task: str | None = None, **options) -> tuple:
    """A fine-tuned model and its task. task: which one, of a folder with several; options: of `checkpoints.load`.

    Raises CheckpointError, also for a task that is not in the folder, or none given where it has several.
    """
    model = checkpoints.load(path_or_name, padded_vocabulary=True, **options)
    folder = find(path_or_name)
    if not isinstance(model, MultiTaskModel):
        return model, load_info(folder, model, task)
    if task not in model.tasks:
        names, given = ", ".join(model.tasks), "none" if task is None else repr(task)
        chosen = asked("--task NAME", "task=NAME")
        raise CheckpointError(
            f"{folder}: holds a model of several tasks: {names}; choose one with {chosen}, got {given}"
        )
    return model.part(task), _info_of_several(folder, task)


def tasks_in(folder: str | Path) -> list[str]:
    """The names of the tasks of a folder with several; [] for one with a single task."""
    path = Path(folder) / TASK
    infos = _read(path) if path.exists() else None
    return list(infos) if isinstance(infos, dict) else []


def _info_of_several(folder: Path, task: str) -> TaskInfo:
    infos = _read(folder / TASK)
    if not isinstance(infos, dict) or task not in infos:
        raise CheckpointError(f"{folder / TASK}: does not describe the task {task}; copy it again")
    return infos[task]


def _read(path: Path) -> TaskInfo | dict[str, TaskInfo]:
    """The inverse of `write_info`."""
    if not path.exists():
        raise CheckpointError(
            f"{path}: this file is missing, and without it nothing tells what the model's outputs mean; copy it from "
            "the folder that `bertlab finetune` wrote"
        )
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        by_task = {
            name: TaskInfo(**own | {field: tuple(own[field]) for field in ("labels", "metrics")})
            for name, own in values.get(TASKS, {"": values}).items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError(f"{path}: does not describe a task ({error!r}); copy it again") from None
    return by_task if TASKS in values else by_task[""]


def _labels_of_config(values: dict, outputs: int, multi_label: bool) -> tuple[str, ...]:
    """The labels of a config.json; () for regression, which has one output and no classes."""
    if outputs == 1 and not multi_label:
        return ()
    names = values.get("id2label")
    if not isinstance(names, dict):
        return tuple(f"LABEL_{number}" for number in range(outputs))  # as transformers names them
    if sorted(names) != sorted(map(str, range(outputs))):
        raise CheckpointError(
            f"the config.json names the labels {few(sorted(names))} in id2label, and the model has {outputs} outputs: "
            f"expected 0 to {outputs - 1}"
        )
    return tuple(names[str(number)] for number in range(outputs))
