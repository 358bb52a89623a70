"""Notebook 13: its worked numbers, its layers beside the library's, its translator's data, and the recorded runs."""

import json

import keras
import numpy as np
import pytest
from keras import ops
from notebook_loading import code_with, names_of_notebook, recorded_values, text_of  # noqa: F401 (a fixture)
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from autograde.boundary import call_answer, mybert_importer, roles
from autograde.boundary.call_layer import put_weights
from autograde.exercises.n13_decoder import _shared, greedy, sample
from autograde.student import training_run, translation_run
from autograde.student.drawings_decoder import setting_bars
from autograde.student.small_tasks import phrasebook
from bertlab import checkpoints
from bertlab.data import small_world
from bertlab.data.small_world.mirror import END, PAD
from bertlab.families import Gpt2Config
from bertlab.generation.choosing import choose
from bertlab.generation.settings import GenerationSettings
from bertlab.layers import DecoderLayer
from bertlab.models import PreTrainingModel
from bertlab.training.runs.recorded import recorded_runs

NOTEBOOK = "13_decoder"


def test_the_published_sizes_are_those_that_the_text_states(names):
    assert names["gpt_count"](50_257, 768, 12, 1024) == 124_439_808 and "124 million" in text_of(NOTEBOOK)
    assert names["gpt_count"](40_478, 768, 12, 512, pre_norm=False) == 116_534_784
    small = names["Transformer"](7, 8, num_layers=2, num_heads=2, intermediate_size=5)
    small(ops.ones((1, 2), "int32"), ops.ones((1, 3), "int32"))
    encoder, decoder = (4 * (n**2 + n) + 2 * n * m + m + n + 4 * n for n, m in ((8, 5), (512, 2048)))
    assert small.count_params() == 7 * 8 + 2 * encoder + 2 * (encoder + 4 * (8**2 + 8) + 2 * 8)
    assert 37_000 * 512 + 6 * decoder + 6 * (decoder + 4 * (512**2 + 512) + 2 * 512) == 63_082_496


def test_a_decoder_layer_gives_the_librarys_outputs(names):
    case = _shared.decoder_case(np.random.default_rng(0), mask=np.array([[[1, 1, 1, 0, 0]], [[1, 1, 1, 1, 1]]], bool))
    theirs, mine = DecoderLayer(2, 7, layer_norm_eps=1e-12), names["DecoderLayer"](2, 7)
    for layer in (theirs, mine):
        layer(*case.arguments)
        put_weights(layer, roles.DECODER_LAYER, case.weights)
    mask = case.keywords["source_mask"]
    assert np.allclose(theirs(*case.arguments, memory_mask=mask), mine(*case.arguments, source_mask=mask), atol=1e-5)


@pytest.mark.parametrize("setting", [(0.7, None, None), (1.0, 3, None), (1.3, None, 0.7), (0.8, 4, 0.8)])
def test_the_sampler_has_the_probabilities_of_the_librarys(setting):
    temperature, top_k, top_p = setting
    logits = np.random.default_rng(5).normal(size=6)
    settings = GenerationSettings(sampling=True, temperature=temperature, top_k=top_k or 0, top_p=top_p or 1.0)
    drawn = [choose(logits, settings, np.random.default_rng(seed)) for seed in range(4000)]
    rates = np.bincount(drawn, minlength=6) / len(drawn)
    assert np.allclose(rates, sample.chances(logits, *setting), atol=0.04)


def test_gpt2s_outputs_come_out_of_the_notebooks_layers(names, capsys):
    source = code_with(NOTEBOOK, "checkpoints.save(PreTrainingModel(config), folder)")
    names |= {"checkpoints": checkpoints, "Gpt2Config": Gpt2Config, "PreTrainingModel": PreTrainingModel}
    with mybert_importer.only_stand_ins():
        exec(source, names)
    assert float(capsys.readouterr().out.split()[-1]) < 1e-4
    assert float(ops.std(names["published"])) > 0.5 and names["published"].shape == names["mine"].shape


def test_every_source_has_its_translation_behind_it_and_no_held_out_one_is_trained_on():
    data = translation_run.TranslationData(translation_run.choose_translation(steps=2))
    for sentence, source, target in list(zip(data.sentences, data.sources, data.targets))[:50]:
        assert data.ids(str(sentence)) == [int(i) for i in source if i != PAD]
        assert data.text(target) == data.translation(str(sentence)) == " ".join(small_world.to_mirror(sentence))
        assert list(target).count(END) == 1
    held_out = {tuple(row) for row in data.sources}
    for number in (0, 1):
        sources, targets = data.batch(number)
        assert len(sources) == len(targets) == 64 and not held_out & {tuple(row) for row in sources}
    assert np.array_equal(sources, data.batch(1)[0])
    assert set(data.by_length(data.is_long)) == {row["words"] for row in recorded_runs("mirror_language")}


def test_a_training_step_lowers_the_loss_and_a_run_resumes(names, tmp_path, monkeypatch):
    monkeypatch.setenv("MYBERT_HOME", str(tmp_path))
    sizes = dict(vocab_size=218, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=16, dropout=0.0)
    settings = translation_run.choose_translation(steps=6, interval=3, batch_size=8, model=sizes)
    source = code_with(NOTEBOOK, "def fresh_run()").split("NEEDED = ")[0]
    names |= {name: getattr(translation_run, name) for name in ("PAD", "START", "translation_folder")}
    names |= {"Run": training_run.Run, "settings": settings, "data": translation_run.TranslationData(settings)}
    exec(source, names)
    run, losses = names["fresh_run"](), []
    for step in run.steps():
        batch = map(ops.convert_to_tensor, names["data"].batch(0))
        losses.append(float(names["train_step"](run.model, run.optimizer, *batch)))
        if run.is_time_to_judge(step):
            run.record(step, losses[-1], {"loss": losses[-1], "long": 0.0})
    assert losses[-1] < losses[0] and abs(losses[0] - np.log(218)) < 1.5
    state = translation_run.translation_folder(settings) / "state.safetensors"
    with safe_open(state, framework="numpy") as file:
        notes = json.loads(file.metadata()["run"])
    assert notes["settings"].pop("precision") == "auto"  # as earlier versions wrote it
    save_file(load_file(state), state, {"run": json.dumps(notes)})
    again = names["fresh_run"]()
    assert again.done == 6 and np.array_equal(again.model.token.embeddings, run.model.token.embeddings)


def test_one_pass_finds_the_sentences_that_greedy_decoding_gets_right():
    """The reason that the notebook states for its curve."""
    case = greedy.writer(np.random.default_rng(3), 5, 12)
    source, start, end, most = case.arguments
    written = greedy.greedy(*case.arguments, weights=case.weights)
    read = [start, *written]
    scores = [
        case.weights["follow"][token] + case.weights["place"][place] + case.weights["about"][source].sum(axis=0)
        for place, token in enumerate(read)
    ]
    assert [int(score.argmax()) for score in scores] == [*written, end]


def test_the_recorded_runs_show_that_one_vector_is_not_enough_for_long_sources():
    for words in ("9–11", "12–16"):
        attention, one_vector = recorded_values("mirror_language", "decoder_sees", value="exact", words=words).values()
        assert len(attention) == len(one_vector) == 3
        assert min(attention) > np.mean(one_vector) + 3 * np.std(one_vector, ddof=1) and min(attention) > 0.9


def test_every_careful_setting_writes_more_correct_sentences_and_greedy_decoding_one(names, capsys):
    names |= {"small_world": small_world, "setting_bars": setting_bars}
    for part in ("SETTINGS = {", "def write(setting"):
        exec(code_with(NOTEBOOK, part), names)
    lines = [line for line in capsys.readouterr().out.splitlines() if " of 200 are correct" in line]
    correct, different = ({line[:16].strip(): int(line[16:].split()[at]) for line in lines} for at in (0, 5))
    careful = [correct[name] for name in ("temperature 0.5", "top-k 10", "top-p 0.7")]
    assert correct["temperature 2"] < correct["as it is"] < min(careful) / 2
    assert (correct["top-k 1"], different["top-k 1"]) == (0, 1)


def test_a_function_that_uses_a_model_gets_the_cases_weights():
    class Adder(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.number = self.add_weight(shape=(2,), name="number")

    probe = {"kind": "with model", "name": "read", "model": "Adder", "roles": {"number": ["number"]}, "tensors": False}
    question = {"probe": probe, "arguments": [[1, 2]], "keywords": {}, "weights": {"number": np.ones(2, "float32")}}
    used = {"Adder": Adder, "read": lambda model, given: [*given, float(model.number[0])]}
    answer = call_answer.answer([question], used)[0]
    assert answer["status"] == "ok" and answer["value"] == [1, 2, 1.0]
    assert call_answer.answer([question], {"Adder": Adder})[0]["status"] == "missing"


def test_the_phrasebook_has_sixty_sentences_in_four_languages_and_those_that_the_notebook_shows():
    phrases = phrasebook()
    assert len(phrases) == 60 and all(list(phrase) == ["en", "fr", "de", "ko"] for phrase in phrases)
    assert len({phrase["en"] for phrase in phrases}) == 60
    assert all(text == text.strip() and text for phrase in phrases for text in phrase.values())
    shown = {phrase["en"]: phrase for phrase in phrases}
    assert shown["How are you?"]["fr"] == "Comment ça va ?"
    for word in ("gegeben", "주었어요"):
        assert any(word in text for text in shown["I gave her the book."].values())
    for word in ("개가", "고양이를", "봐요"):
        assert word in shown["The dog sees the cat."]["ko"]
