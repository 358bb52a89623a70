"""The assembled models: the backbone alone, with its pre-training heads, and one for each fine-tuning task type.

Each works with every family of `bertlab.families`. The names that transformers' users know are aliases.
"""

from bertlab.models.base import Backbone
from bertlab.models.finetuning import (
    MultipleChoiceClassifier,
    MultiTaskModel,
    NextSentenceClassifier,
    QuestionAnswerer,
    SequenceClassifier,
    TokenClassifier,
)
from bertlab.models.pretraining import PreTrainingModel
from bertlab.models.replaced_tokens import GeneratorAndDiscriminator, ReplacedTokenDetector
from bertlab.models.sequence_to_sequence import SequenceToSequenceModel

BertEncoder = Backbone
BertForMultipleChoice = MultipleChoiceClassifier
BertForPreTraining = PreTrainingModel
BertForQuestionAnswering = QuestionAnswerer
BertForSequenceClassification = SequenceClassifier
BertForTokenClassification = TokenClassifier

__all__ = [
    "Backbone", "BertEncoder", "BertForMultipleChoice", "BertForPreTraining", "BertForQuestionAnswering",
    "BertForSequenceClassification", "BertForTokenClassification", "GeneratorAndDiscriminator", "MultiTaskModel",
    "MultipleChoiceClassifier", "NextSentenceClassifier", "PreTrainingModel", "QuestionAnswerer",
    "ReplacedTokenDetector", "SequenceClassifier", "SequenceToSequenceModel", "TokenClassifier",
]  # fmt: skip
