"""Files are whole or not there."""

import os

import pytest

from bertlab.common.errors import CheckpointError, DataError, VocabularyError
from bertlab.common.files import remove_files, write_atomically, write_text


def test_the_earlier_file_stays_when_writing_fails(tmp_path):
    path = tmp_path / "notes.txt"
    write_text(path, "first")

    def full_disk(partial):
        partial.write_text("sec")
        raise OSError(28, "No space left on device")

    with pytest.raises(CheckpointError, match=r"notes\.txt: cannot be written \(No space left on device\)"):
        write_atomically(path, full_disk, CheckpointError)
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path], "something of the failed write is left"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="missing/notes.txt: cannot be written"):
        write_text(tmp_path / "missing" / "notes.txt", "x")


def test_a_file_is_synced_through_a_descriptor_that_can_write(tmp_path, monkeypatch):
    """Windows refuses it for one that can only read."""
    fcntl = pytest.importorskip("fcntl")
    modes, sync = [], os.fsync

    def synced(descriptor):
        modes.append(fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    write_text(tmp_path / "notes.txt", "x")
    assert modes == [os.O_RDWR]


def test_a_vocabulary_that_cannot_be_written_is_reported_in_one_line(tmp_path):
    from bertlab.tokenizers.wordpiece import Vocabulary

    vocabulary = Vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"])
    with pytest.raises(VocabularyError, match="cannot be written"):
        vocabulary.save(tmp_path / "missing" / "vocab.txt")


def test_own_files_are_removed_and_their_folder_unless_it_holds_others(tmp_path):
    folder = tmp_path / "states"
    remove_files(folder, ["state-*.bin"])  # absent: nothing to do
    for name in ("state-1.bin", "state-2.bin", "mine.txt"):
        (tmp_path / "states").mkdir(exist_ok=True)
        (folder / name).write_text("x")
    remove_files(folder, ["state-*.bin"])
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    remove_files(folder, ["mine.txt"])
    assert not folder.exists() and tmp_path.exists()
