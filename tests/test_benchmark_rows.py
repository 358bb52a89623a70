"""The rows on which the benchmark of pre-training compares packing with padding."""

import numpy as np


def test_packed_and_padded_rows_of_documents_are_the_same_work_but_for_the_padding(tmp_path):
    from benchmarks.pretrain import rows_of_documents

    words = "the a cat dog bird sees hears likes small big red old river house tree near on under".split()
    rng = np.random.default_rng(0)
    paragraphs = [" ".join(rng.choice(words, rng.integers(5, 30))) + "." for _ in range(60)]
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(paragraphs), encoding="utf-8")
    packed, pieces = rows_of_documents(str(text), 64, True, 10)
    padded, same = rows_of_documents(str(text), 64, False, 10)
    assert pieces == same > len(words)
    assert (packed["sequence_ids"] > 0).mean() > (padded["attention_mask"] > 0).mean() + 0.1
    for rows in (packed, padded):
        assert len(rows["next_sentence_labels"]) == len(rows["input_ids"]) == 10
