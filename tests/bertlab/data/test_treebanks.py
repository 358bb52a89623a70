"""CoNLL-U files: what is read, and which line a message names."""

import pytest
from refusals import refused

from bertlab.common.errors import DataError
from bertlab.data.treebanks import ParsedSentence, read_conllu

DOG = [
    "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_",
    "2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_",
    "3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\t_",
]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "treebank.conllu"


def written(file, *lines):
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_words_tags_heads_and_relations_are_read(file):
    written(file, "# sent_id = 1", "# text = The dog barks", *DOG, "", DOG[0].replace("\t2\tdet", "\t0\troot"))
    assert read_conllu(file) == [
        ParsedSentence(
            ("The", "dog", "barks"), ("DET", "NOUN", "VERB"), (1, 2, -1), ("det", "nsubj", "root"), f"{file} line 3"
        ),
        ParsedSentence(("The",), ("DET",), (-1,), ("root",), f"{file} line 7"),
    ]


def test_multiword_tokens_and_empty_nodes_are_not_words(file):
    ranges, empty = "2-3\tdogbarks" + "\t_" * 8, "3.1\tx" + "\t_" * 8
    written(file, DOG[0], ranges, *DOG[1:], empty)
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
    written(file, DOG[0], line, DOG[2])
    with pytest.raises(DataError) as raised:
        read_conllu(file)
    assert str(raised.value).startswith(f"{file} {message}")


def test_a_missing_file_and_one_without_sentences_are_refused(file):
    refused("there is no such file", read_conllu, file)
    refused("expected at least one sentence", read_conllu, written(file, "# nothing", ""))
