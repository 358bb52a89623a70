"""Folders of transformers' multi-label and next-sentence models give transformers' probabilities."""

import pytest
from finetuning_case import CONFIG, TOKENIZER

pytestmark = pytest.mark.peers

LABELS = ["joy", "fear", "surprise"]


def config_of(**more):
    import transformers

    return transformers.BertConfig(
        vocab_size=CONFIG.vocab_size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32, **more,
    )  # fmt: skip


def saved(model, folder):
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in TOKENIZER.vocabulary.pieces))


def test_a_next_sentence_model_is_a_classifier_of_pairs(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from bertlab.predict import Predictor

    torch.manual_seed(1)
    model = transformers.BertForNextSentencePrediction(config_of(hidden_act="swish")).eval()
    torch.nn.init.normal_(model.cls.seq_relationship.weight, std=2.0)
    saved(model, tmp_path)
    vocabulary = TOKENIZER.vocabulary
    first, second = TOKENIZER.encode("the film was good"), TOKENIZER.encode("it was in paris")
    ids = [vocabulary.cls_id, *first, vocabulary.sep_id, *second, vocabulary.sep_id]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    with torch.no_grad():
        logits = model(torch.tensor([ids]), token_type_ids=torch.tensor([segments])).logits
    expected = dict(zip(("is next", "is not next"), torch.softmax(logits, -1)[0].tolist()))
    (predicted,) = Predictor.load(tmp_path)([("the film was good", "it was in paris")])
    assert predicted.probabilities == pytest.approx(expected, abs=1e-5)


def test_a_multi_label_folder_is_predicted_label_by_label(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from bertlab.predict import Predictor

    torch.manual_seed(1)
    config = config_of(
        problem_type="multi_label_classification", id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config).eval()
    torch.nn.init.normal_(model.classifier.weight, std=2.0)  # far from one half
    saved(model, tmp_path)
    vocabulary = TOKENIZER.vocabulary
    ids = [vocabulary.cls_id, *TOKENIZER.encode("the film was good"), vocabulary.sep_id]
    with torch.no_grad():
        chances = torch.sigmoid(model(torch.tensor([ids])).logits)[0].tolist()
    (predicted,) = Predictor.load(tmp_path)(["the film was good"])
    assert predicted.probabilities == pytest.approx(dict(zip(LABELS, chances)), abs=1e-5)
    assert set(predicted.labels) == {label for label, chance in zip(LABELS, chances) if chance > 0.5}
