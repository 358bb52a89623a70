"""The in-graph form: the same tokens inside `tf.data` and SavedModel, on the operations of TensorFlow Text.

TensorFlow Text's own BERT tokenizers differ from the published one on thousands of characters, so here they see only
what they treat as the published one does:

    safe text     ASCII and a few marks such as “ and —: lower-case the ASCII letters, then one fused operation that
                  cuts at blanks and punctuation and finds the longest tokens
    other text    is cut at blanks, and its safe chunks go the fast way; the rest is normalized here, code point by
                  code point, and only the search for the longest tokens is TensorFlow Text's

Source of the search: Song et al. 2021, "Fast WordPiece Tokenization".

Legend: B texts, C chunks, W words, n characters of all chunks.
"""

import sys
from functools import cache

import numpy as np
import tensorflow as tf

from bertlab.common.errors import ConfigError, MissingDependencyError
from bertlab.tokenizers.wordpiece import unicode
from bertlab.tokenizers.wordpiece.added import any_of
from bertlab.tokenizers.wordpiece.basic import lone_form
from bertlab.tokenizers.wordpiece.encoding import max_text_length
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, UNK, Vocabulary

# Characters for which nothing has to be normalized and on whose kind everyone agrees: ASCII without the control
# characters that are dropped; dashes, quotation marks, bullets and dots, which have been punctuation since Unicode 1.1.
SAFE_TEXT = "[\t\n\r -~\u2010-\u2027]*"
# Characters that are words of their own for everyone, as regular expressions: punctuation of `SAFE_TEXT` and of Chinese
# texts; and what BERT treats as Chinese characters.
_SINGLE_CHARACTER_WORDS = r"!-/:-@\[-`{-~\x{2010}-\x{2027}\x{3001}\x{3002}\x{FF01}\x{FF0C}\x{FF1F}"
_CJK = "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in unicode.CJK_RANGES)
_SIGMA, _FINAL_SIGMA = ord("Σ"), ord("ς")
_BYTES_PER_CHAR = 4  # at most, in UTF-8
# Properties of a code point, one bit each; the higher bits hold the combining class.
MARK, CASED, IGNORABLE = 1, 2, 4
_CLASS = 256
_BLOCK = 256
# A form is where it begins in the pool, times 16, plus its length; 0: the character itself.
_LENGTHS = 16
_CODE_POINTS = sys.maxunicode + 1


class GraphTokenizer(tf.Module):
    """A `WordPieceTokenizer` as TensorFlow operations: call it on a (B,) string tensor.

    Bytes that are not UTF-8 are ignored, as in google-research/bert.

    tokenizer: the tokenizer whose vocabulary and settings hold.
    special_tokens: True, and "[MASK]" in a text is the special token.
    Raises MissingDependencyError if TensorFlow Text is missing or does not fit the installed TensorFlow, ConfigError
    for a vocabulary with added tokens that are looked for in the normal form of a text.
    """

    def __init__(self, tokenizer, special_tokens: bool = False):
        super().__init__()
        self._tokenizer = tokenizer
        added = tokenizer.vocabulary.added
        if normalized := [token.text for token in added if token.normalized]:
            raise ConfigError(
                f"the vocabulary has the added token {normalized[0]!r}, which is looked for in normalized texts, and "
                "the in-graph tokenizer cannot do that: export with --onnx, which takes ids, and make them with this "
                "tokenizer"
            )
        self._whole = [*(SPECIAL_TOKENS if special_tokens else ()), *(token.text for token in added)]
        self._text = import_tensorflow_text()
        # A word with too many characters is replaced by one that is certainly too long for TensorFlow Text.
        max_bytes = _BYTES_PER_CHAR * tokenizer.max_chars_per_word
        self._overlong_word = "a" * (max_bytes + 1)
        with tf.init_scope():
            self._tables = code_point_tables(tokenizer.lowercase, tokenizer.basic.strip_accents)
            self._safe_tokenizer = self._fast_tokenizer(tokenizer.max_chars_per_word, no_pretokenization=False)
            self._word_tokenizer = self._fast_tokenizer(max_bytes, no_pretokenization=True)

    def _fast_tokenizer(self, max_bytes: int, no_pretokenization: bool):
        return self._text.FastWordpieceTokenizer(
            list(self._tokenizer.vocabulary.own.pieces),
            token_out_type=tf.int32,
            unknown_token=UNK,
            max_bytes_per_word=max_bytes,
            no_pretokenization=no_pretokenization,
        )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """(B,) texts → (B, None) int32 ids, without [CLS] and [SEP]."""
        return self._encode_with_whole(texts) if self._whole else self._by_safety(texts, self._encode_by_chunk)

    def with_offsets(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """(B,) texts → ids (B, None) int32 and the bytes, begin and end, that each token stands for, (B, None) int64.

        The tokens of a word with letters beyond `SAFE_TEXT` stand for the whole word. The texts must be valid UTF-8.
        Raises ConfigError for a vocabulary with added tokens.
        """
        if self._tokenizer.vocabulary.added:
            first = self._tokenizer.vocabulary.added[0].text
            raise ConfigError(
                f"the vocabulary has the added token {first!r}, whose place in a text the in-graph tokenizer does not "
                "tell: export with --onnx, and make the ids with this tokenizer"
            )
        texts = tf.strings.regex_replace(texts, r"\x00", "\x01")  # the cut below ends at a NUL; both are dropped
        border = f"[{_SINGLE_CHARACTER_WORDS}{_CJK if self._tokenizer.split_cjk else ''}]"
        words, word_begins, _ = self._text.regex_split_with_offsets(texts, rf"[\t\n\r\p{{Zs}}]|{border}", border)
        parts = words.flat_values
        safe = tf.strings.regex_full_match(parts, SAFE_TEXT)  # (W,)
        plain = tf.boolean_mask(parts, safe)
        plain = tf.strings.lower(plain) if self._tokenizer.lowercase else plain
        ids, begins, ends = self._safe_tokenizer.tokenize_with_offsets(plain)
        other = tf.boolean_mask(parts, ~safe)
        other_ids = self._encode_by_chunk(other)
        whole = tf.repeat(tf.strings.length(other, unit="BYTE"), other_ids.row_lengths())
        other_ends = other_ids.with_values(tf.cast(whole, tf.int64))
        ids = interleave(safe, ids, other_ids)
        before = tf.repeat(tf.cast(word_begins.flat_values, tf.int64), ids.row_lengths())
        begins = interleave(safe, tf.cast(begins, tf.int64), tf.zeros_like(other_ends))
        ends = interleave(safe, tf.cast(ends, tf.int64), other_ends)
        rows = words.row_splits
        moved = [offsets.with_values(offsets.flat_values + before) for offsets in (begins, ends)]
        return join_rows(ids, rows), *(join_rows(offsets, rows) for offsets in moved)

    def encode_packed(self, texts: tf.Tensor, texts_b: tf.Tensor | None = None, *, max_length: int) -> dict:
        """BERT's input for (B,) texts or pairs of texts, cut and padded to max_length.

        Returns input_ids, token_type_ids and attention_mask, each (B, max_length) int32, as
        `WordPieceTokenizer.encode_packed` does. Raises ConfigError if max_length is too small for the special tokens.
        """
        return pack_rows_in_graph(
            self._tokenizer.vocabulary, self(texts), None if texts_b is None else self(texts_b), max_length
        )

    def _encode_with_whole(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Splits the texts at tokens that are read as a whole and encodes the text between them."""
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")
        pattern = any_of(self._whole)
        parts, _, _ = self._text.regex_split_with_offsets(texts, pattern, pattern)
        which = parts.flat_values[:, None] == tf.constant(self._whole)  # (parts, tokens)
        is_whole = tf.reduce_any(which, axis=1)  # (parts,)
        whole_ids = tf.constant([self._tokenizer.vocabulary.index(token) for token in self._whole], tf.int32)
        ids = tf.boolean_mask(tf.gather(whole_ids, tf.argmax(tf.cast(which, tf.int32), axis=1)), is_whole)
        ids = tf.RaggedTensor.from_uniform_row_length(ids, 1)
        between = self._by_safety(tf.boolean_mask(parts.flat_values, ~is_whole), self._encode_by_chunk)
        return join_rows(interleave(is_whole, ids, between), parts.row_splits)

    def _by_safety(self, texts: tf.Tensor, encode_other) -> tf.RaggedTensor:
        """Safe strings take the fast way, others take `encode_other`."""
        safe = tf.strings.regex_full_match(texts, SAFE_TEXT)  # (B,)

        def mixed():
            other = encode_other(tf.boolean_mask(texts, ~safe))
            return interleave(safe, self._encode_safe(tf.boolean_mask(texts, safe)), other)

        return tf.cond(tf.reduce_all(safe), lambda: self._encode_safe(texts), mixed)

    def _encode_safe(self, texts: tf.Tensor) -> tf.RaggedTensor:
        if self._tokenizer.lowercase:
            texts = tf.strings.lower(texts)  # ASCII letters only
        return self._safe_tokenizer.tokenize(texts)

    def _encode_by_chunk(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Cuts texts at blanks and Chinese characters, because most chunks of a text with an é in it are safe."""
        if self._tokenizer.split_cjk:
            texts = tf.strings.regex_replace(texts, f"([{_CJK}])", r" \1 ")
        chunks = tf.strings.split(texts, " ")  # (B, None)
        return join_rows(self._by_safety(chunks.flat_values, self._encode_by_code_point), chunks.row_splits)

    def _encode_by_code_point(self, chunks: tf.Tensor) -> tf.RaggedTensor:
        codes = tf.strings.unicode_decode(chunks, "UTF-8", errors="ignore")  # (C, None)
        codes, rows = self._normalize(codes.flat_values, codes.value_rowids())
        normal = tf.RaggedTensor.from_value_rowids(codes, rows, nrows=tf.size(chunks, tf.int64))
        words = tf.strings.split(tf.strings.unicode_encode(normal, "UTF-8"))  # (C, None)
        too_long = tf.strings.length(words.flat_values, "UTF8_CHAR") > self._tokenizer.max_chars_per_word  # (W,)
        ids = self._word_tokenizer.tokenize(tf.where(too_long, self._overlong_word, words.flat_values))  # (W, None)
        return join_rows(ids, words.row_splits)

    # === The normal form; codes, rows: (n,) code points and the chunk that each belongs to ===

    def _normalize(self, codes: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The steps of `BasicTokenizer`, with spaces between words."""
        if self._tokenizer.lowercase:
            codes = self._final_sigmas(codes, rows)
        codes, sources = self._tables.expand(codes)
        rows = tf.gather(rows, sources)
        if self._tokenizer.basic.strip_accents:
            codes = self._canonical_order(codes, rows)
            kept = tf.where(~has(self._tables.properties(codes), MARK))[:, 0]
            codes, rows = tf.gather(codes, kept), tf.gather(rows, kept)
        return codes, rows

    def _final_sigmas(self, codes: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        """Σ at the end of a word becomes ς; every other Σ is left to the table, which makes it σ."""

        def replace():
            properties = self._tables.properties(codes)
            looked_at = tf.where(~has(properties, IGNORABLE))[:, 0]  # (k,) indices of the characters that count
            cased = has(tf.gather(properties, looked_at), CASED)  # (k,)
            row = tf.gather(rows, looked_at)  # (k,)
            same_row = row[1:] == row[:-1]  # (k - 1,)
            cased_before = tf.concat([[False], cased[:-1] & same_row], 0)  # (k,)
            cased_behind = tf.concat([cased[1:] & same_row, [False]], 0)  # (k,)
            final = cased_before & ~cased_behind & (tf.gather(codes, looked_at) == _SIGMA)
            indices = tf.boolean_mask(looked_at, final)[:, None]
            return tf.tensor_scatter_nd_update(codes, indices, tf.fill([tf.size(indices)], _FINAL_SIGMA))

        return tf.cond(tf.reduce_any(codes == _SIGMA), replace, lambda: codes)

    def _canonical_order(self, codes: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        """Sorts each run of combining characters by combining class.

        The marks are thrown away afterwards, so this matters only if there are combining characters of other kinds.
        """
        properties = self._tables.properties(codes)
        classes = properties // _CLASS  # (n,)

        def sort():
            begins_run = (classes == 0) | tf.concat([[True], rows[1:] != rows[:-1]], 0)  # (n,)
            runs = tf.cumsum(tf.cast(begins_run, tf.int64))  # (n,)
            return tf.gather(codes, tf.argsort(runs * 256 + tf.cast(classes, tf.int64), stable=True))

        return tf.cond(tf.reduce_any((classes > 0) & ~has(properties, MARK)), sort, lambda: codes)


def import_tensorflow_text():
    """The module `tensorflow_text`. Raises MissingDependencyError if it is missing or built for another TensorFlow."""
    release = ".".join(tf.__version__.split(".")[:2])
    try:
        import tensorflow_text
    except (ImportError, tf.errors.NotFoundError) as error:
        raise MissingDependencyError(
            f"the in-graph tokenizer needs TensorFlow Text built for TensorFlow {release} ({error}): "
            f'pip install "tensorflow-text=={release}.*"; encode and encode_batch work without it'
        ) from error
    return tensorflow_text


def interleave(mask: tf.Tensor, where_true: tf.RaggedTensor, where_false: tf.RaggedTensor) -> tf.RaggedTensor:
    """Row i is the next row of `where_true` if mask[i], else the next one of `where_false`."""
    is_true = tf.cast(mask, tf.int64)
    number_true = tf.cumsum(is_true, exclusive=True)
    number_false = where_true.nrows() + tf.cumsum(1 - is_true, exclusive=True)
    return tf.gather(tf.concat([where_true, where_false], 0), tf.where(mask, number_true, number_false))


def join_rows(ragged: tf.RaggedTensor, row_splits: tf.Tensor) -> tf.RaggedTensor:
    """Joins the rows from row_splits[i] to row_splits[i + 1] to the new row i."""
    return tf.RaggedTensor.from_row_splits(ragged.values, tf.gather(ragged.row_splits, row_splits), validate=False)


# === Rows of the model's input ===


def pack_rows_in_graph(
    vocabulary: Vocabulary, a: tf.RaggedTensor, b: tf.RaggedTensor | None, max_length: int
) -> dict[str, tf.Tensor]:
    """`encoding.pack_rows` on ragged tensors: cut and padded to max_length, T; a and b are (B, None) int32.

    Returns input_ids, token_type_ids and attention_mask, each (B, T) int32.
    """
    rows = a.nrows()
    cls, sep = tf.fill([rows, 1], vocabulary.cls_id), tf.fill([rows, 1], vocabulary.sep_id)
    if b is None:
        ids = tf.concat([cls, a[:, : max_text_length(max_length, specials=2)], sep], 1)  # (B, None)
        types = tf.zeros_like(ids)
    else:
        budget = max_text_length(max_length, specials=3)
        length_a, length_b = a.row_lengths(), b.row_lengths()  # (B,); cut as by `encoding.truncated_lengths`
        kept_b = tf.minimum(length_b, tf.maximum(tf.cast(budget // 2, tf.int64), budget - length_a))
        kept_a = tf.minimum(length_a, budget - kept_b)
        first = tf.concat([cls, _first_of_rows(a, kept_a), sep], 1)
        second = tf.concat([_first_of_rows(b, kept_b), sep], 1)
        ids = tf.concat([first, second], 1)
        types = tf.concat([tf.zeros_like(first), tf.ones_like(second)], 1)
    shape = [None, max_length]
    return {
        "input_ids": ids.to_tensor(vocabulary.pad_id, shape=shape),
        "token_type_ids": types.to_tensor(0, shape=shape),
        "attention_mask": tf.ones_like(ids).to_tensor(0, shape=shape),
    }


def _first_of_rows(ragged: tf.RaggedTensor, lengths: tf.Tensor) -> tf.RaggedTensor:
    """The first lengths[i] values of each row i."""
    kept = tf.ragged.range(ragged.row_starts(), ragged.row_starts() + lengths)
    return kept.with_values(tf.gather(ragged.values, kept.values))


# === Properties of characters ===


class CodePointTables:
    """`wordpiece.unicode` as arrays indexed by code point; code points are (n,) int32.

    lowercase, strip_accents: which of the two `expand` does.
    """

    def __init__(self, lowercase: bool, strip_accents: bool):
        forms, pool = np.zeros(_CODE_POINTS, np.int32), [0]
        special = (unicode.WHITESPACE, unicode.DROPPED, unicode.PUNCTUATION, unicode.LOWERCASE, unicode.decomposable())
        for char in sorted(set().union(*special)):
            if (form := lone_form(char, lowercase, strip_accents, split_cjk=False)) != char:
                forms[ord(char)] = len(pool) * _LENGTHS + len(form)
                pool += map(ord, form)
        self._forms, self._pool = BlockTable(forms), tf.constant(pool, tf.int32)
        properties = np.zeros(_CODE_POINTS, np.int32)
        ignored = unicode.CASE_IGNORABLE | unicode.DROPPED
        for bit, chars in ((MARK, unicode.NONSPACING_MARKS), (CASED, unicode.CASED), (IGNORABLE, ignored)):
            properties[[ord(char) for char in chars]] |= bit
        for char, number in unicode.COMBINING_CLASS.items():
            properties[ord(char)] |= number * _CLASS
        self.properties = BlockTable(properties)

    def expand(self, codes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Replaces each code point by its form, as `lone_form` has it.

        Returns the new code points (m,) and the index of the old one that each came from (m,).
        """
        packed = self._forms(codes)  # (n,)
        lengths = tf.where(packed == 0, 1, packed % _LENGTHS)  # (n,)
        sources = tf.repeat(tf.range(tf.size(codes)), lengths)  # (m,)
        within = tf.range(tf.size(sources)) - tf.gather(tf.cumsum(lengths, exclusive=True), sources)  # (m,)
        packed = tf.gather(packed, sources)  # (m,)
        from_pool = tf.gather(self._pool, packed // _LENGTHS + within)
        return tf.where(packed == 0, tf.gather(codes, sources), from_pool), sources


code_point_tables = cache(CodePointTables)  # filling the tables takes a second


class BlockTable:
    """An int32 array over all code points, stored as distinct blocks of 256 and a list with the position of each.

    Most of the 1,114,112 code points have nothing of interest: a few hundred kilobytes instead of megabytes.
    """

    def __init__(self, values: np.ndarray):
        blocks, block_of = np.unique(values.reshape(-1, _BLOCK), axis=0, return_inverse=True)
        self._values = tf.constant(blocks.ravel(), tf.int32)
        self._block_of = tf.constant(block_of.ravel(), tf.int32)

    def __call__(self, codes: tf.Tensor) -> tf.Tensor:
        block = tf.gather(self._block_of, codes // _BLOCK)
        return tf.gather(self._values, block * _BLOCK + codes % _BLOCK)


def has(properties: tf.Tensor, bits: int) -> tf.Tensor:
    """Whether any of these property bits is set, (n,) bool."""
    return (properties & bits) != 0
