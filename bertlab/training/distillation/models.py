"""A student beside its teacher, as one model that computes what the objectives compare.

Letters: B batch, T tokens, P predictions, V vocabulary, H width of the student, K width of the teacher, A heads,
N layers of the teacher, M layers of the student.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.layers import gather_positions
from bertlab.models import Backbone
from bertlab.models.base import INPUT_NAMES, attention_mask_of
from bertlab.models.outline import outline
from bertlab.training.devices.memory import comparison_memory, memory_needs
from bertlab.training.distillation.student import layer_map


def projection(student_config, teacher_config, dtype=None) -> keras.layers.Dense | None:
    """The learned map from the student's width to the teacher's; None where both are the same.

    One for all layers, with a bias, as in the published code of Jiao et al. 2020 (`fit_dense`).
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
    states = [own["hidden_states"][m] for m in range(len(wanted))]
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
    """Bytes that a teacher takes to read a batch, beside its weights: one layer, logits, and the compared layers."""
    needs = memory_needs(teacher.replace(num_layers=1), rows, tokens, predictions, precision)
    return needs.activations + (comparison_memory(student, teacher, rows, tokens) if layers else 0)


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

    def __init__(self, student, teacher, layers: bool, at_all_tokens: bool = True, pieces: int | None = None, **kwargs):
        super().__init__(**{"dtype": student.dtype_policy, **kwargs})
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
        masked = gather_positions(own, inputs["masked_lm_positions"])  # (B, P, H)
        at_masked = self.student.token_logits(masked)
        taught = theirs if self.at_all_tokens else gather_positions(theirs, inputs["masked_lm_positions"])
        return {
            "masked_lm_logits": at_masked,
            "soft_logits": self._of_tokens(self.student.token_logits(own) if self.at_all_tokens else at_masked),
            "teacher_logits": ops.stop_gradient(self._of_tokens(self.teacher.token_logits(taught))),
            "last_states": (own if self.projection is None else self.projection(own), theirs),
        }

    def _of_tokens(self, logits):
        """Logits without those of the padding of a token table."""
        return logits if logits.shape[-1] == self.pieces else logits[..., : self.pieces]
