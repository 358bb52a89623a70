"""What the benchmarks of pre-training compute: rows packed and padded, and the products of a step."""

import numpy as np
import pytest


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


@pytest.mark.parametrize("layers, predictions", [(1, 5), (3, 5), (2, 32)])
def test_the_products_that_are_timed_alone_are_those_of_a_step(layers, predictions):
    from benchmarks.products import passes_of, products_of
    from bertlab.config import BertConfig
    from bertlab.training.devices.utilisation import training_flops

    config = BertConfig.named("tiny", num_layers=layers, vocab_size=100)
    products = products_of(config, 4, 32, predictions)
    assert 3 * sum(product.count * product.flops for product in products) == training_flops(config, 4, 32, predictions)
    for product in products:
        operands = {}
        for name, (left, right, meet) in passes_of(product).items():
            result = np.einsum(meet, np.empty(left), np.empty(right))
            operands[name] = left, right, result.shape
        inputs, weights, outputs = operands["forward"]
        assert operands["input's gradient"] == (outputs, weights, inputs)
        assert operands["weight's gradient"] == (inputs, outputs, weights)
