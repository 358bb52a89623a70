"""BERT for a tag on every token (Devlin et al. 2019, section 5.3, CoNLL-2003).

Letters: B batch, T tokens, C tags.
"""

import keras

from bertlab.config import BertConfig
from bertlab.layers import ClassificationHead
from bertlab.models.base import BertWithHead


@keras.saving.register_keras_serializable("bertlab")
class BertForTokenClassification(BertWithHead):
    """One linear layer on each token's vector.

    Args:
        config: a `BertConfig`.
        num_labels: C.

    Call: a dict as for `BertEncoder` → logits (B, T, C).
    """

    def __init__(self, config: BertConfig, num_labels: int = 2, **kwargs):
        super().__init__(config, pooler=False, **kwargs)
        self.num_labels = num_labels
        self.head = ClassificationHead(
            num_labels, config.hidden_dropout, config.initializer_range, dtype=self.dtype_policy, name="head"
        )
        self.head.build((None, None, self.config.hidden_size))

    def call(self, inputs, training=False):
        x = self.bert(inputs, training=training)["sequence_output"]  # (B, T, H)
        return self.head(x, training=training)

    def get_config(self):
        return super().get_config() | {"num_labels": self.num_labels}
