"""Minimal pairs of benchmarks/english/grammar_pairs.py: the same every time, no pair twice, one difference each."""

import json
import random
import re

import pytest

from benchmarks.english.grammar_pairs import CHOICE, PARADIGMS, SLOT, fill, main, records
from benchmarks.english.grammar_words import CLASSES, FORMS, form_of
from bertlab.analysis.minimal_pairs import read_pairs

EACH = 60
FIELDS = {"morphology", "syntax", "semantics", "syntax_semantics"}
TEMPLATES = [template for paradigm in PARADIGMS for template in paradigm.templates]


@pytest.fixture(scope="module")
def rows():
    return records(EACH, seed=0)


def test_every_paradigm_has_a_rule_and_as_many_pairs_as_were_asked_for(rows):
    assert 40 <= len(PARADIGMS) <= 60 and {paradigm.field for paradigm in PARADIGMS} == FIELDS
    assert all(paradigm.rule.endswith(".") and paradigm.templates for paradigm in PARADIGMS)
    names = [row["UID"] for row in rows]
    assert len(set(names)) == len(PARADIGMS) and all(names.count(name) == EACH for name in set(names))


def test_no_pair_is_there_twice_and_the_two_sentences_have_the_same_number_of_words(rows):
    pairs = [(row["sentence_good"], row["sentence_bad"]) for row in rows]
    assert len(set(pairs)) == len(pairs)
    assert not {good for good, _ in pairs} & {bad for _, bad in pairs}
    assert [pair for pair in pairs if len(pair[0].split()) != len(pair[1].split())] == []


def test_sentences_are_written_as_sentences(rows):
    for row in rows:
        for text in (row["sentence_good"], row["sentence_bad"]):
            assert re.fullmatch(r"[A-Z][A-Za-z', ]*[.?]", text) and "  " not in text and " ." not in text, text
            assert not re.search(r"\b[Aa] [aeiou]|\b(\w+) \1\b", text), text


def test_the_seed_decides_and_more_pairs_begin_with_the_same_ones(rows):
    assert records(EACH, seed=1) != rows
    assert [row for row in records(EACH + 5, seed=0) if row["pair_id"] < EACH] == rows


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_has_known_slots_and_ends_up_without_marks(template):
    assert all(name in CLASSES and (form in FORMS or form in ("", "rest")) for name, _, form in SLOT.findall(template))
    for text in fill(template, random.Random(0)):
        assert not set("[]{}|_") & set(text)


def test_every_class_is_used_and_every_choice_has_two_parts():
    used = {name for template in TEMPLATES for name, _, _ in SLOT.findall(template)}
    assert set(CLASSES) == used
    members = [member for words in CLASSES.values() for member in words]
    assert all(len(set(CHOICE.sub("", member)) & set("[]|")) == 0 for member in members)
    assert all(len(set(words)) == len(words) for words in CLASSES.values())


@pytest.mark.parametrize("name", ["habit", "roam"])
def test_a_base_that_would_also_be_a_past_is_not_in_the_classes_for_agreement(name):
    assert all(form_of(member, None) != form_of(member, "past") for member in CLASSES[name])


@pytest.mark.parametrize(
    ("member", "form", "expected"),
    [
        ("box", "pl", "boxes"),
        ("boy", "pl", "boys"),
        ("child", "pl", "children"),
        ("radio", "pl", "radios"),
        ("teach at school", "s", "teaches at school"),
        ("fly to Paris", "s", "flies to Paris"),
        ("play the piano", "s", "plays the piano"),
        ("carry", "past", "carried"),
        ("have lunch", "s", "has lunch"),
        ("travel by train", "part", "travelled by train"),
        ("write a song", "past", "wrote a song"),
        ("write a song", "part", "written a song"),
        ("cut _ with a knife", "rest", "with a knife"),
    ],
)
def test_words_are_inflected(member, form, expected):
    assert form_of(member, form) == expected


def test_the_command_writes_a_file_that_minimal_pairs_reads(tmp_path, capsys):
    main(["--out", str(tmp_path / "pairs.jsonl"), "--each", "3", "--seed", "5"])
    assert f"{3 * len(PARADIGMS)} pairs of {len(PARADIGMS)} paradigms" in capsys.readouterr().out
    first = json.loads((tmp_path / "pairs.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert set(first) == {"sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pair_id"}
    assert len(read_pairs(tmp_path / "pairs.jsonl")) == 3 * len(PARADIGMS)


def test_more_pairs_than_a_template_has_are_refused_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path / "pairs.jsonl"), "--each", "100000"])
    assert "ask for fewer than 100000 with --each" in capsys.readouterr().err
