"""The kinds of model a checkpoint can hold, and a model's weights by their paths. Names: `bertlab.families.names`."""

from bertlab.common.errors import CheckpointError
from bertlab.families.names import BACKBONE

# Names that `load` takes → classes in bertlab.models.
KINDS = {
    "encoder": "Backbone",
    "pretraining": "PreTrainingModel",
    "replaced_token_detection": "ReplacedTokenDetector",
    "sequence_to_sequence": "SequenceToSequenceModel",
    "next_sentence": "NextSentenceClassifier",  # before the class that it extends
    "sequence_classification": "SequenceClassifier",
    "token_classification": "TokenClassifier",
    "multiple_choice": "MultipleChoiceClassifier",
    "question_answering": "QuestionAnswerer",
    "multi_task": "MultiTaskModel",
}


def model_class(kind: str):
    """The class of `bertlab.models` that a kind means. Raises CheckpointError for an unknown kind."""
    from bertlab import models

    if kind not in KINDS:
        raise CheckpointError(f"there is no model class {kind!r}; choose one of {', '.join(KINDS)}")
    return getattr(models, KINDS[kind])


def kind_of(model_or_class) -> str:
    """The inverse of `model_class`, for a model or a class, subclasses included."""
    its_class = model_or_class if isinstance(model_or_class, type) else type(model_or_class)
    for kind in KINDS:
        if issubclass(its_class, model_class(kind)):
            return kind
    raise CheckpointError(f"{its_class.__name__} is not one of BertLab's models: {', '.join(KINDS.values())}")


def variables_of(model) -> dict:
    """The model's weights by their path: {"backbone/embeddings/token/embeddings": variable, …}.

    Only a backbone by itself has paths that begin with its own name, which is `backbone` by default.
    """
    found = {variable.path: variable for variable in model.weights}
    if kind_of(model) == "encoder":
        found = {f"{BACKBONE}/" + path.removeprefix(f"{model.name}/"): variable for path, variable in found.items()}
    return found


def options_of(model) -> dict:
    """The constructor's arguments besides the config: next_sentence, tied, num_labels or pooler."""
    return {name: value for name, value in model.get_config().items() if name not in ("config", "name", "dtype")}
