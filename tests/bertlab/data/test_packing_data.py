"""Several examples in one row: nothing overlaps, nothing is lost, and the model cannot tell that it is packed."""

import numpy as np
import pytest
from example_text import PIECES, SMALL, make_documents, make_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.data.pretraining.examples import make_examples, pack, sequence_numbers


@given(width=st.integers(1, 60), data=st.data())
@settings(deadline=None)
def test_packed_examples_never_overlap_and_fill_rows_from_the_left(width, data):
    lengths = np.array(data.draw(st.lists(st.integers(1, width), max_size=60)), np.int64)
    rows, offsets, count = pack(lengths, width)
    filled = np.zeros((count, width), int)
    for row, offset, length in zip(rows, offsets, lengths):
        assert offset + length <= width
        filled[row, offset : offset + length] += 1
    assert filled.max(initial=0) <= 1
    assert (np.diff(filled, axis=1) <= 0).all()
    assert (filled.sum(axis=1) > 0).all()
    numbers = sequence_numbers(rows, offsets)
    for row in range(count):
        here = rows == row
        assert sorted(numbers[here]) == list(range(1, here.sum() + 1))
        assert (np.argsort(numbers[here]) == np.argsort(offsets[here])).all()


def test_best_fit_leaves_little_padding_and_refuses_a_length_that_fits_no_row():
    lengths = np.random.default_rng(0).integers(5, 100, 2000)
    _, _, count = pack(lengths, 128)
    assert count * 128 < 1.03 * lengths.sum()
    with pytest.raises(ValueError, match="between 1 and 8"):
        pack(np.array([3, 9]), 8)


def test_a_packed_row_gives_the_logits_of_its_parts_alone():
    from bertlab.config import BertConfig
    from bertlab.models import BertForPreTraining

    packed = SMALL.replace(sequence_length=96, next_sentence=False, dynamic_masking=True, duplicate_factor=1)
    rows = make_examples(make_documents(8, sentences=(1, 3)), make_tokenizer(), packed)
    row = int(rows["sequence_ids"].max(axis=1).argmax())
    assert rows["sequence_ids"][row].max() >= 3
    config = BertConfig(vocab_size=len(PIECES), hidden_size=32, num_layers=2, num_heads=2, intermediate_size=64,
                        max_position_embeddings=96)  # fmt: skip
    model = BertForPreTraining(config)
    together = np.asarray(model({name: values[row : row + 1] for name, values in rows.items()})["masked_lm_logits"])
    for number in range(1, rows["sequence_ids"][row].max() + 1):
        here = rows["sequence_ids"][row] == number
        assert rows["position_ids"][row][here].tolist() == list(range(here.sum()))
        alone = np.asarray(model({"input_ids": rows["input_ids"][row : row + 1, here]})["masked_lm_logits"])
        np.testing.assert_allclose(together[:, here], alone, atol=2e-5)
