"""ELECTRA against transformers: the loss of a whole step. Heads and folders: test_today_peers.py."""

import keras
import numpy as np
import pytest

from bertlab import checkpoints
from bertlab.models.replaced_tokens import GeneratorAndDiscriminator, generator_config_of
from bertlab.training.runs.pretrainer import PreTrainer

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
IDS = np.array([[2, 17, 40, 9, 12, 3], [2, 8, 3, 0, 0, 0]])
INPUTS = {"input_ids": IDS, "attention_mask": (IDS != 0) * 1, "token_type_ids": np.array([[0, 0, 0, 1, 1, 1], [0] * 6])}


def test_the_loss_of_a_pre_training_step_is_that_of_transformers_generator_and_discriminator(tmp_path):
    torch.manual_seed(0)
    sizes = dict(vocab_size=61, embedding_size=8, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                 intermediate_size=24, max_position_embeddings=12)  # fmt: skip
    discriminator = transformers.ElectraForPreTraining(transformers.ElectraConfig(**sizes)).eval()
    for parameter in discriminator.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    discriminator.save_pretrained(tmp_path / "discriminator")
    config = checkpoints.read_config(tmp_path / "discriminator")
    pair = GeneratorAndDiscriminator(config, generator_config_of(config, 0.5))
    checkpoints.load_into(pair.discriminator, tmp_path / "discriminator")
    rng = np.random.default_rng(0)
    for variable in pair.generator.trainable_variables:
        if not variable.path.startswith("backbone/embeddings/") or "projection" in variable.path:
            variable.assign(rng.normal(0, 0.3, variable.shape))
    generator = transformers.ElectraForMaskedLM.from_pretrained(
        checkpoints.save(pair.generator, tmp_path / "generator")
    ).eval()

    masked = np.where(np.isin(np.arange(6), [1, 4]) & (IDS > 3), 4, IDS)  # (B, T)
    positions, used = np.array([[1, 4], [1, 0]]), np.array([[1.0, 1.0], [1.0, 0.0]])
    labels = np.take_along_axis(IDS, positions, axis=1)
    batch = INPUTS | {"input_ids": masked, "masked_lm_positions": positions, "masked_lm_ids": labels}
    batch = {name: value.astype("int32") for name, value in batch.items()} | {"masked_lm_weights": used}
    trainer = PreTrainer(pair)
    trainer.compile(jit_compile=False)
    found = trainer.evaluate(x=batch, batch_size=2, verbose=0, return_dict=True)

    corrupted = keras.ops.convert_to_numpy(pair(batch)["corrupted_ids"]).astype("int64")
    inputs = {name: torch.from_numpy(value.astype("int64")) for name, value in INPUTS.items()}
    theirs_labels = torch.full(IDS.shape, -100)
    theirs_labels[[0, 0, 1], [1, 4, 1]] = torch.from_numpy(labels[used > 0].astype("int64"))
    with torch.no_grad():
        guessing = generator(**inputs | {"input_ids": torch.from_numpy(masked)}, labels=theirs_labels).loss
        replaced = torch.from_numpy((corrupted != IDS).astype("int64"))
        judging = discriminator(**inputs | {"input_ids": torch.from_numpy(corrupted)}, labels=replaced).loss
    assert replaced.any()
    np.testing.assert_allclose(found["masked_lm_loss"], guessing.item(), rtol=1e-5)
    np.testing.assert_allclose(found["replaced_token_loss"], judging.item(), rtol=1e-5)
    np.testing.assert_allclose(found["loss"], (guessing + 50 * judging).item(), rtol=1e-4)  # each mean is over N + 1e-5
