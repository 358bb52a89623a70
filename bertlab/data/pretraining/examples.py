"""Documents → pre-training examples, in memory: tokenise, cut into segments, lay out in rows, mask.

    [CLS] a a a a [SEP] b b b [SEP] [PAD] [PAD]      input_ids
      0   0 0 0 0   0   1 1 1   1     0     0        token_type_ids

Text becomes arrays once, and every later step works on whole arrays. `make_examples` does all of it for a corpus
that fits into memory; `bertlab.data.pretraining.make` runs the same steps part by part for a larger one.

Letters: N rows, T tokens in a row, P predictions in a row.
"""

from collections.abc import Iterable

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.pretraining.masking import PieceTable, mask_rows
from bertlab.data.pretraining.original import make_original
from bertlab.data.pretraining.packing import pack, sequence_numbers
from bertlab.data.pretraining.segments import (
    Pairs,
    TokenDocuments,
    join_documents,
    make_pairs,
    make_spans,
    without_outer_separators,
)
from bertlab.data.pretraining.settings import ExampleSettings

ROWS_PER_BLOCK = 4096  # rows masked at a time, so that the random keys of a large corpus need little memory


def make_examples(documents: Iterable, tokenizer, settings: ExampleSettings | None = None) -> dict[str, np.ndarray]:
    """Pre-training examples of a corpus that fits into memory, ready for a model's `fit` or for `batches_of`.

    documents: `bertlab.data.documents.Document`s. tokenizer: any `bertlab.tokenizers.wordpiece.base.Tokenizer`.
    Returns arrays by the names of docs/architecture.md, one row per example: input_ids, token_type_ids and
    attention_mask (N, T) int32 (for packed rows sequence_ids and position_ids instead of attention_mask),
    masked_lm_positions and masked_lm_ids (N, P) int32, masked_lm_weights (N, P) float32, and with next_sentence
    next_sentence_labels (N,) int32, 0 = IsNext. With `settings.dynamic_masking` the masked_lm arrays are left out:
    the reader draws new ones for every batch.
    Raises DataError if the text gives no example.
    """
    settings = settings or ExampleSettings()
    tokens = tokenize_documents(documents, tokenizer)
    return examples_from_tokens(tokens, tokenizer.vocabulary, settings, unit=0)


def examples_from_tokens(
    tokens: TokenDocuments, vocabulary, settings: ExampleSettings, unit: int
) -> dict[str, np.ndarray]:
    """The examples of one unit of a corpus: a pure function of its tokens, the settings and the unit's number."""
    table = PieceTable.of(vocabulary)
    if settings.procedure == "original":
        if table.cls_last:
            raise DataError("the original procedure begins rows with [CLS], but this vocabulary ends them with <cls>")
        return make_original(tokens, table, settings, seed=settings.seed + unit)
    rng = np.random.default_rng([settings.seed, unit])
    passes = [make_rows(tokens, table, settings, rng) for _ in range(settings.duplicate_factor)]
    rows = {name: np.concatenate([one[name] for one in passes]) for name in passes[0]}
    del passes
    order = rng.permutation(len(rows["input_ids"]))
    rows = {name: values[order] for name, values in rows.items()}
    return rows if settings.dynamic_masking else mask_in_blocks(rows, table, settings, rng)


def tokenize_documents(documents: Iterable, tokenizer) -> TokenDocuments:
    """The tokens of all sentences, end to end. Sentences and documents without a token are left out.

    Raises DataError if there is no token.
    """
    sentences, counts = [], []
    for document in documents:
        before = len(sentences)
        for sentence in (sentence for paragraph in document.paragraphs for sentence in paragraph):
            sentences.append(sentence if len(sentences) == before else tokenizer.word_prefix + sentence)
        counts.append(len(sentences) - before)
    if not sentences:
        raise DataError("there is no sentence in the documents: examples need text")
    ragged = tokenizer.encode_batch(sentences)
    lengths = np.diff(ragged.row_splits)
    document_of = np.repeat(np.arange(len(counts)), counts)[lengths > 0]
    kept = np.bincount(document_of, minlength=len(counts))
    lengths, kept = lengths[lengths > 0], kept[kept > 0]
    if not len(lengths):
        raise DataError("the documents hold white space or control characters only: examples need text")
    return TokenDocuments(np.asarray(ragged.values, np.int32), _splits(lengths), _splits(kept))


def _splits(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def make_rows(
    tokens: TokenDocuments, table: PieceTable, settings: ExampleSettings, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """One pass over the documents: rows without masks, (N, T) int32 each; see `make_examples` for the names."""
    if settings.next_sentence:
        return lay_out_pairs(tokens.values, make_pairs(tokens, settings, rng), table, settings.sequence_length)
    if settings.cross_documents:
        tokens = join_documents(tokens, table.sep)
    starts, lengths = make_spans(tokens, settings, rng)
    if settings.cross_documents:
        starts, lengths = without_outer_separators(tokens.values, starts, lengths, table.sep)
    return _lay_out_spans(tokens.values, starts, lengths, table, settings)


def mask_in_blocks(
    rows: dict[str, np.ndarray], table: PieceTable, settings: ExampleSettings, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Rows with their masks and targets; see `bertlab.data.pretraining.masking.mask_rows`."""
    ids = rows["input_ids"]
    blocks = [
        mask_rows(ids[start : start + ROWS_PER_BLOCK], table, settings, rng)
        for start in range(0, len(ids), ROWS_PER_BLOCK)
    ]
    return rows | {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


# --- laying out ---


def lay_out_pairs(values: np.ndarray, pairs: Pairs, table: PieceTable, width: int) -> dict[str, np.ndarray]:
    """[CLS] A [SEP] B [SEP], one pair in each row, or A [SEP] B [SEP] [CLS]."""
    count = len(pairs.label)
    row = np.arange(count) * width
    a = row + (not table.cls_last)  # where A begins
    b = a + pairs.a_length + 1  # where B begins
    end = b + pairs.b_length  # index of the second [SEP]
    ids = np.full(count * width, table.pad, np.int32)
    ids[end + 1 if table.cls_last else row] = table.cls
    _copy(ids, a, values, pairs.a_start, pairs.a_length)
    ids[b - 1] = table.sep
    _copy(ids, b, values, pairs.b_start, pairs.b_length)
    ids[end] = table.sep
    column = np.arange(width)[None]  # (1, T)
    b, end = (b - row)[:, None], (end - row)[:, None]  # (N, 1)
    segments = ((column >= b) & (column <= end)).astype(np.int32)  # (N, T)
    if table.cls_last:
        segments[column == end + 1] = 2
    return {
        "input_ids": ids.reshape(count, width),
        "token_type_ids": segments,
        "attention_mask": (column <= end + table.cls_last).astype(np.int32),
        "next_sentence_labels": pairs.label.astype(np.int32),
    }


def _lay_out_spans(
    values: np.ndarray, starts: np.ndarray, lengths: np.ndarray, table: PieceTable, settings: ExampleSettings
) -> dict[str, np.ndarray]:
    """[CLS] tokens [SEP], or tokens [SEP] [CLS], one span in each row or, packed, as many as fit."""
    width = settings.sequence_length
    if settings.packing:
        rows, offsets, count = pack(lengths + 2, width)
    else:
        rows, offsets, count = np.arange(len(starts)), np.zeros(len(starts), np.int64), len(starts)
    at = rows * width + offsets
    ids = np.full(count * width, table.pad, np.int32)
    first = at + (not table.cls_last)  # where the tokens begin
    cls = first + lengths + 1 if table.cls_last else at
    ids[cls] = table.cls
    _copy(ids, first, values, starts, lengths)
    ids[first + lengths] = table.sep
    result = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
    if table.cls_last:
        result["token_type_ids"][cls] = 2
    if settings.packing:
        indices, within = _indices(at, lengths + 2)
        result["sequence_ids"], result["position_ids"] = np.zeros_like(ids), np.zeros_like(ids)
        result["sequence_ids"][indices] = np.repeat(sequence_numbers(rows, offsets), lengths + 2)
        result["position_ids"][indices] = within
    else:
        result["attention_mask"] = (ids != table.pad).astype(np.int32)
    return {name: array.reshape(count, width) for name, array in result.items()}


def _indices(starts: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """start, start + 1 … of every run, one run after the other, and the same counted from 0 in each run."""
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + within, within


def _copy(target: np.ndarray, at: np.ndarray, values: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> None:
    """target[at[i]:at[i] + lengths[i]] = values[starts[i]:starts[i] + lengths[i]] for all i at once."""
    indices, within = _indices(at, lengths)
    target[indices] = values[np.repeat(starts, lengths) + within]
