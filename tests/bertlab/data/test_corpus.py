"""The corpus of small made-up packages, and of two real ones: which files, which bytes."""

import hashlib
import json

import pytest
from click.testing import CliRunner

from bertlab.cli.data import corpus as corpus_command
from bertlab.common.errors import DataError
from bertlab.data.corpus import sources as corpus_sources
from bertlab.data.corpus.build import build_corpus, ensure_corpus

MODULE = '''"""Tools that open the gates of number {number} for those who ask."""

# Copyright of the gate keepers, all rights of the gates reserved by them.

# This comment tells the reader why gate {word} is opened with care.


def open_gate(key, slowly=False):
    """Opens the {word} gate of the castle with the `key` that is given.

    The {word} gate stays open until the {word} guard of the castle returns.

    Args:
        key: The {word} key that fits the lock of the gate.
        slowly: Whether the {word} gate is opened without a noise.
    """
'''
WORDS = [f"{first}{second}{third}ish" for first in "bdfglmnprst" for second in "aeio" for third in "klmnt"]


def install(folder, name, files):
    """Writes a distribution as pip would: its files, METADATA and a RECORD that lists them."""
    info = f"{name}-1.0.dist-info"
    files = files | {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n\nA package of gates.\n"}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / info / "RECORD").write_text("".join(f"{path},,\n" for path in files), encoding="utf-8")


@pytest.fixture
def castle(tmp_path, monkeypatch):
    """A made-up distribution of many modules, a test and a file that does not parse; it is on the list."""
    modules = {f"castle/gate{i:03}.py": MODULE.format(number=i, word=WORDS[i]) for i in range(110)}
    test_module = MODULE.format(number=1, word="testing")
    others = {"castle/tests/test_gate.py": test_module, "castle/broken.py": "def broken(:\n"}
    site = tmp_path / "site"
    install(site, "castle", modules | others)
    (site / "castle" / "unlisted.py").write_text(MODULE.format(number=2, word="unlisted"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(corpus_sources, "DISTRIBUTIONS", ("castle", "not-installed-anywhere"))
    return site


def documents(folder):
    return [json.loads(line) for line in (folder / "documents.jsonl").read_text(encoding="utf-8").splitlines()]


def test_one_file_is_one_document_in_reading_order(castle, tmp_path):
    first = documents(build_corpus(tmp_path / "out", 1, ["castle"]))[0]
    assert first["id"] == "castle/gate000.py" and first["source"] == "castle"
    assert first["paragraphs"][:3] == [
        ["Tools that open the gates of number 0 for those who ask."],
        [f"This comment tells the reader why gate {WORDS[0]} is opened with care."],
        [f"Opens the {WORDS[0]} gate of the castle with the key that is given."],
    ]
    assert first["paragraphs"][-1] == [
        f"The {WORDS[0]} key that fits the lock of the gate.",
        f"Whether the {WORDS[0]} gate is opened without a noise.",
    ]


def test_only_listed_files_are_read_and_never_tests(castle, tmp_path):
    text = (build_corpus(tmp_path / "out", 1, ["castle"]) / "documents.jsonl").read_text(encoding="utf-8")
    assert "unlisted" not in text and "testing" not in text and "Copyright" not in text


def test_the_manifest_lists_what_was_read_dropped_and_written(castle, tmp_path):
    folder = build_corpus(tmp_path / "out", 1, ["castle"])
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    sentences = [sentence for each in documents(folder) for part in each["paragraphs"] for sentence in part]
    assert manifest["packages"] == {"castle": "1.0"}
    assert manifest["counts"]["documents"] == len(documents(folder)) == 110
    assert manifest["counts"]["words"] == sum(len(sentence.split()) for sentence in sentences)
    assert manifest["dropped"]["unreadable file"] == 1
    assert manifest["dropped"]["repeated paragraph or description"] == 109  # the module docstring, but for its number
    bytes_written = (folder / "documents.jsonl").read_bytes()
    assert manifest["sha256"]["documents.jsonl"] == hashlib.sha256(bytes_written).hexdigest()


def test_the_bytes_do_not_depend_on_processes_or_on_the_order_of_the_file_list(castle, tmp_path):
    alone = build_corpus(tmp_path / "alone", 1, ["castle"])
    record = castle / "castle-1.0.dist-info" / "RECORD"
    record.write_text("\n".join(reversed(record.read_text(encoding="utf-8").splitlines())) + "\n", encoding="utf-8")
    together = build_corpus(tmp_path / "together", 2, ["castle"])
    for name in ("documents.jsonl", "docstrings.jsonl", "manifest.json"):
        assert (alone / name).read_bytes() == (together / name).read_bytes()


def test_docstrings_keep_what_the_labelled_tasks_need(castle, tmp_path):
    folder = build_corpus(tmp_path / "out", 1, ["castle"])
    records = map(json.loads, (folder / "docstrings.jsonl").read_text(encoding="utf-8").splitlines())
    record = next(each for each in records if each["name"] == "castle.gate000.open_gate")
    assert (record["kind"], record["signature"]) == ("function", ["key", "slowly"])
    sentence, code = record["paragraphs"][0][0]
    assert [sentence[start:end] for start, end in code] == ["key"]
    assert [name for name, _ in record["parameters"]] == ["key", "slowly"]


def test_a_cache_is_used_until_a_version_changes(castle, tmp_path, monkeypatch):
    monkeypatch.setattr(corpus_sources, "_stdlib_files", list)  # everything on the list, but quickly
    folder = ensure_corpus(tmp_path / "out", 1)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["packages"]["not-installed-anywhere"] is None
    before = (folder / "documents.jsonl").stat().st_mtime_ns
    assert ensure_corpus(folder, 1) == folder
    assert (folder / "documents.jsonl").stat().st_mtime_ns == before
    manifest["packages"]["castle"] = "0.9"
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    ensure_corpus(folder, 1)
    assert (folder / "documents.jsonl").stat().st_mtime_ns != before
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["packages"]["castle"] == "1.0"


def test_a_package_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="no-such-package: not installed"):
        build_corpus(tmp_path, 1, ["no-such-package"])


def test_real_packages_have_text(tmp_path):
    folder = build_corpus(tmp_path, 1, ["click", "rich"])
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["counts"]["words"] > 20_000


def test_the_command_builds_shows_and_counts(castle, tmp_path):
    run = CliRunner().invoke
    directory = ["--dir", str(tmp_path / "out")]
    built = run(corpus_command, ["build", *directory, "--workers", "1", "--package", "castle"])
    assert built.output.strip() == str(tmp_path / "out")
    manifest_file = tmp_path / "out" / "manifest.json"
    manifest = json.loads(manifest_file.read_text(encoding="utf-8"))
    manifest["packages"] = corpus_sources.installed_versions()  # a partial corpus counts as out of date otherwise
    manifest_file.write_text(json.dumps(manifest), encoding="utf-8")
    shown = run(corpus_command, ["show", *directory, "--name", "gate007"])
    assert shown.output.startswith("=== castle/gate007.py (castle)")
    counted = run(corpus_command, ["stats", *directory])
    assert "castle" in counted.output and manifest["sha256"]["documents.jsonl"] in counted.output
    missing = run(corpus_command, ["show", *directory, "--name", "nowhere"])
    assert isinstance(missing.exception, DataError)
