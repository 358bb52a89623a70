"""Translation models whose sources and targets have a vocabulary and a table each, against transformers."""

import json
import random
import shutil

import numpy as np
import pytest
from bertlab_command import run
from checkpoint_files import edit_config, edit_tensors, same_weights, weights
from click.testing import CliRunner
from test_encoder_decoder_onnx_peers import guides_loop, padded
from test_translation_pieces_peers import LINES, learned, random_text

from bertlab import checkpoints, models
from bertlab.cli import cli
from bertlab.common.errors import CheckpointError, ConfigError, DataError, VocabularyError
from bertlab.generation import TranslationSettings, translate, translate_text
from bertlab.tokenizers.translation_pieces import TranslationTokenizer

pytest.importorskip("sentencepiece")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers
SPECIAL = {"source": ["</s>", "<unk>", "<pad>"], "target": ["<unk>", "</s>", "<pad>"]}  # the ids of the ends differ
PAD, END, SOURCE_END = 2, 1, 0
TEXTS = ["A language model.", "What is a word?", "The tokens of a text are numbered."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that transformers wrote: a small random model, its two SentencePiece models and their tables."""
    files, folder, sizes = tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("two") / "model", {}
    for name, pieces in learned(files):
        tokens = SPECIAL[name] + pieces
        (files / f"{name}.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
        sizes[name] = len(tokens)
    names = ("source.spm", "target.spm", "source.json", "target.json")
    transformers.MarianTokenizer(*(str(files / name) for name in names), separate_vocabs=True).save_pretrained(folder)
    config = transformers.MarianConfig(
        vocab_size=sizes["source"], decoder_vocab_size=sizes["target"], share_encoder_decoder_embeddings=False,
        max_position_embeddings=64, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, activation_function="swish",
        scale_embedding=True, pad_token_id=PAD, eos_token_id=END, decoder_start_token_id=PAD, forced_eos_token_id=None,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.MarianMTModel(config)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and parameter.ndim == 2:  # so that targets depend on their source
            deviation = 1.5 if "encoder_attn" in name else 0.3 if "embed" in name else 0.4
            torch.nn.init.normal_(parameter, std=deviation)
    model.final_logits_bias.normal_(std=0.1)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def theirs(folder):
    return transformers.MarianTokenizer.from_pretrained(folder)


def outputs(folder, inputs):
    model = transformers.MarianMTModel.from_pretrained(folder).eval()
    with torch.no_grad():
        return model(**{name: torch.from_numpy(value) for name, value in inputs.items()}).logits.numpy()


def test_outputs_are_those_of_transformers_and_the_folder_is_written_back(folder, tmp_path):
    model = checkpoints.load(folder)
    sizes = model.config.vocab_size, model.config.target_vocab_size
    assert sizes == (280, 230) and model.target_embeddings.token.embeddings.shape == (230, 16)
    rng = np.random.default_rng(0)
    inputs = {"input_ids": rng.integers(3, 280, (2, 7)), "decoder_input_ids": rng.integers(3, 230, (2, 5)),
              "attention_mask": np.array([[1] * 7, [1] * 4 + [0] * 3])}  # fmt: skip
    inputs["input_ids"][0, 0], inputs["decoder_input_ids"][0, 1] = 279, 229
    expected = outputs(folder, inputs)
    found = np.asarray(model({name: value.astype("int32") for name, value in inputs.items()})["masked_lm_logits"])
    assert expected.shape == (2, 5, 230)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))
    written = checkpoints.save(model, tmp_path / "ours", checkpoints.load_tokenizer(folder))
    np.testing.assert_array_equal(outputs(written, inputs), expected)
    assert same_weights(weights(model), weights(checkpoints.load(written)))


def test_ids_and_texts_are_those_of_transformers(folder, theirs):
    own, rng = checkpoints.load_tokenizer(folder), random.Random(0)
    table, targets = own.vocabulary, own.vocabulary.targets
    assert (len(table), table.sep_id, table.unk_id) == (280, SOURCE_END, 1)
    assert (len(targets), targets.sep_id, targets.unk_id, targets.cls_id) == (230, END, 0, PAD)
    for _ in range(1000):
        text = random_text(rng)
        assert [*own.encode(text), SOURCE_END] == theirs(text)["input_ids"], repr(text)
        target = theirs(text_target=text)["input_ids"]
        assert own.encode_target(text) == target[:-1], repr(text)  # it ends with the id that a source's end has
        ids = [rng.randrange(1, 230) for _ in range(rng.randrange(12))]  # <unk>: shown here, left out there
        assert own.decode(ids) == theirs.decode(ids, skip_special_tokens=True), ids
    assert own.encode_targets(TEXTS).to_list() == [own.encode_target(text) for text in TEXTS]
    with pytest.raises(DataError, match="id 230 is outside the vocabulary, whose ids are 0 to 229"):
        own.decode([230])


def test_a_saved_tokenizer_is_read_by_both(folder, theirs, tmp_path):
    own = checkpoints.load_tokenizer(folder)
    own.save(tmp_path)
    again = TranslationTokenizer.load(tmp_path)
    assert again.vocabulary == own.vocabulary and again.encode_target(LINES[0]) == own.encode_target(LINES[0])
    reloaded = transformers.MarianTokenizer.from_pretrained(tmp_path)
    assert reloaded(text_target=LINES[0]) == theirs(text_target=LINES[0]) and reloaded(LINES[0]) == theirs(LINES[0])


def test_the_command_translates_as_transformers_does(folder, theirs):
    peer = transformers.MarianMTModel.from_pretrained(folder)
    batch = theirs(TEXTS, return_tensors="pt", padding=True)
    made = peer.generate(**batch, num_beams=1, do_sample=False, max_new_tokens=9, bad_words_ids=[[PAD]])
    expected = theirs.batch_decode(made, skip_special_tokens=True)
    settings = TranslationSettings(beams=1, max_new_tokens=9)
    model, tokenizer = checkpoints.load(folder), checkpoints.load_tokenizer(folder)
    assert translate_text(model, tokenizer, TEXTS, settings) == expected and len(set(expected)) > 1
    assert translate_text(model, tokenizer, TEXTS, settings.replace(cache=False)) == expected
    said = run("translate", folder, *TEXTS, "--beams", "1", "--max-new-tokens", "9")
    assert said.splitlines() == [line for text in expected for line in text.splitlines() or [""]]


def test_the_exported_files_translate_as_the_library_does(folder, tmp_path, monkeypatch):
    run("export", folder, "--onnx", "--out", tmp_path / "translator")
    tokenizer = checkpoints.load_tokenizer(folder)
    sources = [[*tokenizer.encode(text), SOURCE_END] for text in TEXTS]
    expected = translate(checkpoints.load(folder), sources, TranslationSettings(beams=1, max_new_tokens=9))
    assert guides_loop(tmp_path, monkeypatch)(*padded(sources), 9) == expected


def test_our_own_format_keeps_both_vocabularies(folder, tmp_path):
    model, tokenizer = checkpoints.load(folder), checkpoints.load_tokenizer(folder)
    saved = checkpoints.save(model, tmp_path / "saved", tokenizer, format="bertlab")
    loaded = checkpoints.load(saved)
    assert loaded.config == model.config and same_weights(weights(model), weights(loaded))
    table = json.loads((saved / "target_vocab.json").read_text())
    first, second = list(table)[3:5]
    (saved / "target_vocab.json").write_text(json.dumps(table | {first: table[second], second: table[first]}))
    with pytest.raises(CheckpointError, match="is not the vocabulary that bertlab.safetensors was saved with"):
        checkpoints.load(saved)


def test_the_encoder_loads_alone_and_a_copy_of_the_targets_table_is_read(folder, tmp_path):
    assert checkpoints.load(folder, "encoder").embeddings.token.embeddings.shape == (280, 16)
    copied = shutil.copytree(folder, tmp_path / "copied")
    tables = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
    edit_tensors(copied, lambda arrays: arrays.update({"lm_head.weight": arrays[tables[1]].copy()}))
    assert same_weights(weights(checkpoints.load(copied)), weights(checkpoints.load(folder)))
    edit_tensors(copied, lambda arrays: arrays.update({"lm_head.weight": arrays[tables[1]] + 1}))
    with pytest.raises(CheckpointError, match="lm_head.weight differs from decoder.embed_tokens.weight"):
        checkpoints.load(copied)
    edit_config(copied, tie_word_embeddings=False)
    with pytest.raises(ConfigError, match="tie_word_embeddings False is not supported, only True is"):
        checkpoints.load(copied)


def test_what_cannot_be_read_written_or_trained_is_named(folder, tmp_path):
    own = checkpoints.load_tokenizer(folder)
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    own.save(tmp_path / "tokenizer")
    command = ["data", "pairs", str(tmp_path / "pairs.tsv"), "--vocab", str(tmp_path / "tokenizer")]
    result = CliRunner().invoke(cli, [*command, "--out", str(tmp_path / "made")])
    assert "expected a tokenizer with one vocabulary for sources and targets, got one with two" in str(result.exception)
    small = models.SequenceToSequenceModel(checkpoints.read_config(folder).replace(decoder_vocab_size=99))
    with pytest.raises(CheckpointError, match="has 230 tokens of targets, but the model's target_vocab_size is 99"):
        checkpoints.save(small, tmp_path / "small", own)
    (tmp_path / "tokenizer" / "target_vocab.json").unlink()
    with pytest.raises(VocabularyError, match="target_vocab.json: there is no such file"):
        checkpoints.load_tokenizer(tmp_path / "tokenizer")
