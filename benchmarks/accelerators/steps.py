"""The training steps that are compiled, each a pure function (state, batch) → (logs, state).

They are the very steps that `fit` runs on JAX: `PreTrainer.train_step`, or for fine-tuning on two classes
`FineTuner.train_step`, with their metrics, AdamW and clipping, and with Keras's loss scaling in float16. Models have no
values here: shapes and types are all that a compiler needs.

Letters: B batch, T tokens, P predictions.

Part of `benchmarks.accelerators`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bertlab.config import BertConfig

DROPPED = {"small": 0.1}  # of the hidden numbers and the weights of attention; 0 in other sizes
TASKS = ("pretraining", "finetuning")
ENGINES = ("bertlab", "keras-hub", "jax")  # ours, and the peers of `peers.py`, which have pre-training only
CLASSES = 2


@dataclass(frozen=True)
class Work:
    """A training step's work: a model's size, rows of a batch, tokens of a row, and one of `TASKS`."""

    size: str
    tokens: int
    rows: int
    task: str = "pretraining"

    @property
    def config(self) -> BertConfig:
        """`small` is notebook 07's model on a GPU; base and large as published. Dropout: 07's run and fine-tuning have
        0.1, the one-day recipe none."""
        rate = 0.1 if self.task == "finetuning" else DROPPED.get(self.size, 0.0)
        rates = dict(hidden_dropout=rate, attention_dropout=rate)
        if self.size == "small":
            return BertConfig(
                vocab_size=4096, num_layers=6, hidden_size=256, num_heads=4, intermediate_size=1024,
                max_position_embeddings=max(128, self.tokens), **rates,
            )  # fmt: skip
        return BertConfig.named(self.size, **rates)

    @property
    def predictions(self) -> int:
        """15 % of the tokens, as published."""
        return max(1, round(0.15 * self.tokens))

    @property
    def flops(self) -> float:
        """Operations of the products that the model's formula needs for one step, forward and backward."""
        from bertlab.training.devices.utilisation import training_flops

        predictions = self.predictions if self.task == "pretraining" else None
        return training_flops(self.config, self.rows, self.tokens, predictions)

    @property
    def batch(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """name → shape and type of every array of a batch."""
        names = ("input_ids", "token_type_ids", "attention_mask")
        arrays = {name: ((self.rows, self.tokens), "int32") for name in names}
        if self.task == "finetuning":
            return arrays | {"targets": ((self.rows,), "int32")}
        predicted = (self.rows, self.predictions)
        return arrays | {
            "masked_lm_positions": (predicted, "int32"),
            "masked_lm_ids": (predicted, "int32"),
            "masked_lm_weights": (predicted, "float32"),
            "next_sentence_labels": ((self.rows,), "int32"),
        }


@dataclass(frozen=True)
class Step:
    """function(state, batch) → (logs, state); both arguments are trees of `jax.ShapeDtypeStruct`."""

    function: Callable
    state: object
    batch: object


def step_of(work: Work, precision: str, engine: str = "bertlab") -> Step:
    """The step of a work on JAX; precision: float32, bfloat16 or float16; engine: one of `ENGINES`."""
    if engine != "bertlab":
        from benchmarks.accelerators import peers

        return peers.STEPS[engine](work, precision)
    from bertlab.models.outline import outline

    trainer = trainer_of(work, precision, outline)
    outline(lambda: trainer.optimizer.build(trainer.trainable_variables))  # variables without values
    return Step(trainer.train_step, state_of(trainer), shapes_of(work.batch))


def trainer_of(work: Work, precision: str, build: Callable = lambda make: make(), steps_per_execution: int = 1):
    """The compiled Keras model that `fit` trains. build: makes the model from a function that does, or an outline."""
    make = _pretrainer if work.task == "pretraining" else _finetuner
    trainer, optimizer = make(work.config, policy_of(precision), build)
    trainer.compile(optimizer, jit_compile=True, steps_per_execution=steps_per_execution)
    return trainer


def _pretrainer(config, policy, build):
    from bertlab.models import PreTrainingModel
    from bertlab.training.recipes.optimizer import adamw
    from bertlab.training.runs.pretrainer import PreTrainer

    trainer = PreTrainer(build(lambda: PreTrainingModel(config, dtype=policy)))
    return trainer, adamw(1e-4, trainer)


def _finetuner(config, policy, build):
    from bertlab.models import SequenceClassifier
    from bertlab.training.finetuning.optimizer import finetuning_optimizer
    from bertlab.training.finetuning.task_kinds import TaskInfo, TaskKind
    from bertlab.training.finetuning.trainer import FineTuner

    labels = tuple(str(number) for number in range(CLASSES))
    task_kind = TaskKind(TaskInfo("sentences", "sentence", labels, ("accuracy",)), tokenizer=None)
    trainer = FineTuner(build(lambda: SequenceClassifier(config, CLASSES, dtype=policy)), task_kind)
    return trainer, finetuning_optimizer(trainer, weight_decay=0.01, layer_decay=1.0)


def policy_of(precision: str) -> str:
    return "float32" if precision == "float32" else f"mixed_{precision}"


def shapes_of(batch: dict) -> dict:
    import jax

    return {name: jax.ShapeDtypeStruct(*shape_and_type) for name, shape_and_type in batch.items()}


def state_of(trainer) -> tuple:
    """Everything that Keras's step on JAX reads and gives back: weights, seeds, the optimizer's variables, metrics."""
    import jax

    parts = (
        trainer.trainable_variables, trainer.non_trainable_variables, trainer.optimizer.variables,
        trainer.metrics_variables,
    )  # fmt: skip
    return tuple([jax.ShapeDtypeStruct(v.shape, v.dtype) for v in variables] for variables in parts)
