"""`load_task`: official files of every published task, files of one's own, and its messages when something is wrong."""

import json
import warnings

import pytest
from click.testing import CliRunner
from refusals import refused

from bertlab.cli.task import task as task_command
from bertlab.common.errors import DataError
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats_published import TASKS, find_task
from bertlab.data.tasks.load import BUILTIN_TASKS, load_task
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow, hold_out

MNLI_HEADER = (
    "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse sentence1_parse sentence2_parse "
    "sentence1 sentence2"
).replace(" ", "\t")
MNLI_START = '0\t31193\t31193n\tgovernment\t( a )\t( b )\t(ROOT a)\t(ROOT b)\tHe left.\tHe "stayed.'
STSB_HEADER = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2"
STSB_START = "0\tmain-captions\tMSRvid\t2012test\t0001\tnone\tnone\tA plane.\tAn air plane."
SWAG_HEADER = ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3"
SWAG_START = '0,lsmdc1052,18313,"He waits, then. He","He waits, then.",He,gold,"runs, fast.",sits.,flies.,melts.'
NOTHING = ()


def squad(version, question):
    paragraph = {"context": "In Rome.", "qas": [question]}
    return json.dumps({"version": version, "data": [{"title": "T", "paragraphs": [paragraph]}]})


# task: {file: content}, rows of train, validation, test; each file as it is officially distributed.
OFFICIAL = {
    "cola": (
        {
            "train.tsv": "gj04\t1\t\tOur friends won't buy \"this.\ngj04\t0\t*\tThey drank the pub.\n",
            "dev.tsv": "gj04\t1\t\tThe sailors rode the breeze.\n",
            "test.tsv": "index\tsentence\n0\tBill whistled past the house.\n",
        },
        [SentenceRow('Our friends won\'t buy "this.', 1), SentenceRow("They drank the pub.", 0)],
        [SentenceRow("The sailors rode the breeze.", 1)],
        [SentenceRow("Bill whistled past the house.")],
    ),
    "sst2": (
        {
            "train.tsv": "sentence\tlabel\nhide new secretions \t0\n",
            "dev.tsv": "sentence\tlabel\na charming journey . \t1\n",
            "test.tsv": "index\tsentence\n0\tuneasy mishmash .\n",
        },
        [SentenceRow("hide new secretions ", 0)], [SentenceRow("a charming journey . ", 1)],
        [SentenceRow("uneasy mishmash .")],
    ),
    "mrpc": (
        {
            "train.tsv": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
            '1\t702876\t702977\tHe said so.\t"So he said.\r\n',
            "test.tsv": "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t2\tOne.\tTwo.\n",
        },
        [PairRow("He said so.", '"So he said.', 1)], NOTHING, [PairRow("One.", "Two.")],
    ),
    "qqp": (
        {
            "train.tsv": "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n7\t1\t2\tWhy?\tHow come?\t1\n",
            "test.tsv": "id\tquestion1\tquestion2\n0\tWho?\tWhere?\n",
        },
        [PairRow("Why?", "How come?", 1)], NOTHING, [PairRow("Who?", "Where?")],
    ),
    "stsb": (
        {
            "train.tsv": f"{STSB_HEADER}\tscore\n{STSB_START}\t4.750\n",
            "test.tsv": f"{STSB_HEADER}\n{STSB_START}\n",
        },
        [PairRow("A plane.", "An air plane.", 4.75)], NOTHING, [PairRow("A plane.", "An air plane.")],
    ),
    "mnli": (
        {
            "train.tsv": f"{MNLI_HEADER}\tlabel1\tgold_label\n{MNLI_START}\tneutral\tcontradiction\n",
            "dev_matched.tsv": "\t".join((MNLI_HEADER, *(f"label{n}" for n in range(1, 6)), "gold_label"))
            + f"\n{MNLI_START}" + "\tneutral" * 5 + "\tneutral\n",
            "dev_mismatched.tsv": "not read",
            "test_matched.tsv": f"{MNLI_HEADER}\n{MNLI_START}\n",
        },
        [PairRow("He left.", 'He "stayed.', 2)], [PairRow("He left.", 'He "stayed.', 1)],
        [PairRow("He left.", 'He "stayed.')],
    ),
    "mnli-mm": (
        {
            "dev_matched.tsv": "not read",
            "dev_mismatched.tsv": f"{MNLI_HEADER}\tlabel1\tgold_label\n{MNLI_START}\tneutral\tentailment\n",
        },
        NOTHING, [PairRow("He left.", 'He "stayed.', 0)], NOTHING,
    ),
    "qnli": (
        {"dev.tsv": "index\tquestion\tsentence\tlabel\n0\tWho?\tHe did.\tnot_entailment\n"},
        NOTHING, [PairRow("Who?", "He did.", 1)], NOTHING,
    ),
    "rte": (
        {"train.tsv": "index\tsentence1\tsentence2\tlabel\n0\tIt rains.\tIt is wet.\tentailment\n"},
        [PairRow("It rains.", "It is wet.", 0)], NOTHING, NOTHING,
    ),
    "wnli": (
        {"train.tsv": "index\tsentence1\tsentence2\tlabel\n0\tIt stuck.\tThe pin stuck.\t1\n"},
        [PairRow("It stuck.", "The pin stuck.", 1)], NOTHING, NOTHING,
    ),
    "ax": (
        {"diagnostic.tsv": "index\tsentence1\tsentence2\n0\tA cat sat.\tNo cat sat.\n"},
        NOTHING, NOTHING, [PairRow("A cat sat.", "No cat sat.")],
    ),
    "swag": (
        {"train.csv": f"{SWAG_HEADER},label\n{SWAG_START},2\n", "test.csv": f"{SWAG_HEADER}\n{SWAG_START}\n"},
        [MultipleChoiceRow("He waits, then.", ("He runs, fast.", "He sits.", "He flies.", "He melts."), 2)], NOTHING,
        [MultipleChoiceRow("He waits, then.", ("He runs, fast.", "He sits.", "He flies.", "He melts."))],
    ),
    "squad": (
        {"dev-v1.1.json": squad(
            "1.1", {"id": "1", "question": "Where?", "answers": [{"text": "Rome", "answer_start": 3}]}
        )},
        NOTHING, [QuestionRow("1", "Where?", "In Rome.", ("Rome",), (3,))], NOTHING,
    ),
    "squad2": (
        {"train-v2.0.json": squad("v2.0", {"id": "1", "question": "Who?", "is_impossible": True, "answers": []})},
        [QuestionRow("1", "Who?", "In Rome.")], NOTHING, NOTHING,
    ),
    "conll2003": (
        {"eng.testa": "-DOCSTART- -X- -X- O\n\nRome NNP B-NP B-LOC\nwins VBZ B-VP O\n"},
        NOTHING, [TaggingRow(("Rome", "wins"), (5, 0))], NOTHING,
    ),
    "wnut17": (
        {"wnut17train.conll": "@paulwalk\tO\nESB\tB-location\n\t\n", "emerging.test.annotated": "x\tI-product\n"},
        [TaggingRow(("@paulwalk", "ESB"), (0, 7))], NOTHING, [TaggingRow(("x",), (12,))],
    ),
}  # fmt: skip


def test_every_published_task_has_a_fixture_here():
    assert set(OFFICIAL) == set(TASKS)


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_files_are_read_by_name_and_by_folder(tmp_path, name):
    files, train, validation, test = OFFICIAL[name]
    folder = tmp_path / TASKS[name].folder
    folder.mkdir()
    for file_name, content in files.items():
        (folder / file_name).write_bytes(content.encode())
    for place in (tmp_path, folder):
        data = load_task(name, data_dir=place)
        assert (list(data.train), list(data.validation), list(data.test)) == (list(train), list(validation), list(test))
        assert (data.name, data.shape, data.labels) == (name, TASKS[name].shape, TASKS[name].labels)
    if find_task(TASKS[name].folder) is TASKS[name]:
        assert load_task(folder) == data


def test_the_usual_spellings_lead_to_the_same_task():
    assert find_task("SST-2").name == find_task("sst2").name == "sst2"
    assert find_task("MNLI_mismatched").name == "mnli-mm"
    assert find_task("squad_v2").name == "squad2"
    assert find_task("imagenet") is None


def test_the_microsoft_distribution_of_mrpc_gives_a_labelled_test_set(tmp_path):
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    (tmp_path / "msr_paraphrase_test.txt").write_text(header + "0\t1\t2\tOne.\tTwo.\n", encoding="utf-8")
    assert load_task("mrpc", data_dir=tmp_path).test == [PairRow("One.", "Two.", 0)]


@pytest.mark.parametrize("folder", [".", "raw"])
def test_colas_own_distribution_has_no_headers_and_a_labelled_test_set(tmp_path, folder):
    (tmp_path / folder).mkdir(exist_ok=True)
    files = {
        "in_domain_train": "They drank the pub.",
        "in_domain_dev": "She left.",
        "out_of_domain_dev": "Left she has.",
    }
    for name, text in files.items():
        (tmp_path / folder / f"{name}.tsv").write_text(f"c_13\t0\t*\t{text}\n", encoding="utf-8")
    data = load_task("cola", data_dir=tmp_path)
    assert [split[0] for split in (data.train, data.validation, data.test)] == [
        SentenceRow(text, 0) for text in files.values()
    ]


def test_a_label_that_the_task_does_not_know_is_named_with_its_line(tmp_path):
    (tmp_path / "train.tsv").write_text("index\tsentence1\tsentence2\tlabel\n0\tx\ty\tentailment\n1\tx\ty\tneutral\n")
    message = "train.tsv line 3: unknown label 'neutral'; expected one of entailment, not_entailment"
    refused(message, load_task, "rte", data_dir=tmp_path)


def test_defective_records_are_skipped_with_one_warning_or_listed(tmp_path):
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    (tmp_path / "train.tsv").write_text(header + "1\t1\t2\tWhy?\tHow?\t1\n2\t3\t4\tbroken\n3\t5\t6\n")
    with pytest.warns(
        UserWarning, match="2 records left out, the first: .*train.tsv line 3: 4 columns separated by tabs, expected 6"
    ):
        assert len(load_task("qqp", data_dir=tmp_path, on_error="skip").train) == 1
    problems = Problems("skip")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_task("qqp", data_dir=tmp_path, on_error=problems)
    assert [message.split(": ")[1].split(" (")[0] for message in problems.messages] == [
        "4 columns separated by tabs, expected 6",
        "3 columns separated by tabs, expected 6",
    ]


# --- files of one's own ---


def test_one_csv_is_the_training_split_and_its_labels_are_found(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("review,stars\nNice.,good\nDull.,bad\n")
    data = load_task(path, columns={"text": "review", "label": "stars"})
    assert (data.name, data.shape, data.labels) == ("reviews", "sentence", ("bad", "good"))
    assert data.train == [SentenceRow("Nice.", 1), SentenceRow("Dull.", 0)]


def test_a_folder_is_read_split_by_split_with_the_labels_of_the_training_split(tmp_path):
    (tmp_path / "my-train.jsonl").write_text('{"text": "x", "label": "b"}\n{"text": "y", "label": "a"}\n')
    (tmp_path / "my-dev.jsonl").write_text('{"text": "z", "label": "b"}\n')
    (tmp_path / "my-test.jsonl").write_text('{"text": "unknown"}\n')
    (tmp_path / "notes.md").write_text("not data")
    data = load_task(tmp_path)
    assert data.labels == ("a", "b")
    assert (data.train[0].label, data.validation, data.test) == (1, [SentenceRow("z", 1)], [SentenceRow("unknown")])
    (tmp_path / "my-dev.jsonl").write_text('{"text": "z", "label": "c"}\n')
    refused("my-dev.jsonl line 1: unknown label 'c'", load_task, tmp_path)


def test_real_numbers_are_regression_also_where_they_all_look_whole_if_asked(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\nx\t1\ny\t2\n")
    assert load_task(path).labels == ("1", "2")
    assert load_task(path, labels=()).train == [SentenceRow("x", 1.0), SentenceRow("y", 2.0)]


def test_a_conll_file_of_ones_own_takes_its_columns_and_tags(tmp_path):
    path = tmp_path / "pos.conll"
    path.write_text("1\tRome\tNOUN\n2\twins\tVERB\n\n")
    data = load_task(path, conll={"word_column": 1, "tag_column": 2, "separator": "\t"})
    assert (data.shape, data.labels) == ("tagging", ("NOUN", "VERB"))
    assert data.train == [TaggingRow(("Rome", "wins"), (0, 1))]


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("package", {"columns": {"text": "a"}}, "leave out columns; the format decides"),
        ("package", {"labels": ("a", "b")}, "package: leave out labels; the format decides"),
        ("rte", {"labels": ()}, "rte: leave out labels; the format decides"),
        ("a.conll", {"labels": ()}, "regression is for sentences and pairs, not for a tagging task"),
        ("package", {"shape": "pair", "conll": {"tag_column": 1}}, "leave out shape, conll; the format decides"),
        ("rte", {"columns": {"text": "a"}}, "leave out columns; the format decides"),
        ("rte", {"shape": "tagging"}, "leave out shape; the format decides"),
        ("rte", {"conll": {"tag_column": 1}}, "leave out conll; the format decides"),
        ("a.jsonl", {"conll": {"tag_column": 1}}, "leave out conll; the format decides"),
        ("squad.json", {"conll": {"tag_column": 1}}, "leave out conll; the format decides"),
        ("squad.json", {"columns": {"text": "a"}}, "a question task has no field text"),
        ("squad.json", {"labels": ("a", "b")}, "questions have no labels; leave out labels"),
        ("squad.json", {"shape": "pair"}, "article 0 paragraph 0 question 0: there is no column 'text_a'"),
    ],
)
def test_what_has_no_part_in_how_a_file_is_read_is_refused_and_not_ignored(name, options, message, tmp_path):
    (tmp_path / "squad.json").write_text(OFFICIAL["squad"][0]["dev-v1.1.json"])
    (tmp_path / "a.jsonl").write_text('{"text": "x", "label": "a"}\n{"text": "y", "label": "b"}\n')
    (tmp_path / "a.conll").write_text("Rome B\nwins O\n")
    place = {"data_dir": tmp_path} if name == "rte" else {}
    refused(message, load_task, tmp_path / name if "." in name else name, **place, **options)


def test_a_squad_file_of_any_name_is_recognised_and_its_shape_may_be_said(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(OFFICIAL["squad"][0]["dev-v1.1.json"])
    assert load_task(path, shape="question").train[0].answers == ("Rome",)
    assert load_task(path) == load_task(path, shape="question")


def test_choices_are_read_from_columns_and_the_message_says_how(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("context,choices,one,two,label\nHe,a|b,a,b,1\n")
    assert load_task(path, columns={"choices": ("one", "two")}).train[0].choices == ("a", "b")
    refused("expected at least two choices.*name the columns of the choices with", load_task, path)
    (tmp_path / "a.jsonl").write_text('{"context": "He", "choices": ["a", "b", "c"], "label": 2}\n')
    assert load_task(tmp_path / "a.jsonl").labels == ("0", "1", "2")  # as many labels as choices


def test_a_long_cell_is_read_and_lines_of_json_in_a_json_file_are_recognised(tmp_path):
    path, text = tmp_path / "long.csv", "word " * 50_000
    path.write_text(f"text,label\n{text},a\nshort,b\n")
    assert len(load_task(path, validation_share=0).train[0].text) >= 249_999
    lines = tmp_path / "lines.json"
    lines.write_text('{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n')
    refused("Extra data.; if each line is a JSON object, name the file .jsonl", load_task, lines)


def test_a_validation_split_is_drawn_from_the_training_rows_with_the_seed(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": str(n), "label": n % 2}) + "\n" for n in range(50)))
    data = load_task(path, validation_share=0.2, seed=3)
    assert data == hold_out(load_task(path), 0.2, seed=3) and (len(data.train), len(data.validation)) == (40, 10)
    refused("between 0 and 1", load_task, path, validation_share=1.5)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda d: load_task("nonsense"), "'nonsense' is neither a task .* nor a file or folder"),
        (lambda d: load_task("rte", data_dir=d), "holds no file of rte; expected train.tsv, dev.tsv, test.tsv"),
        (
            lambda d: load_task("squad", data_dir=d),
            r"holds no file of squad; expected train-v1.1.json, dev-v1.1.json, here or in SQuAD/",
        ),
        (lambda d: load_task("nonsense", data_dir=d), "there is no published task 'nonsense'"),
        (lambda d: load_task(d), "no train, dev or test file"),
        (lambda d: load_task(d / "none.csv", "files"), "no such file or folder"),
        (lambda d: load_task("rte", "cloud"), "source 'cloud' is not known"),
        (lambda d: load_task(d, size=3), "no option size for the source 'files'"),
    ],
)
def test_what_cannot_be_loaded_says_what_was_expected(tmp_path, call, message):
    refused(message, call, tmp_path)


def test_two_files_for_one_split_and_empty_files_are_errors(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\n")
    refused("expected at least one record", load_task, tmp_path / "train.csv")
    (tmp_path / "dev.csv").write_text("text,label\nx,a\n")
    refused("expected at least one training record", load_task, tmp_path)
    (tmp_path / "train.tsv").write_text("text\tlabel\n")
    refused("train.csv and train.tsv are both the train split", load_task, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BUILTIN_TASKS)
def test_built_in_tasks_have_the_shape_of_the_table(name):
    data = load_task(name, most_train=20, most_validation=10)
    assert data.shape == BUILTIN_TASKS[name][0] and 0 < len(data.train) <= 20


# --- the command line ---


def run(*arguments):
    return CliRunner().invoke(task_command, [str(argument) for argument in arguments])


def test_task_list_shows_every_task_with_labels_metrics_and_sizes():
    entries = {entry["name"]: entry for entry in json.loads(run("list", "--json").stdout)}
    assert set(TASKS) < set(entries) and {"package", "pairs", "code-words", "parameters"} < set(entries)
    assert entries["mrpc"]["metrics"] == ["f1", "accuracy"] and entries["mrpc"]["rows"] == [3668, 408, 1725]
    table = run("list").stdout
    assert all(name in table for name in entries) and "67,349 / 872 / 1,821" in table


def test_task_show_prints_counts_spread_and_rows_of_each_shape(tmp_path):
    for name, expected in {
        "cola": "train: 2 rows; acceptable 50.0%, unacceptable 50.0%",
        "stsb": "[4.75] A plane.",
        "swag": "→ He flies.",
        "squad": "→ Rome",
        "squad2": "1 without an answer",
        "wnut17": "@paulwalk ESB[B-location]",
    }.items():
        for file_name, content in OFFICIAL[name][0].items():
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / file_name).write_bytes(content.encode())
        assert expected in run("show", name, "--data-dir", tmp_path / name).stdout


def test_task_show_prints_json_rows_for_scripts_and_counts_what_it_left_out(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("review\tstars\nNice.\t1\nbroken\nDull.\t0\n")
    result = run("show", path, "--column", "text=review", "--column", "label=stars", "--json", "--skip-errors")
    assert json.loads(result.stdout.splitlines()[0]) == {"split": "train", "text": "Nice.", "label": 1}
    assert "left out: " in result.stderr and "line 3" in result.stderr
    assert run("show", path, "--column", "review").exit_code == 2


# --- how labels are read ---


@pytest.mark.parametrize(
    "options, said",
    [
        ([], "scores: sentence, 3 classes: 0, 50, 100 (for numbers to predict: --regression)"),
        (["--regression"], "scores: sentence, regression on numbers 0 to 100"),
        (["--labels", "100, 50,0"], "scores: sentence, 3 classes: 100, 50, 0"),
    ],
)
def test_the_shell_says_how_labels_were_read_and_can_say_otherwise(tmp_path, options, said):
    (tmp_path / "scores.csv").write_text("text,label\na,50\nb,100\nc,0\n")
    assert run("show", tmp_path / "scores.csv", *options).stdout.startswith(said)


def test_options_of_the_shell_that_contradict_each_other_or_do_not_exist_are_refused(tmp_path):
    (tmp_path / "a.conll").write_text("1\tRome\tB\n2\twins\tO\n")
    both = run("show", tmp_path / "a.conll", "--labels", "O,B", "--regression")
    assert both.exit_code == 2 and "give one of them" in both.stderr
    assert "Rome[B] wins" in run("show", tmp_path / "a.conll", "--conll", "word-column=1").stdout
    assert isinstance(run("show", tmp_path / "a.conll", "--conll", "word=1").exception, DataError)
    assert "OPTION=VALUE, for example tag_column=1" in run("show", tmp_path / "a.conll", "--conll", "1").stderr


def test_fine_tuning_on_first_rows_that_are_all_of_one_class_is_refused(tmp_path):
    from bertlab.cli.finetune import finetune

    (tmp_path / "sorted.csv").write_text("text,label\na,x\nb,x\nc,y\nd,y\n")
    arguments = [str(tmp_path / "sorted.csv"), "--out", str(tmp_path / "out"), "--train-rows", "2"]
    refused("sorted: every training row has the label 'x'", finetune.main, arguments, standalone_mode=False)
