"""Pseudo-log-likelihood against the published computation on transformers' model, with transformers' word numbers.

Salazar et al. 2020: a batch with one mask per row, the log-softmax of the whole output, the diagonal of it added up.
Kauf and Ivanova 2023: the same, with the later tokens of the same word masked too.
"""

import pytest

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers

from bertlab import checkpoints  # noqa: E402
from bertlab.analysis.pseudo_likelihood import pseudo_log_likelihood  # noqa: E402

TEXTS = [
    "The dogs bark.",
    "The dogs barks.",
    "Nobody has ever seen such extraordinarily complicated bookkeeping, she said.",
    "Quetzalcoatlus flew.",
    "It wasn't unbelievable; it was Tuesday!",
]


def published(model, tokenizer, text: str, left_to_right_words: bool) -> float:
    encoded = tokenizer(text, return_tensors="pt")
    ids, words = encoded["input_ids"][0], encoded.word_ids()
    places = torch.arange(1, len(ids) - 1)
    rows = ids.repeat(len(places), 1)
    for row, place in enumerate(places.tolist()):
        rows[row, place] = tokenizer.mask_token_id
        for later in range(place + 1, len(ids) - 1):
            if left_to_right_words and words[later] == words[place]:
                rows[row, later] = tokenizer.mask_token_id
    with torch.no_grad():
        logs = torch.log_softmax(model(rows).logits.double(), dim=-1)
    return float(logs[torch.arange(len(places)), places, ids[places]].sum())


@pytest.mark.parametrize("masking", ["token", "word-left-to-right"])
def test_scores_equal_the_published_computation(masking):
    folder = checkpoints.packaged("bertlab-mini")
    peer = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    peer_tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ours = pseudo_log_likelihood(
        checkpoints.load(folder, "pretraining"), checkpoints.load_tokenizer(folder), TEXTS, masking=masking
    )
    theirs = [published(peer, peer_tokenizer, text, masking != "token") for text in TEXTS]
    assert ours == pytest.approx(theirs, abs=2e-3)
