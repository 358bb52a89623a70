"""The Transformer of 2017 against PyTorch's own `torch.nn.Transformer`, and Marian's models against transformers.

Marian on all backends, with gradients: the cases of benchmarks/parity/cases.py in test_parity.py.
"""

import numpy as np
import pytest
from layer_case import randomise

from bertlab import checkpoints, models
from bertlab.families import TransformerConfig

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
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


def test_a_folder_of_transformers_loads_and_is_written_back(tmp_path):
    torch.manual_seed(0)
    config = transformers.MarianConfig(
        vocab_size=61, max_position_embeddings=24, d_model=32, encoder_layers=2, decoder_layers=3,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
        activation_function="swish", scale_embedding=True, pad_token_id=60, eos_token_id=0, decoder_start_token_id=60,
        forced_eos_token_id=0,
    )  # fmt: skip
    reference = transformers.MarianMTModel(config).eval()
    for parameter in reference.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.2)
    reference.final_logits_bias.normal_()
    reference.save_pretrained(tmp_path / "theirs")
    model = checkpoints.load(tmp_path / "theirs")
    ids, mask = np.array([[5, 9, 7, 0], [8, 0, 60, 60]]), np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    target = np.array([[60, 17, 4], [60, 8, 3]])

    def outputs(one):
        with torch.no_grad():
            return one(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask),
                       decoder_input_ids=torch.from_numpy(target)).logits.numpy()  # fmt: skip

    expected = outputs(reference)
    inputs = {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": target}
    found = np.asarray(model({name: value.astype("int32") for name, value in inputs.items()})["masked_lm_logits"])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))
    checkpoints.save(model, tmp_path / "ours")
    again = transformers.MarianMTModel.from_pretrained(tmp_path / "ours").eval()
    np.testing.assert_array_equal(outputs(again), expected)
    assert again.config.decoder_start_token_id == 60 and again.config.eos_token_id == 0


def test_label_smoothing_is_that_of_pytorch():
    from bertlab.training.objectives.losses import smoothed_losses

    rng = np.random.default_rng(0)
    logits, labels = rng.normal(0, 3, (5, 61)).astype("float32"), rng.integers(0, 61, 5)
    loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1, reduction="none")
    expected = loss(torch.from_numpy(logits), torch.from_numpy(labels)).numpy()
    np.testing.assert_allclose(smoothed_losses(logits, labels, 0.1), expected, rtol=1e-6)


def test_targets_are_those_of_transformers_generate(tmp_path):
    """The most likely token each time, with kept keys and values on both sides."""
    from bertlab.generation import TranslationSettings, translate

    torch.manual_seed(3)
    config = transformers.MarianConfig(
        vocab_size=31, max_position_embeddings=24, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
        activation_function="relu", scale_embedding=True, pad_token_id=30, eos_token_id=0, decoder_start_token_id=30,
        forced_eos_token_id=None,
    )  # fmt: skip
    reference = transformers.MarianMTModel(config).eval()
    for parameter in reference.parameters():
        if parameter.requires_grad and parameter.ndim == 2:
            torch.nn.init.normal_(parameter, std=0.5)
    torch.nn.init.normal_(reference.model.shared.weight, std=0.15)
    reference.save_pretrained(tmp_path)
    sources = [[5, 9, 7, 12, 0], [8, 0], [21, 22, 5, 5, 17, 0]]
    ids, mask = torch.full((3, 6), 30), torch.zeros((3, 6), dtype=torch.int64)
    for row, source in enumerate(sources):
        ids[row, : len(source)], mask[row, : len(source)] = torch.tensor(source), 1
    with torch.no_grad():
        rows = reference.generate(ids, attention_mask=mask, num_beams=1, do_sample=False, max_new_tokens=12)
    expected = [row[1:].tolist() for row in rows]
    expected = [row[: row.index(0) + 1] if 0 in row else row for row in expected]
    found = translate(checkpoints.load(tmp_path), sources, TranslationSettings(beams=1, max_new_tokens=12))
    assert found == expected and len({tuple(target) for target in found}) > 1
