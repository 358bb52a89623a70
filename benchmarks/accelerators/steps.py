"""The training steps that are compiled, each a pure function (state, batch) → (logs, state).

Ours is the very step that `fit` runs on JAX: `PreTrainer.train_step`, with its metrics, AdamW and clipping, and with
Keras's loss scaling in float16. keras-hub's is its `BertMaskedLM` (no pairs). The third is
`plain_bert`. Models have no values here: shapes and types are all that a compiler needs.

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


def step_of(contender: str, work: Work, precision: str) -> Step:
    """The step of one contender: ours, keras-hub or plain JAX."""
    makers = {"ours": _ours, "keras-hub": _keras_hub, "plain JAX": _plain}
    return makers[contender](work, precision)


def _policy(precision: str) -> str:
    return "float32" if precision == "float32" else f"mixed_{precision}"


def _ours(work: Work, precision: str) -> Step:
    from bertlab.models import PreTrainingModel
    from bertlab.models.outline import outline
    from bertlab.training.recipes.optimizer import adamw
    from bertlab.training.runs.pretrainer import PreTrainer

    trainer = PreTrainer(outline(lambda: PreTrainingModel(work.config, dtype=_policy(precision))))
    _compiled(trainer, adamw(1e-4, trainer))
    return Step(trainer.train_step, _keras_state(trainer), work.batch)


def _compiled(trainer, optimizer, **options):
    """The trainer, whose optimizer has its variables, without values."""
    from bertlab.models.outline import outline

    trainer.compile(optimizer, jit_compile=True, **options)
    outline(lambda: trainer.optimizer.build(trainer.trainable_variables))
    return trainer


def _keras_state(trainer) -> tuple:
    """Everything that Keras's step on JAX reads and gives back: weights, seeds, the optimizer's variables, metrics."""
    import jax

    parts = (
        trainer.trainable_variables, trainer.non_trainable_variables, trainer.optimizer.variables,
        trainer.metrics_variables,
    )  # fmt: skip
    return tuple([jax.ShapeDtypeStruct(v.shape, v.dtype) for v in variables] for variables in parts)


def _keras_hub(work: Work, precision: str) -> Step:
    import keras
    import keras_hub

    config, dtype = work.config, _policy(precision)
    backbone = keras_hub.models.BertBackbone(
        config.vocab_size, config.num_layers, config.num_heads, config.hidden_size, config.intermediate_size,
        dropout=config.hidden_dropout, max_sequence_length=config.max_position_embeddings, dtype=dtype,
    )  # fmt: skip
    model = keras_hub.models.BertMaskedLM(backbone, preprocessor=None)
    optimizer = keras.optimizers.AdamW(1e-4, weight_decay=0.01, global_clipnorm=1.0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    trainer = _compiled(model, optimizer, loss=loss, weighted_metrics=["accuracy"])
    batch = work.batch
    inputs = {"token_ids": batch["input_ids"], "padding_mask": batch["attention_mask"],
              "segment_ids": batch["token_type_ids"]}  # fmt: skip
    inputs["mask_positions"] = batch["masked_lm_positions"]
    read = (inputs, batch["masked_lm_ids"], batch["masked_lm_weights"])
    trainer._symbolic_build(data_batch=_zeros(read))  # makes the metrics' variables, as `fit` does
    return Step(trainer.train_step, _keras_state(trainer), read)


def _zeros(tree):
    import jax
    import numpy as np

    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), tree)


def _plain(work: Work, precision: str) -> Step:
    from benchmarks.accelerators import plain_bert

    return Step(plain_bert.training_step(work.config, precision), plain_bert.state_shapes(work.config), work.batch)
