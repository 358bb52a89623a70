"""BertLab: a BERT that is exact, fast and readable, in Keras 3.

``import bertlab`` loads no backend; the names below are imported when first used.
"""

from bertlab.common.lazy import imported_when_used

__version__ = "0.1.0"

_NAMES, __getattr__ = imported_when_used(
    __name__,
    {
        "bertlab.families": (
            "AlbertConfig", "BertConfig", "DistilBertConfig", "ElectraConfig", "ElmoConfig", "Gpt2Config", "GptConfig",
            "MarianConfig", "ModernBertConfig", "RobertaConfig", "TransformerConfig", "XLNetConfig",
        ),
        "bertlab.models": (
            "Backbone", "BertEncoder", "BertForMultipleChoice", "BertForPreTraining", "BertForQuestionAnswering",
            "BertForSequenceClassification", "BertForTokenClassification", "GeneratorAndDiscriminator",
            "MultiTaskModel", "MultipleChoiceClassifier", "NextSentenceClassifier", "PreTrainingModel",
            "QuestionAnswerer", "ReplacedTokenDetector", "SequenceClassifier", "SequenceToSequenceModel",
            "TokenClassifier",
        ),
        "bertlab.predict": ("Predictor",),
        "bertlab.tokenizers.bpe": ("BytePairTokenizer", "BytePairVocabulary"),
        "bertlab.tokenizers.wordpiece": ("Vocabulary", "WordPieceTokenizer"),
    },
)  # fmt: skip
__all__ = [*_NAMES, "__version__"]


def __dir__():
    return sorted([*globals(), *__all__])
