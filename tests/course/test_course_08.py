"""Notebook 08: its worked numbers come out of the solutions' own functions, and its table names tasks that exist."""

import json
import re
import shlex
import textwrap

import click
import keras
import numpy as np
import pytest
from notebook_loading import code_with, names_of_notebook, recorded_values, text_of  # noqa: F401 (a fixture)
from safetensors.numpy import save_file

from autograde.boundary import mybert_importer
from autograde.boundary.roles import model_roles, roles_by_path
from autograde.student import fine_tuning, small_tasks
from autograde.student.starting_points import from_notebook_07, published
from bertlab.checkpoints import save
from bertlab.cli import cli
from bertlab.common.errors import CheckpointError
from bertlab.config import BertConfig
from bertlab.data.tasks.formats_published import find_task
from bertlab.models import BertForPreTraining
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

NOTEBOOK = "08_finetuning"
NOUNS = {"dog", "cat", "horse", "bird", "bear", "tree", "river", "hill", "farmer", "boy", "bank", "plant", "lawyer",
         "doctor", "king", "teacher", "writer", "guest", "judge", "servant", "store", "court"}  # fmt: skip
TEXT = text_of(NOTEBOOK)


def test_the_labels_of_the_example_are_on_first_tokens(names):
    pieces = [["paris"], ["'", "s"], ["geo", "##gu", "##es", "##sr"]]
    assert names["align_labels"](pieces, [1, 0, 3]) == [-100, 1, 0, -100, 3, -100, -100, -100, -100]


def test_the_lectures_question_is_answered_by_the_span_of_the_name(names):
    source = code_with(NOTEBOOK, "who wrote the harry")
    made = names | {"span_bars": lambda *arguments, **options: None, "print": lambda *arguments: None}
    exec(source, made)
    row, (first, last) = made["row"], made["found"]
    assert row[first : last + 1] == "j . k . rowling".split()
    assert row[made["end"].argmax()] == "potter" and made["end"].argmax() < made["start"].argmax()
    null = [np.r_[5.0, made[side][1:]] for side in ("start", "end")]
    assert names["best_span"](*null, made["first"], made["last"], longest=8) == (0, 0)


def test_the_table_of_rates_is_what_the_solution_gives(names):
    assert names["layer_rates"](2, 0.1, 0.5) == pytest.approx([0.0125, 0.025, 0.05, 0.1])
    assert names["layer_rates"](2, 0.1, 0.5, frozen=3) == [0.0, 0.0, 0.0, 0.1]


def test_the_table_of_tasks_has_every_task_and_names_that_can_be_loaded():
    rows = re.findall(r"^# \| ([A-Z][\w.+ -]*?) \| .* \| `([\w-]+)` \|$", TEXT, re.MULTILINE)
    wanted = {"SST-2", "CoLA", "MRPC", "QQP", "STS-B", "MNLI", "QNLI", "RTE", "WNLI", "SWAG", "SQuAD 1.1", "SQuAD 2.0"}
    assert wanted < {name for name, _ in rows}
    assert all(find_task(loaded) for _, loaded in rows)


def test_the_commands_of_the_text_have_all_that_they_need():
    commands = re.findall(r"^# (bertlab .+)$", TEXT, re.MULTILINE)
    assert commands
    for line in commands:
        _, name, *arguments = shlex.split(line)
        command = cli.get_command(click.Context(cli), name)
        command.make_context(name, arguments)  # raises click.UsageError where one is missing


def test_a_fine_tuned_row_shows_the_shapes_that_the_heads_read(names):
    hidden = keras.ops.ones((2, 7, 8))
    assert names["ClassificationHead"](3)(hidden).shape == (2, 3)
    assert names["SpanHead"]()(hidden, keras.ops.ones((2, 7), "bool")).shape == (2, 2, 7)
    assert names["choice_logits"](hidden, keras.ops.ones(8), 2).shape == (1, 2)


def test_fine_tuning_works_with_layers_that_read_all_sizes_of_their_input(names):
    """`batch, tokens, hidden = x.shape` is what many write; a batch that may be shorter has no size in `fit`."""
    class SplitsIntoHeads(keras.layers.Layer):
        def call(self, x):
            batch, tokens, hidden = x.shape
            return keras.ops.reshape(keras.ops.reshape(x, (batch, tokens, 2, hidden // 2)), (batch, tokens, hidden))

    class Encoder(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.token, self.split, self.pooler = keras.layers.Embedding(9, 4), SplitsIntoHeads(), keras.layers.Dense(4)

        def call(self, token_ids, token_type_ids, attention_mask, training=None):
            hidden = self.split(self.token(token_ids))
            return hidden, self.pooler(hidden[:, 0])

    ids = np.arange(14)[:, None] % 9 * np.ones((1, 3), "int32")
    rows = {"token_ids": ids, "token_type_ids": 0 * ids, "attention_mask": 0 * ids + 1}
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    targets = (ids[:, 0] > 3).astype("int32")
    start = Encoder(), names["ClassificationHead"](2)
    model = fine_tuning.fine_tune(*start, rows, targets, loss, epochs=9, rate=0.1, batch=4)
    assert (fine_tuning.predict(model, rows).argmax(-1) == targets).all()


@pytest.fixture
def checkpoint(tmp_path):
    """A function that saves a small model in the published format; returns the folder and the model."""

    def make(pieces=(), lowercase=True, dtype=None):
        pieces = [*SPECIAL_TOKENS, *"abcdefgh", *pieces]
        model = BertForPreTraining(BertConfig(len(pieces), 8, 2, 2, 16, max_position_embeddings=12, hidden_act="gelu"))
        return save(model, tmp_path, WordPieceTokenizer(Vocabulary(pieces), lowercase=lowercase), dtype=dtype), model

    return make


@pytest.mark.parametrize(("dtype", "tolerance"), [(None, 1e-5), ("float16", 1e-2)])
def test_fine_tuning_starts_from_a_published_folder_read_by_the_students_own_code(checkpoint, dtype, tolerance):
    folder, model = checkpoint(dtype=dtype)
    ids = np.array([[2, 6, 7, 3]], "int32")
    row = {"input_ids": ids, "token_type_ids": 0 * ids, "attention_mask": 0 * ids + 1}
    hidden = _hidden_after_filling(published(folder), ids)
    assert np.asarray(hidden).dtype == "float32"
    assert np.allclose(hidden, model.backbone(row)["sequence_output"], atol=tolerance)


@pytest.mark.parametrize(("pieces", "lowercase"), [((), True), (("Paris",), False)])
def test_a_start_knows_its_vocabulary_and_whether_it_is_for_small_letters(checkpoint, pieces, lowercase):
    start = published(checkpoint(pieces, lowercase)[0])
    assert start.vocabulary == {piece: number for number, piece in enumerate(start.pieces)}
    assert start.pieces[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] and start.lower_case is lowercase


def test_a_folder_that_holds_a_tokenizer_file_only_has_its_tokens_read_from_there(checkpoint):
    folder, _ = checkpoint()
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    for name in ("vocab.txt", "tokenizer_config.json"):
        (folder / name).unlink()
    model = {"type": "WordPiece", "vocab": {piece: number for number, piece in enumerate(pieces)}}
    written = {"model": model, "normalizer": {"type": "BertNormalizer", "lowercase": True}}
    (folder / "tokenizer.json").write_text(json.dumps(written), encoding="utf-8")
    assert published(folder).pieces == pieces


@pytest.mark.slow
def test_an_untrained_start_has_the_same_sizes_and_tokens_and_other_weights(checkpoint):
    start = published(checkpoint()[0])
    ids = np.array([[2, 6, 7, 3]], "int32")
    bare = start.untrained()
    assert (bare.sizes, bare.pieces, str(bare)) == (start.sizes, start.pieces, "random weights")
    assert not np.allclose(_hidden_after_filling(bare, ids), _hidden_after_filling(start, ids), atol=1e-2)


def test_a_folder_without_weights_is_refused_with_what_was_expected(tmp_path):
    with pytest.raises(CheckpointError, match="config.json"):
        published(tmp_path)


def test_fine_tuning_starts_from_the_weights_that_notebook_07_handed_in(tmp_path):
    sizes = dict(vocab_size=4096, hidden_size=8, num_layers=1, num_heads=2, intermediate_size=16, max_positions=12)
    with mybert_importer.only_stand_ins():
        from mybert.bert import Bert, own_variables

        bert = Bert(**sizes)
        ids = np.array([[2, 60, 70, 3]], "int32")
        expected, _ = bert(ids, 0 * ids, 0 * ids + 1)
        arrays = {roles_by_path(1)[place]: np.array(variable.value) for place, variable in own_variables(bert).items()}
    assert set(arrays) == {role for role in model_roles(1) if not role.startswith(("mlm", "nsp"))}
    path = tmp_path / "pretraining_weights.safetensors"
    save_file(arrays, path, metadata={"config": json.dumps(sizes)})
    start = from_notebook_07(path)
    assert start.sizes["max_positions"] == 128 and "are not trained" in str(start)
    assert np.allclose(_hidden_after_filling(start, ids), expected, atol=1e-6)
    assert from_notebook_07(tmp_path / "nowhere.safetensors") is None


def _hidden_after_filling(start, ids):
    """The output of a fresh encoder for a row, with the weights of the starting point."""
    with mybert_importer.only_stand_ins():
        from mybert.bert import Bert

        bert = Bert(**start.sizes)
        bert(ids, 0 * ids, 0 * ids + 1)
        start.fill(bert)
        return bert(ids, 0 * ids, 0 * ids + 1)[0]


def _switched(**switches) -> dict:
    """The notebook's names after its switches, set like this, and the cell that reads the first task."""
    made = {"np": np, "textwrap": textwrap}
    for first_line in ("TASKS = {", "from pathlib import Path"):
        exec(code_with(NOTEBOOK, first_line), made)
        made |= {name: made[name] | value if name == "TASKS" else value for name, value in switches.items()}
    return made


def test_the_switches_read_published_files_and_take_rows_from_everywhere_in_them(tmp_path, capsys):
    folder = tmp_path / "glue_data" / "SST-2"
    folder.mkdir(parents=True)
    for split, rows in (("train", 3000), ("dev", 40)):  # sorted by label, as published files often are
        lines = [f"text {row}\t{int(row >= rows / 2)}" for row in range(rows)]
        (folder / f"{split}.tsv").write_text("\n".join(["sentence\tlabel", *lines]) + "\n", encoding="utf-8")
    names = _switched(TASKS={"sentence": "sst2"}, DATA_DIR=str(tmp_path / "glue_data"))
    assert names["classes"] == ("negative", "positive")
    assert len(names["sentences"]) == 1200 and len(names["held_out"]) == 40
    assert 0.4 < np.mean([row.label for row in names["sentences"]]) < 0.6
    assert capsys.readouterr().out.startswith("1200 labelled examples, 40 held out, 2 classes")


def test_the_switches_take_a_file_of_ones_own_and_hold_a_fifth_of_it_out(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("text,label\n" + "".join(f"row {row},{'ab'[row % 2]}\n" for row in range(50)), encoding="utf-8")
    names = _switched(TASKS={"sentence": str(path)}, DATA_DIR="elsewhere")
    assert (names["classes"], len(names["sentences"]), len(names["held_out"])) == (("a", "b"), 40, 10)
    path.write_text(path.read_text(encoding="utf-8").replace("text,label", "review,stars"), encoding="utf-8")
    columns = {"sentence": {"text": "review", "label": "stars"}}
    assert _switched(TASKS={"sentence": str(path)}, COLUMNS=columns)["classes"] == ("a", "b")


# --- the small tasks ---


@pytest.mark.parametrize("name", small_tasks.SMALL_TASKS)
def test_a_small_task_has_no_example_twice_and_all_its_labels(name):
    task = small_tasks.small_task(name)
    texts = [str(row).rpartition("label=")[0] or str(row) for row in (*task.train, *task.validation)]
    assert len(set(texts)) >= (0.98 if name == "who-where" else 1) * len(texts)
    found = {tag for row in task.train for tag in getattr(row, "tags", [getattr(row, "label", None)])}
    assert found == set(range(len(task.labels))) or task.shape == "question"


def test_sentences_of_praise_and_of_blame_are_equally_many():
    task = small_tasks.small_task("sentiment")
    for rows in (task.train, task.validation):
        assert sum(row.label for row in rows) * 2 == len(rows)


def test_names_never_continue_what_did_not_begin():
    task = small_tasks.small_task("names")
    for row in (*task.train, *task.validation):
        before = "O"
        for name in (task.labels[tag] for tag in row.tags):
            assert not name.startswith("I-") or before[2:] == name[2:]
            before = name
    assert ("Apple", "is", "based", "in", "California", ".") in [row.words for row in task.train]


def test_an_answer_is_where_its_question_says():
    task = small_tasks.small_task("who-where")
    words = [row.question.split()[0] for row in task.validation]
    assert {"who", "whom", "where"} == set(words)
    assert any(not row.answers for row in task.validation)
    for row in task.validation:
        for answer, start in zip(row.answers, row.answer_starts):
            assert row.context[start : start + len(answer)] == answer
        assert row.answers or not row.question.startswith("who ")


def test_a_claim_follows_from_the_subject_and_what_it_does():
    for row in small_tasks.small_task("follows").validation:
        noun = row.text_b.split()[1]
        subject = next(word for word in row.text_a.split() if word.removesuffix("s") in NOUNS)
        same = ("not" in row.text_a.split()) == ("not" in row.text_b.split())
        assert row.label == (2 if noun != subject else 0 if same else 1), row


def test_a_training_of_a_second_shows_no_bar_and_a_longer_one_removes_its_own(monkeypatch):
    shown, now = [], [0.0]
    monkeypatch.setattr(fine_tuning.time, "monotonic", lambda: now[0])
    for seconds in (0.01, 1.0):
        bar = fine_tuning.Bar(4, say=lambda text, **options: shown.append(text))
        bar.on_train_begin()
        for batch in range(4):
            now[0] += seconds
            bar.on_train_batch_end(batch)
        bar.on_train_end()
        assert bool(shown) == (seconds == 1.0)
    assert shown[0].startswith("\r███████") and "step 1 of 4" in shown[0]
    assert "step 4 of 4, about 0 s left" in shown[-3] and shown[-1] == "\r" and not shown[-2].strip()


def test_pre_training_helps_on_all_four_tasks_by_more_than_both_spreads():
    """What both notebooks draw: recorded runs, three seeds each."""
    found = recorded_values("task_types", "task", "labels", "weights", value="score")
    assert {task for task, _, _ in found} == set(small_tasks.SMALL_TASKS)
    assert all(len(of_seeds) == 3 for of_seeds in found.values())
    for task, labels, _ in found:
        pretrained, random = found[task, labels, "bertlab-mini"], found[task, labels, "random"]
        spreads = np.std(pretrained, ddof=1) + np.std(random, ddof=1)
        assert np.mean(pretrained) - np.mean(random) > spreads or (task, labels) == ("sentiment", 25)
    few, many = found["sentiment", 75, "bertlab-mini"], found["sentiment", 214, "random"]
    assert np.mean(few) - np.std(few, ddof=1) > np.mean(many) + np.std(many, ddof=1)
