"""Predictions for raw text: every shape, long inputs in windows, from Python and from the shell."""

import dataclasses
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from finetuned_models import CONFIG, LABELS, TOKENIZER, WORDS, info_of, model_of, predictor_of
from hypothesis import given
from hypothesis import strategies as st
from warm import run_module

from bertlab import checkpoints
from bertlab.checkpoints.kinds import model_class
from bertlab.cli import cli
from bertlab.cli.predict import predict
from bertlab.common.errors import CheckpointError, DataError
from bertlab.data.tasks.formats_published import NLI
from bertlab.data.tasks.load import load_task
from bertlab.models import BertEncoder
from bertlab.predict import Predictor, evaluate, load_labelled
from bertlab.predict.evaluation import submit
from bertlab.predict.inputs import row_of, rows_of_file
from bertlab.predict.windows import mean_of_windows, text_windows, tokens_of_windows, window_starts
from bertlab.tokenizers.wordpiece import Vocabulary
from bertlab.tokenizers.wordpiece.encoding import Ragged
from bertlab.training.finetuning.task_info import save_finetuned
from bertlab.training.finetuning.task_kinds import task_kind_of

LONG = "the film was good in paris is bad where the it a " * 4  # 48 tokens, three times what the model reads


def ragged(*rows):
    return Ragged(np.concatenate([np.array(row, np.int32) for row in rows]), np.cumsum([0, *map(len, rows)]))


# --- windows ---


@given(st.integers(0, 200), st.integers(1, 60))
def test_windows_cover_everything_and_overlap_by_half(length, room):
    starts = window_starts(length, room)
    covered = {i for start in starts for i in range(start, min(start + room, length))}
    assert covered == set(range(length))
    assert all(b - a == max(1, room // 2) for a, b in zip(starts, starts[1:]))
    assert starts[-1] == 0 or starts[-1] < length  # no window is empty


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=4))
def test_windows_of_pairs_fit_and_hold_every_token_of_both(lengths):
    first = ragged(*[range(a) for a, _ in lengths])
    second = ragged(*[range(100, 100 + b) for _, b in lengths])
    a, b, owners = text_windows(first, second, 15, Vocabulary)
    assert all(len(a.row(i)) + len(b.row(i)) + 3 <= 15 for i in range(len(owners)))
    for row, (length_a, length_b) in enumerate(lengths):
        its_own = np.flatnonzero(owners == row)
        assert {p for i in its_own for p in a.row(i)} == set(range(length_a))
        assert {p for i in its_own for p in b.row(i)} == set(range(100, 100 + length_b))


def test_a_rows_logits_are_the_mean_of_its_windows():
    outputs = [np.array([1.0, 0.0]), np.array([3.0, 4.0]), np.array([7.0, 7.0])]
    means = mean_of_windows(outputs, np.array([0, 0, 1]), 2)
    np.testing.assert_allclose(means, [[2, 2], [7, 7]])


def test_a_token_is_read_where_it_has_most_context():
    room, length = 4, 6  # windows of tokens 0–3 and 2–5
    outputs = [np.full((6, 1), 1.0, np.float32), np.full((6, 1), 2.0, np.float32)]
    (merged,) = tokens_of_windows(outputs, [length], room)
    assert merged[:, 0].tolist() == [1, 1, 1, 2, 2, 2]  # 2 is second in both: the earlier one; 3 is last in the first


# --- predictions ---


@pytest.mark.parametrize(
    "shape, short, long",
    [
        ("sentence", "the film was good", LONG),
        ("pair", ("good film", "bad film"), ("good", LONG)),
        ("number", ("good film", "bad film"), (LONG, LONG)),
        ("multiple-choice", ("it was", ["good", "bad", "in paris"]), (LONG, ["good", LONG])),
        ("tagging", "paris is good .", LONG),
        ("question", {"question": "where is it", "context": "paris is in france ."},
         {"question": "where is it", "context": LONG}),
    ],
)  # fmt: skip
def test_an_input_gets_the_same_prediction_alone_and_among_others(shape, short, long):
    predictor = predictor_of(shape, batch_size=4)
    together = predictor([long, short, short, long, short])
    assert len(together) == 5
    for index, value in ((0, long), (1, short), (4, short)):
        (alone,) = predictor([value])
        for name, expected in vars(alone).items():
            found = getattr(together[index], name)
            if name == "id":  # the number of the input
                assert found == str(index + 1)
            elif name in ("probability", "probabilities", "value"):
                expected, found = (
                    list(v.values()) if isinstance(v, dict) else v for v in (expected, found)
                )  # fmt: skip
                np.testing.assert_allclose(found, expected, atol=1e-5)
            else:
                assert found == expected


def test_a_short_text_is_classified_as_the_model_itself_does():
    predictor = predictor_of("sentence")
    ids = np.array([[2, 8, 7, 9, 5, 3]])  # [CLS] the film was good [SEP]
    logits = np.array(predictor.model({"input_ids": ids}))[0]
    expected = np.exp(logits) / np.exp(logits).sum()
    (prediction,) = predictor(["the film was good"])
    assert prediction.label == LABELS["sentence"][int(expected.argmax())]
    assert prediction.probability == pytest.approx(float(expected.max()), abs=1e-5)
    assert sum(prediction.probabilities.values()) == pytest.approx(1)
    assert list(prediction.probabilities.values()) == sorted(prediction.probabilities.values(), reverse=True)


def test_every_word_of_a_long_text_has_its_tag_and_an_answer_is_a_span_of_its_context():
    (tagged,) = predictor_of("tagging")([LONG])
    assert tagged.words == LONG.split() and len(tagged.tags) == len(tagged.words) == len(tagged.probabilities)
    assert all(sure > 0 for sure in tagged.probabilities)  # every word was read
    (answer,) = predictor_of("question")([{"question": "where", "context": LONG}])
    assert answer.text == LONG[answer.start : answer.end] != ""


def test_an_answer_has_the_id_of_its_question_also_one_that_is_given_twice():
    question = {"question": "where is it", "context": "paris is in france ."}
    answers = predictor_of("question")([{**question, "id": "x"}, question, {**question, "id": "x"}])
    assert [answer.id for answer in answers] == ["x", "2", "x"]


def test_a_question_that_is_too_long_is_cut_as_in_fine_tuning_and_named(predicted):
    said = []
    predictor = predictor_of("question", say=said.append)
    longest = predictor.task_kind.question_length
    asked = " ".join(["where is it in paris"] * 4)
    cut = " ".join(asked.split()[:longest])
    short, long, by_hand = predictor([(text, "paris is in france .") for text in ("where is it", asked, cut)])
    assert (long.text, long.probability) == pytest.approx((by_hand.text, by_hand.probability))
    assert said == [f"question 2 has 20 tokens and was cut to its first {longest}, as in fine-tuning"]
    done = predicted("question", f"where\tin paris\n{asked}\tin paris\nwhere\tin paris\n".encode())
    assert len(done.stdout.splitlines()) == 3 and "question 2 has 20 tokens and was cut" in done.stderr


def test_rows_may_have_different_numbers_of_choices():
    two, three = predictor_of("multiple-choice")([("it", ["good", "bad"]), ("it", ["a", "bad", "in"])])
    assert len(two.probabilities) == 2 and len(three.probabilities) == 3
    assert sum(three.probabilities) == pytest.approx(1)


@pytest.mark.parametrize(
    "shape, wrong", [("sentence", 3), ("pair", "one"), ("pair", ("a", "b", "c")), ("multiple-choice", ("a", ["b"])),
                     ("question", {"question": "where"}), ("tagging", ["a", 3])],
)  # fmt: skip
def test_an_input_of_another_form_is_named(shape, wrong):
    with pytest.raises(DataError, match="input 7: expected"):
        row_of(info_of(shape).shape, wrong, 7)


@pytest.mark.parametrize("inputs", ["good film", {"question": "where", "context": "here"}])
def test_one_input_in_place_of_several_is_refused(inputs):
    with pytest.raises(DataError, match="expected a list of inputs, got one, .*; put it into a list"):
        predictor_of("sentence")(inputs)


def test_no_inputs_give_no_predictions():
    assert predictor_of("sentence")([]) == []


# --- on disk and in the shell ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict") / "model"
    save_finetuned(model_of("sentence"), folder, TOKENIZER, info_of("sentence"), "huggingface")
    return folder


def test_a_saved_model_predicts_the_same_also_without_its_task_file(folder, tmp_path):
    texts = ["good film", "bad", LONG]
    expected = predictor_of("sentence")(texts)
    shutil.copytree(folder, tmp_path / "bare")
    (tmp_path / "bare" / "task.json").unlink()  # as transformers would have left it
    for path in (folder, tmp_path / "bare"):
        for found, wanted in zip(Predictor.load(path)(texts), expected):
            assert found.label == wanted.label and found.probability == pytest.approx(wanted.probability, abs=1e-5)


def test_a_model_that_is_not_fine_tuned_is_refused(tmp_path):
    checkpoints.save(BertEncoder(CONFIG), tmp_path / "encoder", TOKENIZER)
    with pytest.raises(CheckpointError, match="is not fine-tuned; `bertlab finetune"):
        Predictor.load(tmp_path / "encoder")


@pytest.mark.parametrize("content", ["{", '{"name": "x"}', '{"labels": 3, "metrics": []}'])
def test_a_damaged_task_file_is_named(folder, tmp_path, content):
    shutil.copytree(folder, tmp_path / "damaged")
    (tmp_path / "damaged" / "task.json").write_text(content)
    with pytest.raises(CheckpointError, match="task.json: does not describe a task"):
        Predictor.load(tmp_path / "damaged")


@pytest.mark.slow
def test_lines_in_predictions_out(folder):
    command = [sys.executable, "-m", "bertlab", "predict", str(folder)]
    text = f"good film\n\n{LONG}\n"
    plain = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    assert plain.returncode == 0 and plain.stderr == ""
    lines = plain.stdout.splitlines()
    assert len(lines) == 3 and all(line.split("\t")[0] in LABELS["sentence"] for line in lines)
    as_json = run_module("bertlab", "predict", folder, "--json", text=text).stdout
    assert [json.loads(line)["label"] for line in as_json.splitlines()] == [line.split("\t")[0] for line in lines]


@pytest.fixture
def predicted(monkeypatch, tmp_path):
    """Runs `bertlab predict` with a predictor, or a tiny one of a shape, on a file of this content."""

    def run(predictor, content: bytes, name="lines.txt"):
        own = predictor_of(predictor) if isinstance(predictor, str) else predictor

        def load(*arguments, **options):
            own.say = options["say"]
            return own

        monkeypatch.setattr(Predictor, "load", load)
        (tmp_path / name).write_bytes(content)
        return CliRunner().invoke(predict, [str(tmp_path), str(tmp_path / name)])

    return run


@pytest.mark.parametrize(
    "shape, wrong, message",
    [
        ("pair", b"", "expected two texts"),
        ("pair", b"no tab", "expected two texts"),
        ("question", b"{", "not valid JSON"),
        ("question", b'{"question": "\\ud83d", "context": "in paris"}', "not valid JSON (half of a surrogate pair"),
        ("question", b'{"question": ' + b"1" * 5000, "not valid JSON"),
        ("question", b'{"question": ' + b"[" * 100_000, "not valid JSON"),
        ("pair", b"caf\xe9\tgood", "byte 4 is not UTF-8"),
    ],
)
def test_lines_before_one_that_cannot_be_read_are_answered_first(shape, wrong, message, predicted):
    good = b"where is it\tparis is in france .\n"
    done = predicted(shape, good * 2 + wrong + b"\n" + good)
    assert len(done.stdout.splitlines()) == 2
    assert isinstance(done.exception, DataError) and f"lines.txt line 3: {message}" in str(done.exception)


def test_a_byte_order_mark_and_carriage_returns_are_not_text(predicted):
    plain = predicted("sentence", b"good film\nbad\n")
    marked = predicted("sentence", b"\xef\xbb\xbfgood film\r\nbad")
    assert marked.stdout == plain.stdout != ""
    question = b'{"question": "where", "context": "in paris"}'
    assert predicted("question", b"\xef\xbb\xbf" + question).exit_code == 0


# --- one text or two ---


@pytest.fixture(scope="module")
def pair_folders(tmp_path_factory):
    """The same classifier of pairs as BertLab saves it, and as transformers does, whose files do not tell the shape."""
    folder = tmp_path_factory.mktemp("pairs")
    save_finetuned(model_of("pair"), folder / "named", TOKENIZER, info_of("pair"), "huggingface")
    shutil.copytree(folder / "named", folder / "bare")
    (folder / "bare" / "task.json").unlink()
    return folder


def in_shell(*arguments, text=None):
    return CliRunner().invoke(cli, [str(one) for one in arguments], input=text)


PAIR_LINES = "good film\tit was bad\nwhere is paris\tin france\n"


def test_a_folder_that_does_not_tell_one_text_from_two_is_asked_about(pair_folders):
    expected = in_shell("predict", pair_folders / "named", text=PAIR_LINES).stdout
    asked = in_shell("predict", pair_folders / "bare", text=PAIR_LINES)
    assert isinstance(asked.exception, DataError) and asked.stdout == ""
    assert "line 1: has a tab, and the model's folder does not say whether it reads one text or two" in str(
        asked.exception
    )
    told = in_shell("predict", pair_folders / "bare", "--shape", "pair", text=PAIR_LINES)
    assert told.exit_code == 0 and told.stdout == expected and told.stderr == ""
    as_texts = in_shell("predict", pair_folders / "bare", "--shape", "sentence", text=PAIR_LINES)
    assert as_texts.exit_code == 0 and as_texts.stdout != expected
    plain = in_shell("predict", pair_folders / "bare", text="good film\n")
    assert plain.exit_code == 0 and "each line is read as one text (--shape pair:" in plain.stderr
    other = in_shell("predict", pair_folders / "named", "--shape", "sentence", text=PAIR_LINES)
    assert "reads the shape pair, got sentence" in str(other.exception)


def test_in_python_the_inputs_tell_one_text_from_two(pair_folders):
    bare, named = (Predictor.load(pair_folders / name) for name in ("bare", "named"))
    both = [tuple(line.split("\t")) for line in PAIR_LINES.splitlines()]
    assert [one.label for one in bare(both)] == [one.label for one in named(both)]
    assert len(bare(["good film"])) == 1
    with pytest.raises(DataError, match="input 2: expected a text"):
        bare(["good film", ("a", "b")])


def test_labelled_pairs_are_evaluated_and_converted_without_a_guess(pair_folders, tmp_path):
    (tmp_path / "rows.csv").write_text("text_a,text_b,label\ngood film,it was bad,no\nwhere is it,in paris,yes\n")
    judged = []
    for name in ("bare", "named"):
        predictor = Predictor.load(pair_folders / name)
        judged.append(evaluate(predictor, load_labelled(tmp_path / "rows.csv", predictor.info).train))
    assert judged[0].metrics == judged[1].metrics and judged[0].shape == "pair"
    done = in_shell("convert", pair_folders / "bare", tmp_path / "converted", "--to", "bertlab")
    assert done.exit_code == 0
    assert json.loads((tmp_path / "converted" / "task.json").read_text())["shape"] == "sentence or pair"


def test_a_saved_model_is_not_written_for_a_guessed_shape(pair_folders, tmp_path):
    done = in_shell("export", pair_folders / "bare", "--out", tmp_path / "exported")
    assert "choose with --shape sentence or --shape pair" in str(done.exception)
    assert not (tmp_path / "exported").exists()


# --- tables and CoNLL ---


def test_a_table_is_read_by_its_columns_and_not_by_its_lines(folder, pair_folders, tmp_path):
    table = tmp_path / "reviews.csv"
    table.write_text('review,stars\n"good, film",5\nbad,1\n')
    (tmp_path / "lines.txt").write_text("good, film\nbad\n")
    refused = in_shell("predict", folder, table)
    assert isinstance(refused.exception, DataError) and refused.stdout == ""
    assert "expected a column for text, got the columns review, stars" in str(refused.exception)
    assert "--column text=NAME" in str(refused.exception) and "rename the file to .txt" in str(refused.exception)
    found = in_shell("predict", folder, table, "--column", "text=review")
    assert found.exit_code == 0 and found.stdout == in_shell("predict", folder, tmp_path / "lines.txt").stdout
    (tmp_path / "pairs.tsv").write_text("premise\thypothesis\tlabel\ngood film\tit was bad\tmaybe\n")
    expected = in_shell("predict", pair_folders / "named", text="good film\tit was bad\n").stdout
    for name in ("named", "bare"):
        found = in_shell("predict", pair_folders / name, tmp_path / "pairs.tsv")
        assert found.stdout == expected and found.stderr == ""
    other = in_shell("predict", folder, tmp_path / "lines.txt", "--column", "text=review")
    assert "expected a table" in str(other.exception)


def test_rows_of_a_table_before_a_wrong_one_are_answered_first(predicted):
    rows = b"text,label\ngood film,positive\nbad\nbad film,negative\n"
    done = predicted("sentence", rows, "rows.csv")
    assert len(done.stdout.splitlines()) == 1
    assert "rows.csv line 3: 1 columns" in str(done.exception) and "skip" not in str(done.exception)


def test_questions_of_json_lines_keep_their_ids_or_are_numbered(tmp_path):
    rows = [{"question": "where", "context": "in paris", "answers": {"text": ["paris"]}}, {"id": "x"}]
    rows[1] |= rows[0]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    with path.open("rb") as file:
        read = list(rows_of_file(file, "question", {"answers": "answers.text"}))
    assert [row.id for row in read] == ["1", "x"] and all(row.answers == () for row in read)


CONLLU = """# text = it was in Paris
1\tit\tit\tPRON\t_\t_\t0\troot\t_\t_
2-3\tisin\t_\t_\t_\t_\t_\t_\t_\t_
2\tis\tbe\tAUX\t_\t_\t1\tcop\t_\t_
3\tin\tin\tADP\t_\t_\t1\tcase\t_\t_

1\tparis\tparis\tPROPN\t_\t_\t0\troot\t_\t_
"""


def test_a_tagger_reads_the_words_of_conll_files(predicted):
    tagger = predictor_of("tagging")
    files = {
        "a.conllu": CONLLU, "a.conll": "it PRON\nis AUX\nin ADP\n\nparis PROPN\n", "a.txt": "it is in\nparis\n"
    }  # fmt: skip
    outputs = {name: predicted(tagger, content.encode(), name).stdout for name, content in files.items()}
    assert len(outputs["a.txt"].splitlines()) == 2 and len(set(outputs.values())) == 1
    refused = predicted("sentence", CONLLU.encode(), "a.conllu")
    assert "has a word on each line, for a tagger; the model reads the shape sentence" in str(refused.exception)


def test_a_tagger_that_finds_nothing_says_so(predicted):
    tagger = predictor_of("tagging")
    for bias, said in ((100.0, True), (-100.0, False)):
        tagger.model.weights[-1].assign([bias, 0.0, 0.0])
        done = predicted(tagger, b"paris is good\nit was bad\n")
        assert done.exit_code == 0 and ("every word of all 2 rows got the tag O" in done.stderr) is said


# --- for GLUE's server ---


@pytest.fixture(scope="module")
def nli_folder(tmp_path_factory):
    """A model that was fine-tuned on MNLI, and the official diagnostics: 1104 pairs."""
    info = dataclasses.replace(info_of("pair"), name="mnli", labels=NLI)
    task_kind = task_kind_of(info, TOKENIZER)
    folder = tmp_path_factory.mktemp("nli")
    model = model_class(task_kind.model_kind)(CONFIG, **task_kind.model_options)
    save_finetuned(model, folder / "model", TOKENIZER, info, "huggingface")
    rows = "".join(f"{i}\t{'the film ' * (i % 5)}was good\tit is {WORDS[i % 10]}\n" for i in range(1104))
    (folder / "AX").mkdir()
    (folder / "AX/diagnostic.tsv").write_text(f"index\tsentence1\tsentence2\n{rows}")
    return folder


def test_a_model_of_mnli_hands_in_another_test_set_of_the_same_kind(nli_folder, tmp_path):
    model, out = str(nli_folder / "model"), tmp_path / "submission"
    arguments = ["predict", model, "--task", "ax", "--data-dir", str(nli_folder), "--out", str(out)]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.output == f"{out / 'AX.tsv'}\n"
    first, *lines = (out / "AX.tsv").read_text().splitlines()
    assert first == "index\tprediction"
    rows = load_task("ax", data_dir=nli_folder).test
    expected = [prediction.label for prediction in Predictor.load(model).predict_rows(rows)]
    assert lines == [f"{number}\t{label}" for number, label in enumerate(expected)] and len(lines) == 1104


@pytest.mark.parametrize(("task", "words"), [
    ("squad", "expected a task of GLUE"), ("nonsense", "expected a task of GLUE"),
    ("rte", r"rte has pair rows \(entailment, not_entailment\), but .* mnli"),
    ("mnli-mm", "test_mismatched"),
])  # fmt: skip
def test_a_task_that_the_model_cannot_hand_in_is_refused(nli_folder, tmp_path, task, words):
    with pytest.raises(DataError, match=words):
        submit(Predictor.load(nli_folder / "model"), task, tmp_path, nli_folder)
