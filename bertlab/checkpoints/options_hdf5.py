"""Folders of options.json and weights.hdf5, in which one family was published; and a words.txt, if the user adds it.

Both names may have something before them, as in …_options.json and …_weights.hdf5. The model reads any word by its
characters; here tokens have ids, so that words.txt lists the words that are read, one on each line.
"""

from pathlib import Path

import numpy as np

from bertlab.checkpoints.stored import StoredCheckpoint, StoredTensor, few, read_description
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.families import family, model_types
from bertlab.families.base import PublishedArray
from bertlab.tokenizers.whole_words import SPECIAL, WORDS_FILE, WordList

OPTIONS, WEIGHTS = "options.json", "weights.hdf5"
CHARACTER_IDS = "backbone/embeddings/character_ids"


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder holds such files."""
    return any(folder.glob(f"*{WEIGHTS}"))


def open_checkpoint(folder: Path) -> StoredCheckpoint:
    """Reads the options and the list of arrays. Raises CheckpointError or VocabularyError with the file's name."""
    from bertlab.layers.characters import characters_of_vocabulary

    options, weights = (_only(folder, name) for name in (OPTIONS, WEIGHTS))
    published = next(family(name).published for name in model_types() if family(name).published)
    words = WordList.from_file(folder / WORDS_FILE) if (folder / WORDS_FILE).exists() else None
    try:
        config = published.config(read_description(options), len(SPECIAL) if words is None else len(words))
    except ConfigError as error:
        raise CheckpointError(f"{options}: {error}") from None
    found = _arrays(weights)
    tensors, taken = {}, set()
    for one in published.arrays(config):
        tensors[one.ours] = _tensor(weights, found, one)
        taken.add(one.theirs)
    tensors[CHARACTER_IDS] = StoredTensor(
        WORDS_FILE,
        "characters",
        (config.vocab_size, config.max_characters),
        lambda: characters_of_vocabulary(words or WordList(()), config.max_characters),
    )
    unexpected = sorted(found.keys() - taken)
    return StoredCheckpoint(folder, weights.name, config, "encoder", {"pooler": False}, tensors, unexpected)


def _only(folder: Path, name: str) -> Path:
    found = sorted(folder.glob(f"*{name}"))
    if len(found) != 1:
        there = f"got {few(path.name for path in found)}" if found else "got none"
        raise CheckpointError(f"{folder}: expected one file *{name}, {there}")
    return found[0]


def _arrays(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays by their names."""
    import h5py

    found = {}
    try:
        with h5py.File(path, "r") as file:
            file.visititems(
                lambda name, one: found.update({name: tuple(one.shape)}) if isinstance(one, h5py.Dataset) else None
            )
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read as HDF5 ({error}); copy or download it again") from None
    return found


def _tensor(path: Path, found: dict[str, tuple[int, ...]], one: PublishedArray) -> StoredTensor:
    if found.get(one.theirs) != one.stored:
        got = f"got {found[one.theirs]}" if one.theirs in found else "it is missing"
        raise CheckpointError(
            f"{path}: {one.theirs}: expected an array of shape {one.stored}, {got}; do the options belong to it?"
        )

    def read() -> np.ndarray:
        import h5py

        try:
            with h5py.File(path, "r") as file:
                return one.convert(file[one.theirs][...])
        except OSError as error:
            raise CheckpointError(f"{path}: {one.theirs} cannot be read ({error}); copy or download it again") from None

    return StoredTensor(path.name, one.theirs, one.shape or one.stored, read)
