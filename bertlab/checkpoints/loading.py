"""Loading: open a checkpoint, check everything against the model, and only then assign.

A model is changed only after all of its new values have been read and checked.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.checkpoints.huggingface import weight_names
from bertlab.checkpoints.kinds import kind_of, model_class, variables_of
from bertlab.checkpoints.opening import open_checkpoint
from bertlab.checkpoints.stored import StoredCheckpoint, StoredTensor, few
from bertlab.checkpoints.tokenizers import check_vocabulary
from bertlab.common.errors import CheckpointError, asked
from bertlab.config import ModelConfig
from bertlab.families import family, family_of, model_types
from bertlab.families.names import BACKBONE


@dataclass(frozen=True)
class Origin:
    """One variable. source: file and name of its tensor; None: it kept its initial value, for the given reason."""

    variable: str
    shape: tuple[int, ...]
    source: str | None
    reason: str = ""


@dataclass(frozen=True)
class LoadReport:
    """The outcome of a load; `print` it for a table.

    origins: one for each variable of the model, in the model's order.
    unused: our paths of tensors that belong to a head or pooler which this model does not have.
    unexpected: names of tensors that no model of this configuration has (only with strict=False).

    Example:
        >>> report = load("bertlab-mini").load_report
        >>> len(report.loaded), report.unused
        (78, ())
    """

    checkpoint: str
    model: str
    origins: tuple[Origin, ...]
    unused: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()

    @property
    def loaded(self) -> list[str]:
        """Variables that were filled from the checkpoint."""
        return [origin.variable for origin in self.origins if origin.source is not None]

    @property
    def initialised(self) -> list[str]:
        """Variables that kept their initial value: those of a fresh head, and the missing ones."""
        return [origin.variable for origin in self.origins if origin.source is None]

    @property
    def missing(self) -> list[str]:
        """Variables that the checkpoint lacks (only with strict=False)."""
        return [origin.variable for origin in self.origins if origin.reason == "missing"]

    def summary(self) -> str:
        """One line: the numbers of loaded, initialised and unused variables."""
        return (
            f"{self.model} from {self.checkpoint}: {len(self.loaded)} variables loaded, "
            f"{len(self.initialised)} initialised, {len(self.unused)} tensors not used, "
            f"{len(self.unexpected)} unexpected"
        )

    def __str__(self) -> str:
        rows = [
            (origin.variable, "×".join(map(str, origin.shape)), origin.source or f"initialised ({origin.reason})")
            for origin in self.origins
        ]
        rows += [("—", "", f"{path} (not used by this model)") for path in self.unused]
        rows += [("—", "", f"{name} (unexpected)") for name in self.unexpected]
        rows.insert(0, ("variable", "shape", "came from"))
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines = [f"{name:<{widths[0]}}  {shape:<{widths[1]}}  {source}" for name, shape, source in rows]
        return "\n".join([self.summary(), *lines])


def load(
    path_or_name: str | Path,
    model_class: str | type | None = None,
    *,
    fresh_head: bool = False,
    strict: bool = True,
    padded_vocabulary: bool = False,
    config: ModelConfig | None = None,
    **model_options,
):
    """A model with the weights of a checkpoint. `print(model.load_report)` shows the source of each.

    path_or_name: a folder of Hugging Face, of Google's (or its `…/bert_model.ckpt`) or of ours; or the name of a
        packaged model ("bertlab-mini") or of a published one ("bert-base-uncased"), which huggingface_hub fetches or
        has in its cache.
    model_class: a class of `bertlab.models` or its short name: encoder, pretraining, replaced_token_detection,
        sequence_to_sequence, next_sentence, sequence_classification, token_classification, multiple_choice,
        question_answering, multi_task. None: what the checkpoint holds.
    fresh_head: for fine-tuning: only the encoder is loaded, the head keeps its random start.
    strict: False lets missing variables keep their initial value and ignores unexpected tensors.
    padded_vocabulary: the token table may have more rows than vocab.txt has lines.
    config: replaces the checkpoint's, for example with another dropout (see `read_config`).
    model_options: further arguments of the class, such as num_labels=3 or dtype="mixed_bfloat16".

    Raises CheckpointError, naming the file and tensor, if anything does not fit; ConfigError for an unusable config.

    Example:
        >>> model = load("bertlab-mini", "sequence_classification", fresh_head=True, num_labels=3)
        >>> model.load_report.initialised
        ['head/dense/kernel', 'head/dense/bias']
    """
    checkpoint = open_checkpoint(path_or_name)
    check_vocabulary(checkpoint, padded_vocabulary)
    its_class = _choose_class(checkpoint, model_class)
    kind = kind_of(its_class)
    options = model_options if fresh_head or checkpoint.kind not in (kind, None) else checkpoint.options | model_options
    if kind == "encoder" and not any(path.startswith(f"{BACKBONE}/pooler/") for path in checkpoint.tensors):
        options = {"pooler": False} | options  # pre-trained without pairs
    config = config or (checkpoint.config if fresh_head else _with_head(checkpoint, kind))

    values, report = _collect(_outline(its_class, config, options), checkpoint, strict, fresh_head)
    model = its_class(config, **options)
    _assign(model, values)
    model.load_report = report
    return model


def from_preset(path_or_name: str | Path, its_class: type, **model_options):
    """A model of a class, with the checkpoint's head where it holds one that fits, else with a new one.

    Arguments and errors as in `load`; with num_labels the head is a new one.
    """
    checkpoint = open_checkpoint(path_or_name)
    kept = _has_head_of(checkpoint, kind_of(its_class)) or kind_of(its_class) == "encoder"
    return load(path_or_name, its_class, fresh_head="num_labels" in model_options or not kept, **model_options)


def load_into(
    model,
    path_or_name: str | Path,
    *,
    fresh_head: bool = False,
    strict: bool = True,
    padded_vocabulary: bool = False,
) -> LoadReport:
    """Fills an existing model from a checkpoint. Arguments and errors as in `load`; after an error it is unchanged.

    Example:
        >>> model = PreTrainingModel(read_config("bertlab-mini"))
        >>> len(load_into(model, "bertlab-mini").missing)
        0
    """
    checkpoint = open_checkpoint(path_or_name)
    check_vocabulary(checkpoint, padded_vocabulary)
    values, report = _collect(model, checkpoint, strict, fresh_head)
    _assign(model, values)
    return report


def read_config(path_or_name: str | Path) -> ModelConfig:
    """The configuration of a checkpoint, without its weights.

    Example:
        >>> read_config("bertlab-mini").hidden_size
        256
    """
    return open_checkpoint(path_or_name).config


# === Which model ===


def _choose_class(checkpoint: StoredCheckpoint, asked: str | type | None) -> type:
    if isinstance(asked, type):
        kind_of(asked)  # raises for a class that is not ours
        return asked
    kind = asked or checkpoint.kind
    if kind is None:
        raise CheckpointError(
            f"{checkpoint.folder}: contains a classifier of an unknown kind; give model_class, one of "
            "sequence_classification, token_classification, multiple_choice"
        )
    return model_class(kind)


def _with_head(checkpoint: StoredCheckpoint, kind: str) -> ModelConfig:
    """The configuration of a model with the stored head, if that is of this kind."""
    return checkpoint.config.replace(**checkpoint.head_config.get(kind, {}))


def _outline(its_class: type, config: ModelConfig, options: dict):
    """A model whose variables have shapes but no values: costs neither time nor memory for any config."""
    from bertlab.models.outline import outline

    return outline(lambda: its_class(config, **{"name": "outline", **options}))


# === Does it fit ===


def _collect(model, checkpoint: StoredCheckpoint, strict: bool, fresh_head: bool) -> tuple[dict, LoadReport]:
    """The new values by path, all read and checked, and the report. Raises CheckpointError; changes nothing."""
    shapes = {path: tuple(variable.shape) for path, variable in variables_of(model).items()}
    if fresh_head:
        shapes = {path: shape for path, shape in shapes.items() if not _is_new_with_the_head(path, model, checkpoint)}
    stored = checkpoint.tensors
    if not _has_head_of(checkpoint, kind_of(model)):  # a tagger's `head/` is not a span finder's
        stored = {path: tensor for path, tensor in stored.items() if not path.startswith("head/")}
    needed = {path: stored[path] for path in shapes if path in stored}
    missing = [path for path in shapes if path not in stored]
    unexpected = _unexpected(checkpoint)
    unused = [path for path in checkpoint.tensors if path not in needed and path not in unexpected]

    reads_head = any(path.startswith("head/") for path in needed)
    config = _with_head(checkpoint, kind_of(model)) if reads_head else checkpoint.config
    where = checkpoint.folder / checkpoint.weights_name
    problems = _config_problems(model.config, config) if strict else []
    problems += _shape_problems(shapes, needed)
    if not any(path.startswith(f"{BACKBONE}/") for path in needed):  # such a model would be random
        problems += [_nothing_problem(unexpected, model)]
    elif strict:
        problems += _name_problems(missing, unexpected, model)
    if problems:
        raise CheckpointError(f"{where} does not fit {type(model).__name__}: {'; '.join(problems)}")
    values = {path: _read(tensor, checkpoint) for path, tensor in needed.items()}
    origins = tuple(
        Origin(path, tuple(variable.shape), needed[path].source)
        if path in needed
        else Origin(path, tuple(variable.shape), None, "missing" if path in shapes else "new head")
        for path, variable in variables_of(model).items()
    )
    return values, LoadReport(str(where), type(model).__name__, origins, tuple(unused), tuple(unexpected))


def _nothing_problem(unexpected: list[str], model) -> str:
    """Names the prefix that all names have too much, if that is why none is known."""
    its_family = family_of(model.config)
    names = its_family.huggingface
    first = next(weight.theirs for weight in names.weight_names(kind_of(model), 0) if weight.in_backbone)
    known = [name for name in unexpected if name.endswith(first)]
    if known:
        prefix = known[0].removesuffix(first).removesuffix(names.prefix)
        theirs = ((name, family(name).huggingface) for name in model_types())
        others = [name for name, table in theirs if table and table.prefix == prefix]
        if others and not known[0].startswith(prefix + names.prefix):
            return f"the names are those of {' or '.join(others)}; correct `model_type` in config.json if it is wrong"
        return (
            f"all names begin with {prefix!r}, which is too much: {known[0]!r} should be {names.prefix + first!r}; "
            "rename the tensors in the file"
        )
    expected = f"expected {names.prefix + first!r} and others"
    return f"no name of the encoder's weights is in the file, but {few(unexpected) or 'others'}; {expected}"


def _is_new_with_the_head(path: str, model, checkpoint: StoredCheckpoint) -> bool:
    """Heads; and the pooler of a family that has it only together with a head."""
    if not path.startswith(f"{BACKBONE}/"):
        return True
    of_head = path.startswith(f"{BACKBONE}/pooler/") and not family_of(model.config).pooler
    return of_head and path not in checkpoint.tensors


def _has_head_of(checkpoint: StoredCheckpoint, kind: str) -> bool:
    """Whether the stored head may be that of a model of this kind; next-sentence prediction classifies texts."""
    return checkpoint.kind in (kind, None) or {checkpoint.kind, kind} <= {"next_sentence", "sequence_classification"}


def _unexpected(checkpoint: StoredCheckpoint) -> list[str]:
    """Names that belong to no part of a model of the checkpoint's own configuration."""
    config = checkpoint.config
    its_family = family_of(config)
    names = its_family.huggingface.weight_names(checkpoint.kind, its_family.layer_numbers(config))
    known = its_family.own_paths(config, {weight.ours for weight in names})
    if checkpoint.kind is not None and checkpoint.kind not in {"encoder", *its_family.huggingface.heads}:
        own = _outline(model_class(checkpoint.kind), config, checkpoint.options)  # a kind in our format alone
        known = known | set(variables_of(own))
    return checkpoint.unexpected + [path for path in checkpoint.tensors if path not in known]


def _config_problems(own: ModelConfig, stored: ModelConfig) -> list[str]:
    if own.model_type != stored.model_type:
        return [f"the checkpoint is of the family {stored.model_type!r}, the model of {own.model_type!r}"]
    return [
        f"{name} is {getattr(stored, name)!r} in the checkpoint's config and {getattr(own, name)!r} in the model's"
        for name in own.NUMERICS
        if getattr(own, name) != getattr(stored, name)
    ]


def _shape_problems(shapes: dict, needed: dict[str, StoredTensor]) -> list[str]:
    wrong = [path for path, tensor in needed.items() if tensor.shape != shapes[path]]
    if not wrong:
        return []
    told = few(f"{path} has shape {shapes[path]}, but {needed[path].source} has {needed[path].shape}" for path in wrong)
    if all("/attention/" in path for path in wrong):
        return [f"heads were pruned: {told}; such a model cannot be read, take the one before pruning"]
    return [f"{told} (does the config belong to these weights?)"]


def _name_problems(missing: list[str], unexpected: list[str], model) -> list[str]:
    """Without unexpected weights a model that lacks some is not whole either."""
    problems, names = [], weight_names(model)
    if missing:
        told = "missing: " + few(f"{path} ({names[path].theirs})" if path in names else path for path in missing)
        if not any(path.startswith(f"{BACKBONE}/") for path in missing):
            told += f"; to fine-tune with a new head, {asked('use `bertlab finetune`', 'load with fresh_head=True')}"
        problems.append(told)
    if unexpected:
        advice = asked("delete them from the file", "delete them from the file, load with strict=False")
        if missing:
            advice = "rename them in the file if they are the missing ones under other names"
        correct = "correct the configuration if it is not that of these weights"
        problems.append(f"unexpected: {few(unexpected)} ({advice}, or {correct})")
    return problems


def _read(tensor: StoredTensor, checkpoint: StoredCheckpoint) -> np.ndarray:
    """The array as float32. Raises CheckpointError for one that holds no or no finite numbers."""
    array = tensor.read()
    try:
        array = np.asarray(array, dtype=np.float32)
    except (TypeError, ValueError):
        raise CheckpointError(f"{checkpoint.folder}: {tensor.source}: expected numbers, got {array.dtype}") from None
    if not np.isfinite(array).all():
        raise CheckpointError(
            f"{checkpoint.folder}: {tensor.source} has a value that is infinite or not a number; the training that "
            "wrote it diverged or the file is damaged"
        )
    return array


def _assign(model, values: dict[str, np.ndarray]) -> None:
    variables = variables_of(model)
    for path, value in values.items():
        variables[path].assign(value)
