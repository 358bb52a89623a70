"""Coverage, fertility, the fraction of [UNK], the plot of them, and the commands that show them."""

import json

import pytest
from click.testing import CliRunner

from bertlab.cli.vocab import vocab
from bertlab.common.errors import DataError
from bertlab.tokenizers.wordpiece.learner import SPECIAL_TOKENS, learn_pieces
from bertlab.tokenizers.wordpiece.vocabulary import Vocabulary
from bertlab.tokenizers.wordpiece.vocabulary_report import measure, measure_sizes, plot_sizes

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat, the hat\nthat Éclair cat\n" * 9, encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(vocab, [str(argument) for argument in arguments], catch_exceptions=False)


# --- numbers ---


def test_coverage_fertility_and_unknown_are_weighted_by_count():
    vocabulary = Vocabulary([*SPECIAL_TOKENS, "h", "##u", "##g", "hug"])
    report = measure(vocabulary, {"hug": 5, "hu": 2, "hx": 1})  # 1 token, 2 tokens, [UNK]
    assert (report.size, report.words) == (9, 8)
    assert report.coverage == 5 / 8
    assert report.fertility == (5 * 1 + 2 * 2 + 1 * 1) / 8
    assert report.unknown == 1 / 8


def test_measuring_on_nothing_is_refused():
    with pytest.raises(DataError, match="at least one word"):
        measure(Vocabulary(SPECIAL_TOKENS), {})


def test_a_larger_vocabulary_of_the_same_run_never_covers_less_from_the_alphabet_to_everything():
    learned = learn_pieces(WORDS, 1000, progress=False)
    reports = measure_sizes(learned, WORDS)
    sizes, coverage = [report.size for report in reports], [report.coverage for report in reports]
    assert (sizes[0], sizes[-1]) == (learned.smallest, len(learned.pieces))
    assert sizes == sorted(sizes) and coverage == sorted(coverage)
    assert reports[-1].coverage == 1 and reports[-1].fertility == 1


def test_the_plot_is_written_and_shows_both_quantities(tmp_path):
    reports = measure_sizes(learn_pieces(WORDS, 1000, progress=False), WORDS)
    plot_sizes({"score: wordpiece": reports}, tmp_path / "plot.svg", "a test")
    plot_sizes({"score: wordpiece": reports}, tmp_path / "plot.png", "a test")
    drawn = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert all(word in drawn for word in ("fertility", "coverage", "vocabulary size", "score: wordpiece"))
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


# --- commands ---


def test_learn_writes_a_vocabulary_that_can_be_read_twice_the_same_bytes(text, tmp_path):
    paths = [tmp_path / "new" / name for name in ("a.txt", "b.txt")]
    results = [run("learn", text, "--size", 60, "--out", path, "--json") for path in paths]
    vocabulary = Vocabulary.from_file(paths[0])
    assert {"the", "cat", "e", "##e"} <= set(vocabulary.pieces)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    printed = json.loads(results[0].stdout)
    assert (printed["size"], printed["sha256"]) == (len(vocabulary), vocabulary.sha256)


def test_learn_names_file_and_line_of_broken_text(tmp_path):
    path = tmp_path / "broken.txt"
    path.write_bytes(b"good\nb\xe9d\n")
    with pytest.raises(DataError, match="broken.txt line 2: not UTF-8"):
        run("learn", path, "--out", tmp_path / "vocab.txt")
    assert not (tmp_path / "vocab.txt").exists()


def test_cased_keeps_capitals_and_accents_and_too_small_a_corpus_is_told(text, tmp_path):
    result = run("learn", text, "--size", 400, "--out", tmp_path / "vocab.txt", "--cased")
    assert "Éclair" in Vocabulary.from_file(tmp_path / "vocab.txt")
    assert "Expected 400 tokens, got fewer" in result.stderr


def test_show_splits_words_and_measures_text(text, tmp_path):
    run("learn", text, "--size", 400, "--out", tmp_path / "vocab.txt")
    result = run("show", tmp_path / "vocab.txt", "--word", "Cats", "--text", text)
    assert "Cats → cat ##s\n" in result.stdout
    assert "1.000 tokens per word, 100.0% of words are one token" in result.stdout
    facts = json.loads(run("show", tmp_path / "vocab.txt", "--json").stdout)
    assert facts["special_ids"]["[MASK]"] == 4
    assert facts["report"] is None


def test_plot_draws_both_scores(text, tmp_path):
    result = run("plot", text, "--out", tmp_path / "plot.png", "--json")
    assert set(json.loads(result.stdout)) == {"score: wordpiece", "score: frequency"}
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.mark.parametrize("name", ["plot", "plot.txt"])
def test_plot_refuses_an_unknown_kind_of_picture_before_it_counts(text, tmp_path, name):
    with pytest.raises(DataError, match="expected a name that ends with .png, .svg or .pdf"):
        run("plot", text, "--out", tmp_path / name)
