"""A model for a tag on every token (Devlin et al. 2019, section 5.3, CoNLL-2003).

Letters: B batch, T tokens, C tags.
"""

import keras

from bertlab.config import ModelConfig
from bertlab.models.base import TokenModel


@keras.saving.register_keras_serializable("bertlab")
class TokenClassifier(TokenModel):
    """One linear layer on each token's vector.

    Args:
        config: the configuration of a family, such as a `BertConfig`.
        num_labels: C.

    Call: a dict as for `Backbone` → logits (B, T, C).

    Example:
        >>> model = TokenClassifier(BertConfig.named("tiny", vocab_size=100), num_labels=9)
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])}).shape)
        (1, 3, 9)
    """

    def __init__(self, config: ModelConfig, num_labels: int = 2, **kwargs):
        super().__init__(config, **kwargs)
        self.num_labels = num_labels
        self.head = self.linear_head(num_labels, config.tagger_dropout)

    def call(self, inputs, training=False):
        x = self.token_vectors(inputs, training)  # (B, T, H)
        return self.head(x, training=training)

    def get_config(self):
        return super().get_config() | {"num_labels": self.num_labels}
