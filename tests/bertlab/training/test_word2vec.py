"""word2vec: both losses by hand, windows, negatives and subsampling by counts, what is learned, and resuming.

Letters: P positions, W the largest window, K negatives, V vocabulary, D dimensions.
"""

import json

import keras
import numpy as np
import pytest
from bertlab_command import run
from refusals import refused

from bertlab.common.errors import ConfigError, DataError
from bertlab.data.documents import Document
from bertlab.training.baselines.word_vectors import read_word_vectors
from bertlab.training.word2vec import learning
from bertlab.training.word2vec.examples import Examples, open_text, store_text
from bertlab.training.word2vec.learning import _Run, learn_word_vectors
from bertlab.training.word2vec.model import TableAdagrad, Word2Vec
from bertlab.training.word2vec.settings import KINDS, Word2VecSettings

SHORT = Word2VecSettings(word_size=8, window=2, negatives=3, min_count=1, subsampling=0.0, epochs=3, batch_size=64)
ANIMALS, NUMBERS = "cat dog cow hen fox owl".split(), "one two three four five six".split()


def two_topics(count=300, seed=1):
    """Lines whose words are all of one topic, with a word of both topics in between."""
    rng = np.random.default_rng(seed)
    lines = (rng.choice([ANIMALS, NUMBERS][number % 2], 6) for number in range(count))
    return "\n".join(" ".join([*line[:3], "the", *line[3:]]) for line in lines) + "\n"


@pytest.fixture
def text_file(tmp_path):
    (tmp_path / "text.txt").write_text(two_topics(), encoding="utf-8")
    return tmp_path / "text.txt"


def learned(source, out, settings=SHORT, **options):
    return learn_word_vectors([source], out, settings, **options)


def stored(tmp_path, *paragraphs, settings=SHORT):
    store_text([Document("one", tuple((paragraph,) for paragraph in paragraphs))], tmp_path, settings)
    return open_text(tmp_path)


# === The losses ===


def batch_of(rng, positions=4, window=2, negatives=3, vocabulary=7):
    return {
        "context": rng.integers(0, vocabulary, (positions, 2 * window)),
        "context_weights": np.array([[1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]], "float32"),
        "targets": rng.integers(0, vocabulary, (positions, 1 + negatives)),
        "target_weights": np.array([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], "float32"),
    }


def loss_by_hand(kind, words, predicted, batch):
    """The sum of −log σ(±u · v), word by word, in float64."""
    total = 0.0
    for ids, real, targets, weights in zip(*batch.values()):
        window = [words[word] for word, weight in zip(ids, real) if weight]
        if kind == "cbow" and window:
            window = [np.mean(window, axis=0)]
        for v in window:
            for place, (target, weight) in enumerate(zip(targets, weights)):
                score = predicted[target] @ v * (1 if place == 0 else -1)
                total -= weight * np.log(1 / (1 + np.exp(-score)))
    return total


def filled(kind, rng):
    model = Word2Vec(7, 5, kind)
    for weight in model.weights:
        weight.assign(rng.normal(size=weight.shape))
    return model, [np.array(weight, "float64") for weight in model.weights]


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_that_of_the_papers(kind):
    rng = np.random.default_rng(1)
    model, weights = filled(kind, rng)
    batch = batch_of(rng)
    assert float(model.compute_loss(batch, None, model(batch))) == pytest.approx(
        loss_by_hand(kind, *weights, batch), rel=1e-5
    )
    assert np.array(model.pairs(batch)).sum() == {"skip-gram": 7, "cbow": 3}[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_goes_along_the_gradient_of_the_loss_by_hand(kind):
    """One step of SGD, against differences of the loss; words that are not in the batch stay as they are."""
    rng = np.random.default_rng(2)
    model, weights = filled(kind, rng)
    batch = {name: np.minimum(values, 5) if "weights" not in name else values for name, values in batch_of(rng).items()}
    model.compile(keras.optimizers.SGD(1e-2), jit_compile=False)
    model.train_on_batch(batch)
    for number, (before, after) in enumerate(zip(weights, model.get_weights())):
        for place in [*rng.integers(0, before.shape, (12, 2)), (6, 0)]:
            losses = []
            for step in (1e-5, -1e-5):
                moved = [weight.copy() for weight in weights]
                moved[number][tuple(place)] += step
                losses.append(loss_by_hand(kind, *moved, batch))
            slope = (losses[0] - losses[1]) / 2e-5
            assert before[tuple(place)] - after[tuple(place)] == pytest.approx(1e-2 * slope, abs=1e-6)
        np.testing.assert_array_equal(after[6], before[6].astype("float32"))


def test_words_that_a_batch_reads_often_are_learned_by_adagrads_equations():
    """Duchi et al. 2011: every number moves by rate · g / √(Σ g² + ε), with g the sum over the batch."""
    model = Word2Vec(5, 4)
    model.compile(TableAdagrad(0.05), jit_compile=False)
    batch = {
        "context": np.zeros((64, 4), "int32"),
        "context_weights": np.ones((64, 4), "float32"),
        "targets": np.tile(np.array([[1, 2, 3, 2]], "int32"), (64, 1)),
        "target_weights": np.ones((64, 4), "float32"),
    }
    squares = [0.1, 0.1]  # as the accumulators begin
    for _ in range(3):
        words, predicted = (np.array(weight, "float64") for weight in model.get_weights())
        slopes = 64 * 4 / (1 + np.exp(-predicted @ words[0]))  # (V,) of σ(s), for negatives
        slopes = slopes * [0, 1, 2, 1, 0] - np.array([0, 64 * 4, 0, 0, 0])
        gradients = [np.outer([1, 0, 0, 0, 0], slopes @ predicted), np.outer(slopes, words[0])]
        model.train_on_batch(batch)
        for number, gradient in enumerate(gradients):
            squares[number] = squares[number] + gradient**2
            expected = (words, predicted)[number] - 0.05 * gradient / np.sqrt(squares[number] + 1e-7)
            np.testing.assert_allclose(model.get_weights()[number], expected, atol=1e-5)
    assert keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(model.optimizer)).built is False


# === The text and its draws ===


def test_the_words_are_stored_by_frequency_without_the_rare_ones(tmp_path):
    settings = SHORT.replace(min_count=2)
    text = stored(tmp_path, "The cat, the dog.", "Zoë saw the cat, the hen.", settings=settings)
    assert text.words == ["the", "cat", ",", "."] and text.counts.tolist() == [4, 2, 2, 2]
    assert text.ids.tolist() == [0, 1, 2, 0, 3, -1, 0, 1, 2, 0, 3, -1]
    assert not (tmp_path / "raw.bin").exists()
    assert stored(tmp_path / "cased", "The cat, the dog.", settings=SHORT.replace(lowercase=False)).words[0] == "The"
    assert len(stored(tmp_path / "few", "a a a b b c", settings=SHORT.replace(most_words=2)).words) == 2


def test_frequent_words_are_read_less_often_by_their_counts(tmp_path):
    text = stored(tmp_path, *["a " * 60 + "b " * 20 + "c"] * 400)
    share = np.array([60, 20, 1]) / 81
    examples = Examples(text, SHORT.replace(subsampling=0.05))
    expected = np.minimum(1, np.sqrt(0.05 / share))
    np.testing.assert_allclose(examples.keep, expected)
    ids = examples.part(0, 0).ids
    kept = np.array([(ids == word).sum() for word in range(3)])
    np.testing.assert_allclose(kept / text.counts, expected, atol=0.02)  # √(p (1 − p) / 8,000) is 0.006
    assert len(examples.part(0, 0).order) == kept.sum()
    assert Examples(text, SHORT).keep.tolist() == [1, 1, 1]


def test_negatives_are_drawn_by_their_count_to_the_power_of_three_quarters(tmp_path):
    text = stored(tmp_path, "a " * 81 + "b " * 16 + "c")
    drawn = Examples(text, SHORT).negatives(np.random.default_rng(1), (40_000,))
    np.testing.assert_allclose(np.bincount(drawn) / 40_000, np.array([27, 8, 1]) / 36, atol=0.01)
    alike = Examples(text, SHORT.replace(power=0.0)).negatives(np.random.default_rng(1), (40_000,))
    np.testing.assert_allclose(np.bincount(alike) / 40_000, 1 / 3, atol=0.01)


def test_a_window_is_drawn_for_each_position_and_stays_in_its_paragraph(tmp_path):
    words = [f"w{number}" for number in range(30)]
    text = stored(tmp_path, " ".join(words[:20]), " ".join(words[20:]))
    settings = SHORT.replace(window=3, batch_size=8)
    reaches, seen = [], []
    for epoch in range(20):
        part = Examples(text, settings).part(epoch, 0)
        for batch in part.from_batch(0):
            for number in range(8):
                if not batch["context_weights"][number].any():
                    continue
                word = text.words[batch["targets"][number, 0]]
                context = batch["context"][number][batch["context_weights"][number] == 1]
                place, others = words.index(word), sorted(words.index(text.words[each]) for each in context)
                start, end = (0, 20) if place < 20 else (20, 30)
                reach = max(abs(other - place) for other in others)
                assert others == [
                    other for other in range(max(start, place - reach), min(end, place + reach + 1)) if other != place
                ]
                seen.append(place)
                if start + 3 <= place < end - 3:
                    reaches.append(reach)
    assert sorted(seen) == sorted(list(range(30)) * 20)  # every position once in an epoch
    np.testing.assert_allclose(np.bincount(reaches)[1:] / len(reaches), 1 / 3, atol=0.1)


def test_a_negative_that_is_the_word_itself_does_not_count_and_neither_does_filling(tmp_path):
    part = Examples(stored(tmp_path, "a a a b"), SHORT.replace(batch_size=6)).part(0, 0)
    (batch,) = part.from_batch(0)
    same = batch["targets"][:, 1:] == batch["targets"][:, :1]
    np.testing.assert_array_equal(batch["target_weights"][:, 1:] == 0, same)
    assert same.any() and (batch["target_weights"][:, 0] == 1).all()
    assert not batch["context_weights"][4:].any() and batch["context_weights"][:4].any(axis=1).all()


def test_parts_of_a_text_have_all_its_words(tmp_path):
    text = stored(tmp_path, "a b c d e f g")
    examples = Examples(text, SHORT, words_together=3)
    assert examples.parts == 3
    read = [examples.part(1, number).ids for number in range(3)]
    np.testing.assert_array_equal(np.concatenate(read), text.ids)


def test_the_first_batch_does_not_repeat_the_draws_of_its_part(tmp_path, monkeypatch):
    part = Examples(stored(tmp_path, "a b c d e f g"), SHORT).part(0, 0)
    begun, make = [], np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: begun.append(seed) or make(seed))
    list(part.from_batch(0))
    assert len(begun) == part.batches
    first = {make(seed).random() for seed in (part._seed, *begun)}
    assert len(first) == 1 + part.batches


def test_a_seed_that_is_no_seed_of_keras_is_refused():
    with pytest.raises(ConfigError, match="seed: expected an integer of at least 0 and at most 4,294,967,295"):
        Word2VecSettings(seed=5_000_000_000)
    assert Word2VecSettings(seed=2**32 - 1).seed == 2**32 - 1


# === Learning ===


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_words_of_two_topics_come_apart(kind, text_file, tmp_path):
    settings = SHORT.replace(kind=kind, epochs=20, learning_rate=0.1)
    result = learned(text_file, tmp_path / "out", settings)
    assert result.losses[-1] < result.losses[0] < 4 * np.log(2) * 1.01
    assert (result.words, result.tokens) == (13, 300 * 7)
    vectors = read_word_vectors(tmp_path / "out")
    for topic in (ANIMALS, NUMBERS):
        for word in topic:
            nearest = {other for other, _ in vectors.nearest(word, top=5)}
            assert nearest == set(topic) - {word}
    assert (tmp_path / "out/curve.png").stat().st_size > 5000
    assert not (tmp_path / "out/text").exists() and not (tmp_path / "out/states").exists()
    assert learned(text_file, tmp_path / "out", settings) == result  # read again


@pytest.mark.slow
def test_a_run_that_was_killed_ends_with_the_same_bytes(text_file, tmp_path, monkeypatch):
    settings = SHORT.replace(interval=7)
    learned(text_file, tmp_path / "whole", settings)
    update, done = _Run._update, []

    def killed(run, *arguments):
        if len(done) == 40:  # in the second epoch of 33 updates each
            raise KeyboardInterrupt
        done.append(1)
        return update(run, *arguments)

    monkeypatch.setattr(_Run, "_update", killed)
    with pytest.raises(KeyboardInterrupt):
        learned(text_file, tmp_path / "killed", settings)
    monkeypatch.setattr(_Run, "_update", update)
    said = []
    with pytest.raises(ConfigError, match="window was 2, is 3"):
        learned(text_file, tmp_path / "killed", settings.replace(window=3))
    result = learned(text_file, tmp_path / "killed", settings, say=said.append)
    assert any("resumes from update 35" in line for line in said), said
    whole = [json.loads((tmp_path / name / "results.json").read_text()) for name in ("whole", "killed")]
    assert whole[0]["losses"] == pytest.approx(whole[1]["losses"], rel=1e-6) and result.losses == whole[1]["losses"]
    assert (tmp_path / "whole/vectors.txt").read_bytes() == (tmp_path / "killed/vectors.txt").read_bytes()


def test_too_little_text_and_changed_text_are_refused(text_file, tmp_path):
    with pytest.raises(DataError, match="at least two words that are in the text 9999 times, got 0 of 13"):
        learned(text_file, tmp_path / "few", SHORT.replace(min_count=9999))
    assert not (tmp_path / "few").exists()  # so that other settings are not refused there
    (tmp_path / "single.txt").write_text("cat\n\ndog\n", encoding="utf-8")
    refused("words that are next to each other", learned, tmp_path / "single.txt", tmp_path / "single", SHORT)
    assert not (tmp_path / "single").exists()
    refused("no such file", learned, tmp_path / "nothing.txt", tmp_path / "nothing", SHORT)
    assert not (tmp_path / "nothing").exists()
    learned(text_file, tmp_path / "out", SHORT.replace(epochs=1))
    text_file.write_text(two_topics(seed=2), encoding="utf-8")
    refused("sha256", learned, text_file, tmp_path / "out", SHORT.replace(epochs=1), error=ConfigError)


def test_files_of_the_user_stay(text_file, tmp_path):
    for name in ("text", "states", "logs", "vectors.txt", "curve.png"):
        out = tmp_path / f"with {name}"
        own = out / name if "." in name else out / name / "state-of-the-art.txt"
        own.parent.mkdir(parents=True)
        own.write_text(two_topics(), encoding="utf-8")
        with pytest.raises(ConfigError, match=f"holds {name} but no settings.json"):
            learned(text_file if "." in name else own.parent, out)
        assert own.read_text(encoding="utf-8") == two_topics() and not (out / "settings.json").exists()

    def with_another_file(run, *arguments):
        for name in ("text", "states"):
            (run.out / name / "mine.txt").write_text("mine", encoding="utf-8")
        return finish(run, *arguments)

    finish, _Run.finish = _Run.finish, with_another_file
    try:
        learned(text_file, tmp_path / "out", SHORT.replace(epochs=1))
    finally:
        _Run.finish = finish
    for name in ("text", "states"):
        assert [path.name for path in (tmp_path / "out" / name).iterdir()] == ["mine.txt"]


def test_a_folder_inside_a_source_is_refused_and_other_files_there_change_nothing(text_file, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    text_file.rename(source / "text.txt")
    for out in (source, source / "out"):
        refused("is inside .*source, whose files are read", learned, source, out, error=ConfigError)
    assert [path.name for path in source.iterdir()] == ["text.txt"]
    settings = SHORT.replace(epochs=1)
    first = learned(source, tmp_path / "out", settings)
    (source / "picture.png").write_bytes(b"not read")
    assert learned(source, tmp_path / "out", settings) == first
    (source / "more.txt").write_text("cat dog", encoding="utf-8")
    refused("sha256", learned, source, tmp_path / "out", settings, error=ConfigError)


def test_the_advice_about_rare_words_can_be_followed(tmp_path, monkeypatch):
    (tmp_path / "short.txt").write_text("the cat saw the dog\n", encoding="utf-8")
    out = tmp_path / "out"
    with pytest.raises(DataError, match="got 1 of 4 words; give more text, or a lower min_count"):
        learned(tmp_path / "short.txt", out, SHORT.replace(min_count=2))
    store = learning.store_text

    def killed(*arguments):
        store(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(learning, "store_text", killed)
    with pytest.raises(KeyboardInterrupt):
        learned(tmp_path / "short.txt", out)
    monkeypatch.setattr(learning, "store_text", store)
    assert learned(tmp_path / "short.txt", out).words == 4


def test_the_commands_learn_and_print_the_nearest_words(text_file, tmp_path):
    options = ["--word-size", "8", "--min-count", "1", "--subsampling", "0", "--epochs", "8", "--learning-rate", "0.2"]
    out = tmp_path / "out"
    assert "13 words" in run("word-vectors", "learn", text_file, "--out", out, "--batch-size", "64", *options)
    lines = run("word-vectors", "nearest", out, "cat", "two", "--top", "2").splitlines()
    assert (lines[0], lines[3]) == ("cat", "two") and lines[1].split()[1] in ANIMALS and lines[4].split()[1] in NUMBERS
    nearest = run("word-vectors", "nearest", out, "cat", "--json", "--top", "1")
    assert json.loads(nearest)["nearest"][0]["word"] in ANIMALS
    refused("no vector for 'zebra'", run, "word-vectors", "nearest", out, "zebra")
