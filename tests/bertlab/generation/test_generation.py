"""Continuing texts: with and without kept keys, drawn tokens, beams, what is refused, and the command."""

import itertools
import json

import keras
import numpy as np
import pytest
from checkpoint_files import tokenizer
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from bertlab import checkpoints, families, models
from bertlab.cli import cli
from bertlab.common.errors import ConfigError, DataError
from bertlab.generation import GenerationSettings, compiling, continuing, generate, generate_text, program
from bertlab.generation.beams import _largest, beam_searches
from bertlab.generation.choosing import choose, keep_nucleus, keep_top, log_softmax
from bertlab.generation.compiling import compiled, traced
from bertlab.generation.reading import CachedReader, WholeReader

V = 61
SHAPE = dict(vocab_size=V, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32, pad_token_id=0,
             max_position_embeddings=40)  # fmt: skip
KINDS = {
    "gpt2": ("gpt2", {}),
    "gpt": ("openai-gpt", {}),
    "bert": ("bert", dict(causal=True)),
    "bert, pre-norm, sinusoids": ("bert", dict(causal=True, pre_norm=True, position_embedding="sinusoidal")),
}


def random_model(kind, **changes):
    name, options = KINDS[kind]
    config = families.family(name).config(**(SHAPE | options | changes))
    model = models.PreTrainingModel(config, next_sentence=False)
    rng = np.random.default_rng(0)
    for weight in model.trainable_weights:
        weight.assign(rng.normal(1.0 if weight.name == "gamma" else 0.0, 0.3, weight.shape))
    return model


@pytest.fixture(autouse=True)
def quick_graphs(request, monkeypatch):
    """One graph of TensorFlow for all shapes, as where there is no XLA, except in the tests that ask for `xla`.

    XLA takes a second or two for each number of rows and each way to choose.
    """
    if "xla" not in request.fixturenames:
        monkeypatch.setattr(compiling, "_with_xla", compiling._with_tensorflow)


@pytest.fixture
def xla():
    """Requests XLA, for the tests of compiled programs: every kind of model, and every way to choose a token."""


@pytest.fixture(scope="module")
def made():
    return {kind: random_model(kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_kept_keys_give_the_logits_of_the_whole_row(made, kind, xla):
    prompts, rng = [[5, 9, 7], [8], [3, 4]], np.random.default_rng(1)
    cached, whole = CachedReader(made[kind], prompts, 12), WholeReader(made[kind], prompts, 12)
    np.testing.assert_allclose(cached.first(), whole.first(), rtol=1e-4, atol=1e-4)
    for rows in (None, np.array([2, 0, 0]), None):
        ids = rng.integers(0, V, 3)
        np.testing.assert_allclose(cached.next(ids, rows), whole.next(ids, rows), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(
    kind=st.sampled_from(list(KINDS)),
    prompts=st.lists(st.lists(st.integers(0, V - 1), min_size=1, max_size=9), min_size=1, max_size=3),
    options=st.sampled_from([
        {}, dict(sampling=True), dict(sampling=True, temperature=0.5, top_k=7), dict(sampling=True, top_p=0.6),
        dict(beams=3), dict(beams=2, length_penalty=0.0),
    ]),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_the_text_is_the_same_with_and_without_kept_keys(made, kind, prompts, options, seed):
    options = dict(max_new_tokens=8, seed=seed, **options)
    texts = [generate(made[kind], prompts, GenerationSettings(cache=cache, **options), end_id=3)
             for cache in (True, False)]  # fmt: skip
    assert texts[0] == texts[1]
    for text in texts[0]:
        assert 1 <= len(text) <= 8 and 3 not in text[:-1] and (len(text) == 8 or text[-1] == 3)


@pytest.mark.parametrize("options", [
    {}, dict(sampling=True, temperature=0.5, top_k=9, top_p=0.9), dict(beams=2),
    dict(max_new_tokens=1), dict(max_new_tokens=1, sampling=True),  # which need no program
])  # fmt: skip
def test_xla_writes_the_text_that_is_written_without_kept_keys(made, options, xla):
    options = GenerationSettings(**(dict(max_new_tokens=6) | options))
    prompts = [[5, 9, 7], [8]]
    kept = generate(made["gpt2"], prompts, options)
    assert kept == generate(made["gpt2"], prompts, options.replace(cache=False))
    assert [len(text) for text in kept] == [options.max_new_tokens] * 2


def test_padding_before_short_prompts_changes_nothing(made):
    prompts = [[5, 9, 7, 1, 2], [8], [3, 4]]
    together = generate(made["gpt2"], prompts, GenerationSettings(max_new_tokens=6))
    assert together == [generate(made["gpt2"], [prompt], GenerationSettings(max_new_tokens=6))[0] for prompt in prompts]


def test_the_most_likely_token_is_taken_every_time(made):
    ids = [5, 9]
    for number in generate(made["gpt2"], [ids], GenerationSettings(max_new_tokens=4))[0]:
        logits = np.asarray(made["gpt2"]({"input_ids": np.array([ids])})["masked_lm_logits"])[0, -1]
        assert number == logits.argmax()
        ids = [*ids, number]


def test_weights_that_change_change_the_text():
    model = random_model("gpt2")
    before = generate(model, [[5, 9]], GenerationSettings(max_new_tokens=8))
    model.backbone.embeddings.token.embeddings.assign(model.backbone.embeddings.token.embeddings[::-1])
    after = [generate(model, [[5, 9]], GenerationSettings(max_new_tokens=8, cache=cache)) for cache in (True, False)]
    assert after[0] == after[1] != before


# --- choosing ---


def test_top_k_keeps_the_k_largest_and_the_nucleus_the_fewest_that_suffice():
    logits = np.log([0.1, 0.4, 0.3, 0.2])
    assert np.isfinite(keep_top(logits, 2)).tolist() == [False, True, True, False]
    for share, kept in ((0.4, 1), (0.41, 2), (0.7, 2), (0.71, 3), (1e-9, 1), (1.0, 4)):
        assert np.isfinite(keep_nucleus(logits, share)).sum() == kept
    assert np.isfinite(keep_top(np.zeros(4), 2)).tolist() == [True, True, False, False]


def test_tokens_are_drawn_in_proportion_to_their_probability():
    logits, rng = np.log([0.1, 0.4, 0.3, 0.2]), np.random.default_rng(0)
    for options, expected in (({}, [0.1, 0.4, 0.3, 0.2]), (dict(top_k=2), [0, 4 / 7, 3 / 7, 0]),
                              (dict(temperature=0.5), np.array([1, 16, 9, 4]) / 30)):  # fmt: skip
        drawn = [choose(logits, GenerationSettings(sampling=True, **options), rng) for _ in range(4000)]
        np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 4000, expected, atol=0.04)


def test_another_row_does_not_change_what_is_drawn_for_the_first(made):
    options = GenerationSettings(max_new_tokens=6, sampling=True)
    assert generate(made["gpt2"], [[5], [7]], options)[0] == generate(made["gpt2"], [[5]], options)[0]
    assert generate(made["gpt2"], [[5]], options) != generate(made["gpt2"], [[5]], options.replace(seed=1))


@pytest.mark.parametrize("options", [{}, dict(temperature=0.5), dict(top_k=7), dict(top_k=500), dict(top_p=0.6),
                                     dict(top_p=1e-9), dict(top_k=9, top_p=0.8)])  # fmt: skip
def test_the_compiled_program_draws_the_tokens_that_are_drawn_one_by_one(options):
    settings, rng = GenerationSettings(sampling=True, **options), np.random.default_rng(3)
    logits = rng.normal(0, 3, (200, 97)).astype("float32")
    logits[::2] = logits[::2].round()  # many are equal
    rngs = [np.random.default_rng([0, row]) for row in range(200)]
    expected = [choose(row, settings, its_rng) for row, its_rng in zip(logits, rngs)]
    drawn = np.array([np.random.default_rng([0, row]).random() for row in range(200)])
    its_options = (True, settings.top_k, settings.top_p < 1)
    ids = program._choose(logits, its_options, drawn, np.array([settings.temperature, settings.top_p]))
    assert np.asarray(ids).tolist() == expected


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="only TensorFlow has graphs for all shapes")
def test_a_new_number_of_rows_or_tokens_makes_no_new_graph(made, xla):
    for maker in (compiled, traced):
        TIMES_TRACED.clear()
        function = maker(made["gpt2"], _sums_of_rows)
        for shape in ((2, 3), (4, 1), (1, 7)):
            np.testing.assert_array_equal(function(np.ones(shape, np.int32), [np.ones(shape, np.int32)]), shape[1] * 2)
        assert len(TIMES_TRACED) == 1


TIMES_TRACED = []


def _sums_of_rows(model, ids, others):
    TIMES_TRACED.append(model)
    return ops.sum(ids + others[0], axis=1)


# --- beams ---


def test_the_largest_numbers_are_found_in_order_and_of_equal_ones_the_first():
    sums = np.array([[1.0, 3.0, -np.inf], [3.0, 2.0, 3.0]])
    assert _largest(sums, 2).tolist() == [1, 3] and _largest(sums, 9).tolist() == [1, 3, 5, 4, 0, 2]


@pytest.fixture(scope="module")
def of_five_tokens():
    """A model of few texts."""
    return random_model("gpt2", vocab_size=5)


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
def test_enough_beams_find_the_best_of_all_texts(of_five_tokens, penalty):
    model, end, longest = of_five_tokens, 2, 3
    begins = list(itertools.product(range(5), repeat=longest - 1))
    ids = np.array([[1, *begin] for begin in begins])
    logs = dict(zip(begins, log_softmax(np.asarray(model({"input_ids": ids})["masked_lm_logits"]))))

    def score(text):
        of_row = logs[(*text, 0, 0)[: longest - 1]]  # a token changes nothing before it
        return sum(of_row[place, number] for place, number in enumerate(text)) / len(text) ** penalty

    texts = [text for length in range(1, longest + 1) for text in itertools.product(range(5), repeat=length)
             if end not in text[:-1] and (text[-1] == end or length == longest)]  # fmt: skip
    best = max(texts, key=score)
    ((found, its_score),) = beam_searches(
        CachedReader(model, [[1]] * 30, 4), 30, [longest], lambda length: length**penalty, end
    )
    assert tuple(found) == best and its_score == pytest.approx(score(best), rel=1e-4)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(("penalty", "end"), [(0.0, 4), (0.5, 1), (1.0, 4)])
def test_prompts_together_get_the_texts_and_scores_that_each_gets_alone(of_five_tokens, cache, penalty, end):
    """Prompts of different lengths, whose texts end at different steps or not at all."""
    model, new = of_five_tokens, 9
    prompts = [[1, 3, 4, 0, 1, 3], [4], [0, 1], [3, 3, 3], [1], [0]]

    def search(prompts):
        rows = [prompt for prompt in prompts for _ in range(3)]
        reader = (CachedReader if cache else WholeReader)(model, rows, max(map(len, rows)) + new)
        return beam_searches(reader, 3, [new] * len(prompts), lambda length: length**penalty, end)

    together, alone = search(prompts), [search([prompt])[0] for prompt in prompts]
    assert [text for text, _ in together] == [text for text, _ in alone]
    np.testing.assert_allclose([score for _, score in together], [score for _, score in alone], rtol=1e-5)
    assert len({len(text) for text, _ in alone if text[-1] == end}) > 1
    options = GenerationSettings(max_new_tokens=new, beams=3, length_penalty=penalty, cache=cache)
    assert generate(model, prompts, options, end) == [text for text, _ in alone]


def test_many_prompts_are_read_in_several_batches_of_beams(made, monkeypatch):
    made_readers = []

    def reader_of(model, rows, *rest, **named):
        made_readers.append(len(rows))
        return CachedReader(model, rows, *rest, **named)

    monkeypatch.setattr(continuing, "ROWS_BATCH_SIZE", 6)
    monkeypatch.setattr(continuing, "CachedReader", reader_of)
    prompts, options = [[5, 9, 7, 1], [8], [3, 4], [6], [2, 2]], GenerationSettings(max_new_tokens=6, beams=3)
    together = generate(made["gpt2"], prompts, options)
    assert made_readers == [6, 6, 3]  # not one batch for each prompt
    assert together == [generate(made["gpt2"], [prompt], options)[0] for prompt in prompts]


def test_more_beams_find_nothing_less_likely_than_one(made):
    def score(beams):
        return beam_searches(CachedReader(made["gpt2"], [[5, 9]] * beams, 10), beams, [8], lambda length: length)[0][1]

    assert score(1) <= score(4) + 1e-6


# --- what is refused ---


@pytest.mark.parametrize(
    ("prompts", "new", "message"),
    [
        ([], 1, "expected at least one prompt"),
        ([[5], []], 1, "prompt 2 is empty"),
        ([[5, V]], 1, "prompt 1 has an id outside the vocabulary, 0 to 60"),
        ([[5] * 40], 1, "prompt 1 has 40 tokens, the model only 40 positions"),
        ([[5] * 35], 6, "expected at most 5 new tokens, got max_new_tokens 6"),
    ],
)
def test_prompts_that_cannot_be_continued_are_named(made, prompts, new, message):
    with pytest.raises(DataError, match=message):
        generate(made["gpt2"], prompts, GenerationSettings(max_new_tokens=new))


def test_a_model_that_reads_to_both_sides_is_refused():
    model = models.PreTrainingModel(families.family("bert").config(**SHAPE))
    with pytest.raises(ConfigError, match="only a left-to-right model can continue a text"):
        generate(model, [[5]])


@pytest.mark.parametrize(("options", "message"), [(dict(top_k=3), "top_k changes nothing without sampling"),
                                                  (dict(sampling=True, beams=2), "choose one"),
                                                  (dict(top_p=0.0), "top_p: expected a number above 0")])  # fmt: skip
def test_settings_that_contradict_one_another_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        GenerationSettings(**options)


# --- texts and the command ---


def test_a_text_begins_with_cls_and_ends_with_sep(made):
    words = tokenizer()
    ids = [words.vocabulary.cls_id, *words.encode("a b")]
    continued = generate(made["bert"], [ids], GenerationSettings(max_new_tokens=5), end_id=words.vocabulary.sep_id)[0]
    text = generate_text(made["bert"], words, ["a b"], GenerationSettings(max_new_tokens=5))[0]
    assert text == words.decode(continued)


@pytest.mark.slow
def test_the_command_continues_texts(made, tmp_path):
    checkpoints.save(made["bert"], tmp_path / "model", tokenizer(), format="bertlab")
    command = ["generate", str(tmp_path / "model"), "--prompt", "a b", "--prompt", "c", "--max-new-tokens", "4"]
    result = CliRunner().invoke(cli, [*command, "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    expected = generate_text(made["bert"], tokenizer(), ["a b", "c"], GenerationSettings(max_new_tokens=4))
    assert [json.loads(line)["text"] for line in result.output.splitlines()] == expected
    plain = CliRunner().invoke(cli, [*command, "--sample", "--top-p", "0.9"], catch_exceptions=False)
    assert plain.exit_code == 0 and plain.output.startswith("a b")


@pytest.mark.parametrize(
    ("prompts", "message"),
    [(["a " * 60], "prompt 1 has 61 tokens, the model only 40 positions: shorten it"),
     (["a", " "], "prompt 2 is empty; expected a text to continue")],
)  # fmt: skip
def test_texts_that_cannot_be_continued_are_named_in_one_line(made, prompts, message):
    with pytest.raises(DataError, match=f"^{message}$"):
        generate_text(made["bert"], tokenizer(), prompts)


def test_a_draw_is_below_one_in_every_precision():
    for precision in ("float32", "float64"):
        drawn = program._below_one(np.array([0.0, 0.5, 1 - 2.0**-30]).astype(precision))
        assert drawn.dtype == precision and (drawn < 1).all() and drawn[1] == 0.5
