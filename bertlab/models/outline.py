"""Models without values: every variable has its path, shape and dtype, and none takes memory."""

import functools
import math
from collections.abc import Callable

import keras
from keras.src.backend.common import global_state  # the list below has no public name

from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.models.pretraining import PreTrainingModel
from bertlab.models.replaced_tokens import GeneratorAndDiscriminator
from bertlab.models.sequence_to_sequence import SequenceToSequenceModel

_WAITING = "uninitialized_variables"


def outline(build: Callable[[], keras.Model]) -> keras.Model:
    """The model that `build` makes, for looking at its variables only: it cannot be called.

    Keras puts every variable that is made in a `StatelessScope` on a list of those still to be filled, and fills them
    all at the end of the next such scope, wherever that is. An outline must not stay on that list: it would take the
    memory of the whole model, later and somewhere else.
    """
    waiting = global_state.get_global_attribute(_WAITING)
    global_state.set_global_attribute(_WAITING, [])
    try:
        with keras.StatelessScope(initialize_variables=False):
            return build()
    finally:
        global_state.set_global_attribute(_WAITING, waiting or [])


@functools.lru_cache(maxsize=8)
def pretraining_outline(config: ModelConfig) -> PreTrainingModel | SequenceToSequenceModel:
    """The outline of a model with its pre-training heads, or with its decoder, for counting."""
    its_class = SequenceToSequenceModel if family_of(config).decoder else PreTrainingModel
    return outline(lambda: its_class(config))


@functools.lru_cache(maxsize=8)
def pair_outline(config: ModelConfig, generator: ModelConfig) -> GeneratorAndDiscriminator:
    """The outline of a discriminator and its generator, for counting."""
    return outline(lambda: GeneratorAndDiscriminator(config, generator))


def parameter_count(config: ModelConfig, generator: ModelConfig | None = None) -> int:
    """The count of numbers that training changes in a model with its pre-training heads: the sum over its variables.

    generator: the configuration of the generator beside which the model finds replaced tokens.

    Example:
        >>> parameter_count(BertConfig.named("base"))
        110106428
    """
    model = pretraining_outline(config) if generator is None else pair_outline(config, generator)
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)
