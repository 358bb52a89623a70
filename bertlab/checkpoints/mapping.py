"""Where each variable of a BERT lives in the three formats: one table, read in both directions.

    ours                    bert/encoder/layer_0/attention/query/kernel
    Hugging Face            encoder.layer.0.attention.self.query.weight
    Google (TensorFlow 1)   bert/encoder/layer_0/attention/self/query/kernel

PyTorch stores the matrix of a linear layer as (out, in), TensorFlow as (in, out), so Hugging Face's are transposed. The
heads of google-research/bert are (out, in) as well: they are multiplied with `transpose_b=True`.

Our paths begin with `bert/` for everything below the heads, whatever the model is called. Hugging Face's names are
listed without the `bert.` that its models with a head put before them.
Sources: modeling.py, run_pretraining.py, run_classifier.py and run_squad.py of google-research/bert; modeling_bert.py
of transformers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bertlab.errors import CheckpointError

# Names that `load` takes → classes in bertlab.models.
KINDS = {
    "encoder": "BertEncoder",
    "pretraining": "BertForPreTraining",
    "sequence_classification": "BertForSequenceClassification",
    "token_classification": "BertForTokenClassification",
    "multiple_choice": "BertForMultipleChoice",
    "question_answering": "BertForQuestionAnswering",
}


@dataclass(frozen=True)
class Place:
    """One variable's name in each format, and whether a format stores the matrix transposed."""

    ours: str
    huggingface: str
    google: str | None  # None: google-research/bert has no such variable
    huggingface_transposed: bool = False
    google_transposed: bool = False


def places(kind: str | None, num_layers: int) -> list[Place]:
    """The variables of a model of this kind, of all its optional parts too (pooler, NSP head, untied MLM head).

    kind None stands for a classifier of which nothing but its name, "classifier", is known.
    """
    return [*_encoder(num_layers), *_heads(kind)]


def _encoder(num_layers: int) -> Iterator[Place]:
    for ours, theirs in (("token", "word"), ("segment", "token_type"), ("position", "position")):
        yield Place(
            f"bert/embeddings/{ours}/embeddings",
            f"embeddings.{theirs}_embeddings.weight",
            f"bert/embeddings/{theirs}_embeddings",
        )
    yield from _norm("bert/embeddings/norm", "embeddings.LayerNorm", "bert/embeddings/LayerNorm")
    for i in range(num_layers):
        yield from _layer(f"bert/encoder/layer_{i}", f"encoder.layer.{i}")
    yield from _dense("bert/pooler/dense", "pooler.dense", "bert/pooler/dense")


def _layer(own: str, theirs: str) -> Iterator[Place]:
    """One encoder layer. own: its path, which is Google's as well; theirs: its name at Hugging Face."""
    for name in ("query", "key", "value"):
        yield from _dense(f"{own}/attention/{name}", f"{theirs}.attention.self.{name}", f"{own}/attention/self/{name}")
    yield from _dense(f"{own}/attention/out", f"{theirs}.attention.output.dense", f"{own}/attention/output/dense")
    yield from _norm(
        f"{own}/attention_norm", f"{theirs}.attention.output.LayerNorm", f"{own}/attention/output/LayerNorm"
    )
    yield from _dense(f"{own}/feed_forward/inner", f"{theirs}.intermediate.dense", f"{own}/intermediate/dense")
    yield from _dense(f"{own}/feed_forward/outer", f"{theirs}.output.dense", f"{own}/output/dense")
    yield from _norm(f"{own}/output_norm", f"{theirs}.output.LayerNorm", f"{own}/output/LayerNorm")


def _heads(kind: str | None) -> Iterator[Place]:
    if kind == "pretraining":
        transform = "cls.predictions.transform", "cls/predictions/transform"
        yield from _dense("masked_lm_head/dense", f"{transform[0]}.dense", f"{transform[1]}/dense")
        yield from _norm("masked_lm_head/norm", f"{transform[0]}.LayerNorm", f"{transform[1]}/LayerNorm")
        yield Place("masked_lm_head/unembedding", "cls.predictions.decoder.weight", None, huggingface_transposed=True)
        yield Place("masked_lm_head/bias", "cls.predictions.bias", "cls/predictions/output_bias")
        yield from _output("next_sentence_head/dense", "cls.seq_relationship", "cls/seq_relationship/")
    elif kind == "question_answering":
        yield from _output("head/dense", "qa_outputs", "cls/squad/")
    elif kind != "encoder":
        yield from _output("head/dense", "classifier", "")


def _dense(ours: str, huggingface: str, google: str) -> Iterator[Place]:
    yield Place(f"{ours}/kernel", f"{huggingface}.weight", f"{google}/kernel", huggingface_transposed=True)
    yield Place(f"{ours}/bias", f"{huggingface}.bias", f"{google}/bias")


def _norm(ours: str, huggingface: str, google: str) -> Iterator[Place]:
    yield Place(f"{ours}/gamma", f"{huggingface}.weight", f"{google}/gamma")
    yield Place(f"{ours}/beta", f"{huggingface}.bias", f"{google}/beta")


def _output(ours: str, huggingface: str, google: str) -> Iterator[Place]:
    """A head's linear layer. google: what stands before output_weights and output_bias."""
    yield Place(
        f"{ours}/kernel",
        f"{huggingface}.weight",
        f"{google}output_weights",
        huggingface_transposed=True,
        google_transposed=True,
    )
    yield Place(f"{ours}/bias", f"{huggingface}.bias", f"{google}output_bias")


# === Models ===


def model_class(kind: str):
    """The class of `bertlab.models` that a kind stands for. Raises CheckpointError for an unknown kind."""
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
    """The model's weights by their path in the table above: {path: variable}.

    Only an encoder by itself has paths that begin with its own name, which is `bert` unless it was given another.
    """
    found = {variable.path: variable for variable in model.weights}
    if kind_of(model) == "encoder":
        found = {"bert/" + path.removeprefix(f"{model.name}/"): variable for path, variable in found.items()}
    return found


def options_of(model) -> dict:
    """What the model's constructor was given beside its config: next_sentence, tied, num_labels or pooler."""
    return {name: value for name, value in model.get_config().items() if name not in ("config", "name", "dtype")}
