"""The student: its size, its configuration, the layers of the teacher that it starts from and learns from.

Letters: N layers of the teacher, M layers of the student.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from bertlab.checkpoints.kinds import variables_of
from bertlab.checkpoints.packaged import is_packaged, packaged
from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig

_SIZE = re.compile(r"(\d+)x(\d+)")


@dataclass(frozen=True)
class Size:
    """Number and width of a student's layers."""

    layers: int
    width: int

    def __str__(self) -> str:
        return f"{self.layers}x{self.width}"


def parse_size(text: str) -> Size | None:
    """2x128 → 2 layers of width 128; None for a text of another form. Raises ConfigError for a size of 0."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    size = Size(int(found[1]), int(found[2]))
    if not (size.layers and size.width):
        raise ConfigError(f"to: expected at least 1 layer of at least 1 number, such as 2x128; got {text}")
    return size


def chosen_student(to: str | Path) -> Size | Path:
    """The student that `to` means: a size, or the folder of one. Raises ConfigError for anything else."""
    size = parse_size(str(to))
    if size is not None:
        return size
    if is_packaged(to):
        return packaged(str(to))
    if not Path(to).exists():
        raise ConfigError(f"to: expected LAYERSxWIDTH, such as 2x128, or the folder of a student; got {str(to)!r}")
    return Path(to)


def student_config(teacher: ModelConfig, size: Size, heads: int | None = None) -> ModelConfig:
    """The teacher's configuration in another size. heads: None for as many as the teacher has.

    The feed-forward network is as many times wider than the layer as the teacher's. Raises ConfigError for a student
    that is larger than the teacher, and for a width that the heads do not divide.
    """
    if size.layers > teacher.num_layers or size.width > teacher.hidden_size:
        raise ConfigError(
            f"to: expected a student of at most {teacher.num_layers} layers of width {teacher.hidden_size}, as its "
            f"teacher has; got {size}"
        )
    heads = heads or teacher.num_heads
    if size.width % heads:
        of_teacher = ", as many as the teacher has" if heads == teacher.num_heads else ""
        raise ConfigError(
            f"to: the width of {size} cannot be divided among {heads} heads{of_teacher}; choose a multiple of "
            f"{heads}, or another number of heads"
        )
    inner = max(1, round(teacher.intermediate_size * size.width / teacher.hidden_size))
    return teacher.replace(num_layers=size.layers, hidden_size=size.width, num_heads=heads, intermediate_size=inner)


def layer_map(student_layers: int, teacher_layers: int) -> tuple[int, ...]:
    """g(m) = m · N / M for m = 0 … M: what each layer of the student learns from; 0 are the embeddings.

    Jiao et al. 2020, section 4.1. M must divide N.
    """
    return tuple(m * teacher_layers // student_layers for m in range(student_layers + 1))


def start_layers(student_layers: int, teacher_layers: int) -> tuple[int, ...]:
    """The layers of the teacher, counted from 0, that the student's layers start from: every second one of N = 2 M.

    Sanh et al. 2019, section 3, "Student initialization".
    """
    return tuple(m * teacher_layers // student_layers for m in range(student_layers))


def same_parts(student: ModelConfig, teacher: ModelConfig) -> bool:
    """Whether the layers that the student starts from have the shapes, the numerics and the kinds of its own.

    In a family with `global_every` a layer is global or local.
    """
    depth = {"num_layers": 1, "hidden_dropout": 0.0, "attention_dropout": 0.0, "initializer_range": 1.0}
    every = getattr(teacher, "global_every", 1)
    chosen = start_layers(student.num_layers, teacher.num_layers)
    same_kinds = all((m % every == 0) == (g % every == 0) for m, g in enumerate(chosen))
    return same_kinds and student.replace(**depth) == teacher.replace(**depth)


def start_from(student, teacher) -> int:
    """Copies embeddings, some layers and the heads of the teacher to the student; returns the number of weights.

    Both are models of `bertlab.models` whose configs have `same_parts`. Parts that the student lacks are left out.
    """
    chosen = start_layers(student.config.num_layers, teacher.config.num_layers)
    encoder = getattr(teacher, "backbone", teacher).encoder
    one_by_one = len(encoder.layers_) == teacher.config.num_layers
    if not one_by_one:  # the teacher's steps share layers, and so do the student's
        chosen = range(teacher.config.num_layers)
    theirs, copied = variables_of(teacher), 0
    for path, variable in variables_of(student).items():
        source = theirs.get(re.sub(r"/layer_(\d+)/", lambda found: f"/layer_{chosen[int(found[1])]}/", path))
        if source is not None:
            variable.assign(source)
            copied += 1
    return copied
