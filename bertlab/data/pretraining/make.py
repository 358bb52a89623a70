"""Documents of any size → a folder of examples: streaming, on all cores or a cluster, resumable, always the same bytes.

    documents ──▶ unit 0 ──▶ worker ──▶ examples-00000.tfrecord + .progress/00000.json
              ──▶ unit 1 ──▶ worker ──▶ examples-00001.tfrecord + .progress/00001.json
              ──▶ …                                                    └──▶ manifest.json, when all are done

The text is cut into *units* of about two million characters, and a shard is a pure function of (its unit, the unit's
number, settings, vocabulary). Therefore the number of workers changes no byte, memory holds a few units, and a run that
was killed resumes. The price: a random next sentence comes from the same unit (a thousand documents or so), not from
the whole corpus, and `procedure="original"` runs the published script on each unit, with the seed plus its number.
"""

import hashlib
import json
import multiprocessing
import shutil
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.common.files import read_json, write_bytes, write_json
from bertlab.common.job import Job
from bertlab.common.progress import bar
from bertlab.data.documents import Document, is_validation, load_documents, path_of, text_sha256
from bertlab.data.pretraining.examples import examples_from_tokens, tokenize_documents
from bertlab.data.pretraining.records import FORMAT, MANIFEST, Layout, read_manifest
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.tokenizers.kinds import recorded_with_vocabulary
from bertlab.tokenizers.wordpiece.base import Tokenizer

UNIT_CHARACTERS = 2_000_000
SPLITS = ("all", "train", "validation")
_PROGRESS = ".progress"
_PLAN = "plan.json"
_LARGEST_UNIT = 8  # times `unit_characters`: a unit grows up to this size in search of two documents that can be paired


@dataclass(frozen=True)
class ShardJob:
    """The values that all units of a run share. identity: what decides the shards, and the hash of the text's files."""

    folder: str
    settings: ExampleSettings
    tokenizer: Tokenizer
    layout: Layout
    identity: dict


@dataclass(frozen=True)
class Unit:
    """A part of the corpus. fingerprint: SHA-256 of its text, by which a resumed run recognises its shard."""

    number: int
    documents: tuple[Document, ...]
    fingerprint: str

    @property
    def file(self) -> str:
        return f"examples-{self.number:05d}.tfrecord"


def make_data(
    source: str | Path | Iterable[Document],
    tokenizer: Tokenizer,
    folder: str | Path,
    settings: ExampleSettings | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    split: str = "all",
    on_error: str = "stop",
    unit_characters: int = UNIT_CHARACTERS,
) -> dict:
    """Makes a folder of examples, or resumes an incomplete one, and returns its manifest.

    source: as `bertlab.data.documents.load_documents` takes it, or documents themselves. workers: processes on this
    machine. scheduler: address of a Dask cluster whose workers do the work instead; they must see `folder` under
    the same path. split: "train" or "validation" takes only documents that `is_validation` puts there.
    on_error: "skip" leaves out defective input and counts it in the manifest, "stop" raises at the first defect.
    A complete folder is not changed. Raises DataError if the folder holds examples made with other settings or, if it
    is complete, of another text; if the source gives no documents or no pairs; or if a worker dies.
    """
    settings = settings or ExampleSettings()
    if split not in SPLITS:
        raise DataError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    if workers < 1 or unit_characters < 1:
        raise DataError(f"workers ({workers}) and unit_characters ({unit_characters}) must be at least 1")
    folder = Path(folder)
    is_path = isinstance(source, str | Path)
    identity = {
        "format": FORMAT,
        "source": str(source) if is_path else "documents",
        "split": split,
        "on_error": on_error,
        "unit_characters": unit_characters,
        "seed": settings.seed,
        "settings": settings.to_dict(),
        **recorded_with_vocabulary(tokenizer),
    }
    older = {"settings": ExampleSettings().to_dict()}  # for folders from before a setting existed
    work = Job(folder, f"{_PROGRESS}/{_PLAN}", identity, defaults=older, error=DataError)
    made = made_in_the_same_way(work)
    path = path_of(source) if is_path else None
    digest = path and text_sha256(path)
    text = {"text_sha256": digest} if digest else {}
    if made is not None and digest and made.get("text_sha256", digest) != digest:  # older manifests do not have it
        raise _other_text(folder, f"text_sha256 was {made['text_sha256']!r}, is {digest!r}")
    job = ShardJob(str(folder.resolve()), settings, tokenizer, Layout.of(settings), identity | text)
    done = _finished_shards(job, made)
    complete = made is not None and len(done) == len(made["shards"])
    if complete and is_path:
        return made

    problems = Counter()
    documents = load_documents(source, on_error, problems) if is_path else source
    if split != "all":
        documents = (each for each in documents if is_validation(each.id) == (split == "validation"))
    units = cut_into_units(documents, unit_characters, settings.next_sentence)
    if made is not None:
        units = _same_units(folder, units, made["shards"])
    if complete:
        deque(units, maxlen=0)  # compares each unit
        return made
    if path and path.is_dir() and folder.resolve().is_relative_to(path.resolve()):  # vocab.txt would be a text
        raise DataError(f"{folder}: is inside {path}, whose files are read; choose a folder outside of it")
    work.begin()
    for partial in [*folder.glob(".*.partial"), *work.file.parent.glob(".*.partial")]:  # left by a kill
        partial.unlink()
    tokenizer.save_vocabulary(folder)
    with _executor(workers, scheduler) as (executor, in_flight):
        shards = _run(job, units, done, executor, in_flight)
    return _finish(job, shards, problems)


# --- units ---


def cut_into_units(documents: Iterable[Document], characters: int, pairs: bool) -> Iterator[Unit]:
    """Documents in units of at least `characters`; a small remainder joins the unit before it.

    pairs: also continue until a unit has two documents of two sentences: a random next sentence needs both.
    """
    before: list[Document] = []  # a full unit, held back until it is known that another full one follows
    now: list[Document] = []
    size = usable = number = 0
    for document in documents:
        now.append(document)
        sentences = [sentence for paragraph in document.paragraphs for sentence in paragraph]
        size += sum(map(len, sentences))
        usable += len(sentences) > 1
        if size >= characters and (usable >= 2 or not pairs or size >= _LARGEST_UNIT * characters):
            if before:
                yield _unit(number, before)
                number += 1
            before, now, size, usable = now, [], 0, 0
    if now and before and (size < characters // 2 or (pairs and usable < 2)):
        before, now = before + now, []
    for rest in (before, now):
        if rest:
            yield _unit(number, rest)
            number += 1


def _unit(number: int, documents: list[Document]) -> Unit:
    digest = hashlib.sha256()
    for document in documents:
        digest.update("\x1d".join("\x1e".join(paragraph) for paragraph in document.paragraphs).encode("utf-8"))
        digest.update(b"\x1c")  # the separators that ASCII has for groups, records and files
    return Unit(number, tuple(documents), digest.hexdigest())


# --- one shard ---


_warm: dict[str, Tokenizer] = {}  # the last tokenizer, by the identity of a job: it caches the words it has seen


def make_shard(job: ShardJob, unit: Unit) -> dict:
    """Makes the shard of a unit and returns its entry in the manifest. Runs in a worker; needs no TensorFlow."""
    key = json.dumps([job.identity["vocabulary"], job.identity["tokenizer"]])
    if key not in _warm:
        _warm.clear()
        _warm[key] = job.tokenizer
    tokenizer = _warm[key]  # one for all units that a worker process gets
    tokens = tokenize_documents(unit.documents, tokenizer)
    examples = examples_from_tokens(tokens, tokenizer.vocabulary, job.settings, unit.number)
    records = job.layout.to_bytes(examples)
    folder = Path(job.folder)
    write_bytes(folder / unit.file, records)
    makes_pairs = job.settings.next_sentence and job.settings.procedure != "original"
    entry = {
        "file": unit.file,
        "fingerprint": unit.fingerprint,
        "sha256": hashlib.sha256(records).hexdigest(),
        "documents": len(unit.documents),
        "sentences": len(tokens.sentence_splits) - 1,
        "tokens": len(tokens.values),
        "documents_without_pairs": int((np.diff(tokens.document_splits) < 2).sum()) if makes_pairs else 0,
        "examples": len(records),
        **count_examples(examples, tokenizer.vocabulary.pad_id, tokenizer.vocabulary.mask_id),
    }
    if job.settings.sentence_order:
        entry["swapped"] = entry.pop("random_next")
    write_json(folder / _PROGRESS / f"{unit.number:05d}.json", entry)
    return entry


def count_examples(examples: dict[str, np.ndarray], pad_id: int, mask_id: int) -> dict[str, int]:
    """The manifest's counts: tokens in rows, random next sentences, predictions and their replacements."""
    counts = {"tokens_in_rows": int((examples["input_ids"] != pad_id).sum())}
    if "next_sentence_labels" in examples:
        counts["random_next"] = int(examples["next_sentence_labels"].sum())
    if "masked_lm_ids" in examples:
        used = examples["masked_lm_weights"] > 0
        shown = np.take_along_axis(examples["input_ids"], examples["masked_lm_positions"], axis=1)[used]
        originals = examples["masked_lm_ids"][used]
        counts["predictions"] = len(shown)
        counts["predictions_masked"] = int((shown == mask_id).sum())
        counts["predictions_kept"] = int((shown == originals).sum())
    return counts


# --- the run ---


def made_in_the_same_way(work: Job) -> dict | None:
    """The manifest, None before there is one. Raises DataError if the folder's examples were made in another way."""
    if (work.path / MANIFEST).exists():
        manifest = read_manifest(work.path)
        work.check({name: manifest[name] for name in work.identity if name in manifest})
        return manifest
    if work.file.exists():
        work.check()
    elif any(work.path.glob("examples-*.tfrecord")):
        raise DataError(f"{work.path}: holds .tfrecord files but no {MANIFEST}; choose an empty folder")
    return None


def _same_units(folder: Path, units: Iterable[Unit], entries: list[dict]) -> Iterator[Unit]:
    """The units, each of which is compared with its entry in the manifest. Raises DataError at one that differs."""
    for unit, entry in zip_longest(units, entries):
        if unit is None or entry is None or unit.fingerprint != entry["fingerprint"]:
            file = unit.file if entry is None else entry["file"]
            raise _other_text(folder, f"the documents of {file} differ")
        yield unit


def _other_text(folder: Path, difference: str) -> DataError:
    return DataError(
        f"{folder}: expected the text that its examples were made of, got another ({difference}); choose another "
        "folder, or delete this one to make it again"
    )


def _finished_shards(job: ShardJob, made: dict | None) -> dict[str, dict]:
    """Entries of the complete shards, by file name."""
    progress = sorted(Path(job.folder, _PROGRESS).glob("[0-9]*.json"))
    entries = map(read_json, progress) if made is None else made["shards"]
    return {entry["file"]: entry for entry in entries if _is_whole(job, entry)}


def _is_whole(job: ShardJob, entry: dict) -> bool:
    path = Path(job.folder, entry["file"])
    return path.is_file() and path.stat().st_size == entry["examples"] * job.layout.size


def _run(job: ShardJob, units: Iterator[Unit], done: dict, executor: Executor, in_flight: int) -> list[dict]:
    """Entries of all shards in order. At most `in_flight` units are held in memory at a time."""
    entries: dict[str, dict] = {}
    running: dict[Future, Unit] = {}
    with bar("Making examples") as progress:

        def collect(least: int):
            while len(running) > least:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    unit = running.pop(future)
                    entries[unit.file] = _result(future, job, unit)
                    progress.advance(note=f"{sum(entry['examples'] for entry in entries.values()):,} examples")

        for unit in units:
            if done.get(unit.file, {}).get("fingerprint") == unit.fingerprint:
                entries[unit.file] = done[unit.file]
                progress.advance()
                continue
            running[executor.submit(make_shard, job, unit)] = unit
            collect(in_flight - 1)
        collect(0)
    return [entries[file] for file in sorted(entries)]


def _result(future: Future, job: ShardJob, unit: Unit) -> dict:
    try:
        entry = future.result()
    except BrokenProcessPool as error:
        raise DataError(
            f"{job.folder}: a worker process died while making {unit.file} or another shard (out of memory?). Finished "
            "shards are kept: run the same command again, with fewer workers"
        ) from error
    if not _is_whole(job, entry):
        raise DataError(
            f"{job.folder}: expected {unit.file} from a worker, but it is not there. The workers of a cluster "
            "must see the folder under the same path: choose one on a shared file system"
        )
    return entry


def _finish(job: ShardJob, shards: list[dict], problems: Counter) -> dict:
    """Writes the manifest, then removes the files that only a resumed run needs."""
    if not shards:
        raise DataError(
            f"{job.identity['source']}: no documents for split {job.identity['split']!r}: each document is in one "
            "split. Add documents (blank lines separate those of a .txt file, each .txt file of a folder is one), or "
            "use another source with --split all"
        )
    folder = Path(job.folder)
    totals = {name: sum(shard[name] for shard in shards) for name in shards[0] if isinstance(shards[0][name], int)}
    manifest = job.identity | {
        "counts": totals,
        "problems": dict(sorted(problems.items())),
        "layout": job.layout.to_dict(),
        "shards": shards,
    }
    write_json(folder / MANIFEST, manifest)
    for path in folder.glob("examples-*.tfrecord"):  # left by an earlier text with more units
        if path.name not in {shard["file"] for shard in shards}:
            path.unlink()
    shutil.rmtree(folder / _PROGRESS)
    return manifest


# --- workers ---


class _SameProcess(Executor):
    """Runs each function at once in this process: one worker, without the cost of starting it."""

    def submit(self, function, *arguments) -> Future:
        future = Future()
        future.set_result(function(*arguments))
        return future


@contextmanager
def _executor(workers: int, scheduler: str | None) -> Iterator[tuple[Executor, int]]:
    """The executor of the units, and how many of them it gets at a time: two for each worker."""
    if scheduler is not None:
        with _dask_client(scheduler) as client:
            yield client.get_executor(pure=False), max(2, 2 * sum(client.nthreads().values()))
    elif workers == 1:
        yield _SameProcess(), 1
    else:
        executor = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
        try:
            yield executor, 2 * workers
        finally:
            executor.shutdown(cancel_futures=True)


def _dask_client(address: str):
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependencyError("--scheduler needs Dask: pip install 'bertlab[cluster]'") from error
    try:
        return Client(address, timeout="30s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise DataError(
            f"no Dask scheduler answers at {address!r} ({error}); expected an address like tcp://host:8786"
        ) from error
