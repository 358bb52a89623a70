"""Making folders of examples: the same bytes from any number of workers, and after a kill; odd input is counted."""

import filecmp
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bertlab_command import run
from example_text import SMALL, as_text, make_documents, make_tokenizer
from refusals import refused

from bertlab.data.documents import Document
from bertlab.data.pretraining.make import cut_into_units, make_data
from bertlab.data.pretraining.settings import ExampleSettings

TOKENIZER = make_tokenizer()
UNIT = 4_000
ROOT = Path(__file__).parents[3]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(as_text(make_documents(60)))
    return path


def make(source, folder, chosen=SMALL, **options):
    return make_data(source, TOKENIZER, folder, chosen, unit_characters=UNIT, **options)


def assert_same_files(first: Path, second: Path):
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert len(names) > 4 and ".progress" not in names
    matches, differing, errors = filecmp.cmpfiles(first, second, names, shallow=False)
    assert not differing and not errors


def test_units_hold_every_document_once_in_order():
    documents = make_documents(60)
    units = list(cut_into_units(documents, UNIT, pairs=True))
    assert [each.id for unit in units for each in unit.documents] == [each.id for each in documents]
    assert [unit.number for unit in units] == list(range(len(units)))
    sizes = [sum(len(text) for each in unit.documents for part in each.paragraphs for text in part) for unit in units]
    assert min(sizes) >= UNIT // 2 and len(units) > 3


def test_two_processes_give_the_bytes_of_one(text, tmp_path):
    for workers in (1, 2):
        make(text, tmp_path / str(workers), workers=workers)
    assert_same_files(tmp_path / "1", tmp_path / "2")


@pytest.mark.exhaustive
def test_a_dask_cluster_gives_the_bytes_of_one_process(text, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        make(text, tmp_path / "2", scheduler=cluster.scheduler_address)
    make(text, tmp_path / "1")
    assert_same_files(tmp_path / "1", tmp_path / "2")


@pytest.mark.slow
def test_a_run_that_was_killed_resumes_and_loses_nothing(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(as_text(make_documents(400)))
    TOKENIZER.vocabulary.save(tmp_path / "vocab.txt")
    arguments = ["data", "make", str(text), "--vocab", str(tmp_path / "vocab.txt"), "--unit-characters", str(UNIT),
                 "--sequence-length", "48", "--duplicate-factor", "4"]  # fmt: skip
    start = [sys.executable, "-c", "from bertlab.cli import main; main()", *arguments]
    killed, whole = tmp_path / "killed", tmp_path / "whole"

    process = subprocess.Popen([*start, "--out", str(killed)], cwd=ROOT, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while len(list(killed.glob(".progress/0*.json"))) < 3 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, process.stderr.read().decode()
    assert not (killed / "manifest.json").exists()
    finished = {path.name: path.stat().st_mtime_ns for path in killed.glob("examples-*.tfrecord")}
    entries = {path.stem for path in killed.glob(".progress/0*.json")}
    assert len(entries) >= 3

    subprocess.run([*start, "--out", str(killed)], cwd=ROOT, check=True, capture_output=True)
    subprocess.run([*start, "--out", str(whole)], cwd=ROOT, check=True, capture_output=True)
    assert_same_files(killed, whole)
    for name, written in finished.items():
        if name[9:14] in entries:
            assert (killed / name).stat().st_mtime_ns == written  # kept, not made again


def test_a_shard_that_was_deleted_is_made_again_alone(text, tmp_path):
    for name in ("a", "b"):
        make(text, tmp_path / name)
    kept = (tmp_path / "a" / "examples-00000.tfrecord").stat().st_mtime_ns
    (tmp_path / "a" / "examples-00001.tfrecord").unlink()
    make(text, tmp_path / "a")
    assert_same_files(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "examples-00000.tfrecord").stat().st_mtime_ns == kept


def test_a_folder_made_in_another_way_is_left_alone(text, tmp_path):
    make(text, tmp_path / "out")
    refused("seed was 12345, is 5", make, text, tmp_path / "out", SMALL.replace(seed=5))


@pytest.mark.parametrize("absent", ["none", "examples-00001.tfrecord"])
def test_a_text_that_changed_is_refused_and_its_examples_are_left_alone(text, tmp_path, absent):
    out = tmp_path / "out"
    made = make(text, out)
    (out / absent).unlink(missing_ok=True)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    text.write_text(as_text(make_documents(61)))
    refused(r"out: expected the text that .* \(text_sha256 was '\w{64}', is '\w{64}'\)", make, text, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    text.write_text(as_text(make_documents(60)))
    assert make(text, out) == made


def test_another_corpus_of_the_installed_packages_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("bertlab.data.corpus.build.ensure_corpus", lambda *arguments: tmp_path)
    monkeypatch.chdir(tmp_path)
    out = Path("builtin")  # a folder of this name is not the source
    out.mkdir()
    for number in (60, 61):
        records = ({"paragraphs": each.paragraphs} for each in make_documents(number))
        (tmp_path / "documents.jsonl").write_text("\n".join(map(json.dumps, records)))
        if number == 60:
            made = make_data("builtin", TOKENIZER, out, SMALL)
            assert make_data("builtin", TOKENIZER, out, SMALL) == made
    refused("text_sha256 was", make_data, "builtin", TOKENIZER, out, SMALL)


def test_other_documents_in_memory_are_refused_and_the_same_are_not(tmp_path):
    documents = make_documents(60)
    made = make(documents, tmp_path / "out")
    assert make(iter(documents), tmp_path / "out") == made
    for others in (documents[:-20], make_documents(90), [*documents[:-1], documents[0]]):
        refused(r"\(the documents of examples-0\d+.tfrecord differ\); choose another", make, others, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == made


def test_a_folder_without_the_hash_of_its_text_is_taken_as_it_is(text, tmp_path):
    manifest = tmp_path / "out" / "manifest.json"
    older = make(text, tmp_path / "out")
    del older["text_sha256"]
    manifest.write_text(json.dumps(older))
    text.write_text("Another text.\n")
    assert make(text, tmp_path / "out") == older


def test_a_text_mended_after_a_stop_is_read_in_the_same_folder(text, tmp_path):
    make(text, tmp_path / "whole")
    good = text.read_bytes()
    text.write_bytes(good + b"\nnot \xff UTF-8\n")
    refused("not UTF-8", make, text, tmp_path / "out")
    text.write_bytes(good)
    make(text, tmp_path / "out")
    assert_same_files(tmp_path / "out", tmp_path / "whole")


def test_a_folder_among_the_texts_is_refused(text, tmp_path):
    refused("out: is inside .*, whose files are read; choose a folder outside", make, text.parent, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_splits_share_no_document_and_leave_none_out(tmp_path):
    documents = make_documents(400, sentences=(2, 4))
    counts = {}
    for split in ("all", "train", "validation"):
        manifest = make_data(documents, TOKENIZER, tmp_path / split, SMALL, split=split)
        counts[split] = manifest["counts"]["documents"]
        assert manifest["split"] == split
    assert counts["train"] + counts["validation"] == counts["all"] == 400
    assert 5 < counts["validation"] < 45  # binomial(400, 5%), 5 standard deviations


def test_odd_input_is_counted_or_stops_with_file_and_line(tmp_path):
    good = as_text(make_documents(20)).encode()
    (tmp_path / "odd.txt").write_bytes(b"aa bb cc dd .\nnot \xff UTF-8\n\n" + good)
    refused("odd.txt.*2", make_data, tmp_path / "odd.txt", TOKENIZER, tmp_path / "out", SMALL)
    manifest = make_data(tmp_path / "odd.txt", TOKENIZER, tmp_path / "out2", SMALL, on_error="skip")
    assert sum(manifest["problems"].values()) == 1


def test_no_documents_give_a_clear_error(tmp_path):
    refused("no documents", make_data, [], TOKENIZER, tmp_path / "out", SMALL)
    lone = [Document(str(number), (("aa bb .",),)) for number in range(50)]
    refused("have two", make_data, lone, TOKENIZER, tmp_path / "out2", SMALL)


def test_the_command_makes_shows_and_checks(text, tmp_path):
    TOKENIZER.vocabulary.save(tmp_path / "vocab.txt")
    out = tmp_path / "out"
    options = ("--vocab", tmp_path / "vocab.txt", "--out", out, "--preset", "roberta", "--sequence-length", 48)
    assert json.loads(run("data", "make", text, *options, "--json").splitlines()[-1])["counts"]["documents"] == 60
    shown = run("data", "show", out, "--count", 2)
    assert shown.count("--- example") == 2 and "[MASK]←" in shown
    assert (out / "examples.png").read_bytes().startswith(b"\x89PNG")
    figures = json.loads(run("data", "show", out, "--json"))
    assert 0.1 < figures["predicted"] < 0.2 and figures["random_next"] is None
    assert "all whole" in run("data", "check", out)


def test_presets_differ_only_where_they_say():
    assert ExampleSettings.preset("published") == ExampleSettings()
    roberta = ExampleSettings.preset("roberta")
    assert roberta.packing and roberta.dynamic_masking and not roberta.next_sentence
    assert ExampleSettings.preset("original").procedure == "original"
