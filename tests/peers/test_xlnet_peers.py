"""XLNet against transformers: the two streams, and rows read with a memory.

Hidden states, attention and gradients: test_parity.py; heads and folders: test_today_peers.py.
"""

import numpy as np
import pytest
from peer_outputs import ours_of, theirs_of

from bertlab import checkpoints, layers

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
IDS = np.array([[17, 40, 9, 12, 4, 3], [5, 5, 5, 8, 4, 3]])  # padding, 5, on the left
SEGMENTS = np.array([[0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 2]])
INPUTS = {"input_ids": IDS, "attention_mask": (IDS != 5) * 1, "token_type_ids": SEGMENTS}


def theirs(name):
    torch.manual_seed(0)
    config = transformers.XLNetConfig(vocab_size=61, d_model=16, n_layer=2, n_head=2, d_inner=24)
    model = getattr(transformers, name)(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def check(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))


def test_the_query_stream_predicts_what_theirs_predicts(tmp_path):
    reference = theirs("XLNetLMHeadModel")
    reference.save_pretrained(tmp_path)
    order = np.array([[2, 0, 1, 0, 3, 0], [0, 0, 0, 1, 0, 2]])
    places = np.array([[2, 0, 4], [3, 5, 3]])
    is_target = order > 0
    sees = (order[:, None, :] < order[:, :, None]) | (~is_target[:, None, :] & ~is_target[:, :, None])  # (B, T, T)
    mapping = np.eye(6, dtype="float32")[places]  # (B, P, T)
    target = {"perm_mask": 1.0 - sees.astype("float32"), "target_mapping": mapping}
    expected = theirs_of(reference, INPUTS | {"attention_mask": INPUTS["attention_mask"].astype("float32")} | target)
    model = checkpoints.load(tmp_path)
    check(ours_of(model, INPUTS | {"order_ids": order, "masked_lm_positions": places}), expected)


@pytest.mark.parametrize(("kept", "reused"), [(None, None), (4, None), (8, 4)])
def test_rows_read_with_the_memory_of_earlier_rows_are_theirs(kept, reused, tmp_path):
    """Three rows one after the other; of `reused` tokens of each row, the memory has the last `kept`."""
    reference = theirs("XLNetModel")
    reference.mem_len, reference.reuse_len = kept, reused or 0
    reference.save_pretrained(tmp_path)
    backbone = checkpoints.load(tmp_path)
    rng = np.random.default_rng(0)
    mems = memory = None
    for _ in range(3):
        inputs = {"input_ids": rng.integers(6, 61, (2, 6)), "token_type_ids": np.array([[0, 0, 0, 1, 1, 2], [0] * 6])}
        with torch.no_grad():
            asked = {name: torch.from_numpy(value) for name, value in inputs.items()}
            expected = reference(**asked, mems=mems, use_mems=True)
        found = backbone({name: x.astype("int32") for name, x in inputs.items()}, memory=memory, return_all=True)
        check(np.asarray(found["sequence_output"]), expected.last_hidden_state.numpy())
        mems = expected.mems
        memory = layers.next_memory(found["hidden_states"], memory, kept, reused)
        check(np.asarray(memory), np.stack([np.swapaxes(one.numpy(), 0, 1) for one in mems]))


def test_predictions_with_a_memory_are_theirs(tmp_path):
    reference = theirs("XLNetLMHeadModel")
    reference.save_pretrained(tmp_path)
    model = checkpoints.load(tmp_path)
    memory = np.random.default_rng(0).normal(size=(2, 2, 4, 16)).astype("float32")  # (L, B, M, H)
    places = np.array([[2, 4], [3, 5]])
    chosen = np.eye(6, dtype="float32")[places]  # (B, P, T)
    hidden = np.repeat(chosen.max(axis=1)[:, None], 6, axis=1)  # (B, T, T): the predicted tokens, from all tokens
    with torch.no_grad():
        expected = reference(
            **{name: torch.from_numpy(value) for name, value in INPUTS.items()},
            perm_mask=torch.from_numpy(hidden),
            target_mapping=torch.from_numpy(chosen),
            mems=[torch.from_numpy(np.swapaxes(one, 0, 1).copy()) for one in memory],
            use_mems=True,
        ).logits
    inputs = {name: value.astype("int32") for name, value in INPUTS.items()}
    found = model.backbone(inputs, positions=places.astype("int32"), memory=memory)["sequence_output"]
    check(np.asarray(model.token_logits(found)), expected.numpy())
