"""The Transformer of 2017 against PyTorch's own `torch.nn.Transformer`.

Marian: test_parity.py (all backends, gradients), test_today_peers.py, test_translation_pieces_peers.py (targets).
"""

import numpy as np
import pytest
from layer_case import randomise

from bertlab import models
from bertlab.families import TransformerConfig
from bertlab.training.objectives import smoothed_losses

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers
CONFIG = TransformerConfig(vocab_size=61, hidden_size=32, num_layers=3, decoder_layers=2, num_heads=4,
                           intermediate_size=48, max_position_embeddings=24, layer_norm_eps=1e-5)  # fmt: skip
LENGTHS = np.array([9, 4, 1])  # of the sources
TARGET_LENGTHS = np.array([7, 7, 3])


def tensor(variable):
    return torch.from_numpy(np.array(variable))


def copy_dense(theirs, ours):
    theirs.weight.copy_(tensor(ours.kernel).T)
    theirs.bias.copy_(tensor(ours.bias))


def copy_norm(theirs, ours):
    theirs.weight.copy_(tensor(ours.gamma))
    theirs.bias.copy_(tensor(ours.beta))


def copy_attention(theirs, ours):
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([tensor(part.kernel).T for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([tensor(part.bias) for part in parts]))
    copy_dense(theirs.out_proj, ours.out)


def copy_layer(theirs, ours, norms):
    copy_attention(theirs.self_attn, ours.attention)
    copy_dense(theirs.linear1, ours.feed_forward.inner)
    copy_dense(theirs.linear2, ours.feed_forward.outer)
    for name, norm in norms.items():
        copy_norm(getattr(theirs, name), norm)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_encoder_and_decoder_equal_pytorchs_transformer(pre_norm):
    config = CONFIG.replace(pre_norm=pre_norm)
    model = models.SequenceToSequenceModel(config)
    randomise(model)
    reference = torch.nn.Transformer(
        32, 4, num_encoder_layers=3, num_decoder_layers=2, dim_feedforward=48, dropout=0.0, activation="relu",
        batch_first=True, norm_first=pre_norm,
    ).eval()  # fmt: skip
    if not pre_norm:  # PyTorch adds a LayerNorm behind both stacks, which the paper does not have
        reference.encoder.norm = reference.decoder.norm = None
    with torch.no_grad():
        for theirs, ours in zip(reference.encoder.layers, model.backbone.encoder.layers_, strict=True):
            copy_layer(theirs, ours, {"norm1": ours.attention_norm, "norm2": ours.output_norm})
        for theirs, ours in zip(reference.decoder.layers, model.decoder.layers_, strict=True):
            norms = {"norm1": ours.attention_norm, "norm2": ours.cross_norm, "norm3": ours.output_norm}
            copy_layer(theirs, ours, norms)
            copy_attention(theirs.multihead_attn, ours.cross_attention)
        if pre_norm:
            copy_norm(reference.encoder.norm, model.backbone.encoder.final_norm)
            copy_norm(reference.decoder.norm, model.decoder.final_norm)

    rng = np.random.default_rng(0)
    ids = rng.integers(4, 61, (3, 9)) * (np.arange(9) < LENGTHS[:, None])
    target = rng.integers(4, 61, (3, 7)) * (np.arange(7) < TARGET_LENGTHS[:, None])
    mask, target_mask = (np.arange(9) < LENGTHS[:, None]), (np.arange(7) < TARGET_LENGTHS[:, None])
    embeddings = model.backbone.embeddings
    with torch.no_grad():
        memory = reference.encoder(tensor(embeddings(ids)), src_key_padding_mask=torch.from_numpy(~mask))
        decoded = reference.decoder(
            tensor(embeddings(target)), memory, tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(7),
            tgt_key_padding_mask=torch.from_numpy(~target_mask), memory_key_padding_mask=torch.from_numpy(~mask),
            tgt_is_causal=True,
        )  # fmt: skip
        scores = decoded @ tensor(embeddings.token.embeddings).T
    found = model({"input_ids": ids, "attention_mask": mask.astype("int32"), "decoder_input_ids": target,
                   "decoder_attention_mask": target_mask.astype("int32")})  # fmt: skip
    pairs = (("encoder_output", memory, mask), ("decoder_output", decoded, target_mask),
             ("masked_lm_logits", scores, target_mask))  # fmt: skip
    for name, expected, real in pairs:
        expected = expected.numpy()[real]
        differences = np.abs(np.asarray(found[name])[real] - expected)
        assert differences.max() <= 1e-5 * max(1, np.abs(expected).max()), name


def test_label_smoothing_is_that_of_pytorch():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(0, 3, (5, 61)).astype("float32"), rng.integers(0, 61, 5)
    loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1, reduction="none")
    expected = loss(torch.from_numpy(logits), torch.from_numpy(labels)).numpy()
    np.testing.assert_allclose(smoothed_losses(logits, labels, 0.1), expected, rtol=1e-6)
