"""BERT for a label on a text or on a pair of texts (Devlin et al. 2019, section 4.1).

Letters: B batch, T tokens, C classes.
"""

import keras

from bertlab.config import BertConfig
from bertlab.layers import ClassificationHead
from bertlab.models.base import BertWithHead


@keras.saving.register_keras_serializable("bertlab")
class BertForSequenceClassification(BertWithHead):
    """One linear layer on the pooled vector: a class of a sentence or pair, or with num_labels=1 a number (STS-B).

    Args:
        config: a `BertConfig`.
        num_labels: C.

    Call: a dict as for `BertEncoder` → logits (B, C).
    """

    def __init__(self, config: BertConfig, num_labels: int = 2, **kwargs):
        super().__init__(config, pooler=True, **kwargs)
        self.num_labels = num_labels
        self.head = ClassificationHead(
            num_labels, config.hidden_dropout, config.initializer_range, dtype=self.dtype_policy, name="head"
        )
        self.head.build((None, self.config.hidden_size))

    def call(self, inputs, training=False):
        pooled = self.bert(inputs, training=training)["pooled_output"]  # (B, H)
        return self.head(pooled, training=training)

    def get_config(self):
        return super().get_config() | {"num_labels": self.num_labels}
