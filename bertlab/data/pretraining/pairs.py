"""Pairs of texts, a source and its target, as a folder of examples: what an encoder–decoder is trained on.

A file of pairs has a source, a tab and its target in every line; or two files have as many lines each, the source in
one and the target in the other. The folder is like those of `bertlab data make` (see `records`): a row has input_ids
and attention_mask (S,), the source, and target_ids and target_mask (U,), the target. Both end with [SEP].

Letters: S tokens of a source, U tokens of a target.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from bertlab.common.errors import DataError
from bertlab.common.files import write_bytes, write_json
from bertlab.common.progress import bar
from bertlab.common.work_folder import WorkFolder
from bertlab.data.documents_lines import Problems, numbered_lines
from bertlab.data.pretraining.records import FORMAT, MANIFEST, Layout, read_manifest
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.tokenizers.kinds import recorded_with_vocabulary
from bertlab.tokenizers.wordpiece.base import Tokenizer

_SHARD = 20_000  # pairs
_UNFINISHED = "unfinished.json"  # what is being made in a folder without a manifest


def pair_settings(source_length: int = 128, target_length: int | None = None) -> ExampleSettings:
    """The settings of rows of pairs, of so many tokens, [SEP] included. target_length: as the source if left out.

    Example:
        >>> pair_settings(64).target_length
        64
    """
    return ExampleSettings(
        sequence_length=source_length,
        target_length=target_length or source_length,
        next_sentence=False,
        packing=False,
        dynamic_masking=True,
        duplicate_factor=1,
    )


def read_pairs(source: str | Path, target: str | Path | None = None) -> Iterator[tuple[str, str]]:
    """The pairs of a file with tabs, or of two files of as many lines.

    Raises DataError, naming file and line, for a line that is no pair or has an empty side, and for two files of
    unequal length, naming both counts.

    Example:
        >>> _ = Path("pairs.tsv").write_text("the cat\\tle chat\\n")
        >>> list(read_pairs("pairs.tsv"))
        [('the cat', 'le chat')]
    """
    source = Path(source)
    if target is None:
        yield from _of_one_file(source)
        return
    target = Path(target)
    counts = [sum(1 for _ in _lines(path)) for path in (source, target)]
    if counts[0] != counts[1]:
        raise DataError(
            f"{source} has {counts[0]:,} lines and {target} {counts[1]:,}; expected as many in both: line by line, a "
            "source and its target"
        )
    for (number, ours), (_, theirs) in zip(_lines(source), _lines(target)):
        for path, text in ((source, ours), (target, theirs)):
            if not text.strip():
                raise DataError(f"{path} line {number}: the line is empty; expected a text, or no line in either file")
        yield ours.strip(), theirs.strip()


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        yield from numbered_lines(path, Problems())
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a text file") from None


def _of_one_file(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in _lines(path):
        sides = [side.strip() for side in line.split("\t")]
        if len(sides) != 2 or not all(sides):
            found = "an empty side" if len(sides) == 2 else f"{len(sides)} columns"
            raise DataError(f"{path} line {number}: expected a source, one tab and its target, got {found}")
        yield sides[0], sides[1]


def make_pairs(
    source: str | Path,
    tokenizer: Tokenizer,
    folder: str | Path,
    settings: ExampleSettings,
    target: str | Path | None = None,
) -> dict:
    """Makes a folder of examples of the pairs in one file or two (see `read_pairs`), and returns its manifest.

    Pairs with more tokens than a row are left out, and counted under "problems". A complete folder is not changed;
    after an interruption the same call makes the folder again from the start.
    Raises DataError for files that are not pairs, if no pair is short enough, for a folder made in another way, and for
    a tokenizer with a vocabulary each for sources and targets.
    """
    if tokenizer.vocabulary.targets is not tokenizer.vocabulary:
        raise DataError(
            f"{folder}: expected a tokenizer with one vocabulary for sources and targets, got one with two; a model "
            "with two vocabularies translates, but cannot be trained here"
        )
    folder = Path(folder)
    identity = _identity(source, target, tokenizer, settings)
    work = WorkFolder(folder, _UNFINISHED, identity, error=DataError)
    if (folder / MANIFEST).exists():
        manifest = read_manifest(folder)
        work.check({name: manifest.get(name) for name in identity})
        return manifest
    if any(folder.glob("examples-*.tfrecord")):
        work.check()
    work.begin()
    tokenizer.save_vocabulary(folder)
    layout, shards, counts = Layout.of(settings), [], Counter(examples=0)
    pairs = read_pairs(source, target)
    try:
        with bar("Making examples") as progress:
            while some := list(islice(pairs, _SHARD)):
                rows = pair_rows(some, tokenizer, settings)
                counts.update(_counted(rows, some))
                if len(rows["input_ids"]):
                    shards.append(_write_shard(folder, len(shards), rows, layout))
                progress.advance()
        _check_any(source, counts)
    except DataError:
        for shard in folder.glob("examples-*.tfrecord"):  # so that the folder can be used once the text is mended
            shard.unlink()
        work.file.unlink()
        raise
    left_out = counts["pairs"] - counts["examples"]
    problems = {"pair longer than a row": left_out} if left_out else {}
    manifest = identity | {"counts": counts, "problems": problems, "layout": layout.to_dict(), "shards": shards}
    write_json(folder / MANIFEST, manifest)
    work.file.unlink()
    return manifest


def _counted(rows: dict[str, np.ndarray], pairs: list) -> dict[str, int]:
    return {
        "pairs": len(pairs),
        "examples": len(rows["input_ids"]),
        "tokens_in_rows": int(rows["attention_mask"].sum()),
        "target_tokens": int(rows["target_mask"].sum()),
    }


def _write_shard(folder: Path, number: int, rows: dict[str, np.ndarray], layout: Layout) -> dict:
    records, file = layout.to_bytes(rows), f"examples-{number:05d}.tfrecord"
    write_bytes(folder / file, records)
    return {"file": file, "sha256": hashlib.sha256(records).hexdigest(), "examples": len(records)}


def _check_any(source, counts: Counter) -> None:
    if not counts["examples"]:
        found = f"{counts['pairs']:,}, all longer than a row" if counts["pairs"] else "an empty file"
        raise DataError(f"{source}: expected pairs to learn from, got {found}")


def _identity(source, target, tokenizer: Tokenizer, settings: ExampleSettings) -> dict:
    files = [Path(path) for path in (source, target) if path is not None]
    return {
        "format": FORMAT,
        "source": str(source),
        "target": None if target is None else str(target),
        "text_sha256": [_sha256(path) for path in files],
        "seed": settings.seed,
        "settings": settings.to_dict(),
        **recorded_with_vocabulary(tokenizer),
    }


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a text file") from None


def pair_rows(pairs, tokenizer: Tokenizer, settings: ExampleSettings) -> dict[str, np.ndarray]:
    """The rows of pairs of texts, without those that are too long.

    Returns input_ids and attention_mask (N, S), target_ids and target_mask (N, U), all int32.
    """
    sources, targets = zip(*pairs)
    ids = [tokenizer.encode_batch(list(sources)).to_list(), tokenizer.encode_targets(list(targets)).to_list()]
    lengths = settings.sequence_length, settings.target_length
    kept = [pair for pair in zip(*ids) if all(len(one) < max_length for one, max_length in zip(pair, lengths))]
    rows = {}
    for side, (name, mask), length in zip((0, 1), _ARRAYS, lengths):
        rows[name], rows[mask] = padded([pair[side] for pair in kept], tokenizer.vocabulary, length)
    return rows


_ARRAYS = (("input_ids", "attention_mask"), ("target_ids", "target_mask"))


def padded(texts, vocabulary, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids of texts, each with [SEP] behind it, in rows of `length`: (N, length) int32, and 1 where they are."""
    rows, mask = np.full((len(texts), length), vocabulary.pad_id, np.int32), np.zeros((len(texts), length), np.int32)
    for row, used, ids in zip(rows, mask, texts):
        row[: len(ids) + 1] = [*ids, vocabulary.sep_id]
        used[: len(ids) + 1] = 1
    return rows, mask
