"""A model that judges of every token whether it was replaced (Clark et al. 2020, "ELECTRA", section 2).

Letters: B batch, T tokens, H hidden size.
"""

import keras

from bertlab.config import ModelConfig
from bertlab.layers import DetectionHead
from bertlab.models.base import ModelWithHead


@keras.saving.register_keras_serializable("bertlab")
class ReplacedTokenDetector(ModelWithHead):
    """ELECTRA's discriminator: a score for every token, positive where it looks replaced.

    Args:
        config: the configuration of a family.

    Call: a dict as for `Backbone` → logits (B, T).

    Example:
        >>> model = ReplacedTokenDetector(BertConfig.named("tiny", vocab_size=100))
        >>> tuple(model({"input_ids": ops.array([[2, 17, 3]])}).shape)
        (1, 3)
    """

    def __init__(self, config: ModelConfig, **kwargs):
        super().__init__(config, pooler=False, **kwargs)
        self.detection_head = DetectionHead(
            config.hidden_act, config.initializer_range, dtype=self.dtype_policy, name="detection_head"
        )
        self.detection_head.build((None, None, config.hidden_size))

    def call(self, inputs, training=False):
        return self.detection_head(self.backbone(inputs, training=training)["sequence_output"])  # (B, T)
