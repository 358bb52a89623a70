"""Document sources: every layout that is read, and every bad input that is named."""

import json
import sys
from collections import Counter

import pytest
from refusals import refused

from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.data.documents import Document, is_validation, load_documents, parse_hub_name, split_paragraphs


def write(path, content):
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def test_a_text_file_has_a_paragraph_per_line_and_a_blank_line_between_documents(tmp_path):
    path = write(tmp_path / "a.txt", "\ufeffOne is here. Two is here.\r\nThree.\r\n\r\n\r\nFour.")
    assert list(load_documents(path)) == [
        Document("a.txt#1", (("One is here.", "Two is here."), ("Three.",)), "a.txt"),
        Document("a.txt#2", (("Four.",),), "a.txt"),
    ]


def test_text_without_blank_lines_is_cut_so_that_memory_stays_flat(tmp_path):
    path = write(tmp_path / "a.txt", "One line of it.\n" * 2500)
    assert [len(document.paragraphs) for document in load_documents(path)] == [1000, 1000, 500]


def test_a_folder_has_a_document_per_file_in_order_of_name(tmp_path):
    write(tmp_path / "b.txt", "A paragraph that is\nwrapped. It continues.\n\nAnother one.\n")
    (tmp_path / "a").mkdir()
    write(tmp_path / "a" / "z.md", "First of all.")
    write(tmp_path / "c.jsonl", '{"text": "From lines."}\n')
    write(tmp_path / "ignored.py", "x = 1")
    found = list(load_documents(tmp_path))
    assert [document.id for document in found] == ["a/z.md", "b.txt", "c.jsonl#1"]
    assert found[1].paragraphs == (("A paragraph that is wrapped.", "It continues."), ("Another one.",))


def test_json_lines_hold_a_text_or_paragraphs_with_or_without_sentences(tmp_path):
    records = [
        {"text": "One. Two is here.\nThree."},
        {"paragraphs": ["One. Two is here.", ["kept as. it is", "so"]], "id": "x", "source": "y"},
    ]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)))
    assert list(load_documents(path)) == [
        Document("a.jsonl#1", (("One.", "Two is here."), ("Three.",)), "a.jsonl"),
        Document("x", (("One.", "Two is here."), ("kept as. it is", "so")), "y"),
    ]


def test_blank_lines_separate_paragraphs_and_line_breaks_only_where_there_are_none():
    assert split_paragraphs("a\nb\n\n\nc\n") == ["a b", "c"] and split_paragraphs("a\nb") == ["a", "b"]


BAD_LINES = [
    ("a.txt", b"good line\nbad \xff line\ngood again\n", "a.txt line 2: not UTF-8.*column 5", "not UTF-8", 1),
    ("a.txt", b"good line\nbad \x00 line\ngood again\n", "a.txt line 2: NUL", "NUL character", 1),
    ("a.txt", b"good\n" + b"x" * (11 * 2**20) + b"\ngood\n", "a.txt line 2: line over 10 MB", "line over 10 MB", 1),
    ("a.txt", b" \n\n", "a.txt: empty document", "empty document", 0),
    ("a.txt", b"id,text,label\n1,yes,2\n3,no,4\n", "a.txt: table instead of text", "table instead of text", 0),
    ("a.txt", b"1\tyes\n2\tno\n3\tno\n", "a.txt: table instead of text", "table instead of text", 0),
    ("a.jsonl", b'{"text": "ok"}\n{"text": \n', "a.jsonl line 2: malformed JSON", "malformed JSON", 1),
    ("a.jsonl", b'{"text": "ok"}\n{"text": "bad \\ud83d"}\n', "line 2: .*half of a surrogate", "malformed JSON", 1),
    ("a.jsonl", b'{"text": "ok"}\n{"text": "bad", "id": "\\udc00"}\n', "line 2: malformed JSON", "malformed JSON", 1),
    ("a.jsonl", b'{"text": "ok"}\n' + b"1" * 5000, "line 2: malformed JSON.*5000 digits", "malformed JSON", 1),
    ("a.jsonl", b'{"text": "ok"}\n' + b"[" * 100_000, "line 2: .*nested too deeply", "malformed JSON", 1),
    ("a.jsonl", b'{"text": "ok"}\n{"text": ""}\n', "a.jsonl line 2: empty document", "empty document", 1),
    ("a.jsonl", b'{"text": "ok"}\n{"body": "x"}\n', "a.jsonl line 2: no text", "no text", 1),
    ("a.jsonl", b'{"text": "ok"}\n{"text": 5}\n', "a.jsonl line 2: wrong type.*not int", "wrong type", 1),
    ("a.jsonl", b'{"text": "ok"}\n{"paragraphs": [5]}\n', "a.jsonl line 2: wrong type", "wrong type", 1),
]


@pytest.mark.parametrize("name, content, message, reason, left", BAD_LINES, ids=[case[2] for case in BAD_LINES])
def test_bad_input_stops_with_file_and_line_or_is_skipped_and_counted(tmp_path, name, content, message, reason, left):
    path = write(tmp_path / name, content)
    with pytest.raises(DataError, match=message):
        list(load_documents(path))
    skipped = Counter()
    documents = list(load_documents(path, on_error="skip", skipped=skipped))
    assert skipped == {reason: 1}
    assert len(documents) == left
    assert all("bad" not in sentence for each in documents for part in each.paragraphs for sentence in part)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda folder: folder / "absent.txt", "no such file or folder"),
        (lambda folder: write(folder / "a.csv", "a,b"), "expected a .txt, .* or a folder of .txt files, got '.csv'"),
        (lambda folder: folder, "no .txt, .md or .jsonl file"),
    ],
)
def test_a_source_that_cannot_be_read_fails_at_once(tmp_path, make, message):
    refused(message, load_documents, make(tmp_path))


@pytest.mark.parametrize("start", ["", '"'])
def test_a_book_with_a_chapter_in_each_line_is_text(tmp_path, start):
    chapter = start + "It rained, and it rained. " * 6000
    path = write(tmp_path / "a.txt", f"One.\n{chapter}\n{chapter}\n")
    (document,) = load_documents(path)
    assert [len(paragraph) for paragraph in document.paragraphs] == [1, 6000, 6000]


def test_what_is_like_a_defect_but_is_none_is_read(tmp_path):
    """A whole surrogate pair is a letter, and prose with commas is not a table."""
    (document,) = load_documents(write(tmp_path / "a.jsonl", b'{"text": "\\ud83d\\ude00"}'))
    assert document.paragraphs == (("\U0001f600",),)
    path = write(tmp_path / "a.txt", "Well, yes, and no.\nHowever, it is, after all, true.\nSo be it.\nAnd so on.\n")
    assert len(list(load_documents(path))) == 1


def test_hub_names_may_have_an_owner_a_configuration_and_a_split():
    assert parse_hub_name("imdb") == [("imdb", None, "train")]
    assert parse_hub_name("a/b/c:test") == [("a/b", "c", "test")]
    assert parse_hub_name("a/b") == [("a/b", None, "train"), ("a", "b", "train")]
    refused("expected hf:NAME", parse_hub_name, "a//b")


def test_the_hub_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)  # what Python itself does for a module that cannot be imported
    refused(r"pip install bertlab\[hub\]", load_documents, "hf:imdb", error=MissingDependencyError)


def test_the_split_holds_out_about_the_share_that_was_asked_for_and_never_changes():
    ids = [f"package/module{i}.py" for i in range(10_000)]
    held_out = [each for each in ids if is_validation(each, 5)]
    assert 400 < len(held_out) < 600  # 500 expected, standard deviation 22
    assert held_out[:3] == [each for each in ids if is_validation(each, 5.0)][:3]
    assert set(held_out) < {each for each in ids if is_validation(each, 10)}
    assert not is_validation("x", 0) and is_validation("x", 100)
