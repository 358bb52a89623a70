"""The learner beside Hugging Face's trainer, which ranks by frequency, on the text of Python's own help pages."""

from pydoc_data.topics import topics

import numpy as np
import pytest

from bertlab.tokenizers.wordpiece.learner import Merger, count_words, join, learn_from_counts, learn_pieces
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary
from bertlab.tokenizers.wordpiece.vocabulary_report import measure

pytestmark = pytest.mark.peers
SIZE = 2000


@pytest.fixture(scope="module")
def prose():
    return "".join(topics[name] for name in sorted(topics))


@pytest.fixture(scope="module")
def words(prose):
    return count_words([prose], progress=False)


@pytest.fixture(scope="module")
def hugging_face(prose):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(
        [prose], vocab_size=SIZE, special_tokens=list(SPECIAL_TOKENS), min_frequency=2, show_progress=False
    )
    return Vocabulary(sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get))


def test_every_token_of_hugging_faces_trainer_is_a_best_pair_by_our_counts_as_well(words, hugging_face):
    """The two vocabularies differ only where pairs tie: in "glob", g ##l, ##l ##o and ##o ##b are equally frequent,
    and the trainer goes by the order of its ids. So we follow its choices and ask that each is one of our best."""
    alphabet = learn_pieces(words, SIZE, progress=False).alphabet
    merger = Merger(words, list(alphabet), "frequency")
    learned = [piece for piece in hugging_face.pieces[len(SPECIAL_TOKENS) :] if piece not in alphabet]
    assert len(learned) > 1800
    for piece in learned:
        while piece not in merger.pieces:
            best = np.flatnonzero(np.array(merger._count) == merger.highest_count())
            results = {join(*merger.pieces_of(pair)): pair for pair in best}
            known = [pair for text, pair in results.items() if text in merger.pieces]  # adds no piece: not in its list
            assert piece in results or known, piece
            merger.merge(results[piece] if piece in results else known[0])


@pytest.mark.parametrize("score", ["frequency", "wordpiece"])
def test_fertility_is_that_of_hugging_faces_vocabulary(words, hugging_face, score):
    ours = measure(learn_from_counts(words, SIZE, score=score, progress=False), words)
    theirs = measure(hugging_face, words)
    assert ours.fertility == pytest.approx(theirs.fertility, rel=0.03)
    assert ours.unknown == theirs.unknown == 0
