"""The general stage: a student learns from a pre-trained teacher on the rows of pre-training.

The run is a pre-training run with another model and other objectives: same batches, states, metrics and files (see
`bertlab.training.pretraining`). The teacher reads every batch beside the student. Its outputs are not kept: masks are
drawn again for every batch, and V probabilities per token are far larger than what it takes to compute them.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.opening import find
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.config import ModelConfig
from bertlab.families import pretraining_of
from bertlab.models import Backbone, PreTrainingModel
from bertlab.models.outline import parameter_count
from bertlab.training.devices.precision import policy_of
from bertlab.training.devices.utilisation import forward_flops
from bertlab.training.distillation.models import (
    Size,
    StudentAndTeacher,
    check_layers,
    chosen_student,
    reading_memory,
    same_parts,
    start_from,
    start_layers,
    student_config,
)
from bertlab.training.distillation.objectives import AttentionScores, Direction, HiddenStates, SoftTargets
from bertlab.training.distillation.settings import DistillationSettings
from bertlab.training.objectives import MaskedLM, Objective
from bertlab.training.presets import PretrainingSettings
from bertlab.training.pretraining import PretrainingRun
from bertlab.training.runs.models import TrainedWeights, shaped


def distill(
    teacher: str | Path,
    to: str | Path,
    data: str | Path | Sequence[str | Path],
    out: str | Path,
    settings: PretrainingSettings | None = None,
    distillation: DistillationSettings | None = None,
    *,
    validation: str | Path | None = None,
    callbacks: Sequence = (),
    say: Callable[[str], object] = print,
    memory_check: bool = True,
) -> list[dict]:
    """Trains a student to resemble a pre-trained teacher, or resumes such a run; returns the run's history.

    Args:
        teacher: a checkpoint folder, or the name of a packaged or published model.
        to: the student: a size such as "2x128" (layers × width), or a checkpoint to train further.
        data, out, settings, validation, callbacks, say, memory_check: as for `bertlab.training.pretraining.pretrain`;
            of the settings that shape a model by its size, dropout and width_scaled_init apply.
        distillation: what the student learns; the published DistilBERT's losses if left out.

    Raises what `pretrain` raises; ConfigError also for a student that does not fit the teacher, CheckpointError for a
    teacher without the head that the losses need.
    """
    run = DistillationRun(
        teacher, to, data, out, settings or PretrainingSettings(), distillation or DistillationSettings(), validation
    )
    return run.train(callbacks, say, memory_check)


class DistillationRun(PretrainingRun):
    """A pre-training run whose model is a student beside its teacher. Arguments: see `distill`."""

    def __init__(self, teacher, to, data, out, settings, distillation: DistillationSettings, validation=None):
        self.distillation = distillation.for_stage("general")
        self.layers = distillation.losses == "layers"
        # The class of student and teacher, and its options.
        self.kind = (Backbone, {"pooler": False}) if self.layers else (PreTrainingModel, {"next_sentence": False})
        self.teacher = TrainedWeights(find(teacher))
        _check_fills_masks(self.teacher.config, self.teacher.path, "teacher")
        if not (self.layers or self.teacher.predicts_tokens):
            generator = self.teacher.generator
            beside = f"its generator {generator.path}" if generator else "a pre-trained model"
            raise CheckpointError(
                f"{self.teacher.path}: expected a teacher with a masked-language-model head, got a model of the kind "
                f"{self.teacher.kind}; choose {beside}, losses layers, or the task stage for a fine-tuned one"
            )
        student = chosen_student(to)
        if isinstance(student, Size):
            student = shaped(student_config(self.teacher.config, student, self.distillation.heads), settings)
        super().__init__(student, data, out, settings, validation)
        _check_fills_masks(self.config, to, "student")
        if self.layers:
            check_layers(self.config, self.teacher.config)
        for files in self.examples:
            self.teacher.check_tokenizer(files)
        # Both know the data's tokens, and their tables may be padded differently. Of a model without a tokenizer beside
        # it only the size of its table is known.
        ours, theirs = self.config.vocab_size, self.teacher.config.vocab_size
        folders = [self.teacher.path, (self.weights or self.teacher).path]
        if ours != theirs and not all(checkpoints.has_tokenizer(folder) for folder in folders):
            raise ConfigError(
                f"expected a student with the teacher's vocabulary of {theirs:,} tokens, got one of {ours:,}; distill "
                "from a teacher with the same vocabulary, and keep the tokenizers of both in their folders"
            )

    def _generator(self) -> None:
        """A student fills in masks."""

    def _objectives(self) -> tuple[Objective, ...]:
        own = self.distillation
        if self.layers:
            objectives = (HiddenStates(own.hidden_factor), AttentionScores(own.attention_factor))
        else:
            right = MaskedLM()
            right.factor = own.hard_factor
            soft = SoftTargets(own.temperature, own.soft_positions == "all", own.soft_factor)
            objectives = (right, soft, Direction(own.cosine_factor))
        chosen = tuple(one for one in objectives if one.factor)
        if not chosen:
            raise ConfigError("every loss has the factor 0: there is nothing to learn; raise one of the factors")
        return chosen

    def identity(self) -> dict:
        teacher = {"sha256": self.teacher.sha256()}
        return super().identity() | {"teacher": teacher, "distillation": self.distillation.to_dict()}

    # --- the parts ---

    def _model(self, say) -> StudentAndTeacher:
        dtype = policy_of(self.precision)
        teacher, missing = self._load(self.teacher, dtype)
        if missing:
            raise CheckpointError(f"{self.teacher.path}: has no {missing[0]}; expected a whole teacher")
        if self.weights is None:
            its_class, options = self.kind
            student = its_class(self.config, dtype=dtype, **options)
            say(self._start(student, teacher))
        else:
            student, missing = self._load(self.weights, dtype)
            lacking = [path for path in missing if path.startswith("backbone/")]
            if lacking:
                raise CheckpointError(f"{self.weights.path}: has no {lacking[0]}; expected all weights of the encoder")
            say(f"the student starts from {self.weights.path}" + (f"; new: {', '.join(missing)}" if missing else ""))
        if student.config.hidden_size != teacher.config.hidden_size:
            say(
                f"a learned projection takes the student's vectors from width {student.config.hidden_size} to the "
                f"teacher's {teacher.config.hidden_size}; it is not part of the student"
            )
        at_all_tokens, pieces = self.distillation.soft_positions == "all", len(self.tokenizer.vocabulary)
        return StudentAndTeacher(student, teacher, self.layers, at_all_tokens, pieces)

    def _load(self, weights: TrainedWeights, dtype) -> tuple:
        """A model with the weights of a checkpoint, and the paths of those that it lacks."""
        its_class, options = self.kind
        model = checkpoints.load(weights.path, its_class, strict=False, padded_vocabulary=True, dtype=dtype, **options)
        return model, model.load_report.missing

    def _start(self, student, teacher) -> str:
        """Gives the student layers of the teacher where they fit; returns what it starts from, in words."""
        if self.distillation.start == "fresh":
            return "the student starts from fresh weights"
        if not same_parts(student.config, teacher.config):
            return "the student starts from fresh weights: its layers have another shape or kind than the teacher's"
        start_from(student, teacher)
        chosen = start_layers(student.config, teacher.config)
        return f"the student starts from the teacher's layers {', '.join(map(str, chosen))} (counted from 0)"

    def predictions(self, phase: int) -> int | None:
        """None where the layers are compared: all positions are computed, and there is no head."""
        if self.layers:
            return None
        settings = self._masking(self.examples[phase])
        return max(objective.predictions(settings) for objective in self.objectives)

    def _free_memory(self, phase: int) -> int | None:
        """Without what the teacher takes: its weights, and what it takes to read a part of a batch."""
        free, teacher = super()._free_memory(phase), self.teacher.config
        if free is None:
            return None
        rows = self.rows(phase) // self.devices // self.settings.accumulation
        tokens, predictions = self.examples[phase].settings.sequence_length, self.predictions(phase)
        reading = reading_memory(self.config, teacher, rows, tokens, predictions, self.precision, self.layers)
        return free - 4 * parameter_count(teacher) - reading

    def update_flops(self, phase: int) -> int:
        """The student's update and the teacher's forward pass."""
        tokens = self.examples[phase].settings.sequence_length
        of_teacher = forward_flops(self.teacher.config, tokens, self.predictions(phase))
        return super().update_flops(phase) + self.rows(phase) * of_teacher

    def _save_checkpoint(self, bert: StudentAndTeacher) -> None:
        super()._save_checkpoint(bert.student)


def _check_fills_masks(config: ModelConfig, path: str | Path, whose: str) -> None:
    """Raises ConfigError for a model that predicts tokens in another way."""
    refused = pretraining_of(config).no_distillation
    if refused:
        raise ConfigError(f"{path}: expected a {whose} that fills in masks, got one that {refused}")
