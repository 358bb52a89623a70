"""Writing targets: kept keys and values give the same tokens, beams find the best one, bad input is named.

Training the model: tests/bertlab/training/test_translation_training.py.
"""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner
from translation_model import END, SOURCES, START, TOKENIZER, random_model

from bertlab import checkpoints, models
from bertlab.cli import cli
from bertlab.common.errors import ConfigError, DataError, VocabularyError
from bertlab.families import BertConfig, MarianConfig
from bertlab.generation import TranslationSettings, translate, translate_text
from bertlab.generation.choosing import log_softmax
from bertlab.generation.reading import CachedTargetReader, WholeTargetReader


@pytest.fixture(scope="module")
def model():
    return random_model()


@pytest.mark.slow
@pytest.mark.parametrize(("beams", "tokens", "pre_norm"), [(1, 37, False), (3, 10, False), (1, 12, True)])
def test_kept_keys_and_values_change_no_token(beams, tokens, pre_norm):
    model = random_model(pre_norm=pre_norm)
    settings = TranslationSettings(beams=beams, max_new_tokens=tokens)
    kept = translate(model, SOURCES, settings, START)  # no token ends them
    assert kept == translate(model, SOURCES, settings.replace(cache=False), START)
    assert len({tuple(target) for target in kept}) > 1 and {len(target) for target in kept} == {tokens}


def test_only_the_last_token_of_each_target_is_scored(model, monkeypatch):
    shapes, scored = [], model.token_logits
    monkeypatch.setattr(model, "token_logits", lambda x: shapes.append(tuple(x.shape)) or scored(x))
    reader = WholeTargetReader(model, SOURCES, START, 8)
    reader.first()
    reader.next(np.array([5, 6, 7]))
    assert shapes == [(3, 16)] * 2


def test_both_readers_give_the_same_logits_also_when_targets_change_places(model):
    readers = [kind(model, [SOURCES[0]] * 3, START, 8) for kind in (CachedTargetReader, WholeTargetReader)]
    np.testing.assert_allclose(*(reader.first() for reader in readers), rtol=1e-4, atol=1e-4)
    for ids, rows in (([5, 6, 7], None), ([8, 9, 10], [2, 0, 0]), ([5, 5, 6], [1, 1, 2])):
        rows = None if rows is None else np.array(rows)
        np.testing.assert_allclose(*(reader.next(np.array(ids), rows) for reader in readers), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("beams", [1, 3])
def test_a_text_has_the_same_target_beside_any_other_texts(model, beams):
    settings = TranslationSettings(beams=beams, max_new_tokens=12)
    together = translate(model, SOURCES, settings, START, END)
    assert together == [translate(model, [source], settings, START, END)[0] for source in SOURCES]
    assert together == translate(model, SOURCES, settings.replace(batch_size=2), START, END)


def log_probabilities(model, source, targets):
    """The log probability of each target of one or two tokens, all read at once."""
    begins = np.array([[START, target[0]] for target in targets])
    inputs = {"input_ids": np.tile(source, (len(targets), 1)), "decoder_input_ids": begins}
    scores = log_softmax(np.asarray(model(inputs)["masked_lm_logits"]))
    return {target: sum(scores[row, place, token] for place, token in enumerate(target))
            for row, target in enumerate(targets)}  # fmt: skip


@pytest.mark.parametrize("power", [0.0, 0.6, 2.0])
def test_wide_beams_find_the_target_with_the_best_normalised_log_probability(model, power):
    size = len(TOKENIZER.vocabulary)
    others = [token for token in range(size) if token != END]
    possible = [(*begin, END) for count in (0, 1) for begin in itertools.product(others, repeat=count)]
    possible += list(itertools.product(others, repeat=2))  # not ended after two tokens
    sums = log_probabilities(model, SOURCES[1], possible)

    def score(target):
        return sums[target] / ((5 + len(target)) / 6) ** power

    settings = TranslationSettings(beams=size, length_penalty=power, max_new_tokens=2)
    assert translate(model, [SOURCES[1]], settings, START, END)[0] == list(max(possible, key=score))


def test_a_target_ends_at_its_end_token_or_at_50_tokens_more_than_its_source():
    model = random_model(max_position_embeddings=80)
    targets = translate(model, SOURCES, TranslationSettings(beams=1), START)
    assert [len(ids) for ids in targets] == [54, 52, 57]
    free = targets[0]
    ended = translate(model, [SOURCES[0]], TranslationSettings(beams=1), START, free[2])[0]
    assert ended == free[: free.index(free[2]) + 1]


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([], "expected at least one text to translate"),
        ([[5], []], "text 2 is empty"),
        ([[5] * 41], "text 1 has 41 tokens, and the model 40 positions: divide it into sentences"),
        ([[5, 99]], "text 1 has an id outside the vocabulary, 0 to 12"),
    ],
)
def test_sources_that_cannot_be_read_are_named(model, sources, message):
    with pytest.raises(DataError, match=message):
        translate(model, sources, None, START, END)


def test_a_model_without_a_decoder_and_a_missing_first_token_are_named(model):
    bert = models.PreTrainingModel(BertConfig.named("tiny", vocab_size=13))
    with pytest.raises(ConfigError, match="a model of bert has no decoder"):
        translate(bert, SOURCES, None, START, END)
    with pytest.raises(ConfigError, match="expected start_id"):
        translate(model, SOURCES)
    with pytest.raises(ConfigError, match="max_new_tokens: expected at most the model's 40 positions, got 41"):
        translate(model, SOURCES, TranslationSettings(max_new_tokens=41), START)


@pytest.mark.parametrize("beams", [1, 3])
def test_padding_is_never_written_where_it_begins_targets(beams):
    model = random_model(MarianConfig, pad_token_id=START, decoder_start_token_id=START, eos_token_id=END)
    settings = TranslationSettings(beams=beams, max_new_tokens=6)
    expected = translate(model, SOURCES[:2], settings)
    (bias,) = [variable for variable in model.weights if variable.path.endswith("masked_lm_head/bias")]
    bias.assign(np.where(np.arange(bias.shape[1]) == START, 30.0, 0.0)[None])
    for cache in (True, False):
        assert translate(model, SOURCES[:2], settings.replace(cache=cache)) == expected
    assert not any(START in target for target in expected)


# --- the command ---


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    return checkpoints.save(model, tmp_path_factory.mktemp("model") / "saved", TOKENIZER, format="bertlab")


def command(*arguments):
    return CliRunner().invoke(cli, ["translate", *(str(argument) for argument in arguments)])


@pytest.mark.slow
def test_the_command_prints_a_target_for_each_text_or_line(model, folder, tmp_path):
    expected = translate_text(model, TOKENIZER, ["a b", "h"], TranslationSettings(beams=2, max_new_tokens=5))
    options = ("--beams", 2, "--max-new-tokens", 5)
    assert command(folder, "a b", "h", *options).output == "".join(f"{line}\n" for line in expected)
    (tmp_path / "texts").write_text("a b\nh\n")
    printed = command(folder, "--file", tmp_path / "texts", *options, "--json", "--no-cache").output.splitlines()
    assert [json.loads(line) for line in printed] == [
        {"source": source, "target": target} for source, target in zip(("a b", "h"), expected)
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected either TEXT or --file FILE"),
        (("a", "--file", "texts"), "expected either TEXT or --file FILE"),
        (("a", " "), "text 2 is empty; expected a text to translate"),
        (("a " * 40,), "text 1 has 41 tokens, and the model 40 positions"),
        (("--file", "empty"), "empty line 2: the line is empty"),
        (("--file", "nowhere"), "nowhere: there is no such file"),
    ],
)
def test_bad_input_gives_one_clear_line(folder, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_text("a\n\n")
    result = command(folder, *arguments)
    said = result.output if isinstance(result.exception, SystemExit) else str(result.exception)
    assert message in said and result.exit_code != 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--onnx exports both, --onnx --encoder the encoder"),
        (("--onnx", "--quantize", "int8", "--rows", "rows.csv"), "--rows measures a fine-tuned model"),
        (("--onnx", "--out", "translator.onnx"), "expected a folder for the two files of an encoder–decoder"),
        (("--onnx", "--out", "taken"), "taken: cannot be made (File exists); expected a folder for encoder_model.onnx"),
    ],
)
def test_an_export_that_an_encoder_decoder_does_not_have_is_refused(folder, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    result = CliRunner().invoke(cli, ["export", str(folder), "--out", "out", *options])
    said = result.output if isinstance(result.exception, SystemExit) else str(result.exception)
    assert message in said and [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_vocabulary_without_its_two_models_is_named(tmp_path):
    config = MarianConfig(vocab_size=13, hidden_size=16, num_heads=2, pad_token_id=0)
    config.save(tmp_path / "config.json")
    (tmp_path / "vocab.json").write_text('{"</s>": 0, "▁a": 1}')  # published beside source.spm and target.spm
    with pytest.raises(VocabularyError, match="source.spm: cannot be read"):
        checkpoints.load_tokenizer(tmp_path)
