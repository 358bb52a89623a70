"""The training steps that are compiled, each a pure function (state, batch) → (logs, state).

It is the very step that `fit` runs on JAX: `PreTrainer.train_step`, with its metrics, AdamW and clipping, and with
Keras's loss scaling in float16. Models have no values here: shapes and types are all that a compiler needs.

Letters: B batch, T tokens, P predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bertlab.config import BertConfig

DROPPED = {"small": 0.1, "base": 0.0, "large": 0.0}


@dataclass(frozen=True)
class Work:
    """A training step's work: a model's size, rows of a batch, tokens of a row."""

    size: str
    tokens: int
    rows: int

    @property
    def config(self) -> BertConfig:
        """`small` is notebook 07's model on a GPU; base and large as published. Dropout: 07's run has 0.1, the one-day
        recipe none."""
        rates = dict(hidden_dropout=DROPPED[self.size], attention_dropout=DROPPED[self.size])
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

        return training_flops(self.config, self.rows, self.tokens, self.predictions)

    @property
    def batch(self) -> dict:
        """name → shape and type of every array of a batch."""
        import jax

        rows = {name: ((self.rows, self.tokens), "int32") for name in ("input_ids", "token_type_ids", "attention_mask")}
        predicted = (self.rows, self.predictions)
        rows |= {name: (predicted, "int32") for name in ("masked_lm_positions", "masked_lm_ids")}
        rows["masked_lm_weights"] = (predicted, "float32")
        rows["next_sentence_labels"] = ((self.rows,), "int32")
        return {name: jax.ShapeDtypeStruct(*shape_and_type) for name, shape_and_type in rows.items()}


@dataclass(frozen=True)
class Step:
    """function(state, batch) → (logs, state); both arguments are trees of `jax.ShapeDtypeStruct`."""

    function: Callable
    state: object
    batch: object


def step_of(work: Work, precision: str) -> Step:
    """The pre-training step on JAX; precision: float32, bfloat16 or float16."""
    from bertlab.models import PreTrainingModel
    from bertlab.models.outline import outline
    from bertlab.training.recipes.optimizer import adamw
    from bertlab.training.runs.pretrainer import PreTrainer

    trainer = PreTrainer(outline(lambda: PreTrainingModel(work.config, dtype=_policy(precision))))
    trainer.compile(adamw(1e-4, trainer), jit_compile=True)
    outline(lambda: trainer.optimizer.build(trainer.trainable_variables))  # variables without values
    return Step(trainer.train_step, _keras_state(trainer), work.batch)


def _policy(precision: str) -> str:
    return "float32" if precision == "float32" else f"mixed_{precision}"


def _keras_state(trainer) -> tuple:
    """Everything that Keras's step on JAX reads and gives back: weights, seeds, the optimizer's variables, metrics."""
    import jax

    parts = (
        trainer.trainable_variables, trainer.non_trainable_variables, trainer.optimizer.variables,
        trainer.metrics_variables,
    )  # fmt: skip
    return tuple([jax.ShapeDtypeStruct(v.shape, v.dtype) for v in variables] for variables in parts)
