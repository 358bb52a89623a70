"""Pairs of texts, a source and its target, as a folder of examples: what an encoder–decoder is trained on.

The folder is like those of `bertlab data make` (see `records`): a row has input_ids and attention_mask (S,), the
source, and target_ids and target_mask (U,), the target. Both end with [SEP].

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
from bertlab.common.job import Job
from bertlab.common.progress import bar
from bertlab.data.documents_lines import Problems, numbered_lines, open_binary
from bertlab.data.pretraining.make import made_in_the_same_way
from bertlab.data.pretraining.records import FORMAT, MANIFEST, Layout
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
    """The pairs of a file with a source, a tab and its target in every line, or of two files of as many lines.

    Raises DataError, naming file and line, for a line that is no pair or has an empty side, and for two files of
    unequal length, naming both counts.

    Example:
        >>> _ = Path("pairs.tsv").write_text("the cat\\tle chat\\n")
        >>> list(read_pairs("pairs.tsv"))
        [('the cat', 'le chat')]
    """
    source = Path(source)
    if target is None:
        for number, line in numbered_lines(source, Problems()):
            sides = [side.strip() for side in line.split("\t")]
            if len(sides) != 2 or not all(sides):
                found = "an empty side" if len(sides) == 2 else f"{len(sides)} columns"
                raise DataError(f"{source} line {number}: expected a source, one tab and its target, got {found}")
            yield sides[0], sides[1]
        return
    target = Path(target)
    counts = [sum(1 for _ in numbered_lines(path, Problems())) for path in (source, target)]
    if counts[0] != counts[1]:
        raise DataError(
            f"{source} has {counts[0]:,} lines and {target} {counts[1]:,}; expected as many in both: line by line, a "
            "source and its target"
        )
    lines = (numbered_lines(path, Problems()) for path in (source, target))
    for (number, ours), (_, theirs) in zip(*lines):
        for path, text in ((source, ours), (target, theirs)):
            if not text.strip():
                raise DataError(f"{path} line {number}: the line is empty; expected a text, or no line in either file")
        yield ours.strip(), theirs.strip()


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
    work = Job(folder, _UNFINISHED, identity, error=DataError)
    if made := made_in_the_same_way(work):
        return made
    work.begin()
    tokenizer.save_vocabulary(folder)
    layout, shards, counts = Layout.of(settings), [], Counter(examples=0)
    pairs = read_pairs(source, target)
    try:
        with bar("Making examples") as progress:
            while some := list(islice(pairs, _SHARD)):
                rows = pair_rows(some, tokenizer, settings)
                count = len(rows["input_ids"])
                counts["pairs"] += len(some)
                counts["examples"] += count
                counts["tokens_in_rows"] += int(rows["attention_mask"].sum())
                counts["target_tokens"] += int(rows["target_mask"].sum())
                if count:
                    records, file = layout.to_bytes(rows), f"examples-{len(shards):05d}.tfrecord"
                    write_bytes(folder / file, records)
                    shards.append({"file": file, "sha256": hashlib.sha256(records).hexdigest(), "examples": count})
                progress.advance()
        if not counts["examples"]:
            found = f"{counts['pairs']:,}, all longer than a row" if counts["pairs"] else "an empty file"
            raise DataError(f"{source}: expected pairs to learn from, got {found}")
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


def _identity(source, target, tokenizer: Tokenizer, settings: ExampleSettings) -> dict:
    hashes = []
    for path in (source, target) if target is not None else (source,):
        with open_binary(path) as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return {
        "format": FORMAT,
        "source": str(source),
        "target": None if target is None else str(target),
        "text_sha256": hashes,
        "seed": settings.seed,
        "settings": settings.to_dict(),
        **recorded_with_vocabulary(tokenizer),
    }


def pair_rows(pairs, tokenizer: Tokenizer, settings: ExampleSettings) -> dict[str, np.ndarray]:
    """The rows of pairs of texts, without those that are too long.

    Returns input_ids and attention_mask (N, S), target_ids and target_mask (N, U), all int32.
    """
    sources, targets = zip(*pairs)
    ids = [tokenizer.encode_batch(list(sources)).to_list(), tokenizer.encode_targets(list(targets)).to_list()]
    width, target_width = settings.sequence_length, settings.target_length
    kept = [(one, other) for one, other in zip(*ids) if len(one) < width and len(other) < target_width]
    source_ids, source_mask = padded([one for one, _ in kept], tokenizer.vocabulary, width)
    target_ids, target_mask = padded([other for _, other in kept], tokenizer.vocabulary, target_width)
    return {
        "input_ids": source_ids,
        "attention_mask": source_mask,
        "target_ids": target_ids,
        "target_mask": target_mask,
    }


def padded(texts, vocabulary, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids of texts, each with [SEP] behind it, in rows of `length`: (N, length) int32, and 1 where they are."""
    rows, mask = np.full((len(texts), length), vocabulary.pad_id, np.int32), np.zeros((len(texts), length), np.int32)
    for row, used, ids in zip(rows, mask, texts):
        row[: len(ids) + 1] = [*ids, vocabulary.sep_id]
        used[: len(ids) + 1] = 1
    return rows, mask
