"""The text of the packaged model: cleaning, repeats, overlap with benchmarks, held-out documents."""

import json
import random
import string
from collections import Counter

import numpy as np
import pytest

from benchmarks.english import mini
from scripts import make_mini_text, mini_repeats
from scripts.mini_cleaning import clean_paragraphs, fault, join_broken_lines

HOLES = [
    "The ship has a beam of and a draught of.",
    "Marinette is the daughter of and, granddaughter of Rolland.",
    "At about 06:00 on 28 August,, another member of the screen reported smoke.",
    "He plays a magical being known as a.",
    "The system then had winds of in its northern semicircle.",
    "Zhang Ming (; born in 1970) is a skater.",
    "It appears in the video game ' and its remastered version.",
    "As a of the Habsburgs, he was involved in wars.",
    "The town lies approximately km north of the lake.",
    "Within eight months the initial loan of was repaid.",
]
WHOLE = [
    "The town lies about 12 km north of the lake.",
    "The club consists of a team and an office (in the old mill).",
    "He was the man that everybody was afraid of.",
    "She married in 1924, and had three children with her husband.",
    'They said: "Nobody has won, and nobody will."',
    "The winds of at least 90 km/h broke trees.",
    "In 2018, her fans named it after her.",
    "And what it is made of we do not know, as the by-standers said.",
]


OTHER_FAULTS = {
    "See http://example.org for more.": "mark-up",
    "It is {{cite}} here.": "mark-up",
    "17, 18, 19, 20 and 21.": "few letters",
    "Она пришла домой.": "foreign letters",
    "History and culture": "not a whole sentence",
    "and so they left.": "not a whole sentence",
    "He died (in Rome.": "an open bracket",
    "He " + "very " * 160 + "slept.": "too long",
}
FAULTS = dict.fromkeys(HOLES, "a number or a name is missing") | dict.fromkeys(WHOLE) | OTHER_FAULTS


@pytest.mark.parametrize("sentence", FAULTS)
def test_a_sentence_with_a_fault_goes_and_a_whole_one_stays(sentence):
    assert fault(sentence, strict=True) == FAULTS[sentence]
    assert sentence not in HOLES or fault(sentence, strict=False) is None


def test_paragraphs_keep_their_fit_sentences_and_lose_an_editors_brackets():
    dropped = Counter()
    paragraphs = ["She said that [it] was late. It has a length of and a width of.", "See www.example.org."]
    assert clean_paragraphs(paragraphs, True, dropped) == [["She said that it was late."]]
    assert dropped == {"a number or a name is missing": 1, "mark-up": 1}


def test_lines_that_were_broken_at_a_margin_are_joined():
    assert join_broken_lines(["They went by a", "passage.", "so it was.", "Then"]) == [
        "They went by a passage.", "so it was.", "Then",
    ]  # fmt: skip


# === Repeats ===


def words(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(string.ascii_lowercase, k=6)) for _ in range(count)]


def test_ngrams_are_equal_exactly_where_the_words_are():
    text = words(50, 1)
    hashes = mini_repeats.word_hashes(text + text)
    grams = mini_repeats.ngram_hashes(hashes, 5)
    assert len(grams) == 96 and np.array_equal(grams[:46], grams[50:96]) and len(np.unique(grams)) == 50
    assert len(mini_repeats.ngram_hashes(hashes[:3], 5)) == 0
    assert mini_repeats.word_hashes(["robin"])[0] == 6794227685550864889  # the same on every machine


def test_of_two_near_duplicates_the_longer_stays():
    one, other = words(400, 1), words(400, 2)
    changed = [word if i % 40 else "new" for i, word in enumerate(one[:300])]
    half = one[:60] + words(240, 3)
    texts = [changed, one, other, half, ["too", "short"]]
    sampled = [mini_repeats.sampled_shingles(mini_repeats.word_hashes(text)) for text in texts]
    assert mini_repeats.near_duplicates(sampled) == {0: 1}
    assert mini_repeats.near_duplicates([]) == {}


def test_texts_of_benchmarks_are_found_in_every_format(tmp_path):
    context = {"data": [{"paragraphs": [{"context": "A passage.", "qas": [{"question": "What?"}]}]}]}
    (tmp_path / "squad.json").write_text(json.dumps(context))
    (tmp_path / "pairs.jsonl").write_text('{"sentence_good": "A good one.", "pair_id": 3}\n')
    (tmp_path / "glue.tsv").write_text('sentence\tlabel\na "bad film\t0\n')
    (tmp_path / "ewt.conllu").write_text("# sent_id = 1\n# text = Web text.\n1\tWeb\n")
    (tmp_path / "names.conll").write_text("Rome\tB-LOC\nfell\tO\n\nNobody\tO\nsaw\tO\n")
    (tmp_path / "wiki.conll.txt").write_text("010 I-MISC\nis O\n\n")
    found = list(mini_repeats.benchmark_texts(tmp_path))
    assert found == ["Web text.", "sentence", "label", 'a "bad film', "0", "Rome fell", "Nobody saw", "A good one.",
                     "A passage.", "010 is"]  # fmt: skip


def test_a_line_separator_within_a_text_does_not_end_its_line(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one\u2028two"}\n\n', encoding="utf-8")
    (tmp_path / "b.conllu").write_text("# text = three\u2028four\n", encoding="utf-8")
    assert list(mini_repeats.benchmark_texts(tmp_path)) == ["one\u2028two", "three\u2028four"]
    assert mini.rows_of(tmp_path / "a.jsonl") == [{"text": "one\u2028two"}]


def prepare(english, novels, benchmark, out):
    given = [str(english), str(novels), "--benchmark", str(benchmark), "--out", str(out)]
    make_mini_text.main([*given, "--no-builtin", "--vocabulary"])


def test_a_benchmark_without_texts_ends_the_command_in_one_line(tmp_path):
    (tmp_path / "pairs.csv").write_text("a,b\n")
    (tmp_path / "empty.json").write_text('{"data": []}')
    (tmp_path / "folder").mkdir()
    (tmp_path / "wikinews.txt").write_text("A text.\n")
    cases = {
        "none.txt": "no such file or folder", "pairs.csv": "expected a file with one of .json",
        "empty.json": "expected texts of a benchmark, got none", "folder": "got none",
    }  # fmt: skip
    for name, message in cases.items():
        with pytest.raises(SystemExit, match=message) as raised:
            prepare(tmp_path, tmp_path, tmp_path / name, tmp_path / "out")
        assert "\n" not in str(raised.value)


# === The command ===


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Texts with a sentence of a benchmark, a repeated paragraph, a near-duplicate and a novel."""
    base = tmp_path_factory.mktemp("texts")
    (base / "english").mkdir()
    (base / "novels").mkdir()

    def sentence(seed, count=15):
        return " ".join(words(count, seed)).capitalize() + "."

    documents = [[sentence(100 * d + p) + " " + sentence(100 * d + p + 50) for p in range(6)] for d in range(30)]
    documents[3][2] = "First. " + sentence(9999, 20)  # also in the benchmark
    documents[5][1] = documents[4][1]
    documents.append([f"{paragraph[:-1]} again." for paragraph in documents[7][:5]])
    documents[8][0] += " The ship had a beam of and a draught of."
    text = "\n\n".join("\n".join(document) for document in documents)
    (base / "english" / "enwiki_b.txt").write_text(text)
    (base / "novels" / "novels.train.txt").write_text("\n".join(sentence(5000 + i) for i in range(120)))
    (base / "novels" / "novels.valid.txt").write_text("\n".join(sentence(6000 + i) for i in range(10)))
    (base / "benchmark.txt").write_text(sentence(9999, 20) + "\n")
    return base


def run(folders, out):
    prepare(folders / "english", folders / "novels", folders / "benchmark.txt", out)


def records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_command_drops_what_it_should_and_reports_it(folders, tmp_path):
    run(folders, tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    dropped = report["enwiki_b"]["dropped"]
    assert dropped["a number or a name is missing"] == 1
    assert dropped["paragraphs that overlap with a benchmark"] == 1
    assert dropped["documents with a run of 13 words of a benchmark"] == 1
    assert dropped["near-duplicate documents"] >= 1
    assert dropped["repeated paragraphs"] >= 1
    kept = records(tmp_path / "train" / "enwiki_b.jsonl") + records(tmp_path / "held_out" / "enwiki_b.jsonl")
    assert len({record["id"] for record in kept}) == len(kept) == 30
    benchmark = (folders / "benchmark.txt").read_text().strip()
    assert benchmark not in {sentence for record in kept for part in record["paragraphs"] for sentence in part}
    assert [len(record["paragraphs"]) for record in records(tmp_path / "train" / "novels.jsonl")] == [50, 50, 20]
    assert records(tmp_path / "held_out" / "novels_valid.jsonl")
    assert not (tmp_path / "train" / "novels_valid.jsonl").exists()
    assert report["benchmarks"]["names"] == ["benchmark.txt"] and report["benchmarks"]["texts"] == 1
    assert f"1 texts, digest {report['benchmarks']['digest']}" in (tmp_path / "report.md").read_text()
    counts = report["enwiki_b"]["words"]
    assert counts["train"] + counts["held_out"] == counts["no near-duplicates"] < counts["cleaned"] < counts["read"]


def test_a_stopped_preparation_ends_with_the_same_bytes(folders, tmp_path):
    run(folders, tmp_path / "whole")
    run(folders, tmp_path / "stopped")
    for name in ("near_duplicates.json", "cleaned/novels.jsonl", "report.md"):
        (tmp_path / "stopped" / name).unlink()
    run(folders, tmp_path / "stopped")
    files = [path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*") if path.is_file()]
    assert len(files) > 8
    for name in files:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "stopped" / name).read_bytes(), name


def test_a_learned_vocabulary_has_all_punctuation_though_the_text_has_not(folders, tmp_path):
    run(folders, tmp_path)
    make_mini_text.learn_vocabulary(tmp_path, 1024)
    pieces = (tmp_path / "vocab-1k.txt").read_text(encoding="utf-8").split("\n")
    assert set(string.punctuation) <= set(pieces)
