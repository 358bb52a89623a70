"""Attention and hidden states of a text, by token and by word.

Letters: L layers, A heads, T tokens, W words, H hidden size.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.tasks.features import encode_words, first_tokens
from bertlab.data.tasks.rows import TaggingRow
from bertlab.families import check_attends
from bertlab.tokenizers.wordpiece.encoding import text_column, text_inputs, with_specials


class TextReading(NamedTuple):
    """One row as the model read it, [CLS] and [SEP] included.

    attention[l, a, i, j]: how much token i attends to token j in head a of layer l + 1; each row sums to 1.
    states[l]: the output of layer l; states[0] are the embeddings.
    """

    ids: np.ndarray  # (T,) int32
    pieces: list[str]
    segments: np.ndarray  # (T,) int32: 0 for the first text, 1 for the second
    attention: np.ndarray  # (L, A, T, T) float32
    states: np.ndarray  # (L + 1, T, H) float32


class WordReading(NamedTuple):
    """One sentence as the model read it, word by word, without [CLS] and [SEP].

    attention: as `word_attention` makes it.   states: those of each word's first token (Devlin et al. 2019, section
    5.3).   tokens: the attention between its tokens, [CLS] and [SEP] included.
    """

    attention: np.ndarray  # (L, A, W, W) float32
    states: np.ndarray  # (L + 1, W, H) float32
    tokens: np.ndarray  # (L, A, T, T) float32


def read_text(encoder, tokenizer, text: str, text_b: str | None = None) -> TextReading:
    """Attention and hidden states of a text, or of a pair. [MASK] in a text is the special token.

    encoder: a `Backbone`.   tokenizer: its tokenizer.
    Raises DataError for a text without tokens or with more than the model has positions.

    Example:
        from bertlab import checkpoints
        from bertlab.analysis.readings import read_text

        encoder = checkpoints.load("bertlab-mini", "encoder")
        tokenizer = checkpoints.load_tokenizer("bertlab-mini")
        reading = read_text(encoder, tokenizer, "The dog barks.")
        print(reading.pieces, reading.attention.shape)
    """
    texts = [text] if text_b is None else [text, text_b]
    encoded = [tokenizer.encode(one, special_tokens=True) for one in texts]
    for one, ids in zip(texts, encoded, strict=True):
        if not len(ids):
            raise DataError(f"expected a text with at least one token, got {one!r}; write a text")
    row = tokenizer.pack(*encoded)
    ids = np.asarray(row["input_ids"], "int32")  # (T,)
    _check_length(ids, encoder.config.max_tokens, "the text")
    segments = np.asarray(row["token_type_ids"], "int32")
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": segments}
    attention, states = _outputs(encoder, {name: values[None] for name, values in inputs.items()})
    pieces = [tokenizer.vocabulary.pieces[i] for i in ids]
    return TextReading(ids, pieces, segments, attention[:, 0], states[:, 0])


def attention_maps(encoder, tokenizer, text: str) -> tuple[list[str], np.ndarray]:
    """The tokens of a text and each head's weights, (L, A, T, T). Raises what `read_text` does, and ConfigError for a
    model without attention."""
    check_attends(encoder.config)
    reading = read_text(encoder, tokenizer, text)
    return reading.pieces, reading.attention


def word_attention(attention: np.ndarray, words: Sequence[int]) -> np.ndarray:
    """Attention between words from attention between tokens (Clark et al. 2019, section 4.1).

    Attention to a word is the sum over its tokens, attention from a word the mean over its tokens: the rows of words
    still sum to 1 if every token belongs to a word.

    Args:
        attention: (…, T, T).   words: (T,) the number of each token's word, from 0; −1 leaves a token out, such as
            [CLS] and [SEP].

    Returns (…, W, W). A word without tokens has zeros.

    Example:
        >>> attention = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.75, 0.25, 0.0]])
        >>> word_attention(attention, [0, 1, 1]).tolist()  # the second and third token are one word
        [[0.5, 0.5], [0.5, 0.5]]
    """
    words = np.asarray(words)
    belongs = words[:, None] == np.arange(words.max(initial=-1) + 1)  # (T, W)
    to_words = attention @ belongs.astype(attention.dtype)  # (…, T, W)
    means = belongs / np.maximum(belongs.sum(axis=0), 1)  # (T, W)
    return means.T.astype(attention.dtype) @ to_words  # (…, W, W)


def read_words(
    encoder, tokenizer, sentences: Sequence[Sequence[str]], batch_size: int = 32, names: Sequence[str] | None = None
) -> Iterator[WordReading]:
    """Attention and hidden states of sentences that are already split into words, one `WordReading` for each, in order.

    Args:
        encoder: a `Backbone`.   tokenizer: its tokenizer.
        sentences: lists of words.   names: of the sentences, for messages (default: sentence 1, sentence 2 …).

    Raises DataError, before anything is computed, for a sentence without tokens or with more than the model has
    positions.
    """
    names = names or [f"sentence {number}" for number in range(1, len(sentences) + 1)]
    rows = word_rows(tokenizer, sentences)
    for name, (ids, _) in zip(names, rows, strict=True):
        if len(ids) == 2:
            raise DataError(f"{name}: expected at least one token, got none; write a sentence")
        _check_length(ids, encoder.config.max_tokens, name)
    return _readings(encoder, tokenizer.vocabulary, rows, batch_size)


def word_rows(tokenizer, sentences: Sequence[Sequence[str]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The tokens of each sentence with [CLS] and [SEP], (T,) int32, and the number of tokens of each word, (W,)."""
    tokens, counts = encode_words([TaggingRow(list(words)) for words in sentences], tokenizer)
    return [
        (np.array(with_specials(tokenizer.vocabulary, tokens.row(i)), "int32"), counts.row(i))
        for i in range(len(sentences))
    ]


def _readings(encoder, vocabulary, rows, batch_size: int) -> Iterator[WordReading]:
    begin = text_column(vocabulary)  # the column of a text's first token
    for start in range(0, len(rows), batch_size):
        chosen = rows[start : start + batch_size]
        inputs = text_inputs(vocabulary, [ids for ids, _ in chosen], encoder.config.pad_token_id)
        attention, states = _outputs(encoder, inputs)
        for row, (its_ids, counts) in enumerate(chosen):
            count = len(its_ids)
            of_tokens = attention[:, row, :, :count, :count]  # (L, A, T, T)
            numbers = np.repeat(np.arange(len(counts)), counts)
            words = np.concatenate([[-1] * begin, numbers, [-1] * (2 - begin)]).astype(int)  # (T,)
            of_words = np.zeros((*of_tokens.shape[:-2], len(counts), len(counts)), "float32")
            seen = words.max() + 1  # the last words may have no tokens
            of_words[..., :seen, :seen] = word_attention(of_tokens, words)
            first = first_tokens(counts) + begin  # of a word without tokens: any other token
            yield WordReading(of_words, states[:, row, first] * (counts > 0)[:, None], of_tokens)


def _outputs(encoder, inputs: dict) -> tuple[np.ndarray, np.ndarray]:
    """Attention (L, B, A, T, T), without attention (0, B, 1, T, T), and states (L + 1, B, T, H), float32."""
    from keras import ops

    outputs = encoder(inputs, training=False, return_all=True)
    rows, tokens = inputs["input_ids"].shape
    none = np.zeros((0, rows, 1, tokens, tokens), "float32")  # of a model without attention
    return tuple(
        np.stack([ops.convert_to_numpy(ops.cast(one, "float32")) for one in outputs[name]]) if outputs[name] else none
        for name in ("attentions", "hidden_states")
    )


def _check_length(ids, longest: int, name: str) -> None:
    if len(ids) > longest:
        raise DataError(f"{name}: expected at most {longest} tokens, with [CLS] and [SEP], got {len(ids)}: shorten it")
