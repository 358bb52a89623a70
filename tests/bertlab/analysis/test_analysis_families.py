"""Every family of models can be looked into, with its own layers, masks and heads; its rows are those of `encode`."""

import keras
import numpy as np
import pytest
from tiny_model import SIZES, tiny_tokenizer

from bertlab import families
from bertlab.analysis.bias import associations
from bertlab.analysis.diagnostics import blank_probabilities
from bertlab.analysis.gating import gated_heads, without_each_head
from bertlab.analysis.inspection import inspect_model, write_page
from bertlab.analysis.lens import lens_probabilities
from bertlab.analysis.patching import logit_difference, patch_each
from bertlab.analysis.pseudo_likelihood import masked_copies, pseudo_log_likelihood, token_rows
from bertlab.analysis.readings import read_text, read_words, word_rows
from bertlab.analysis.senses import SenseExample, sense_vectors
from bertlab.data.treebanks import ParsedSentence
from bertlab.models import PreTrainingModel

DIFFERENT = "the [MASK] robin", "a [MASK] robin"

ATTENDING = [name for name in families.model_types() if not families.family(name).both_directions]


@pytest.fixture(scope="module", params=ATTENDING)
def model(request):
    keras.utils.set_random_seed(3)
    config = families.family(request.param).config
    changes = {"pad_token_id": 0} if config().pad_token_id >= SIZES["vocab_size"] else {}
    return PreTrainingModel(config(**SIZES, initializer_range=0.5, **changes))


def last_states(model, reading):
    inputs = {"input_ids": reading.ids[None], "token_type_ids": reading.segments[None]}
    return np.array(model.backbone(inputs)["sequence_output"])


def test_the_lens_of_the_last_layer_is_the_prediction(model):
    reading = read_text(model.backbone, tiny_tokenizer(), DIFFERENT[0])
    assert reading.attention.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert np.allclose(reading.states[-1], last_states(model, reading)[0], atol=1e-5)
    logits = model({"input_ids": reading.ids[None], "token_type_ids": reading.segments[None]})["masked_lm_logits"]
    expected = np.array(keras.ops.softmax(logits))[0]
    assert np.allclose(lens_probabilities(model, reading.states)[-1], expected, atol=1e-4)


def test_the_first_layers_only_difference_and_the_last_ones_blank_have_the_whole_effect(model):
    tokenizer = tiny_tokenizer()
    metric = logit_difference(model, tokenizer, 2, "is", "are")
    result = patch_each(model.backbone, tokenizer, *DIFFERENT, metric)
    assert result.fractions[0] == pytest.approx([0, 1, 0, 0, 0], abs=0.01)
    assert result.fractions[-1] == pytest.approx([0, 0, 1, 0, 0], abs=0.01)
    assert patch_each(model.backbone, tokenizer, *DIFFERENT, metric).values == pytest.approx(result.values)


def test_heads_are_removed_and_put_back(model):
    reading = read_text(model.backbone, tiny_tokenizer(), DIFFERENT[0])
    before = last_states(model, reading)
    changes = without_each_head(model.backbone, lambda: np.abs(last_states(model, reading) - before).max())
    assert (changes > 1e-3).all() and np.array_equal(last_states(model, reading), before)
    attention = model.backbone.encoder.layers_[0].attention
    with gated_heads(model.backbone, np.zeros(changes.shape)):
        assert not np.array(attention.out.kernel).any()


def test_the_page_has_every_part(model):
    inspection = inspect_model(model, tiny_tokenizer(), DIFFERENT)
    assert inspection["notes"] == [] and len(inspection["heads"]) == 4
    assert [len(text["lens"]) for text in inspection["texts"]] == [3, 3]


# === Rows, also where [CLS] is the last token ===

TEXTS = ["a robin is a bird .", "the old bank", "a bird"]
MORE = ["is the old bird", "the bird is old", "is a bank the bank", "he is she is", "bird bank robin", "birds banks"]


def tokenizer_of(name):
    if name == "xlnet":
        pytest.importorskip("sentencepiece")
        from bertlab.tokenizers.sentence_pieces import learn

        return learn((TEXTS + MORE) * 4, 28, cls_last=True)
    from bertlab.tokenizers.bpe.learner import learn
    from bertlab.tokenizers.bpe.tokenizer import BytePairTokenizer

    return BytePairTokenizer(learn((TEXTS + MORE) * 4, 300))


@pytest.fixture(scope="module", params=["xlnet", "roberta"])
def both(request):
    """A tiny model and its tokenizer."""
    tokenizer = tokenizer_of(request.param)
    keras.utils.set_random_seed(3)
    config = families.family(request.param).config(
        vocab_size=len(tokenizer.vocabulary), hidden_size=16, num_layers=2, num_heads=2, intermediate_size=24,
        max_position_embeddings=24, initializer_range=0.5, pad_token_id=tokenizer.vocabulary.pad_id,
    )  # fmt: skip
    return PreTrainingModel(config), tokenizer


def encoded(tokenizer, text):
    return tokenizer.pack(tokenizer.encode(text, special_tokens=True))


def probabilities(model, row, place):
    """The probability of every token at one position of a row that `encoded` made, (V,)."""
    inputs = {name: values[None] for name, values in row.items()} | {"masked_lm_positions": np.array([[place]])}
    return np.array(keras.ops.softmax(model(inputs)["masked_lm_logits"][0, 0]))


def test_the_rows_are_those_of_encode(both):
    _, tokenizer = both
    for text, row in zip(TEXTS, token_rows(tokenizer, TEXTS, 24), strict=True):
        ids = encoded(tokenizer, text)["input_ids"].tolist()
        assert row.ids == ids and ids[-1 if tokenizer.vocabulary.cls_last else 0] == tokenizer.vocabulary.cls_id
        assert [word < 0 for word in row.words] == [token in tokenizer.vocabulary.special_ids for token in ids]
    for masking in ("token", "word-left-to-right"):
        rows = token_rows(tokenizer, TEXTS, 24)
        targets = [one.targets for one in masked_copies(rows, tokenizer.vocabulary, 0, masking, 4)]
        assert not set(np.concatenate(targets).tolist()) & set(tokenizer.vocabulary.special_ids)


def test_a_score_is_the_sum_over_the_tokens_of_the_text(both):
    model, tokenizer = both
    expected = []
    for text in TEXTS:
        row, total = encoded(tokenizer, text), 0.0
        for place, token in enumerate(row["input_ids"].tolist()):
            if token not in tokenizer.vocabulary.special_ids:
                masked = row["input_ids"].copy()
                masked[place] = tokenizer.vocabulary.mask_id
                total += np.log(probabilities(model, row | {"input_ids": masked}, place)[token])
        expected.append(total)
    np.testing.assert_allclose(pseudo_log_likelihood(model, tokenizer, TEXTS), expected, rtol=1e-4)


def test_blanks_and_biases_are_read_in_the_same_rows(both):
    model, tokenizer = both
    texts = ["a [MASK] is", "the [MASK]"]
    expected = []
    for text in texts:
        row = encoded(tokenizer, text)
        expected.append(probabilities(model, row, row["input_ids"].tolist().index(tokenizer.vocabulary.mask_id)))
    np.testing.assert_allclose(blank_probabilities(model, tokenizer, texts), expected, atol=1e-5)
    pair = ("bird", "is")
    (one,) = associations(model, tokenizer, "is {target} bank {attribute}", pair, ["the bird"])
    row = encoded(tokenizer, "is [MASK] bank the bird")
    likely = probabilities(model, row, row["input_ids"].tolist().index(tokenizer.vocabulary.mask_id))
    ids = [int(tokenizer.encode(tokenizer.word_prefix + piece)[0]) for piece in pair]
    np.testing.assert_allclose(one.probabilities, likely[ids], atol=1e-5)


def test_words_have_the_states_of_their_first_tokens(both):
    model, tokenizer = both
    sentences = [text.split() for text in TEXTS]
    rows = word_rows(tokenizer, sentences)
    for reading, text, (ids, counts) in zip(read_words(model.backbone, tokenizer, sentences), TEXTS, rows, strict=True):
        whole = read_text(model.backbone, tokenizer, text)
        assert whole.ids.tolist() == ids.tolist()
        begin = 0 if tokenizer.vocabulary.cls_last else 1
        first = np.cumsum(counts) - counts + begin
        np.testing.assert_allclose(reading.states, whole.states[:, first], atol=1e-4)
        np.testing.assert_allclose(reading.tokens, whole.attention, atol=1e-5)


def test_a_marked_first_word_has_the_states_of_its_tokens(both):
    model, tokenizer = both
    text = "robin is the bird"
    vectors = sense_vectors(model.backbone, tokenizer, [SenseExample.marked("x", f"*robin*{text[5:]}")])
    begin = 0 if tokenizer.vocabulary.cls_last else 1
    pieces = [tokenizer.vocabulary.pieces[i] for i in tokenizer.encode("robin")]
    columns = [i for i, piece in enumerate(pieces, begin) if piece != "▁"]  # a space alone does not belong to the word
    states = read_text(model.backbone, tokenizer, text).states
    np.testing.assert_allclose(vectors[:, 0], states[:, columns].mean(axis=1), atol=1e-5)


def test_the_page_shows_the_attention_to_cls_at_its_position(both, tmp_path):
    model, tokenizer = both
    words = tuple(TEXTS[0].split())
    rest = len(words) - 1
    sentence = ParsedSentence(words, ("X",) * len(words), (-1, *[0] * rest), ("root", *["det"] * rest))
    reading = read_text(model.backbone, tokenizer, TEXTS[0])
    cls = reading.ids.tolist().index(tokenizer.vocabulary.cls_id)
    separator = reading.ids.tolist().index(tokenizer.vocabulary.sep_id)
    for treebank in ([], [sentence]):
        page = inspect_model(model, tokenizer, [TEXTS[0]], treebank=treebank)
        assert page["heads"][0]["cls"] == pytest.approx(reading.attention[0, 0, :, cls].mean(), abs=1e-5)
        assert page["heads"][0]["separator"] == pytest.approx(reading.attention[0, 0, :, separator].mean(), abs=1e-5)
    write_page(tmp_path / "page.html", page)
    first, second = (tokenizer.vocabulary.pieces[page_id] for page_id in (reading.ids[cls], reading.ids[separator]))
    assert page["specials"] == [first, second]
    assert first.replace("<", "&lt;").replace(">", "&gt;") in (tmp_path / "page.html").read_text(encoding="utf-8")
