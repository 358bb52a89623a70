"""Documents: paragraphs of sentences, from the built-in corpus, your own files or the Hugging Face hub.

Only one document is in memory at a time, and a very long one is split: a corpus may be far larger than the memory.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.data.corpus.sentences import split_sentences
from bertlab.data.documents_lines import (
    MAX_BYTES_IN_LINE,
    Problems,
    RecordError,
    check_not_table,
    json_of,
    numbered_lines,
)

MAX_PARAGRAPHS = 1000  # of one document read from text; a longer one is split


@dataclass(frozen=True)
class Document:
    """A text in reading order.

    id: unique in its corpus. paragraphs: each a tuple of sentences. source: the package or file it comes from.
    """

    id: str
    paragraphs: tuple[tuple[str, ...], ...]
    source: str = ""


def is_validation(document_id: str, percent: float = 5.0) -> bool:
    """Whether a document is held out. Decided by SHA-256 of its id alone: the same on every machine, in every order."""
    fraction = int.from_bytes(hashlib.sha256(document_id.encode("utf-8")).digest()[:8], "big") / 2**64
    return fraction < percent / 100


def load_documents(
    source: str | Path, on_error: str = "stop", skipped: Counter | None = None, cache_dir: str | Path | None = None
) -> Iterator[Document]:
    """Streams the documents of a source, always in the same order.

    source: one of
      - "builtin": the corpus of the installed packages, built at first use in `cache_dir` (see `corpus`);
      - a `.jsonl` file: one document per line, {"text": "…"} or {"paragraphs": ["…" or ["sentence", …], …]}; "id" and
        "source" are optional. In "text" a blank line separates paragraphs, or else a line break;
      - a `.txt` file: one paragraph (or one sentence) per line, a blank line between documents. In a file without
        blank lines every 1,000 paragraphs make one document. For text wrapped at a margin use a folder:
      - a folder: each `.txt` or `.md` file in it, at any depth and in order of name, is one document whose paragraphs
        are separated by blank lines; each `.jsonl` file is read as above;
      - "hf:NAME[/CONFIG][:SPLIT]": a hub data set with a column "text" (`pip install bertlab[hub]`).
    on_error: "stop" raises at the first bad line; "skip" leaves out bad lines and counts them in `skipped`.
    skipped: filled with reason → count when `on_error` is "skip".
    Raises DataError, naming file and line: no such source, not UTF-8, a NUL, a line over 10 MB, a table, malformed
    JSON, an empty document. Raises MissingDependencyError for "hf:" if `datasets` is not installed.
    """
    problems = Problems(on_error, counts=Counter() if skipped is None else skipped)
    path = path_of(source, cache_dir)
    if path is None:
        return _hub_documents(_hub_texts(source.removeprefix("hf:")), source, problems)
    return _file_documents(path, problems)


def path_of(source: str | Path, cache_dir: str | Path | None = None) -> Path | None:
    """The file or folder that a source is read from; None for a data set of the hub."""
    if str(source) == "builtin":
        from bertlab.data.corpus.build import DOCUMENTS, ensure_corpus

        return ensure_corpus(cache_dir) / DOCUMENTS
    return None if str(source).startswith("hf:") else Path(source)


def text_files(folder: str | Path) -> list[Path]:
    """The files of a folder that `load_documents` reads, in its order."""
    found = Path(folder).rglob("*")
    return sorted(each for each in found if each.suffix in (".txt", ".md", ".jsonl") and each.is_file())


def text_sha256(source: str | Path) -> str | None:
    """SHA-256 of a file's bytes, or of the names and texts in a folder; None for a source that is not a path."""
    path, digest = Path(source), hashlib.sha256()
    if not path.exists():
        return None
    for file in text_files(path) if path.is_dir() else [path]:
        digest.update(f"{file.relative_to(path)}\n".encode())
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def _file_documents(path: Path, problems: Problems) -> Iterator[Document]:
    """Checks the path at once, so that a misspelt name fails at the call and not at the first document."""
    if path.is_dir():
        found = text_files(path)
        if not found:
            raise DataError(f"{path}: no .txt, .md or .jsonl file in this folder")
        return chain.from_iterable(
            _documents_in(file, file.relative_to(path).as_posix(), problems, is_page=True) for file in found
        )
    if not path.exists():
        expected = "'builtin', a path, or 'hf:NAME[/CONFIG][:SPLIT]'"
        raise DataError(f"{path}: no such file or folder (a source is {expected})")
    if path.suffix in (".csv", ".tsv", ".json", ".gz", ".xz", ".zip", ".bz2", ".parquet", ".pdf", ".html"):
        raise DataError(f"{path}: expected a .txt, a .jsonl or a folder of .txt files, got {path.suffix!r}")
    return _documents_in(path, path.name, problems)


def _documents_in(path: Path, name: str, problems: Problems, is_page: bool = False) -> Iterator[Document]:
    if path.suffix == ".jsonl":
        return _jsonl_documents(path, name, problems)
    return _text_documents(path, name, problems, is_page)


# === Plain text ===


def _text_documents(path: Path, name: str, problems: Problems, is_page: bool) -> Iterator[Document]:
    """One paragraph per line, a blank line between documents; a page is one document with blank lines in it."""
    if check_not_table(path, problems):
        return
    if is_page:
        paragraphs = _wrapped_paragraphs(path, problems)
    else:
        paragraphs = (line.strip() for _, line in numbered_lines(path, problems))
    number = 0
    for number, group in enumerate(_groups(map(split_sentences, paragraphs)), 1):
        is_whole = is_page and number == 1 and len(group) < MAX_PARAGRAPHS
        yield Document(name if is_whole else f"{name}#{number}", group, name)
    if number == 0:
        problems.report(path, None, "empty document", "it holds no text")


def _groups(paragraphs: Iterable[list[str]]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """The paragraphs up to each empty one, at most `MAX_PARAGRAPHS` at a time."""
    group = []
    for paragraph in paragraphs:
        if paragraph:
            group.append(tuple(paragraph))
        if group and (not paragraph or len(group) == MAX_PARAGRAPHS):
            yield tuple(group)
            group = []
    if group:
        yield tuple(group)


def _wrapped_paragraphs(path: Path, problems: Problems) -> Iterator[str]:
    lines, size = [], 0
    for number, line in numbered_lines(path, problems):
        line = line.strip()
        size += len(line)
        if line and size <= MAX_BYTES_IN_LINE:
            lines.append(line)
        elif line:
            advice = "separate paragraphs by blank lines, or give the file itself instead of its folder"
            problems.report(path, number, "paragraph over 10 MB", advice)
            lines, size = [], 0
        else:
            if lines:
                yield " ".join(lines)
            lines, size = [], 0
    if lines:
        yield " ".join(lines)


# === JSON lines and the hub ===


def _jsonl_documents(path: Path, name: str, problems: Problems) -> Iterator[Document]:
    for number, line in numbered_lines(path, problems):
        if not line.strip():
            continue
        try:
            record = json_of(line)
            paragraphs = _record_paragraphs(record)
        except ValueError as error:
            problems.report(path, number, "malformed JSON", f"each line holds one JSON object ({error})")
        except RecordError as error:
            problems.report(path, number, *error.args)
        else:
            yield Document(str(record.get("id", f"{name}#{number}")), paragraphs, str(record.get("source", name)))


def _record_paragraphs(record) -> tuple[tuple[str, ...], ...]:
    """The paragraphs of a JSON object. Raises RecordError with the problem and its remedy."""
    if not isinstance(record, dict) or ("text" not in record and "paragraphs" not in record):
        raise RecordError("no text", 'each line holds {"text": "…"} or {"paragraphs": […]}')
    if "paragraphs" in record:
        given = record["paragraphs"]
        if not isinstance(given, list) or not all(
            isinstance(each, str) or (isinstance(each, list) and all(isinstance(part, str) for part in each))
            for each in given
        ):
            raise RecordError("wrong type", '"paragraphs" must be a list of strings or of lists of strings (sentences)')
        paragraphs = (split_sentences(each) if isinstance(each, str) else each for each in given)
    else:
        if not isinstance(record["text"], str):
            raise RecordError("wrong type", f'"text" must be a string, not {type(record["text"]).__name__}')
        paragraphs = map(split_sentences, split_paragraphs(record["text"]))
    kept = tuple(tuple(sentences) for sentences in paragraphs if any(sentence.strip() for sentence in sentences))
    if not kept:
        raise RecordError("empty document", "leave the line out or give it a text")
    return kept


def split_paragraphs(text: str) -> list[str]:
    """The paragraphs of a text: separated by blank lines, their lines joined; by line breaks if no line is blank."""
    lines = [line.strip() for line in text.strip().splitlines()]
    if "" not in lines:
        return [line for line in lines if line]
    blocks = "\n".join(lines).split("\n\n")
    return [" ".join(block.split("\n")).strip() for block in blocks if block.strip()]


def parse_hub_name(text: str) -> list[tuple[str, str | None, str]]:
    """The (name, configuration, split) that "NAME[/CONFIG][:SPLIT]" may mean, most likely first.

    "a/b" is first the data set b of the owner a, then configuration b of the data set a. The split is train by default.
    """
    path, _, split = text.partition(":")
    parts = path.split("/")
    split = split or "train"
    if not all(parts) or len(parts) > 3:
        example = "hf:Salesforce/wikitext/wikitext-2-raw-v1:train"
        raise DataError(f"hf:{text}: expected hf:NAME[/CONFIG][:SPLIT], such as {example}")
    if len(parts) == 1:
        return [(path, None, split)]
    if len(parts) == 2:
        return [(path, None, split), (parts[0], parts[1], split)]
    return [(f"{parts[0]}/{parts[1]}", parts[2], split)]


def _hub_texts(text: str) -> Iterator[str]:
    """The text column of a data set, row by row. Raises DataError if there is no such data set or column."""
    readings = parse_hub_name(text)
    try:
        import datasets
    except ImportError:
        message = "reading from the Hugging Face hub needs the package datasets: pip install bertlab[hub]"
        raise MissingDependencyError(message) from None
    reasons = []
    for name, configuration, split in readings:
        try:
            rows = datasets.load_dataset(name, configuration, split=split, streaming=True)
        except (FileNotFoundError, ValueError, ConnectionError) as error:
            reasons.append(f"{name}: {error}")
        else:
            columns = rows.column_names or list(next(iter(rows)))
            if "text" not in columns:
                raise DataError(f"hf:{text}: no column 'text'; it has {', '.join(columns)}")
            return (row["text"] for row in rows)
    raise DataError(f"hf:{text}: cannot load this data set ({'; '.join(reasons)})")


def _hub_documents(texts: Iterable[str], source: str, problems: Problems) -> Iterator[Document]:
    for number, text in enumerate(texts):
        paragraphs = tuple(tuple(split_sentences(paragraph)) for paragraph in split_paragraphs(text or ""))
        if paragraphs:
            yield Document(f"{source}#{number}", paragraphs, source)
        else:
            problems.counts["empty document"] += 1  # many hub data sets have empty rows on purpose
