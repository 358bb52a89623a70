"""One HTML page about a model: tokens, attention, the logit lens, its heads, relations and senses.

A model without attention has a page without the parts that show it.

The page is one file without network access; every number in it comes from the model. The attention can be filtered by
layer and head and followed with the pointer, as in BertViz's head view (Vig 2019, "A Multiscale Visualization of
Attention in the Transformer Model").

Letters: L layers, A heads, T tokens, V vocabulary.
"""

import base64
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from bertlab.analysis.heads import (
    DIRECTIONS,
    AttentionPattern,
    RelationScores,
    attention_pattern,
    mean_pattern,
    pattern_type,
    relation_scores,
)
from bertlab.analysis.lens import lens_probabilities
from bertlab.analysis.readings import TextReading, read_text, read_words, word_rows
from bertlab.analysis.senses import SenseExample, plane, sense_accuracy, sense_vectors
from bertlab.common.errors import DataError
from bertlab.common.files import write_text
from bertlab.common.progress import track
from bertlab.data.treebanks import ParsedSentence

LENS_TOP = 5
LEAST_WORDS = 20  # of a relation in the table
_POSITIONS_BATCH_SIZE = 16  # all at once would need (L + 1) · T · V numbers
WEIGHT_SCALE = 65535  # attention weights are stored as 16-bit integers


def inspect_model(
    model,
    tokenizer,
    texts: Sequence[str],
    *,
    name: str = "model",
    treebank: Sequence[ParsedSentence] = (),
    senses: Sequence[SenseExample] = (),
) -> dict:
    """Everything on the page, as JSON values.

    Args:
        model: a `PreTrainingModel`; a `Backbone` or another model with one has no lens.   tokenizer: its tokenizer.
        texts: at least one; [MASK] in them is the special token.   name: the model's, for the title.
        treebank: parsed sentences; those that are too long for the model are left out, and the notes say so.
        senses: examples of one word in several senses.

    Returns a dict: name, facts, notes, texts, heads, relations, senses.
    Raises DataError for an empty or too long text, and for a treebank without a sentence that the model can read.
    """
    if not texts:
        raise DataError("expected at least one text, got none")
    encoder = getattr(model, "backbone", model)
    notes: list[str] = []
    if encoder is model or getattr(model, "masked_lm_head", None) is None:
        notes.append("This model has no masked-LM head: the logit lens is left out.")
        model = None
    readings = [_named(f"text {number}", encoder, tokenizer, text) for number, text in enumerate(texts, 1)]
    return {
        "name": name,
        "facts": {
            "family": encoder.config.model_type,
            "layers": len(readings[0].states) - 1,
            "heads": readings[0].attention.shape[1] if _attends(readings[0]) else 0,
            "hidden": encoder.config.hidden_size,
            "tokens": encoder.config.max_tokens,
            "vocabulary": encoder.config.vocab_size,
        },
        "texts": [_text(model, tokenizer, text, reading) for text, reading in zip(texts, readings, strict=True)],
        **_attention_parts(encoder, tokenizer, readings, treebank, notes),
        "notes": notes,
        "specials": [
            tokenizer.vocabulary.pieces[i] for i in (tokenizer.vocabulary.cls_id, tokenizer.vocabulary.sep_id)
        ],
        "senses": _senses(encoder, tokenizer, senses) if senses else None,
    }


def write_page(path: str | Path, inspection: dict) -> None:
    """Writes what `inspect_model` returns as one HTML file. Raises DataError if the file cannot be written.

    Example:
        write_page("page.html", inspect_model(model, tokenizer, ["He opened the [MASK]."], name="bertlab-mini"))
    """
    import jinja2

    folder = resources.files("bertlab.analysis")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["percent"] = lambda value: f"{100 * value:.1f} %"
    template = environment.from_string(folder.joinpath("inspection.html").read_text(encoding="utf-8"))
    # In a script element only "<" could end it, or begin a comment.
    data = json.dumps(inspection["texts"], allow_nan=False).replace("<", "\\u003c")
    write_text(path, template.render(**inspection, data=data, directions=DIRECTIONS))


def _named(where: str, encoder, tokenizer, text: str) -> TextReading:
    try:
        return read_text(encoder, tokenizer, text)
    except DataError as error:
        raise DataError(f"{where}: {str(error).removeprefix('the text: ')}") from None


def _attention_parts(encoder, tokenizer, readings, treebank, notes) -> dict:
    """The parts of the page that show attention; empty, with a note, for a model that has none."""
    if not _attends(readings[0]):
        relations = ", and the treebank is not read" if treebank else ""
        notes.append(
            "This model has no attention: its layers pass on what they read from token to token. The attention of each "
            f"layer and the table of heads are left out{relations}."
        )
        return {"heads": [], "patterns_from": "", "relations": []}
    patterns = [
        attention_pattern(one.attention, one.ids == tokenizer.vocabulary.sep_id, cls=_is_cls(tokenizer, len(one.ids)))
        for one in readings
    ]
    scores: list[RelationScores] = []
    source = _counted(len(patterns), "text")
    if treebank:
        scores, patterns = _treebank(encoder, tokenizer, treebank, notes)
        source = f"{_counted(len(patterns), 'sentence')} of the treebank"
    return {
        "heads": _heads(mean_pattern(patterns), scores),
        "patterns_from": source,
        "relations": [_relation(one) for one in scores],
    }


def _attends(reading: TextReading) -> bool:
    """Whether the model returned attention weights."""
    return len(reading.attention) > 0


def _text(model, tokenizer, text: str, reading: TextReading) -> dict:
    """One text's tokens, attention (None: the model has none) and lenses."""
    lens, *lens_before = _lenses(model, tokenizer, reading) if model is not None else [None]
    weights = np.round(reading.attention * WEIGHT_SCALE).astype("<u2")
    attention = {"shape": weights.shape, "base64": base64.b64encode(weights.tobytes()).decode("ascii")}
    return {
        "text": text,
        "tokens": reading.pieces,
        "ids": reading.ids.tolist(),
        "attention": attention if _attends(reading) else None,
        "lens": lens,
        "lens_before": lens_before[0] if lens_before else None,
    }


def _lenses(model, tokenizer, reading: TextReading) -> list:
    """The most likely tokens by layer and position, [[[token, probability], …], …], one such list for each prediction.

    A model that predicts both neighbours of a token has two, the next token's and that of the one before; others have
    one.
    """
    pieces = tokenizer.vocabulary.pieces
    blocks = []
    for start in range(0, len(reading.ids), _POSITIONS_BATCH_SIZE):
        states = reading.states[:, start : start + _POSITIONS_BATCH_SIZE]
        probabilities = lens_probabilities(model, states, len(pieces))
        by_kind = probabilities.reshape(*probabilities.shape[:2], -1, probabilities.shape[-1])  # (L + 1, P, 1 or 2, V)
        best = np.argsort(-by_kind, axis=-1, kind="stable")[..., :LENS_TOP]
        blocks.append((best, np.take_along_axis(by_kind, best, axis=-1)))
    tokens, values = (np.concatenate(part, axis=1) for part in zip(*blocks, strict=True))  # (L + 1, T, 1 or 2, top)
    return [_guesses(pieces, tokens[:, :, kind], values[:, :, kind]) for kind in range(tokens.shape[2])]


def _guesses(pieces: Sequence[str], tokens: np.ndarray, probabilities: np.ndarray) -> list:
    """[[[token, probability], …], …] of each layer and position. tokens, probabilities: (L + 1, T, top)."""
    return [
        [
            [[pieces[i], round(float(value), 4)] for i, value in zip(top, its_values, strict=True)]
            for top, its_values in zip(row, its_rows, strict=True)
        ]
        for row, its_rows in zip(tokens, probabilities, strict=True)
    ]


def _is_cls(tokenizer, tokens: int) -> np.ndarray:
    """Which token of a row is [CLS]: the first, or in some families the last; (T,) bool."""
    return np.arange(tokens) == (tokens - 1 if tokenizer.vocabulary.cls_last else 0)


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _treebank(encoder, tokenizer, treebank, notes) -> tuple[list[RelationScores], list[AttentionPattern]]:
    """The heads' scores and each sentence's pattern."""
    rows = word_rows(tokenizer, [sentence.words for sentence in treebank])
    limit = encoder.config.max_tokens
    kept = [one for one, (ids, _) in zip(treebank, rows, strict=True) if 2 < len(ids) <= limit]
    if not kept:
        raise DataError(f"expected a sentence of at most {limit} tokens in the treebank, got none")
    if len(kept) < len(treebank):
        notes.append(
            f"Sentences of the treebank left out, because they are too long or empty: {len(treebank) - len(kept)}."
        )
    patterns: list[AttentionPattern] = []

    def attentions():
        readings = read_words(encoder, tokenizer, [one.words for one in kept])
        for reading in track(readings, "Reading the treebank", total=len(kept)):
            cls = _is_cls(tokenizer, reading.tokens.shape[-1])
            separator = np.roll(cls, -1)  # of [CLS] a [SEP] and a [SEP] [CLS], the token before [CLS] in a circle
            patterns.append(attention_pattern(reading.tokens, separator, cls=cls))
            yield reading.attention

    return relation_scores(kept, attentions(), least=min(LEAST_WORDS, len(kept))), patterns


def _heads(pattern: AttentionPattern, scores: Sequence[RelationScores]) -> list[dict]:
    """One row per head, in order; layers and heads are counted from 1. Its relation is the one at which it exceeds the
    best distance most; None if it does so at no relation."""
    types, rows = pattern_type(pattern), []
    names = ("itself", "previous", "following", "cls", "separator", "entropy")
    for layer, head in np.ndindex(*types.shape):
        gains = [(float(one.accuracy[:, layer, head].max()) - one.offset_accuracy, one.relation) for one in scores]
        gain, relation = max(gains, key=lambda pair: pair[0], default=(0.0, ""))
        rows.append({
            "head": f"{layer + 1}-{head + 1}",
            "type": str(types[layer, head]),
            **{name: float(getattr(pattern, name)[layer, head]) for name in names},
            "relation": {"name": relation, "gain": gain} if gain > 0 else None,
        })  # fmt: skip
    return rows


def _relation(one: RelationScores) -> dict:
    direction, layer, head = one.best
    return {
        "name": one.relation,
        "count": one.count,
        "head": f"{layer + 1}-{head + 1}",
        "direction": DIRECTIONS[direction],
        "accuracy": one.best_accuracy,
        "offset": one.offset,
        "offset_accuracy": one.offset_accuracy,
        "gain": one.gain,
    }


def _senses(encoder, tokenizer, examples: Sequence[SenseExample]) -> dict:
    """The accuracy of every layer, and the examples as points in its plane."""
    vectors = sense_vectors(encoder, tokenizer, examples)  # (L + 1, N, H)
    names = sorted({example.sense for example in examples})
    points = [plane(layer) for layer in vectors]  # each (N, 2)
    return {
        "names": names,
        "examples": [
            {"sense": example.sense, "number": names.index(example.sense),
             "before": example.text[: example.start], "word": example.text[example.start : example.end],
             "after": example.text[example.end :]}
            for example in examples
        ],
        "layers": [
            {"accuracy": float(accuracy), "points": _scaled(layer).tolist()}
            for accuracy, layer in zip(sense_accuracy(vectors, [example.sense for example in examples]), points)
        ],
    }  # fmt: skip


def _scaled(points: np.ndarray) -> np.ndarray:
    """Into the square from 10 to 90, with equal scales of both axes."""
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    size = max(float(np.ptp(points, axis=0).max()), 1e-9)
    return np.round(50 + 80 * (points - middle) / size, 2)
