"""Minimal pairs: two sentences that differ in one place, of which a model should find the correct one likelier.

The files have BLiMP's format (Warstadt et al. 2020, "BLiMP: The Benchmark of Linguistic Minimal Pairs"): one JSON
object per line, with

    sentence_good, sentence_bad     the two sentences
    UID                             the phenomenon; if it is missing, the file's name
    field, linguistics_term         larger groups of phenomena; optional

and others, which are not read. A pair counts as right if the correct sentence has the larger score
(`sentence_likelihood`); equal ones count as wrong.
"""

import csv
import hashlib
import io
import json
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bertlab.analysis.pseudo_likelihood import sentence_scores, token_rows
from bertlab.common.errors import DataError
from bertlab.common.files import write_json, write_text
from bertlab.common.job import Job
from bertlab.common.progress import track
from bertlab.data.tasks.formats import read_lines

PAIRS_BATCH_SIZE = 100
GROUPS = ("phenomenon", "term", "field")
_SENTENCES = ("sentence_good", "sentence_bad")


@dataclass(frozen=True)
class MinimalPair:
    """A correct and an incorrect sentence. where: file and line, for messages."""

    good: str
    bad: str
    phenomenon: str
    term: str = ""
    field: str = ""
    where: str = ""


@dataclass(frozen=True)
class GroupResult:
    """The fraction of a group's pairs that are right, with its 95 % confidence interval (Wilson 1927).

    group: phenomenon, term, field or all. low, high: the interval's ends.
    """

    group: str
    name: str
    pairs: int
    right: int
    accuracy: float
    low: float
    high: float

    @classmethod
    def of(cls, group: str, name: str, right: Sequence[bool]) -> "GroupResult":
        """The result of a group whose pairs are right or not."""
        count, hits = len(right), int(np.sum(right))
        return cls(group, name, count, hits, hits / count, *wilson_interval(hits, count))


def wilson_interval(hits: int, count: int) -> tuple[float, float]:
    """The confidence interval of a fraction of `count` at 95 % (Wilson 1927).

    Example:
        >>> [round(end, 3) for end in wilson_interval(50, 100)]
        [0.404, 0.596]
    """
    z = 1.959964  # standard deviations on each side
    share, spread = hits / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def read_pairs(path: str | Path, say: Callable[[str], object] = warnings.warn) -> list[MinimalPair]:
    """The pairs of a .jsonl file, or of all .jsonl files in a folder, in order of name.

    Pairs of two equal sentences are left out, since no score can be right: BLiMP has 7 of them among its 67,000 pairs.

    say: called with their number, if there are any.
    Raises DataError, naming file and line: no such file, a folder without one, not UTF-8, a line that is not a JSON
    object, a missing, empty or wrongly typed sentence, half of a surrogate pair; and for no pair of two sentences.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.rglob("*.jsonl"))
        if not files:
            raise DataError(f"{path}: expected .jsonl files in this folder, got none")
    elif path.is_file():
        files = [path]
    else:
        raise DataError(f"{path}: no such file or folder; give a .jsonl file in BLiMP's format, or a folder of them")
    found = [
        _pair(line, f"{file} line {number}", file.stem)
        for file in files
        for number, line in read_lines(file)
        if line.strip()
    ]
    pairs = [pair for pair in found if pair.good.strip() != pair.bad.strip()]
    if len(pairs) < len(found):
        first = next(pair for pair in found if pair.good.strip() == pair.bad.strip())
        count = f"{len(found) - len(pairs):,} of {len(found):,}"
        say(f"left out {count} pairs, whose two sentences are equal: {first.where} …")
    if not pairs:
        raise DataError(f"{path}: expected at least one pair of two different sentences, got none")
    return pairs


def _pair(line: str, where: str, default: str) -> MinimalPair:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: expected a JSON object with {' and '.join(_SENTENCES)} ({error}); correct the line"
        ) from None
    if not isinstance(record, dict):
        raise DataError(f"{where}: expected a JSON object, got {type(record).__name__}; correct the line")
    for name in _SENTENCES:
        if name not in record:
            raise DataError(f'{where}: no "{name}"; a pair has {" and ".join(_SENTENCES)}')
        if not (isinstance(record[name], str) and record[name].strip()):
            raise DataError(f'{where}: expected a sentence in "{name}", got {record[name]!r}; write one')
    groups = [str(record.get(key) or "") for key in ("UID", "linguistics_term", "field")]
    values = [*(record[name] for name in _SENTENCES), *groups]
    for value in values:
        if any("\ud800" <= letter <= "\udfff" for letter in value):  # allowed in JSON, but not in UTF-8
            raise DataError(f"{where}: half of a surrogate pair in {value!r}; correct the line")
    good, bad, phenomenon, term, field = values
    return MinimalPair(good, bad, phenomenon or default, term, field, where)


def first_of_each(pairs: Iterable[MinimalPair], count: int) -> list[MinimalPair]:
    """The first `count` pairs of each phenomenon, in their order."""
    seen: dict[str, int] = {}
    kept = []
    for pair in pairs:
        seen[pair.phenomenon] = seen.get(pair.phenomenon, 0) + 1
        if seen[pair.phenomenon] <= count:
            kept.append(pair)
    return kept


def score_pairs(
    model,
    tokenizer,
    pairs: Sequence[MinimalPair],
    *,
    masking: str = "token",
    batch_size: int = 256,
    out: str | Path | None = None,
    identity: dict | None = None,
) -> np.ndarray:
    """The scores of the correct and the incorrect sentence of each pair, (pairs, 2) float64.

    All texts are checked before the first one is scored. With `out`, scores are kept in that folder as they are made,
    and a second call resumes; at the end pairs.csv and results.json are written there.

    Args:
        model, tokenizer, masking, batch_size: as in `sentence_scores`.
        out: a folder.   identity: JSON values that identify the model; with other ones the folder is refused.

    Raises DataError, with file and line, for a sentence with no token or too many, ConfigError for a folder with the
    scores of another model, other pairs or another masking, or with the results of another command.
    """
    check_lengths(tokenizer, pairs, model.config.max_tokens)

    def score(block: Sequence[MinimalPair]) -> list[list[float]]:
        texts = [text for pair in block for text in (pair.good, pair.bad)]
        ids = [tuple(row.ids) for row in token_rows(tokenizer, texts, model.config.max_tokens)]
        read = dict(zip(ids, texts))  # texts with the same tokens are read once, so that rounding decides no tie
        sums = sentence_scores(model, tokenizer, list(read.values()), masking=masking, batch_size=batch_size)
        score_of = dict(zip(read, sums.tolist()))
        return [[score_of[good], score_of[bad]] for good, bad in zip(ids[::2], ids[1::2])]

    job = None
    if out is not None:
        texts = json.dumps([[pair.good, pair.bad, pair.phenomenon] for pair in pairs])
        digest = hashlib.sha256(texts.encode()).hexdigest()[:16]
        job = Job(out, "scores/work.json", {**(identity or {}), "masking": masking, "pairs": digest})
        job.start("pairs.csv", "results.json")
    scores = []
    starts = range(0, len(pairs), PAIRS_BATCH_SIZE)
    for start in track(starts, f"Scoring by {PAIRS_BATCH_SIZE} pairs", lines=True):
        block = pairs[start : start + PAIRS_BATCH_SIZE]
        if job is None:
            scores += score(block)
        else:
            scores += job.once(f"scores/{start}.json", lambda block=block: score(block))
    scores = np.array(scores)
    if out is not None:
        _write_results(Path(out), pairs, scores)
    return scores


def check_lengths(tokenizer, pairs: Sequence[MinimalPair], longest: int) -> None:
    """Raises DataError, with file and line, for a sentence with no token or more than `longest`."""
    for pair in pairs:
        try:
            token_rows(tokenizer, (pair.good, pair.bad), longest)
        except DataError as error:
            _, _, reason = str(error).partition(": ")
            raise DataError(f"{pair.where}: {reason}") from None


def group_results(pairs: Sequence[MinimalPair], scores: np.ndarray) -> list[GroupResult]:
    """One result per phenomenon, per term, per field, and over all pairs, which is the last. scores: (pairs, 2).

    Example:
        >>> pairs = [MinimalPair("A dog barks.", "A dog bark.", "agreement")]
        >>> group_results(pairs, np.array([[-3.0, -5.0]]))[-1].accuracy
        1.0
    """
    right = scores[:, 0] > scores[:, 1]  # (pairs,)
    results = []
    for group in GROUPS:
        names = np.array([getattr(pair, group) for pair in pairs])
        results += [GroupResult.of(group, str(name), right[names == name]) for name in sorted(set(names) - {""})]
    return [*results, GroupResult.of("all", "all pairs", right)]


def _write_results(folder: Path, pairs: Sequence[MinimalPair], scores: np.ndarray) -> None:
    """pairs.csv and results.json."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["phenomenon", "sentence_good", "sentence_bad", "score_good", "score_bad", "right"])
    for pair, (good, bad) in zip(pairs, scores.tolist(), strict=True):
        table.writerow([pair.phenomenon, pair.good, pair.bad, f"{good:.4f}", f"{bad:.4f}", int(good > bad)])
    write_text(folder / "pairs.csv", text.getvalue())
    write_json(folder / "results.json", [asdict(result) for result in group_results(pairs, scores)])
