"""A multi-label folder of transformers gives transformers' probabilities."""

import pytest
from finetuning_case import CONFIG, TOKENIZER

pytestmark = pytest.mark.peers

LABELS = ["joy", "fear", "surprise"]


def test_a_multi_label_folder_is_predicted_label_by_label(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from bertlab.predict import Predictor

    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=CONFIG.vocab_size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32, problem_type="multi_label_classification", id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )  # fmt: skip
    model = transformers.BertForSequenceClassification(config).eval()
    torch.nn.init.normal_(model.classifier.weight, std=2.0)  # far from one half
    model.save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("".join(piece + "\n" for piece in TOKENIZER.vocabulary.pieces))
    vocabulary = TOKENIZER.vocabulary
    ids = [vocabulary.cls_id, *TOKENIZER.encode("the film was good"), vocabulary.sep_id]
    with torch.no_grad():
        chances = torch.sigmoid(model(torch.tensor([ids])).logits)[0].tolist()
    (predicted,) = Predictor.load(tmp_path)(["the film was good"])
    assert predicted.probabilities == pytest.approx(dict(zip(LABELS, chances)), abs=1e-5)
    assert set(predicted.labels) == {label for label, chance in zip(LABELS, chances) if chance > 0.5}
