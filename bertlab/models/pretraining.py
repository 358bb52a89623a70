"""BERT with its pre-training heads (Devlin et al. 2019, section 3.1).

Letters: B batch, T tokens, P predictions, H hidden size, V vocabulary.
"""

import keras
from keras import ops

from bertlab.config import BertConfig
from bertlab.layers import ClassificationHead, MaskedLanguageModelHead, gather_positions
from bertlab.models.base import BertWithHead


@keras.saving.register_keras_serializable("bertlab")
class BertForPreTraining(BertWithHead):
    """BERT with a masked-language-model head and, unless left out, a next-sentence head.

    Args:
        config: a `BertConfig`.
        next_sentence: False leaves out the pooler and the next-sentence head (RoBERTa style).
        tied: whether the token table is also the MLM head's output matrix, as in BERT.

    Call: a dict as for `BertEncoder`, and masked_lm_positions (B, P) int, if only those are to be predicted.
    Returns a dict:
        masked_lm_logits (B, P, V), or (B, T, V) without masked_lm_positions;
        next_sentence_logits (B, 2): class 0 = IsNext, class 1 = NotNext;
        and what `BertEncoder` returns. With masked_lm_positions and without `return_all` that is the pooled output
        alone: of the last layer only the predicted places and [CLS] are computed, since no others are looked at.
    """

    def __init__(self, config: BertConfig, next_sentence: bool = True, tied: bool = True, **kwargs):
        super().__init__(config, pooler=next_sentence, **kwargs)
        self.masked_lm_head = MaskedLanguageModelHead(
            config.vocab_size,
            config.hidden_act,
            config.layer_norm_eps,
            config.initializer_range,
            tied=tied,
            dtype=self.dtype_policy,
            name="masked_lm_head",
        )
        self.next_sentence_head = None
        if next_sentence:
            self.next_sentence_head = ClassificationHead(
                2, initializer_range=config.initializer_range, dtype=self.dtype_policy, name="next_sentence_head"
            )
        self.masked_lm_head.build((None, None, self.config.hidden_size))
        if self.next_sentence_head is not None:
            self.next_sentence_head.build((None, self.config.hidden_size))

    def call(self, inputs, training=False, return_all=False):
        predicted = inputs.get("masked_lm_positions")
        if predicted is None:
            outputs = self.bert(inputs, training=training, return_all=return_all)
            x = outputs["sequence_output"]  # (B, T, H)
        elif return_all:
            outputs = self.bert(inputs, training=training, return_all=True)
            x = gather_positions(outputs["sequence_output"], predicted)  # (B, P, H)
        else:
            outputs = self.bert(inputs, training=training, positions=_with_cls(predicted))
            x = outputs.pop("sequence_output")[:, 1:]  # (B, P, H)
        table = self.bert.embeddings.token.embeddings if self.masked_lm_head.tied else None
        outputs["masked_lm_logits"] = self.masked_lm_head(x, table=table)
        if self.next_sentence_head is not None:
            outputs["next_sentence_logits"] = self.next_sentence_head(outputs["pooled_output"], training=training)
        return outputs

    def get_config(self):
        return super().get_config() | {
            "next_sentence": self.next_sentence_head is not None,
            "tied": self.masked_lm_head.tied,
        }


def _with_cls(positions):
    """(B, P) → (B, 1 + P): place 0, where [CLS] stands, before the others."""
    positions = ops.cast(positions, "int32")
    return ops.concatenate([ops.zeros_like(positions[:, :1]), positions], axis=1)
