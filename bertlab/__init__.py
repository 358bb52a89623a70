"""BertLab: a BERT that is exact, fast and readable, in Keras 3.

``import bertlab`` loads no backend; the names below are imported when first used.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "AlbertConfig": "bertlab.families",
    "Backbone": "bertlab.models",
    "BertConfig": "bertlab.families",
    "BertEncoder": "bertlab.models",
    "BertForMultipleChoice": "bertlab.models",
    "BertForPreTraining": "bertlab.models",
    "BertForQuestionAnswering": "bertlab.models",
    "BertForSequenceClassification": "bertlab.models",
    "BertForTokenClassification": "bertlab.models",
    "BytePairTokenizer": "bertlab.tokenizers.bpe",
    "BytePairVocabulary": "bertlab.tokenizers.bpe",
    "DistilBertConfig": "bertlab.families",
    "ElectraConfig": "bertlab.families",
    "ElmoConfig": "bertlab.families",
    "GeneratorAndDiscriminator": "bertlab.models",
    "Gpt2Config": "bertlab.families",
    "GptConfig": "bertlab.families",
    "MarianConfig": "bertlab.families",
    "ModernBertConfig": "bertlab.families",
    "MultiTaskModel": "bertlab.models",
    "MultipleChoiceClassifier": "bertlab.models",
    "NextSentenceClassifier": "bertlab.models",
    "PreTrainingModel": "bertlab.models",
    "Predictor": "bertlab.predict",
    "QuestionAnswerer": "bertlab.models",
    "ReplacedTokenDetector": "bertlab.models",
    "RobertaConfig": "bertlab.families",
    "SequenceClassifier": "bertlab.models",
    "SequenceToSequenceModel": "bertlab.models",
    "TokenClassifier": "bertlab.models",
    "TransformerConfig": "bertlab.families",
    "Vocabulary": "bertlab.tokenizers.wordpiece",
    "WordPieceTokenizer": "bertlab.tokenizers.wordpiece",
    "XLNetConfig": "bertlab.families",
}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'bertlab' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
