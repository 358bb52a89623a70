"""A model for the span that answers a question (Devlin et al. 2019, sections 4.2 and 4.3, SQuAD).

Letters: B batch, T tokens.
"""

import keras

from bertlab.config import ModelConfig
from bertlab.models.base import TokenModel


@keras.saving.register_keras_serializable("bertlab")
class QuestionAnswerer(TokenModel):
    """A start vector S and an end vector E: the dot products S·Tᵢ and E·Tᵢ score token i as start and end.

    Call: a dict as for `Backbone`, question as segment A and paragraph as segment B → a dict of start_logits (B, T)
    and end_logits (B, T). The span on [CLS], position 0, means "no answer" (SQuAD 2.0).

    Example:
        >>> model = QuestionAnswerer(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])})["start_logits"].shape)
        (1, 3)
    """

    def __init__(self, config: ModelConfig, **kwargs):
        super().__init__(config, **kwargs)
        self.head = self.linear_head(2)

    def call(self, inputs, training=False):
        x = self.token_vectors(inputs, training)  # (B, T, H)
        logits = self.head(x, training=training)  # (B, T, 2)
        return {"start_logits": logits[:, :, 0], "end_logits": logits[:, :, 1]}
