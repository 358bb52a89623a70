"""A model with its pre-training heads (Devlin et al. 2019, section 3.1).

Letters: B batch, T tokens, P predictions, H hidden size, V vocabulary.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.layers import gather_positions
from bertlab.models.base import ModelWithHead


@keras.saving.register_keras_serializable("bertlab")
class PreTrainingModel(ModelWithHead):
    """A masked-language-model head and, where the family has it, a next-sentence head.

    Args:
        config: the configuration of a family, such as a `BertConfig`.
        next_sentence: whether there are a pooler and a next-sentence head; None: as the family was pre-trained.
        tied: whether the token table is also the MLM head's output matrix, as in every published model.

    Call: a dict as for `Backbone`, and optionally masked_lm_positions (B, P) int, to predict only those.
    Returns a dict:
        masked_lm_logits (B, P, V), or (B, T, V) without masked_lm_positions;
        next_sentence_logits (B, 2): class 0 = IsNext, class 1 = NotNext;
        and what `Backbone` returns. With masked_lm_positions and without `return_all` that is the pooled output
        alone: of the last layer only the predicted places and [CLS] are computed, since no others are looked at.
    A family with two streams (`Family.two_streams`) predicts the tokens at masked_lm_positions without seeing them, in
    the order of the input order_ids (B, T) (see `layers.TwoStreamEncoder`).

    Example:
        >>> model = PreTrainingModel.from_preset("bertlab-mini")
        >>> inputs = {"input_ids": ops.array([[2, 4, 17, 3]]), "masked_lm_positions": ops.array([[1]])}
        >>> tuple(model(inputs)["masked_lm_logits"].shape)
        (1, 1, 12288)
    """

    def __init__(self, config: ModelConfig, next_sentence: bool | None = None, tied: bool = True, **kwargs):
        its_family = family_of(config)
        if next_sentence is None:
            next_sentence = its_family.next_sentence
        if its_family.two_streams and next_sentence:
            raise ConfigError(
                f"next_sentence is True, but a model of {config.model_type} predicts tokens only: leave it out"
            )
        super().__init__(config, pooler=next_sentence, **kwargs)
        self.two_streams = its_family.two_streams
        options = dict(dtype=self.dtype_policy, name="masked_lm_head")
        self.masked_lm_head = its_family.masked_lm_head(config, tied=tied, **options)
        self.masked_lm_head.build((None, None, self.config.hidden_size))
        self.next_sentence_head = self.linear_head(2, name="next_sentence_head") if next_sentence else None

    def call(self, inputs, training=False, return_all=False):
        predicted = inputs.get("masked_lm_positions")
        if predicted is None or (return_all and not self.two_streams):
            outputs = self.backbone(inputs, training=training, return_all=return_all)
            x = outputs["sequence_output"]  # (B, T, H)
            x = x if predicted is None else gather_positions(x, predicted)  # (B, P, H)
        elif self.two_streams:
            outputs = self.backbone(inputs, training=training, return_all=return_all, positions=predicted)
            x = outputs["sequence_output"] if return_all else outputs.pop("sequence_output")  # (B, P, H)
        else:
            with_cls = ops.pad(ops.cast(predicted, "int32"), [[0, 0], [1, 0]])  # (B, 1 + P): [CLS] and the others
            outputs = self.backbone(inputs, training=training, positions=with_cls)
            x = outputs.pop("sequence_output")[:, 1:]  # (B, P, H)
        outputs["masked_lm_logits"] = self.token_logits(x)
        if self.next_sentence_head is not None:
            outputs["next_sentence_logits"] = self.next_sentence_head(outputs["pooled_output"], training=training)
        return outputs

    def token_logits(self, x):
        """The masked-language-model head's logits from vectors of the last layer: x (…, H) → (…, V)."""
        table = self.backbone.embeddings.token.embeddings if self.masked_lm_head.tied else None
        return self.masked_lm_head(x, table=table)

    def get_config(self):
        return super().get_config() | {
            "next_sentence": self.next_sentence_head is not None,
            "tied": self.masked_lm_head.tied,
        }
