"""Documents → pre-training examples, in memory: tokenise, cut into segments, lay out in rows, mask.

    [CLS] a a a a [SEP] b b b [SEP] [PAD] [PAD]      input_ids
      0   0 0 0 0   0   1 1 1   1     0     0        token_type_ids

Letters: N rows, T tokens in a row, P predictions in a row.
"""

from collections.abc import Iterable
from types import SimpleNamespace

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.pretraining import segments
from bertlab.data.pretraining.masking import PieceTable, mask_rows
from bertlab.data.pretraining.original import make_original
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.tokenizers.wordpiece.encoding import Ragged, pack_rows, range_indices

ROWS_PER_BLOCK = 4096  # rows masked at a time, so that the random keys of a large corpus need little memory


def make_examples(documents: Iterable, tokenizer, settings: ExampleSettings | None = None) -> dict[str, np.ndarray]:
    """Pre-training examples of a corpus that fits into memory, ready for a model's `fit` or for `batches_of`.

    documents: `bertlab.data.documents.Document`s. tokenizer: any `bertlab.tokenizers.wordpiece.base.Tokenizer`.
    Returns arrays by the names of docs/architecture.md, one row per example: input_ids, token_type_ids and
    attention_mask (N, T) int32 (for packed rows sequence_ids and position_ids instead of attention_mask),
    masked_lm_positions and masked_lm_ids (N, P) int32, masked_lm_weights (N, P) float32 (not with dynamic masking), and
    with next_sentence next_sentence_labels (N,) int32, 0 = IsNext.
    Raises DataError if the text gives no example.
    """
    settings = settings or ExampleSettings()
    tokens = tokenize_documents(documents, tokenizer)
    return examples_from_tokens(tokens, tokenizer.vocabulary, settings, unit=0)


def examples_from_tokens(
    tokens: segments.TokenDocuments, vocabulary, settings: ExampleSettings, unit: int
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
    if settings.dynamic_masking:
        return rows
    blocks = [
        mask_rows(rows["input_ids"][start : start + ROWS_PER_BLOCK], table, settings, rng)
        for start in range(0, len(order), ROWS_PER_BLOCK)
    ]
    return rows | {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def tokenize_documents(documents: Iterable, tokenizer) -> segments.TokenDocuments:
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
    if not len(document_of):
        raise DataError("the documents hold white space or control characters only: examples need text")
    splits = (np.concatenate([[0], np.cumsum(one[one > 0])]).astype(np.int64) for one in (lengths, kept))
    return segments.TokenDocuments(np.asarray(ragged.values, np.int32), *splits)


def make_rows(
    tokens: segments.TokenDocuments, table: PieceTable, settings: ExampleSettings, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """One pass over the documents: rows without masks, (N, T) int32 each; see `make_examples` for the names."""
    if settings.next_sentence:
        return _lay_out_pairs(
            tokens.values, segments.make_pairs(tokens, settings, rng), table, settings.sequence_length
        )
    if settings.cross_documents:
        tokens = segments.join_documents(tokens, table.sep)
    starts, lengths = segments.make_spans(tokens, settings, rng)
    if settings.cross_documents:
        starts, lengths = segments.without_outer_separators(tokens.values, starts, lengths, table.sep)
    return _lay_out_spans(tokens.values, starts, lengths, table, settings)


# --- laying out ---


def _lay_out_pairs(values: np.ndarray, pairs: segments.Pairs, table: PieceTable, width: int) -> dict[str, np.ndarray]:
    """[CLS] A [SEP] B [SEP], one pair in each row, or A [SEP] B [SEP] [CLS]."""
    special = SimpleNamespace(
        cls_id=table.cls, sep_id=table.sep, pad_id=table.pad, cls_last=table.cls_last, pair_separators=1
    )
    a, b = (
        Ragged(values[range_indices(starts, lengths)], np.concatenate([[0], np.cumsum(lengths)]))
        for starts, lengths in ((pairs.a_start, pairs.a_length), (pairs.b_start, pairs.b_length))
    )
    return pack_rows(special, a, b, width) | {"next_sentence_labels": pairs.label.astype(np.int32)}


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
    ids[range_indices(first, lengths)] = values[range_indices(starts, lengths)]
    ids[first + lengths] = table.sep
    result = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
    if table.cls_last:
        result["token_type_ids"][cls] = 2
    if settings.packing:
        indices = range_indices(at, lengths + 2)
        result["sequence_ids"], result["position_ids"] = np.zeros_like(ids), np.zeros_like(ids)
        result["sequence_ids"][indices] = np.repeat(sequence_numbers(rows, offsets), lengths + 2)
        result["position_ids"][indices] = range_indices(np.zeros_like(lengths), lengths + 2)
    else:
        result["attention_mask"] = (ids != table.pad).astype(np.int32)
    return {name: array.reshape(count, width) for name, array in result.items()}


# --- packing ---


def pack(lengths: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Puts examples of the given lengths (M,) into rows of `width` tokens, so that little of a batch is padding.

    Best fit, longest first: every example goes into the fullest row in which it still fits. Krell et al. 2021,
    "Efficient sequence packing without cross-contamination", find that almost no padding remains.

    Returns the row of each example, its offset there, both (M,) int64, and the number of rows. Every length must lie
    between 1 and `width`. Equal lengths are placed in the order they come in.
    """
    rows, offsets = np.empty(len(lengths), np.int64), np.empty(len(lengths), np.int64)
    open_rows: list[list[int]] = [[] for _ in range(width + 1)]  # rows by the number of tokens that still fit
    free = 0  # bit r is set when a row with r free tokens is open: the tightest fit is the lowest set bit ≥ `length`
    count = 0
    for example in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[example])
        fitting = free >> length
        if fitting:
            space = length + (fitting & -fitting).bit_length() - 1
            row = open_rows[space].pop()
            if not open_rows[space]:
                free &= ~(1 << space)
        else:
            row, space = count, width
            count += 1
        rows[example], offsets[example] = row, width - space
        open_rows[space - length].append(row)
        free |= 1 << (space - length)
    return rows, offsets, count


def sequence_numbers(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """1, 2, 3 … for the examples of each row, left to right: (M,) int64."""
    order = np.lexsort((offsets, rows))
    ordered = rows[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows))) + 1
    return numbers
