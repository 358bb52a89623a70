"""The published ELMo in PyTorch, from the description of its files, beside what we read from a file of that layout.

AllenNLP itself cannot be installed beside a present-day PyTorch. Described in: allennlp/modules/elmo.py, elmo_lstm.py,
lstm_cell_with_projection.py and allennlp/data/token_indexers/elmo_indexer.py of AllenNLP 2.10.
"""

import numpy as np
import pytest
from published_language_model import OPTIONS, arrays, write

from bertlab import checkpoints
from bertlab.analysis.vectors import encode_texts

torch = pytest.importorskip("torch")
functional = pytest.importorskip("torch.nn.functional")
WORDS = ["The", "cats", "sat", "on", "naïve", "mats", ".", "incomprehensibilities"]
TEXTS = ["The cats sat on naïve mats .", "incomprehensibilities .", "The"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("published") / "model", WORDS, prefix="small_")


def characters(word: str) -> list[int]:
    """Bytes and signs, one higher than in the file, since 0 is for padding of sentences; <S> and </S> are one sign."""
    longest = OPTIONS["char_cnn"]["max_characters_per_token"]
    inner = {"<S>": [256], "</S>": [257]}.get(word) or list(word.encode("utf-8"))[: longest - 2]
    row = [258, *inner, 259]
    return [1 + sign for sign in row + [260] * (longest - len(row))]


def token_vectors(words: list[str], weights) -> torch.Tensor:
    """(T, 4): 1-d convolutions over characters, maximum, ReLU, two highway layers, projection."""
    table = torch.cat([torch.zeros(1, 3), weights["char_embed"]])
    embedded = table[torch.tensor([characters(word) for word in words])].transpose(1, 2)  # (T, E, C)
    found = []
    for i in range(3):
        kernel = weights[f"CNN/W_cnn_{i}"][0].permute(2, 1, 0)  # (filters, E, width)
        convolved = functional.conv1d(embedded, kernel, weights[f"CNN/b_cnn_{i}"])
        found.append(functional.relu(convolved.max(dim=-1).values))
    x = torch.cat(found, dim=-1)
    for i in range(2):
        carry = torch.sigmoid(x @ weights[f"CNN_high_{i}/W_carry"] + weights[f"CNN_high_{i}/b_carry"])
        transformed = functional.relu(x @ weights[f"CNN_high_{i}/W_transform"] + weights[f"CNN_high_{i}/b_transform"])
        x = carry * transformed + (1 - carry) * x
    return x @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]


def direction(x: torch.Tensor, weights, name: str) -> torch.Tensor:
    """One LSTM over (T, 4), as TensorFlow's LSTMCell: gates i, j, f, o, 1 added to f, both clips."""
    lstm, h, c, outputs = OPTIONS["lstm"], torch.zeros(4), torch.zeros(6), []
    for token in x:
        i, j, f, o = (torch.cat([token, h]) @ weights[f"{name}/W_0"] + weights[f"{name}/B"]).chunk(4)
        c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(j)
        c = c.clamp(-lstm["cell_clip"], lstm["cell_clip"])
        h = (torch.sigmoid(o) * torch.tanh(c)) @ weights[f"{name}/W_P_0"]
        h = h.clamp(-lstm["proj_clip"], lstm["proj_clip"])
        outputs.append(h)
    return torch.stack(outputs)


def all_layers(text: str) -> list[np.ndarray]:
    """The vectors of <S>, the words and </S> at every layer: three arrays (T, 8)."""
    weights = {name: torch.tensor(array) for name, array in arrays().items()}
    x = token_vectors(["<S>", *text.split(), "</S>"], weights)
    streams, layers = [x, x.flip(0)], [torch.cat([x, x], dim=-1)]
    for layer in range(2):
        for number in range(2):
            y = direction(streams[number], weights, f"RNN_{number}/RNN/MultiRNNCell/Cell{layer}/LSTMCell")
            streams[number] = y + streams[number] if layer else y
        layers.append(torch.cat([streams[0], streams[1].flip(0)], dim=-1))
    return [layer.numpy() for layer in layers]


def test_every_layer_of_every_word_is_that_of_the_published_computation(folder):
    encoder, tokenizer = checkpoints.load(folder), checkpoints.load_tokenizer(folder)
    assert not encoder.load_report.missing
    expected = [all_layers(text) for text in TEXTS]
    for layer in range(3):
        found = encode_texts(encoder, tokenizer, TEXTS, layer=layer, pooling="none")
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other[layer], rtol=1e-5, atol=1e-6)
    assert np.abs(expected[0][1]).max() == pytest.approx(0.1)  # the limit of the projection was reached
