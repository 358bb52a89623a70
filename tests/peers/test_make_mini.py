"""The script that makes bertlab-mini, on JAX: its rows, its masks, and that a stopped run resumes as planned."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bertlab import checkpoints
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from scripts.mini_tokens import Tokens, write

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")
from scripts.make_mini import Plan  # noqa: E402 (they need JAX)
from scripts.mini_rows import MIXES, Marks, Text, examples_of, kinds_of, masked, rows_of  # noqa: E402

ROOT = Path(__file__).parents[2]
WORDS = [*"abcdefgh", *(f"##{letter}" for letter in "abcdefgh"), "."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Tokens of 60 documents of two sources, and their vocabulary."""
    folder, rng = tmp_path_factory.mktemp("tokens"), np.random.default_rng(0)
    vocabulary = Vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])
    vocabulary.save(folder / "vocab.txt")
    for part in ("train", "held_out"):
        (folder / part).mkdir()
        for source in ("novels", "enwiki_a"):
            documents = [
                [[" ".join(rng.choice(list("abcdefgh"), rng.integers(1, 40))) + " ." for _ in range(3)]] * 2
                for _ in range(30)
            ]
            text = folder / part / f"{source}.jsonl"
            text.write_text("".join(json.dumps({"paragraphs": each}) + "\n" for each in documents))
            write(text, WordPieceTokenizer(vocabulary), folder / part / f"{source}.npz")
    return folder


@pytest.fixture(scope="module")
def text(folder):
    return Text(folder / "train", MIXES["standard"])


@pytest.fixture(scope="module")
def marks(folder):
    return Marks.of(Vocabulary.from_file(folder / "vocab.txt"))


def kinds(**options):
    return kinds_of(128, **options)


def test_tokens_keep_sentences_and_documents(folder):
    tokens = Tokens.load(folder / "train" / "novels.npz")
    assert len(tokens.document_ends) == 30 * 6 and tokens.document_ends.tolist()[:7] == [6] * 6 + [12]
    assert tokens.starts[-1] == len(tokens.ids)
    last = tokens.ids[tokens.starts[1:] - 1]
    assert len(set(last.tolist())) == 1  # every sentence ends with the full stop


def test_segments_start_at_sentences_and_stay_in_their_document(text):
    for kind in kinds():
        spans = text.spans(kind, np.random.default_rng(1), 2000)
        for column in (0, 2):
            start, length = spans[:, column], spans[:, column + 1]
            used = length > 0
            sentence = np.searchsorted(text.starts, start[used])
            assert (text.starts[sentence] == start[used]).all()
            assert (start[used] + length[used] <= text.starts[text.document_ends[sentence]]).all()
        assert (spans[:, 1] > 0).all() and (spans[:, 1] + spans[:, 3] <= kind.tokens - 2 - kind.pairs).all()


def test_half_of_the_second_segments_follow_the_first(text):
    _, pairs = kinds()
    spans = text.spans(pairs, np.random.default_rng(2), 4000)
    follows = spans[:, 4] == 0
    assert 0.2 < follows.mean() < 0.5  # nothing follows the last sentence of a document
    sentence = np.searchsorted(text.starts, spans[follows, 0])
    second = np.searchsorted(text.starts, spans[follows, 2])
    assert (text.document_ends[sentence] == text.document_ends[second]).all()
    ended = text.starts[second] == spans[follows, 0] + spans[follows, 1]
    cut = text.starts[second] > spans[follows, 0] + spans[follows, 1]  # A is the start of one long sentence
    assert (ended | (cut & (second == sentence + 1))).all()


def test_rows_are_put_together_as_bert_reads_them(text, marks):
    for kind in kinds():
        spans = text.spans(kind, np.random.default_rng(3), 50)
        rows = {name: np.asarray(value) for name, value in rows_of(spans, text.ids, kind, marks).items()}
        for number, (start_a, a, start_b, b, label) in enumerate(spans.tolist()):
            first = [marks.cls, *text.ids[start_a : start_a + a].tolist(), marks.sep]
            second = [*text.ids[start_b : start_b + b].tolist(), marks.sep] if kind.pairs else []
            real = int(rows["attention_mask"][number].sum())
            assert rows["input_ids"][number, :real].tolist() == first + second
            assert (rows["input_ids"][number, real:] == marks.pad).all()
            assert rows["token_type_ids"][number, :real].tolist() == [0] * len(first) + [1] * len(second)
            assert not kind.pairs or rows["next_sentence_labels"][number] == label


def masked_rows(kind, number, text, marks):
    """Ids and lengths of rows before a fifth of their tokens is masked, and the arrays behind it."""
    before = rows_of(text.spans(kind, np.random.default_rng(4), number), text.ids, kind, marks)
    after = {n: np.asarray(v) for n, v in masked(before, jax.random.key(0), 0.2, kind, marks).items()}
    return np.asarray(before["input_ids"]), np.asarray(before["attention_mask"]).sum(1), after


def test_masks_hide_text_only_and_as_much_as_asked(text, marks):
    ids, length, after = masked_rows(kinds()[0], 4000, text, marks)
    used, positions = after["masked_lm_weights"] > 0, after["masked_lm_positions"]
    real = np.minimum(np.maximum(1, np.round(0.2 * length)), length - 2)
    assert (used.sum(1) == real).all()
    original = np.take_along_axis(ids, positions, 1)
    assert (original[used] == after["masked_lm_ids"][used]).all()
    assert not np.isin(original[used], [marks.cls, marks.sep, marks.pad]).any()
    shown = np.take_along_axis(after["input_ids"], positions, 1)[used]
    assert (shown == marks.mask).mean() == pytest.approx(0.8, abs=0.02)
    assert (shown == original[used]).mean() == pytest.approx(0.1 + 0.1 / len(WORDS), abs=0.02)
    changed = after["input_ids"] != ids
    assert changed.sum() <= used.sum() and not changed[:, 0].any()


def test_whole_words_are_masked_whole_or_not_at_all(folder, text, marks):
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    continues = np.isin(vocabulary.pieces, list("bdfh"))  # as if these letters continued a word
    marks = replace(marks, continues=continues)
    kind, _ = kinds(whole_words=True)
    ids, length, after = masked_rows(kind, 500, text, marks)
    chosen = np.zeros(ids.shape, bool)
    for row, (positions, used) in enumerate(zip(after["masked_lm_positions"], after["masked_lm_weights"] > 0)):
        chosen[row, positions[used]] = True
    wanted = np.minimum(np.maximum(1, np.round(0.2 * length)), length - 2)
    assert (chosen.sum(1) >= wanted).all() and (chosen.sum(1) <= kind.predictions).all()
    full = chosen.sum(1) == kind.predictions  # the last word may have had no place
    word = np.cumsum(~continues[ids] | np.isin(np.roll(ids, 1, 1), [marks.cls, marks.sep]), 1)
    parts, cut = 0, 0
    for row in np.flatnonzero(~full):
        for number in np.unique(word[row]):
            inside = chosen[row, word[row] == number]
            parts += len(inside) > 1
            cut += 0 < inside.sum() < len(inside)
    assert parts > 500 and cut == 0


def test_rows_from_left_to_right_see_what_comes_before_and_predict_what_comes_next(text, marks):
    all_kinds = kinds(left_to_right=0.25)
    assert sum(kind.share for kind in all_kinds) == 1
    assert [kind.left_to_right for kind in all_kinds] == [False, False, True]
    before = rows_of(text.spans(all_kinds[-1], np.random.default_rng(4), 50), text.ids, all_kinds[-1], marks)
    after = examples_of(before, jax.random.key(0), 0.2, all_kinds[-1], marks)
    ids, length = np.asarray(before["input_ids"]), np.asarray(before["attention_mask"]).sum(1)
    assert (np.asarray(after["input_ids"]) == ids).all()
    for row, real in enumerate(length):
        used = np.asarray(after["masked_lm_weights"][row]) > 0
        assert used.sum() == real - 1
        at = np.asarray(after["masked_lm_positions"][row])[used]
        assert (np.asarray(after["masked_lm_ids"][row])[used] == ids[row, at + 1]).all()
        seen = np.asarray(after["attention_mask"][row])
        assert (seen == np.tril(np.ones_like(seen)) * (np.arange(len(seen)) < real)).all()


def test_three_kinds_of_rows_take_turns_by_their_fractions():
    two, three = (Plan(kinds(left_to_right=part), 20_000, 2e-3, 0.3, 0.15) for part in (0.0, 0.25))
    for plan in (two, three):
        calls = [plan.kind(call) for call in range(1000)]
        for kind in plan.kinds:
            assert calls.count(kind) == pytest.approx(1000 * kind.share, abs=2)
    assert [two.kind(call) is two.kinds[0] for call in range(5)] == [False, True, False, True, True]


STOP = """
import sys
from scripts import make_mini
save = make_mini.save_state
def stop(*given):
    save(*given)
    raise KeyboardInterrupt
make_mini.save_state = stop
sys.argv = ["make_mini", *sys.argv[1:]]
make_mini.main()
"""


def run(folder: Path, out: Path, *more: str, code: str | None = None) -> subprocess.CompletedProcess:
    start = ["-c", code] if code else ["-m", "scripts.make_mini"]
    command = [sys.executable, *start, str(folder), "--vocabulary", str(folder / "vocab.txt"), "--out", str(out)]
    command += ["--layers", "1", "--tokens-per-update", "128", "--precision", "float32", *more]
    environment = os.environ | {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=900)


def test_a_stopped_run_continues_as_if_it_had_not_stopped(folder, tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    done = run(folder, whole, "--steps", "60")
    assert done.returncode == 0, done.stderr
    assert "KeyboardInterrupt" in run(folder, stopped, "--steps", "60", code=STOP).stderr
    assert not (stopped / "bertlab-mini").exists()
    refused = run(folder, stopped, "--steps", "60", "--seed", "2")
    assert refused.returncode and "expected seed 1, got 2" in refused.stderr
    assert run(folder, stopped, "--steps", "60").returncode == 0
    files = [out / "bertlab-mini" / "model.safetensors" for out in (whole, stopped)]
    assert files[0].read_bytes() == files[1].read_bytes()
    rows = [(out / "metrics.csv").read_text().splitlines() for out in (whole, stopped)]
    assert len(rows[0]) == len(rows[1]) == 4
    assert (whole / "bertlab-mini" / "curve.png").stat().st_size > 10_000


def test_the_result_is_a_bert_with_dropout(folder, tmp_path):
    assert run(folder, tmp_path, "--minutes", "0.01", "--no-states").returncode == 0
    assert not (tmp_path / "state.npz").exists()
    config = checkpoints.read_config(tmp_path / "bertlab-mini")
    assert (config.num_layers, config.hidden_dropout, config.attention_dropout) == (1, 0.1, 0.1)
    assert checkpoints.load(tmp_path / "bertlab-mini", "pretraining").config.vocab_size == len(WORDS) + 5
