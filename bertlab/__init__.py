"""BertLab: a BERT that is exact, fast and readable, in Keras 3.

``import bertlab`` loads no backend; the names below are imported when first used.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "Backbone": "bertlab.models",
    "BertConfig": "bertlab.families",
    "BertEncoder": "bertlab.models",
    "BertForMultipleChoice": "bertlab.models",
    "BertForPreTraining": "bertlab.models",
    "BertForQuestionAnswering": "bertlab.models",
    "BertForSequenceClassification": "bertlab.models",
    "BertForTokenClassification": "bertlab.models",
    "DistilBertConfig": "bertlab.families",
    "MultipleChoiceClassifier": "bertlab.models",
    "PreTrainingModel": "bertlab.models",
    "QuestionAnswerer": "bertlab.models",
    "RobertaConfig": "bertlab.families",
    "SequenceClassifier": "bertlab.models",
    "TokenClassifier": "bertlab.models",
    "Vocabulary": "bertlab.wordpiece",
    "WordPieceTokenizer": "bertlab.wordpiece",
}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'bertlab' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
