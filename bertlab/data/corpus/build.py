"""The built-in corpus: English text that every installation of BertLab already has.

Docstrings and pages of the standard library and of the installed packages are read statically, cleaned of code,
tables and markup, split into sentences, and repetitions are removed. One source file becomes one document, so
consecutive sentences belong together. The same lock file gives the same bytes; `manifest.json` records versions and a
hash.

    documents.jsonl   one document per line: {"id", "source", "paragraphs": [[sentence, …], …]}
    docstrings.jsonl  the same text as docstrings, with the data for the tasks of `bertlab.data.tasks.builtin`
    manifest.json     package versions, counts, hash, dropped text by reason
"""

import hashlib
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

from platformdirs import user_cache_path

from bertlab.common.errors import DataError
from bertlab.common.files import write_text
from bertlab.common.progress import track
from bertlab.data.corpus.sources import SourceFile, installed_versions, source_files
from bertlab.data.corpus.texts import Docstring, FileTexts, RepeatFilter, Sentence, read_file

DOCUMENTS, DOCSTRINGS, MANIFEST = "documents.jsonl", "docstrings.jsonl", "manifest.json"


def default_corpus_dir() -> Path:
    """The folder of the built-in corpus: `$BERTLAB_CACHE`, `build/` of a checkout, or the user's cache folder."""
    if os.environ.get("BERTLAB_CACHE"):
        return Path(os.environ["BERTLAB_CACHE"]) / "corpus"
    project = Path(__file__).resolve().parents[3]
    if (project / "pyproject.toml").exists():
        return project / "build" / "corpus"
    return user_cache_path("bertlab", appauthor=False) / "corpus"


def is_current(folder: str | Path) -> bool:
    """Whether a folder holds the corpus of the packages installed now, made by the code as it is now."""
    try:
        manifest = json.loads((Path(folder) / MANIFEST).read_text(encoding="utf-8"))
        return manifest["packages"] == installed_versions() and manifest["recipe"] == code_hash()
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return False


def ensure_corpus(out_dir: str | Path | None = None, workers: int | None = None) -> Path:
    """The folder with the corpus of the packages installed now; builds it if it is absent or out of date."""
    folder = default_corpus_dir() if out_dir is None else Path(out_dir)
    return folder if is_current(folder) else build_corpus(folder, workers)


def build_corpus(
    out_dir: str | Path | None = None, workers: int | None = None, packages: Iterable[str] | None = None
) -> Path:
    """Builds the corpus and returns its folder.

    out_dir: where to write (see `default_corpus_dir`). workers: processes; all cores when None. packages: only these
    distributions (`python` is the standard library). The bytes do not depend on `workers`.
    Raises DataError if a requested package is not installed.
    """
    folder = default_corpus_dir() if out_dir is None else Path(out_dir)
    versions = installed_versions()
    if packages is not None:
        versions = {name: versions.get(name) for name in sorted(packages)}
        if absent := [name for name, version in versions.items() if version is None]:
            raise DataError(f"{', '.join(absent)}: not installed, or not in the list of bertlab/data/corpus/sources.py")
    files = source_files([name for name, version in versions.items() if version is not None])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)  # it is written last: a folder with one is complete
    texts = track(_read_all(files, workers or os.cpu_count() or 1), "Reading docstrings", total=len(files))
    counts, dropped, hashes = _write(texts, folder)
    manifest = {
        "packages": versions,
        "recipe": code_hash(),
        "counts": counts,
        "dropped": dict(sorted(dropped.items())),
        "sha256": hashes,
    }
    write_text(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return folder


def code_hash() -> str:
    """SHA-256 of the code that makes the corpus: a cache made by other code is out of date."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read_all(files: list[SourceFile], workers: int) -> Iterator[FileTexts]:
    """The texts of each file, in the order of the files. Processes are spawned: TensorFlow may be loaded here."""
    if workers == 1 or len(files) < 100:
        yield from map(read_file, files)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType(
            "__main__"
        )  # a process imports the script, and runs it without a main guard
        try:
            results = pool.map(read_file, files, chunksize=16)  # starts the processes
        finally:
            sys.modules["__main__"] = main
        yield from results


def _json_line(record: dict) -> bytes:
    return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8")


def _write(texts: Iterable[FileTexts], folder: Path) -> tuple[dict, Counter, dict[str, str]]:
    """Writes both files while the texts come in. Returns counts, dropped text by reason, and each file's SHA-256."""
    repeats, dropped = RepeatFilter(), Counter()
    totals, by_package = Counter(), {}
    paths = {name: folder / name for name in (DOCUMENTS, DOCSTRINGS)}
    with paths[DOCUMENTS].open("wb") as documents, paths[DOCSTRINGS].open("wb") as docstrings:
        for file in texts:
            dropped.update(file.dropped)
            document = []
            for docstring in file.docstrings:
                paragraphs, described = repeats.new_parts(docstring)
                if paragraphs or described:
                    docstrings.write(_json_line(_docstring_record(file, docstring, paragraphs)))
                document += [*paragraphs, described] if described else paragraphs
            if not document:
                totals["files without prose"] += 1
                continue
            plain = [[sentence.text for sentence in paragraph] for paragraph in document]
            documents.write(_json_line({"id": file.name, "source": file.package, "paragraphs": plain}))
            counts = {
                "documents": 1,
                "paragraphs": len(document),
                "sentences": sum(map(len, document)),
                "words": sum(sentence.words for paragraph in document for sentence in paragraph),
            }
            for counter in (totals, by_package.setdefault(file.package, Counter())):
                counter.update(counts)
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    counts = dict(totals) | {"by package": {name: dict(by_package[name]) for name in sorted(by_package)}}
    return counts, dropped + repeats.dropped, hashes


def _docstring_record(file: FileTexts, docstring: Docstring, paragraphs: list) -> dict:
    def pairs(sentences: Iterable[Sentence]) -> list:
        return [[sentence.text, sentence.code] for sentence in sentences]

    return {
        "document": file.name,
        "source": file.package,
        "name": docstring.name,
        "kind": docstring.kind,
        "signature": docstring.signature,
        "paragraphs": list(map(pairs, paragraphs)),
        "parameters": [[name, pairs(sentences)] for name, sentences in docstring.parameters],
    }
