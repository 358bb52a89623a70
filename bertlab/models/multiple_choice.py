"""BERT for choosing among several continuations (Devlin et al. 2019, section 4.4, SWAG).

Letters: B batch, C choices, T tokens.
"""

import keras
from keras import ops

from bertlab.config import BertConfig
from bertlab.layers import ClassificationHead
from bertlab.models.base import BertWithHead


@keras.saving.register_keras_serializable("bertlab")
class BertForMultipleChoice(BertWithHead):
    """Each choice is a row of its own; a vector's product with its pooled output is its score.

    Call: a dict as for `BertEncoder`, but each tensor (B, C, T): context and choice packed as a pair → logits (B, C).
    """

    def __init__(self, config: BertConfig, **kwargs):
        super().__init__(config, pooler=True, **kwargs)
        self.head = ClassificationHead(
            1, config.hidden_dropout, config.initializer_range, dtype=self.dtype_policy, name="head"
        )
        self.build()

    def build_heads(self):
        self.head.build((None, self.config.hidden_size))

    def call(self, inputs, training=False):
        batch, num_choices, num_tokens = ops.shape(inputs["input_ids"])
        rows = {name: ops.reshape(x, (-1, num_tokens)) for name, x in inputs.items()}  # (B·C, T)
        pooled = self.bert(rows, training=training)["pooled_output"]  # (B·C, H)
        return ops.reshape(self.head(pooled, training=training), (batch, num_choices))
