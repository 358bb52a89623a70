"""Word-per-line files: CoNLL-2003's four columns, WNUT-17's two, CoNLL-U, and what goes wrong in them."""

import json
import re

import numpy as np
import pytest
from refusals import refused

from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import conll_options, read_conll
from bertlab.data.tasks.formats_published import TASKS, find_task, write_conll, write_glue, write_squad
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.rows import TaggingRow
from bertlab.data.treebanks import ParsedSentence, read_conllu

CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER
"""


def sentences(path, **options):
    return [(record.columns["words"], record.columns.get("tags")) for record in read_conll(path, Problems(), options)]


def write(path, *lines):
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_conll_2003_gives_first_and_last_column_without_document_starts(tmp_path):
    path = write(tmp_path / "train.txt", CONLL_2003)
    assert sentences(path) == [
        (["EU", "rejects", "German"], ["B-ORG", "O", "B-MISC"]),
        (["Peter", "Blackburn"], ["B-PER", "I-PER"]),
    ]
    assert sentences(path, tag_column=1)[0][1] == ["NNP", "VBZ", "JJ"]
    assert sentences(path, tag_column=None)[1] == (["Peter", "Blackburn"], None)


def test_each_sentence_knows_the_line_at_which_it_begins(tmp_path):
    found = read_conll(write(tmp_path / "train.txt", CONLL_2003), Problems())
    assert [record.where.split()[-1] for record in found] == ["3", "7"]


def test_wnut_17_has_tabs_blank_lines_with_spaces_and_no_line_break_at_the_end(tmp_path):
    path = write(tmp_path / "a.conll", "@paulwalk\tO\nEmpire\tB-location\n \t\nState\u00a0B\tI-location")
    expected = [(["@paulwalk", "Empire"], ["O", "B-location"]), (["State\u00a0B"], ["I-location"])]
    assert sentences(path) == expected
    assert sentences(path, separator="\t") == expected


def test_an_exact_separator_keeps_spaces_inside_a_word(tmp_path):
    path = write(tmp_path / "a.conll", "New York\tB-LOC\n")
    assert sentences(path, separator="\t") == [(["New York"], ["B-LOC"])]


def test_comments_are_left_out_only_where_they_are_asked_for(tmp_path):
    path = write(tmp_path / "a.conll", "# sent_id = 1\n#\tO\ntag\tO\n")
    assert sentences(path, comment="# ", separator="\t") == [(["#", "tag"], ["O", "O"])]


@pytest.mark.parametrize(
    "line, message",
    [("lonely", "line 2: 1 columns, expected 2, in 'lonely'"), ("a b c", "line 2: 3 columns, expected 2, in 'a b c'")],
)
def test_a_line_with_another_number_of_columns_spoils_its_sentence_alone(tmp_path, line, message):
    path = write(tmp_path / "a.conll", f"one O\n{line}\n\ntwo O\n")
    refused(message, sentences, path)
    problems = Problems("skip")
    assert [record.columns["words"] for record in read_conll(path, problems)] == [["two"]]
    assert len(problems.messages) == 1


def test_words_without_tags_from_the_first_line_on_are_an_error(tmp_path):
    refused("line 1: 1 columns, expected 2", sentences, write(tmp_path / "a.txt", "This\nis\nplain\n"))


def test_options_are_read_from_the_shell_as_from_python():
    said = {"word-column": "1", "tag_column": "none", "separator": r"\t", "comment": "#"}
    assert conll_options(said) == {"word_column": 1, "tag_column": None, "separator": "\t", "comment": "#"}
    same = {"word_column": 1, "tag_column": -1, "separator": None}
    assert conll_options(same) == same


@pytest.mark.parametrize(
    "option, message",
    [
        ({"word_colum": 1}, "no option 'word_colum'; expected one of word_column, tag_column, separator, comment"),
        ({"word_column": "first"}, "word_column is the number of a column, .* not 'first'"),
        ({"word_column": None}, "word_column is the number of a column"),
        ({"tag_column": "last"}, "tag_column is the number of a column, .* or none where words have no tags"),
        ({"separator": ""}, "separator must be text that is not empty"),
        ({"comment": 5}, "comment must be text that is not empty, not 5"),
    ],
)
def test_an_unknown_option_is_refused(option, message):
    refused(message, conll_options, option)


def test_a_file_of_universal_dependencies_has_the_parts_of_speech_as_tags(tmp_path):
    lines = ["# text = He can't", "1\tHe\the\tPRON\t_\t_\t2\tnsubj\t_\t_", "2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_",
             "2\tca\tcan\tAUX\t_\t_\t0\troot\t_\t_", "3\tn't\tnot\tPART\t_\t_\t2\tadvmod\t_\t_", ""]  # fmt: skip
    task = load_task(write(tmp_path / "train.conllu", *lines))
    assert task.shape == "tagging" and task.labels == ("AUX", "PART", "PRON")
    assert [row.words for row in task.train] == [("He", "ca", "n't")]
    relations = load_task(tmp_path / "train.conllu", conll={"tag_column": "7"})
    assert relations.labels == ("advmod", "nsubj", "root")


def test_a_txt_file_with_tabs_between_texts_is_a_table_and_a_note_says_so(tmp_path):
    path = write(tmp_path / "train.txt", "text\tlabel\nA fine film.\tgood\nToo long.\tbad\n")
    problems = Problems()
    task = load_task(path, on_error=problems)
    assert task.shape == "sentence" and [row.text for row in task.train] == ["A fine film.", "Too long."]
    assert problems.notes == [f"{path}: a table with tabs between its columns, since they hold several words"]
    tagged = load_task(write(tmp_path / "train.txt", "EU\tB-ORG\nrejects\tO\n\nParis\tB-LOC\n"))
    assert tagged.shape == "tagging" and len(tagged.train) == 2


# === Submissions ===


def submitted(tmp_path, task, first, fill=0):
    rows = TASKS[task].sizes[2]
    path = write_glue(tmp_path, task, np.array([*first] + [fill] * (rows - len(first))))
    return path.name, path.read_text().splitlines()


@pytest.mark.parametrize(
    "task, file_name, values, written",
    [
        ("cola", "CoLA.tsv", [1, 0], ["1", "0"]),
        ("wnli", "WNLI.tsv", [1, 0], ["1", "0"]),
        ("rte", "RTE.tsv", [0, 1], ["entailment", "not_entailment"]),
        ("mnli", "MNLI-m.tsv", [2, 1], ["contradiction", "neutral"]),
        ("MNLI_mismatched", "MNLI-mm.tsv", [0, 1], ["entailment", "neutral"]),
        ("ax", "AX.tsv", [0, 2], ["entailment", "contradiction"]),
        ("sts-b", "STS-B.tsv", [3.25, 5.4, -0.1], ["3.250", "5.000", "0.000"]),
    ],
)
def test_each_glue_task_has_its_own_file_name_and_label_names(tmp_path, task, file_name, values, written):
    name, lines = submitted(tmp_path, find_task(task).name, values)
    assert name == file_name
    assert lines[: len(values) + 1] == ["index\tprediction", *(f"{i}\t{text}" for i, text in enumerate(written))]
    assert len(lines) == find_task(task).sizes[2] + 1


def test_a_submission_of_another_length_is_refused(tmp_path):
    refused("rte: 2 predictions, but the official test set has 3000 rows", write_glue, tmp_path, "rte", [0, 1])


def test_squad_predictions_are_one_object_of_texts(tmp_path):
    write_squad(tmp_path / "p.json", {"q1": "Łódź", "q2": ""})
    assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8")) == {"q1": "Łódź", "q2": ""}


def test_conll_output_has_word_gold_and_prediction_and_reads_back(tmp_path):
    rows = [TaggingRow(("in", "Rome"), (0, 1)), TaggingRow(("x",), (0,))]
    write_conll(tmp_path / "a.txt", rows, ("O", "B-LOC"), [[0, 0], [1]])
    assert (tmp_path / "a.txt").read_text() == "in O O\nRome B-LOC O\n\nx O B-LOC\n\n"
    back = [record.columns for record in read_conll(tmp_path / "a.txt", Problems(), {"tag_column": 1})]
    assert back[0] == {"words": ["in", "Rome"], "tags": ["O", "B-LOC"]}


def test_conll_output_refuses_what_would_break_its_columns(tmp_path):
    row = TaggingRow(("New York",), (0,))
    refused("the word 'New York' contains white space", write_conll, tmp_path / "a.txt", [row], ("O",), [[0]])


# === Treebanks ===

DOG = [
    "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_",
    "2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_",
    "3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\t_",
]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "treebank.conllu"


def test_words_tags_heads_and_relations_are_read(file):
    write(file, "# sent_id = 1", "# text = The dog barks", *DOG, "", DOG[0].replace("\t2\tdet", "\t0\troot"), "")
    assert read_conllu(file) == [
        ParsedSentence(
            ("The", "dog", "barks"), ("DET", "NOUN", "VERB"), (1, 2, -1), ("det", "nsubj", "root"), f"{file} line 3"
        ),
        ParsedSentence(("The",), ("DET",), (-1,), ("root",), f"{file} line 7"),
    ]


def test_multiword_tokens_and_empty_nodes_are_not_words(file):
    ranges, empty = "2-3\tdogbarks" + "\t_" * 8, "3.1\tx" + "\t_" * 8
    write(file, DOG[0], ranges, *DOG[1:], empty)
    assert read_conllu(file)[0].words == ("The", "dog", "barks")


@pytest.mark.parametrize(
    "line, message",
    [
        (DOG[1].replace("\t3\t", "\t_\t"), "line 2: word 2 has no head; write its number in column 7"),
        (DOG[1].replace("\t3\t", "\t\t"), "line 2: word 2 has no head"),
        (DOG[1].replace("\t3\t", "\t4\t"), "line 2: expected as head 0 or the number of another of 3 words, got '4'"),
        (DOG[1].replace("\t3\t", "\t2\t"), "line 2: expected as head 0 or the number of another of 3 words, got '2'"),
        (DOG[1].replace("\t3\t", "\t-1\t"), "line 2: expected as head 0"),
        (DOG[1].replace("\t", " "), "line 2: expected 10 columns with tabs between them, got 1"),
        (DOG[1].replace("2\tdog", "5\tdog"), "line 2: expected word number 2, got '5'"),
        (DOG[1].replace("nsubj", "_"), "line 2: 'dog' has no relation; write it in column 8"),
    ],
)
def test_a_bad_line_is_named(file, line, message):
    write(file, DOG[0], line, DOG[2])
    refused(f"^{re.escape(f'{file} {message}')}", read_conllu, file)


def test_a_missing_file_and_one_without_sentences_are_refused(file):
    refused("there is no such file", read_conllu, file)
    refused("expected at least one sentence", read_conllu, write(file, "# nothing", ""))
