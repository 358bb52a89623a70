"""BERT for choosing among several continuations (Devlin et al. 2019, section 4.4, SWAG).

Letters: B batch, C choices, T tokens.
"""

import keras
from keras import ops

from bertlab.config import BertConfig
from bertlab.errors import ConfigError
from bertlab.layers import ClassificationHead
from bertlab.models.base import INPUT_NAMES, BertWithHead


@keras.saving.register_keras_serializable("bertlab")
class BertForMultipleChoice(BertWithHead):
    """Each choice is a separate row; its score is the product of a vector with its pooled output.

    Call: a dict as for `BertEncoder`, but each tensor (B, C, T): context and choice packed as a pair → logits (B, C).
    """

    def __init__(self, config: BertConfig, **kwargs):
        super().__init__(config, pooler=True, **kwargs)
        self.head = ClassificationHead(
            1, config.hidden_dropout, config.initializer_range, dtype=self.dtype_policy, name="head"
        )
        self.head.build((None, self.config.hidden_size))

    def call(self, inputs, training=False):
        if not isinstance(inputs, dict) or "input_ids" not in inputs or len(inputs["input_ids"].shape) != 3:
            raise ConfigError("expected a dict with 'input_ids' of shape (batch, choices, tokens)")
        batch, num_choices, num_tokens = ops.shape(inputs["input_ids"])
        rows = {
            name: ops.reshape(inputs[name], (-1, num_tokens))  # (B·C, T)
            for name in INPUT_NAMES
            if inputs.get(name) is not None
        }
        pooled = self.bert(rows, training=training)["pooled_output"]  # (B·C, H)
        return ops.reshape(self.head(pooled, training=training), (batch, num_choices))
