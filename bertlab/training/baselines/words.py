"""Whole words as tokens: what a bag of words and a recurrent network read before there was WordPiece.

A vocabulary of whole words is one of WordPiece in which no token continues a word: any other word is [UNK].
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, Row, TaggingRow
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.encoding import Ragged


def word_tokenizer(
    texts: Iterable[str], min_count: int = 2, most_words: int = 30_000, lowercase: bool = True
) -> WordPieceTokenizer:
    """A tokenizer whose tokens are the frequent words of some texts, the most frequent one first.

    Example:
        >>> tokenizer = word_tokenizer(["The cat sat.", "The dog sat."])
        >>> tokenizer.tokenize("The cow sat.")
        ['the', '[UNK]', 'sat', '.']
    """
    basic = BasicTokenizer(lowercase)
    counts = Counter(word.text for text in texts for word in basic.words(text))
    words = [word for word, count in counts.most_common(most_words) if count >= min_count]
    return WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *words]), lowercase=lowercase)


def texts_of(rows: Sequence[Row]) -> Iterator[str]:
    """Every text of labelled rows without questions; the words of a tagged sentence are one text.

    Example:
        >>> from bertlab.data.tasks.rows import PairRow
        >>> list(texts_of([PairRow("one", "two", 0)]))
        ['one', 'two']
    """
    for row in rows:
        if isinstance(row, TaggingRow):
            yield " ".join(row.words)
        elif isinstance(row, PairRow):
            yield from (row.text_a, row.text_b)
        elif isinstance(row, MultipleChoiceRow):
            yield from (row.context, *row.choices)
        else:
            yield row.text


def inverse_document_frequencies(texts: Sequence[Ragged], vocab_size: int) -> np.ndarray:
    """ln((1 + N) / (1 + n)) + 1 for a token that n of the N texts contain. → (V,) float32.

    texts: the ids of some texts, in one or several `Ragged`. The two ones in the fraction are those of a text with
    every token, as in scikit-learn's `TfidfTransformer`.

    Example:
        >>> texts = Ragged(np.array([0, 1, 1], "int32"), np.array([0, 2, 3]))  # [0, 1] and [1]
        >>> inverse_document_frequencies([texts], 2).astype(float).round(3).tolist()
        [1.405, 1.0]
    """
    containing, number = np.zeros(vocab_size, np.int64), 0
    for part in texts:
        number_here = len(part.row_splits) - 1
        of_text = np.repeat(np.arange(number_here), np.diff(part.row_splits))
        once = np.unique(np.stack([of_text, part.values]), axis=1)[1]  # each token once in each text
        containing += np.bincount(once, minlength=vocab_size)
        number += number_here
    return (np.log((1 + number) / (1 + containing)) + 1).astype("float32")
