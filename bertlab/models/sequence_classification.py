"""A model for a label on a text or on a pair of texts (Devlin et al. 2019, section 4.1).

Letters: B batch, T tokens, C classes.
"""

import keras

from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.models.base import ModelWithHead


@keras.saving.register_keras_serializable("bertlab")
class SequenceClassifier(ModelWithHead):
    """One linear layer on the pooled vector: a class of a sentence or pair, or with num_labels=1 a number (STS-B).

    Args:
        config: the configuration of a family, such as a `BertConfig`.
        num_labels: C.

    Call: a dict as for `Backbone` → logits (B, C).

    Example:
        >>> model = SequenceClassifier.from_preset("bertlab-mini", num_labels=3)
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])}).shape)
        (1, 3)
    """

    def __init__(self, config: ModelConfig, num_labels: int = 2, **kwargs):
        super().__init__(config, pooler=True, **kwargs)
        self.num_labels = num_labels
        bias = family_of(config).text_classifier_bias
        self.head = self.linear_head(num_labels, config.classifier_dropout, bias=bias)

    def call(self, inputs, training=False):
        pooled = self.encoded(inputs, training)["pooled_output"]  # (B, H)
        return self.head(pooled, training=training)

    def get_config(self):
        return super().get_config() | {"num_labels": self.num_labels}


@keras.saving.register_keras_serializable("bertlab")
class NextSentenceClassifier(SequenceClassifier):
    """Whether the second text of a pair follows the first: the published next-sentence head without the other one.

    Args:
        config: the configuration of a family, such as a `BertConfig`.
        num_labels: 2; class 0 = IsNext, class 1 = NotNext.

    Call: a dict as for `Backbone` → logits (B, 2).

    Example:
        >>> model = NextSentenceClassifier(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3, 9, 3]])}).shape)
        (1, 2)
    """
