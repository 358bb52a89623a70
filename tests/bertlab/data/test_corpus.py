"""The corpus of small made-up packages, and of two real ones: which files, which bytes; the built-in tasks on it."""

import hashlib
import json
import re
from collections import Counter

import pytest
from click.testing import CliRunner

from bertlab.cli.data import corpus as corpus_command
from bertlab.common.errors import DataError
from bertlab.data.corpus import sources as corpus_sources
from bertlab.data.corpus.build import build_corpus, ensure_corpus
from bertlab.data.corpus.texts import Sentence, masked_form
from bertlab.data.tasks.builtin import CODE_TAGS, PACKAGES, builtin_task, majority_baseline, tag_code
from bertlab.data.tasks.load import BUILTIN_TASKS

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


# === Built-in tasks ===

FUNCTION = '''
def turn{number}(key{number}, slowly):
    """Turns the {word} wheel of the {verb} mill in {library} with care.

    The {word} wheel {verb}s until the `{word}_guard` says that it has {verb}ed.

    Args:
        key{number}: The {word} key that makes the mill {verb} at once.
        slowly: Whether the {word} mill may {verb} without any haste.
    """
'''
VERBS = ["grind", "mill", "press", "roll"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A corpus made of two packages with 100 modules of four functions each."""
    site, out = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        for half, name in enumerate(("numpy", "keras")):
            modules = {}
            for i, word in enumerate(WORDS[100 * half : 100 * half + 100]):
                functions = [FUNCTION.format(number=n, word=word, verb=VERBS[n], library=name) for n in range(4)]
                modules[f"{name}/m{i:03}.py"] = "".join(functions)
            install(site, name, modules)
        patch.syspath_prepend(str(site))
        patch.setattr(corpus_sources, "DISTRIBUTIONS", ("keras", "numpy"))
        patch.setattr(corpus_sources, "_stdlib_files", list)
        ensure_corpus(out, 1)
        yield out


def words_of_files(rows):
    """The words, each the mark of one source file, that occur in some rows."""
    return {word for word in re.findall(r"\w+ish", " ".join(map(repr, rows)))}


@pytest.mark.parametrize("name", BUILTIN_TASKS)
def test_no_source_file_is_on_both_sides_of_the_split(cache, name):
    task = builtin_task(name, cache_dir=cache)
    assert len(task.train) > 100 and len(task.validation) > 10
    assert not words_of_files(task.train) & words_of_files(task.validation)


@pytest.mark.parametrize("name", BUILTIN_TASKS)
def test_the_rows_depend_on_the_seed_alone_and_are_capped(cache, name):
    task = builtin_task(name, most_train=40, most_validation=8, seed=1, cache_dir=cache)
    assert task == builtin_task(name, most_train=40, most_validation=8, seed=1, cache_dir=cache)
    assert task.train != builtin_task(name, most_train=40, most_validation=8, seed=2, cache_dir=cache).train
    assert 30 <= len(task.train) <= 40 and len(task.validation) == 8


def test_packages_are_balanced_and_their_names_masked(cache):
    task = builtin_task("package", cache_dir=cache)
    assert task.shape == "sentence" and task.labels == PACKAGES
    counts = Counter(PACKAGES[row.label] for row in task.validation)
    assert set(counts) == {"keras", "numpy"} and len(set(counts.values())) == 1
    assert majority_baseline(task) == 0.5
    rows = [*task.train, *task.validation]
    assert not any(re.search("keras|numpy", row.text, re.IGNORECASE) for row in rows)
    assert any("package" in row.text for row in rows)
    forms = [{masked_form(Sentence(row.text)) for row in split} for split in (task.train, task.validation)]
    assert not forms[0] & forms[1]  # no sentence is on both sides, even with other names


def test_a_pair_belongs_together_exactly_when_it_comes_from_one_docstring(cache):
    task = builtin_task("pairs", cache_dir=cache)
    verb = {f"{stem}{end}": stem for stem in VERBS for end in ("", "s", "ed")}
    for row in (*task.train, *task.validation):
        first, second = (
            (words_of_files([text]), next(verb[word] for word in text.split() if word in verb))
            for text in (row.text_a, row.text_b)
        )
        assert (row.label == 0) == (first == second)
    assert Counter(row.label for row in task.validation)[0] * 2 == len(task.validation)


def test_code_words_are_tagged_where_they_were_marked(cache):
    task = builtin_task("code-words", cache_dir=cache)
    assert task.shape == "tagging" and task.labels == CODE_TAGS
    for row in (*task.train, *task.validation):
        assert len(row.words) == len(row.tags)
        assert [word for word, tag in zip(row.words, row.tags, strict=True) if tag] == [
            word for word in row.words if word.endswith("_guard")
        ]
    assert 0.5 < majority_baseline(task) < 1


def test_code_of_several_words_begins_once():
    sentence = Sentence("Calls f(x) and y, z too.", ((6, 10), (15, 16), (18, 19)))
    words, tags = tag_code(sentence)
    assert words == ("Calls", "f", "(", "x", ")", "and", "y", ",", "z", "too", ".")
    assert tags == (0, 1, 2, 2, 2, 0, 1, 0, 1, 0, 0)


def test_an_answer_is_at_its_offset_after_the_name_in_the_question(cache):
    task = builtin_task("parameters", cache_dir=cache)
    for row in (*task.train, *task.validation):
        name = re.fullmatch(r"What is (\w+)\?", row.question)[1]
        (answer,), (start,) = row.answers, row.answer_starts
        assert row.context[start : start + len(answer)] == answer
        assert row.context[:start].endswith(f" {name}: ")
    assert len({row.id for row in task.train}) == len(task.train)


def test_an_unknown_task_is_named_with_the_known_ones(cache):
    with pytest.raises(DataError, match="choose one of package, pairs, code-words, parameters"):
        builtin_task("nothing", cache_dir=cache)
