"""The assembled models: the encoder alone, with its pre-training heads, and one for each fine-tuning task type."""

from bertlab.models.base import BertEncoder
from bertlab.models.multiple_choice import BertForMultipleChoice
from bertlab.models.pretraining import BertForPreTraining
from bertlab.models.question_answering import BertForQuestionAnswering
from bertlab.models.sequence_classification import BertForSequenceClassification
from bertlab.models.token_classification import BertForTokenClassification

__all__ = [
    "BertEncoder",
    "BertForMultipleChoice",
    "BertForPreTraining",
    "BertForQuestionAnswering",
    "BertForSequenceClassification",
    "BertForTokenClassification",
]
