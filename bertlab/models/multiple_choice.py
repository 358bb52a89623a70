"""A model for choosing among several continuations (Devlin et al. 2019, section 4.4, SWAG).

Letters: B batch, C choices, T tokens.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.models.base import INPUT_NAMES, ModelWithHead


@keras.saving.register_keras_serializable("bertlab")
class MultipleChoiceClassifier(ModelWithHead):
    """Each choice is a separate row; its score is the product of a vector with its pooled output.

    Call: a dict as for `Backbone`, but each tensor (B, C, T): context and choice packed as a pair → logits (B, C).

    Example:
        >>> model = MultipleChoiceClassifier(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.ones((2, 4, 6), "int32")}).shape)
        (2, 4)
    """

    def __init__(self, config: ModelConfig, **kwargs):
        super().__init__(config, pooler=True, **kwargs)
        self.head = self.linear_head(1, config.classifier_dropout)

    def call(self, inputs, training=False):
        if not isinstance(inputs, dict) or "input_ids" not in inputs or len(inputs["input_ids"].shape) != 3:
            raise ConfigError("expected a dict with 'input_ids' of shape (batch, choices, tokens)")
        batch, num_choices, num_tokens = ops.shape(inputs["input_ids"])
        rows = {
            name: ops.reshape(inputs[name], (-1, num_tokens))  # (B·C, T)
            for name in INPUT_NAMES
            if inputs.get(name) is not None
        }
        pooled = self.encoded(rows, training)["pooled_output"]  # (B·C, H)
        return ops.reshape(self.head(pooled, training=training), (batch, num_choices))
