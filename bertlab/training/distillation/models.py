"""The student: its size, the layers of the teacher that it starts from and learns from, and both as one model.

Letters: B batch, T tokens, P predictions, V vocabulary, H width of the student, K width of the teacher, A heads,
N layers of the teacher, M layers of the student.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import keras
from keras import ops

from bertlab.checkpoints.kinds import variables_of
from bertlab.checkpoints.packaged import is_packaged, packaged
from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.layers import gather_positions
from bertlab.models import Backbone
from bertlab.models.base import INPUT_NAMES, attention_mask_of
from bertlab.models.outline import outline
from bertlab.training.devices.memory import memory_needs


@dataclass(frozen=True)
class Size:
    """Number and width of a student's layers."""

    layers: int
    width: int

    def __str__(self) -> str:
        return f"{self.layers}x{self.width}"


def chosen_student(to: str | Path) -> Size | Path:
    """The student that `to` means: 2x128 is 2 layers of width 128; else the folder of one. Raises ConfigError."""
    found = re.fullmatch(r"(\d+)x(\d+)", str(to).strip())
    if found is not None:
        size = Size(int(found[1]), int(found[2]))
        if not (size.layers and size.width):
            raise ConfigError(f"to: expected at least 1 layer of at least 1 number, such as 2x128; got {to}")
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


def start_layers(student: ModelConfig, teacher: ModelConfig) -> tuple[int, ...]:
    """The layers of the teacher, counted from 0, that the student's layers start from: every second one of N = 2 M.

    Sanh et al. 2019, section 3, "Student initialization".
    """
    return layer_map(student.num_layers, teacher.num_layers)[:-1]


def same_parts(student: ModelConfig, teacher: ModelConfig) -> bool:
    """Whether the layers that the student starts from have the shapes, the numerics and the kinds of its own.

    In a family with `global_every` a layer is global or local.
    """
    depth = {"num_layers": 1, "hidden_dropout": 0.0, "attention_dropout": 0.0, "initializer_range": 1.0}
    every = getattr(teacher, "global_every", 1)
    same_kinds = all((m % every == 0) == (g % every == 0) for m, g in enumerate(start_layers(student, teacher)))
    return same_kinds and student.replace(**depth) == teacher.replace(**depth)


def start_from(student, teacher) -> None:
    """Copies embeddings, some layers and the heads of the teacher to the student.

    Both are models of `bertlab.models` whose configs have `same_parts`. Parts that the student lacks are left out.
    """
    chosen = start_layers(student.config, teacher.config)
    encoder = getattr(teacher, "backbone", teacher).encoder
    if len(encoder.layers_) != teacher.config.num_layers:  # the teacher's steps share layers, and so do the student's
        chosen = range(teacher.config.num_layers)
    theirs = variables_of(teacher)
    for path, variable in variables_of(student).items():
        source = theirs.get(re.sub(r"/layer_(\d+)/", lambda found: f"/layer_{chosen[int(found[1])]}/", path))
        if source is not None:
            variable.assign(source)


# === Student and teacher ===


def projection(student_config, teacher_config, dtype=None) -> keras.layers.Dense | None:
    """The learned map from the student's width to the teacher's, if they differ: one for all layers, with a bias.

    Source: the published code of Jiao et al. 2020 (`fit_dense`).
    """
    width, wanted = student_config.hidden_size, teacher_config.hidden_size
    if width == wanted:
        return None
    initializer = keras.initializers.TruncatedNormal(stddev=student_config.initializer_range)
    dense = keras.layers.Dense(wanted, kernel_initializer=initializer, dtype=dtype, name="projection")
    dense.build((None, None, width))
    return dense


def compared_layers(student, teacher, inputs: dict, project, training: bool) -> dict:
    """The tensors by which the layers of two backbones are compared.

    project: the projection or None. Returns state_pairs, M + 1 pairs (B, T, K); score_pairs, M pairs (B, A, T, T); and
    the mask.
    """
    own = student(inputs, training=training, return_all=True)
    theirs = teacher(inputs, training=False, return_all=True)
    wanted = layer_map(student.config.num_layers, teacher.config.num_layers)
    states = own["hidden_states"][: len(wanted)]
    states = states if project is None else [project(state) for state in states]
    state_pairs = [(state, ops.stop_gradient(theirs["hidden_states"][g])) for state, g in zip(states, wanted)]
    own_scores = scores_of(student, own, range(1, len(wanted)))
    their_scores = map(ops.stop_gradient, scores_of(teacher, theirs, wanted[1:]))
    score_pairs = list(zip(own_scores, their_scores, strict=True))
    return {"state_pairs": state_pairs, "score_pairs": score_pairs, "mask": attention_mask_of(inputs, student.config)}


def scores_of(backbone, outputs: dict, chosen) -> list:
    """The attention scores of the chosen layers, counted from 1, from the layers' inputs: a list of (B, A, T, T)."""
    layers = backbone.encoder.passed()
    return [layers[g - 1].attention_scores(outputs["hidden_states"][g - 1]) for g in chosen]


def check_layers(student: ModelConfig, teacher: ModelConfig) -> None:
    """Raises ConfigError for layers that cannot be compared: their scores, or their numbers of layers and heads."""
    for whose, config in (("teacher", teacher), ("student", student)):
        encoder = outline(lambda config=config: Backbone(config.replace(num_layers=1), pooler=False)).encoder
        layer = encoder.passed()[0] if hasattr(encoder, "passed") else None
        if not (hasattr(layer, "attention_scores") and hasattr(layer.attention, "scores")):
            raise ConfigError(
                f"losses layers: expected a {whose} with the usual attention, got one of model_type "
                f"{config.model_type!r}; choose losses outputs"
            )
    if teacher.num_layers % student.num_layers:
        raise ConfigError(
            f"losses layers: expected a number of layers that divides the teacher's {teacher.num_layers}, got "
            f"{student.num_layers}; choose another size, or losses outputs"
        )
    if student.num_heads != teacher.num_heads:
        raise ConfigError(
            f"losses layers: expected the teacher's number of heads, {teacher.num_heads}, got {student.num_heads}; "
            "each head learns from one of the teacher's: choose as many, or losses outputs"
        )


def reading_memory(
    student: ModelConfig, teacher: ModelConfig, rows: int, tokens: int, predictions: int | None, precision, layers: bool
) -> int:
    """Bytes that a teacher takes to read a batch, beside its weights: one layer, logits, and the compared layers.

    Compared are, for each layer, the attention scores of both and their difference and, for each layer and the
    embeddings, the vectors of both in the teacher's width and their difference; all in float32.
    """
    reading = memory_needs(teacher.replace(num_layers=1), rows, tokens, predictions, precision).activations
    scores = student.num_layers * student.num_heads * tokens * tokens
    vectors = (student.num_layers + 1) * tokens * teacher.hidden_size
    return reading + (rows * 3 * (scores + vectors) * 4 if layers else 0)


class StudentAndTeacher(keras.Model):
    """Runs both on the same rows; only the student, and the projection where it is narrower, has trainable weights.

    Args:
        student, teacher: with outputs to learn from two `PreTrainingModel`s, with layers two `Backbone`s.
        layers: whether the layers are compared, else the outputs.
        at_all_tokens: whether the outputs are compared at all tokens; else at the masked positions.
        pieces: V, the number of tokens; None for all rows of the token tables. More rows are padding, not compared.

    Call: a dict as for `Backbone`. The teacher never drops anything out. Returns a dict; comparing outputs:
        masked_lm_logits (B, P, V); soft_logits and teacher_logits (B, P, V), or (B, T, V) at all tokens;
        last_states, a pair (B, T, K): the last layer's vectors, projected where widths differ, and the teacher's.
    Comparing layers: see `compared_layers`.
    """

    reads = INPUT_NAMES

    def __init__(self, student, teacher, layers: bool, at_all_tokens: bool = True, pieces: int | None = None):
        super().__init__(dtype=student.dtype_policy)
        self.config = student.config
        self.student, self.teacher, teacher.trainable = student, teacher, False
        self.compares_layers, self.at_all_tokens, self.pieces = layers, at_all_tokens, pieces
        self.projection = projection(student.config, teacher.config, student.dtype_policy)
        self.built = True  # every weight is made in a constructor

    @property
    def fixed_variables(self) -> list:
        """The teacher's, which are loaded from its own files."""
        return self.teacher.variables

    def call(self, inputs, training=False):
        if self.compares_layers:
            return compared_layers(self.student, self.teacher, inputs, self.projection, training)
        own = self.student.backbone(inputs, training=training)["sequence_output"]  # (B, T, H)
        theirs = ops.stop_gradient(self.teacher.backbone(inputs, training=False)["sequence_output"])  # (B, T, K)
        at_masked = self.student.token_logits(gather_positions(own, inputs["masked_lm_positions"]))  # (B, P, V)
        soft = self.student.token_logits(own) if self.at_all_tokens else at_masked
        taught = theirs if self.at_all_tokens else gather_positions(theirs, inputs["masked_lm_positions"])
        return {
            "masked_lm_logits": at_masked,
            "soft_logits": soft[..., : self.pieces],
            "teacher_logits": ops.stop_gradient(self.teacher.token_logits(taught)[..., : self.pieces]),
            "last_states": (own if self.projection is None else self.projection(own), theirs),
        }
